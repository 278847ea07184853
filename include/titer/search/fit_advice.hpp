#pragma once
// What to change of a plan that does not fit, so that it does.

#include <cstddef>
#include <string>
#include <vector>

#include "titer/estimate/result.hpp"
#include "titer/input/document.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// A value of the scenario to change: "plan.recompute" to "full", "training.adapters" to some.
struct PlanChange {
  std::string path;
  Value value;
};

/// Changes after which the scenario fits, and what it takes then.
struct FitAdvice {
  std::vector<PlanChange> changes;
  Seconds iteration_time;
  Bytes peak;

  /// "recompute full, sharding zero1"
  [[nodiscard]] std::string text() const;
};

/// Tries one change or two at a time, on the same number of devices and with the same batch: more
/// recomputation, sharding and sequence parallelism, twice the tensor, pipeline or context degree
/// with half as many replicas, half the micro-batch. Those that are sound and fit, by the closed
/// form's iteration time, at most so many. Two changes of which one alone fits count only where
/// they are faster than it. Where none fits, what last_resorts() says.
[[nodiscard]] std::vector<FitAdvice> fit_advice(const Scenario& scenario, std::size_t most = 5);
/// What fits where no plan on as many devices does: states in the hosts' memory, or adapters that
/// are trained in place of all weights; with full recomputation where it takes that, too. By
/// iteration time; such a share of the memory stays free.
[[nodiscard]] std::vector<FitAdvice> last_resorts(const Scenario& scenario, double margin = 0);
/// Likewise beside the scenario's result: nothing where it fits, or where devices differ, which
/// have no closed form.
[[nodiscard]] std::vector<FitAdvice> fit_advice(const Scenario& scenario, const StepResult& result);

}  // namespace titer
