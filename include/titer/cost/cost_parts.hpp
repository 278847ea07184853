#pragma once
// The parts of step_costs(), in the order in which they need one another. Between the layers and
// the sends come the contents of the stages, the groups of rank 0 and add_pass_transfers(); last
// comes fill_synchronisation().

#include "titer/cost/cost.hpp"

namespace titer {

/// Shape, placement and number of stages.
void fill_shape(const Scenario& scenario, StepCosts& costs);
/// The model's blocks and what each kind of them takes, before what its passes move besides.
void fill_layer_costs(const Scenario& scenario, StepCosts& costs);
/// The same of blocks that are there.
void fill_kind_costs(const Scenario& scenario, StepCosts& costs);
void fill_sends(const Scenario& scenario, StepCosts& costs);
/// All-reduce of the token table's gradient between the first and the last stage, unless one rank
/// has both: it adds them up by itself.
[[nodiscard]] Seconds embedding_sync_time(const Scenario& scenario, const StepCosts& costs);

}  // namespace titer
