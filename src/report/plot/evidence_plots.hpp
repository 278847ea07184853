#pragma once
// Charts of what was measured.

#include <string>
#include <utility>
#include <vector>

#include "titer/calibrate/calibration.hpp"
#include "titer/trace/trace_comparison.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// The terms of a step, measured and predicted.
[[nodiscard]] Plot trace_plot(const TraceComparison& comparison);
[[nodiscard]] Figures trace_headline(const TraceComparison& comparison);

/// With the names that a calibration has for them, in its order.
[[nodiscard]] std::vector<std::pair<std::string, Accuracy>> accuracies(
    const Calibration& calibration);
/// How far off predictions are before and after a fit.
[[nodiscard]] Plot calibration_plot(const Calibration& calibration);
[[nodiscard]] Figures calibration_headline(const Calibration& calibration);

}  // namespace titer
