#pragma once
// What a search was asked, and what the plans that it found are and come to.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/search/search.hpp"
#include "titer/view/view.hpp"

namespace titer {

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

/// "1,024".
[[nodiscard]] std::string grouped_count(std::size_t count);
/// A key's value for a reader: "yes", "activations+optimizer".
[[nodiscard]] std::string shown(const Value& value);
/// "data 8, tensor 4, …": all that searches vary of it.
[[nodiscard]] std::string plan_words(const Plan& plan);
/// "micro_batch 2, recompute full": what is not as in another plan.
[[nodiscard]] std::string plan_difference(const Plan& plan, const Plan& other);
/// What the best plan of any software has that the search's own does not.
[[nodiscard]] std::vector<std::string> leaving_software(const Search& search,
                                                        const SearchAnswer& beyond);

/// What a plan comes to; costs are of an iteration.
[[nodiscard]] Figures found_figures(const FoundPlan& found);
/// The tree of a search's answer.
[[nodiscard]] Figures search_figures(const Search& search,
                                     const SearchAnswer& answer,
                                     const std::vector<std::string>& notes,
                                     std::span<const BeyondSoftware> beyond);
/// A row for each plan: what was asked, the keys that were searched, then results.
void add_search_rows(const Search& search, const SearchAnswer& answer, View& view);

}  // namespace titer
