#pragma once
// Parts of reading a search's file.

#include <string_view>
#include <vector>

#include "titer/search/search.hpp"

namespace titer {

/// The elements of a list, or the one value.
[[nodiscard]] std::vector<Value> listed(const Value& value);

/// The search of this name or file. A run's is the search around it.
[[nodiscard]] Document search_document(std::string_view name_or_file);

/// "devices": a number, a list, {"nodes": 8}, {"nodes": [8, 16]}; {"least": 8, "most": 4096}:
/// powers of two, with "every": 8 its multiples. Sorted.
[[nodiscard]] std::vector<std::int64_t> read_device_numbers(Reader& in, std::int64_t per_node);

/// Refuses a search that does not say how long sequences are: another length is another question.
void demand_sequence(const Search& search);

/// Refuses what the closed form or a bound cannot do, for all plans.
void check_search(const Search& search);

}  // namespace titer
