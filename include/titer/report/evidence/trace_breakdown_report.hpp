#pragma once
// A measured step, from a trace or a log, beside the predicted one, as it is read.

#include <string>

#include "titer/trace/trace_comparison.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A row for each term, the parts of compute by themselves, and the step. `title`: of the scenario;
/// "" where there is none, here and below.
[[nodiscard]] View trace_view(const StepBreakdown& measured,
                              const TraceComparison& comparison,
                              const std::string& title);

/// `predicted`: may be nullptr.
[[nodiscard]] View log_view(const TrainingLog& log,
                            const StepResult* predicted,
                            const std::string& title);

}  // namespace titer
