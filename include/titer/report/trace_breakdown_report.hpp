#pragma once
// A measured step, from a trace or a log, beside the predicted one: text, CSV and JSON.

#include <string>

#include "titer/input/document.hpp"
#include "titer/trace/trace_comparison.hpp"

namespace titer {

/// Added fields leave it as it is; a changed meaning raises it.
inline constexpr int kTraceBreakdownFormatVersion = 1;

/// `title`: of the scenario; "" where there is none, here and below.
[[nodiscard]] std::string trace_text(const StepBreakdown& measured,
                                     const TraceComparison& comparison,
                                     const std::string& title);
/// A row for each term, the parts of compute by themselves, and the step.
[[nodiscard]] std::string trace_csv(const StepBreakdown& measured,
                                    const TraceComparison& comparison);
[[nodiscard]] Value trace_json(const StepBreakdown& measured,
                               const TraceComparison& comparison,
                               const std::string& title);

/// `predicted`: may be nullptr.
[[nodiscard]] std::string log_text(const TrainingLog& log,
                                   const StepResult* predicted,
                                   const std::string& title);
[[nodiscard]] std::string log_csv(const TrainingLog& log, const StepResult* predicted);
[[nodiscard]] Value log_json(const TrainingLog& log,
                             const StepResult* predicted,
                             const std::string& title);

}  // namespace titer
