#pragma once
// The bound of steps whose micro-batches all go one way, by what their passes and messages cost.

#include "titer/cost/cost.hpp"

namespace titer {

/// Forward passes of a rank with no other beside them, at least, and as many backward passes.
[[nodiscard]] int passes_alone(const Schedule& schedule, int rank, const PipelineShape& shape);

/// See step_bound(). REQUIRES a schedule without pairs, and one copy of the model.
[[nodiscard]] Seconds one_way_step_bound(const Scenario& scenario, const StepCosts& costs);

}  // namespace titer
