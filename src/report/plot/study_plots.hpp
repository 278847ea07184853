#pragma once
// Charts of studies over many scenarios, and what is read first of each.

#include <vector>

#include "titer/campaign/capacity_table.hpp"
#include "titer/report/study/doctor_report.hpp"
#include "titer/report/study/sensitivity_report.hpp"
#include "titer/search/search.hpp"
#include "titer/whatif/difference.hpp"
#include "titer/whatif/tune.hpp"

namespace titer {

/// A bar to the left or right of zero, of two parts: what is less, what is more.
[[nodiscard]] PlotBar signed_bar(std::string name, double value, std::string words);
/// None yet, on an axis that has room for these times: `what` takes less or more.
[[nodiscard]] PlotBars signed_bars(const std::string& axis,
                                   const std::string& what,
                                   const std::vector<Seconds>& times);

/// Days and, where there are prices, dollars over devices; limits and where 10 to 90 % of the runs
/// are.
[[nodiscard]] std::vector<Plot> capacity_plots(const CapacityQuestion& question,
                                               const CapacityResult& result);

/// Days and, where there are prices, dollars of each row, with where 10 to 90 % of the runs are.
[[nodiscard]] std::vector<Plot> capacity_table_plots(const std::vector<CapacityRow>& rows);

/// What each change gains.
[[nodiscard]] std::vector<Plot> tune_plots(const std::vector<const Tuning*>& shown);

/// What shares out the difference between what was measured and predicted.
[[nodiscard]] std::vector<Plot> doctor_plots(const DoctorReport& report);

/// The plans by the first two objectives, or by time and memory.
[[nodiscard]] std::vector<Plot> search_plots(const Search& search, const SearchAnswer& answer);
[[nodiscard]] Figures search_headline(const SearchAnswer& answer);

/// What a tenth better gains, and what binds.
[[nodiscard]] std::vector<Plot> sensitivity_plots(const Sensitivity& found);

/// Both times, part by part, and what shares out their difference.
[[nodiscard]] std::vector<Plot> difference_plots(const Difference& found);
[[nodiscard]] Figures difference_headline(const Difference& found);

}  // namespace titer
