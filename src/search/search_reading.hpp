#pragma once
// Parts of reading a search's file.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "titer/search/search.hpp"

namespace titer {

/// The elements of a list, or the one value.
[[nodiscard]] std::vector<Value> values_in(const Value& value);

/// The search of this name or file. A run's is the search around it.
[[nodiscard]] Document search_document(std::string_view name_or_file);

/// "devices": a number, a list, {"nodes": 8}, {"nodes": [8, 16]}; {"least": 8, "most": 4096}:
/// powers of two, with "every": 8 its multiples. Sorted.
[[nodiscard]] std::vector<std::int64_t> read_device_numbers(Reader& in, std::int64_t per_node);
[[nodiscard]] Value device_numbers_schema();

/// What a file's keys are read into.
[[nodiscard]] Search nothing_searched();

/// A search as its file has it, and what it is read from.
struct SearchFile {
  const Document* document = nullptr;
  Problems* problems = nullptr;
  std::span<const Assignment> changes{};
  std::vector<std::pair<const SearchKey*, Value>> kept{};  // of the scenario's own plan
  std::optional<std::int64_t> run_devices{};               // of the plan of the run that is named
  std::string title{};
  std::optional<std::string> economy{};
  std::optional<std::string> reliability{};
  std::optional<Objective> objective{};
  bool any_software = false;
  std::optional<BestPlanOf> best_of{};
  bool robust = false;
  const Value* largest = nullptr;
  Search search = nothing_searched();
};
/// Reads "space" of the file's object into the search: all that may work, but for keys that are
/// given there or kept of the scenario.
void put_space(const SearchFile& file, Reader& in, Search& search);
/// Of each key a value as plans have it, or a list of such.
[[nodiscard]] Value space_schema();

/// Shipped models, or changes to the scenario's: {"layers": 48, "hidden": 8192}. Sorted by their
/// parameters, the largest first.
void add_models(const SearchFile& file, Reader& in, Search& search);

/// Refuses a search that does not say how long sequences are: another length is another question.
void demand_sequence(const Search& search);

/// Refuses what the closed form or a bound cannot do, for all plans.
void check_search(const Search& search);

}  // namespace titer
