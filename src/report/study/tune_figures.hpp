#pragma once
// What was tried of a run's knobs, as figures.

#include <string>
#include <vector>

#include "titer/report/study/tune_report.hpp"

namespace titer {

/// A row for each change, singles before pairs, below one of the run.
[[nodiscard]] FigureRows tune_rows(const TuneReport& report);
[[nodiscard]] Figures tune_figures(const TuneReport& report, const std::vector<std::string>& notes);

}  // namespace titer
