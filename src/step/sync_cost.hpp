#pragma once
// The parts of step_costs() that follow the passes: synchronisation of gradients and parameters,
// and the optimizer step.

#include "titer/step/cost.hpp"

namespace titer {

/// A collective over a process group; nothing for a single rank.
[[nodiscard]] Seconds group_time(Collective kind, Bytes size, Group group, const Fabric& fabric);

/// The ranks that hold the same parameters as a rank of the pipeline: the data-parallel group; with
/// two copies of the model in opposite ways also that of the rank as far from the other end.
struct SyncGroup {
  Group group;
  Fabric fabric;
};
[[nodiscard]] SyncGroup sync_group(const Scenario& scenario, Placement placement, int rank);

/// Parameters of a block of the model on a device, split ones divided by t. A tied token table is
/// counted with the head too where the last stage has a copy of its own.
[[nodiscard]] double layer_count(const Scenario& scenario);
[[nodiscard]] double embedding_count(const Scenario& scenario);
[[nodiscard]] double head_count(const Scenario& scenario, const StepCosts& costs);

/// Of the token table on a device, between the model's first and last stage.
[[nodiscard]] Bytes token_table_gradient(const Scenario& scenario);
/// Memory traffic of the optimizer step for the parameters of a device that `shards` ranks share.
[[nodiscard]] Bytes optimizer_bytes(const Scenario& scenario, double parameters, double shards);

/// Fills tails and buckets. REQUIRES shape, placement, stages and block costs.
void fill_synchronisation(const Scenario& scenario, StepCosts& costs);

}  // namespace titer
