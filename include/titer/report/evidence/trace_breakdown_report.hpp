#pragma once
// A measured step, from a trace or a log, beside the predicted one, as it is read.

#include <string>

#include "titer/trace/trace_comparison.hpp"
#include "titer/trace/trace_ranks.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A row for each term, the parts of compute by themselves, and the step. `title`: of the scenario;
/// "" where there is none, here and below.
[[nodiscard]] View trace_view(const StepBreakdown& measured,
                              const TraceComparison& comparison,
                              const std::string& title);

/// A row for each rank beside the mean's view, and whom the others wait for.
void add_ranks(const TraceRanks& ranks, View& view);

/// The step that a log is of.
struct PredictedLog {
  const StepResult* step = nullptr;
  double samples = 0;  // of an iteration
};
/// `predicted`: may be nullptr.
[[nodiscard]] View log_view(const TrainingLog& log,
                            const PredictedLog* predicted,
                            const std::string& title);

}  // namespace titer
