#pragma once
// What a scenario is sensitive to as figures, in SI units.

#include "titer/report/study/sensitivity_report.hpp"

namespace titer {

[[nodiscard]] Figures sensitivity_figures(const SensitivityReport& report);
[[nodiscard]] FigureRows sensitivity_rows(const SensitivityReport& report);

}  // namespace titer
