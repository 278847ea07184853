#pragma once
// A measured step beside the predicted one, term by term, and what the differences say.
//
// The prediction is put into the terms of a trace: collectives by what they are instead of by whom
// they are for, communication first and then what compute is left, and waiting as idle time. What
// a purpose (tensor, data, …) takes is shared out over the collectives in proportion to what those
// take by themselves.

#include <optional>
#include <string>
#include <vector>

#include "titer/estimate/result.hpp"
#include "titer/scenario/scenario.hpp"
#include "titer/trace/trace_breakdown.hpp"
#include "titer/trace/training_log.hpp"

namespace titer {

/// A term of either side. The first three are seconds of the step.
struct TermTime {
  Seconds counted;  // communication first, then compute
  Seconds exposed;  // of communication and copies: under no compute
  Seconds busy;     // while any of it runs
  std::optional<double> calls{};
  std::optional<Bytes> bytes{};  // of a call: its full result
  std::optional<int> ranks{};    // of most calls
};

/// The step of a scenario in the terms of a trace.
struct PredictedStep {
  std::string title;
  StepResult result;
  std::array<TermTime, kTraceCategories> communication{};  // by category; copies too
  Seconds compute;  // all but the optimizer, as far as no communication hides it
  Seconds optimizer;
  Seconds idle;  // the bubble and all else
  std::vector<std::string> remarks;
};
/// Throws InputError as evaluate() does. The collectives are those of `rank`, else of the stage
/// that finishes last.
[[nodiscard]] PredictedStep predict_step(const Scenario& scenario, std::optional<int> rank);

struct TraceTerm {
  std::string name;
  TermTime measured;
  std::optional<TermTime> predicted{};

  /// Measured less predicted.
  [[nodiscard]] std::optional<Seconds> difference() const {
    return predicted ? std::optional(measured.counted - predicted->counted) : std::nullopt;
  }
};

struct TraceComparison {
  std::vector<TraceTerm> terms;  // they add up to the step on each side
  TraceTerm step;
  std::vector<std::string> readings;  // a sentence for each big difference, the biggest first
  std::vector<std::string> remarks;
};
/// Without a prediction the terms are the measured ones. Where only shares were measured, they are
/// shares of the predicted step.
[[nodiscard]] TraceComparison compare(const StepBreakdown& measured,
                                      const PredictedStep* predicted);

}  // namespace titer
