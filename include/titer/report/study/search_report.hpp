#pragma once
// What a search found: the plans, what differs between them, and what became of the others.

#include <span>
#include <string>
#include <vector>

#include "titer/search/search.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// `notes`: lines to end with, such as why a plan could not be refined. `beyond`: of
/// best_beyond_software(). The table has a row for each plan: what was asked, the keys that were
/// searched, then results.
[[nodiscard]] View search_view(const Search& search,
                               const SearchAnswer& answer,
                               const std::vector<std::string>& notes = {},
                               std::span<const BeyondSoftware> beyond = {});
/// Why no plan is left: what became of all of them, largest first, and which batch would do.
[[nodiscard]] std::string no_plan_sentence(const Search& search, const SearchAnswer& answer);
/// By how much the plan of least_memory_plan() is over what devices have.
[[nodiscard]] std::string least_memory_sentence(const Search& search, const FoundPlan& least);

}  // namespace titer
