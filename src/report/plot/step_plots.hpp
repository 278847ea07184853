#pragma once
// Charts of a step.

#include <vector>

#include "titer/estimate/result.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// The parts of a breakdown that some of these have, in the tones that they have in all charts; and
/// their times, a bar for each.
struct BreakdownBars {
  std::vector<PlotPart> parts;
  std::vector<std::vector<double>> values;
};
[[nodiscard]] BreakdownBars breakdown_bars(const std::vector<Breakdown>& breakdowns);

/// Where the time goes.
[[nodiscard]] Plot time_plot(const StepResult& result);
/// What takes the memory of each pipeline stage, and how much there is. Neighbours that are alike
/// are one.
[[nodiscard]] Plot memory_plot(const StepResult& result);
/// "60.29 GiB of 80 GiB (fits)".
[[nodiscard]] Figure memory_headline(const StepResult& result);

}  // namespace titer
