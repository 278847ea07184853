#pragma once
// Charts of studies over many scenarios, and what is read first of each.

#include <vector>

#include "titer/campaign/capacity.hpp"
#include "titer/report/study/sensitivity_report.hpp"
#include "titer/search/search.hpp"
#include "titer/view/view.hpp"
#include "titer/whatif/difference.hpp"

namespace titer {

/// Days and, where there are prices, dollars over devices; limits and where 10 to 90 % of the runs
/// are.
[[nodiscard]] std::vector<Plot> capacity_plots(const CapacityQuestion& question,
                                               const CapacityResult& result);

/// The plans by the first two objectives, or by time and memory.
[[nodiscard]] std::vector<Plot> search_plots(const Search& search, const SearchAnswer& answer);
[[nodiscard]] Figures search_headline(const SearchAnswer& answer);

/// What a tenth better gains, and what binds.
[[nodiscard]] std::vector<Plot> sensitivity_plots(const Sensitivity& found);

/// Both times, part by part, and what shares out their difference.
[[nodiscard]] std::vector<Plot> difference_plots(const Difference& found);
[[nodiscard]] Figures difference_headline(const Difference& found);

}  // namespace titer
