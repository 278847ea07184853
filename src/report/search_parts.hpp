#pragma once
// What the views of a search have in common.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "titer/search/search.hpp"

namespace titer {

/// A key's value for a reader: "yes", "activations+optimizer".
[[nodiscard]] std::string shown(const Value& value);

/// What became of the plans of a search, for a reader and for programs.
struct SearchCountName {
  std::string_view name;
  std::string_view key;
  std::size_t SearchCounts::*value;
};
inline constexpr std::array<SearchCountName, 7> kSearchCounts = {
    {{"not sound", "refused", &SearchCounts::refused},
     {"over the memory", "over_memory", &SearchCounts::over_memory},
     {"over a limit", "over_limit", &SearchCounts::over_limit},
     {"no better by a bound", "bounded", &SearchCounts::bounded},
     {"evaluated", "evaluated", &SearchCounts::evaluated},
     {"left out for a defect", "defects", &SearchCounts::defects},
     {"not reached", "unreached", &SearchCounts::unreached}}};

/// What a search was asked, as a table's row has it and as JSON does.
[[nodiscard]] std::vector<std::pair<std::string, Value>> asked_of(const Search& search,
                                                                  const SearchAnswer& answer);
/// "micro_batch 2, recompute full": what is not as in another plan.
[[nodiscard]] std::string plan_difference(const Plan& plan, const Plan& other);
/// The keys in which plans that are alike differ: "rank_order, tensor_overlap".
[[nodiscard]] std::string alike_keys(const FoundPlan& found);
/// What the best plan of any software has that the search's own does not.
[[nodiscard]] std::vector<std::string> leaving_software(const Search& search,
                                                        const SearchAnswer& beyond);

}  // namespace titer
