#include "sync_cost.hpp"

#include <algorithm>

#include "sync_clock.hpp"

namespace titer {
namespace {

/// Whether the model's first and last stage are on different ranks, so that each keeps a copy of a
/// tied token table.
bool ends_apart(const StepCosts& costs) {
  const StagePlace last = place_of(costs.placement, costs.stages - 1, 0, costs.shape);
  return costs.placement != Placement::two_ways && last.rank != 0;
}

}  // namespace

DeviceParameters head_count(const Scenario& scenario, const StepCosts& costs) {
  DeviceParameters count = on_device(costs.blocks.head.parameters, scenario.plan);
  if (ends_apart(costs) && !costs.blocks.embedding.frozen) {
    count += on_device(ParameterCount{.split = costs.blocks.tied_table}, scenario.plan);
  }
  return count;
}

Bytes token_table_gradient(const Scenario& scenario, const ModelBlocks& blocks) {
  return on_device(ParameterCount{.split = blocks.tied_table}, scenario.plan).dense *
         size_of(scenario.gradient_type());
}

void fill_synchronisation(const Scenario& scenario, StepCosts& costs) {
  const int p = costs.shape.stages;
  const bool two_ways = costs.placement == Placement::two_ways;
  SyncGroups groups = sync_groups(scenario, costs.placement, 0);
  const SyncClock clock(scenario, groups);
  // What the last backward passes make once: all gradients, or what the groups of shards add up.
  const Plan& plan = scenario.plan;
  const bool once = plan.shard.has_value() || !plan.reduces_every_pass();
  const bool in_buckets = scenario.overlap_grad_reduce() && !clock.alone() && once &&
                          plan.sharding != Sharding::parameter_server;
  costs.tails.resize(static_cast<std::size_t>(p));
  DeviceParameters previous;
  for (int s = 0; s < p; ++s) {
    const DeviceParameters count =
        trained_parameters(costs.blocks, costs.contents, scenario.plan, s);
    StageTail& tail = costs.tails[static_cast<std::size_t>(s)];
    if (s > 0 && count == previous && !two_ways) {
      tail = costs.tails[static_cast<std::size_t>(s - 1)];  // stages between the ends are alike
      continue;
    }
    if (two_ways && s > 0) {
      groups = sync_groups(scenario, costs.placement, s);
    }
    tail = {
        .gradient_sync = in_buckets ? Seconds{} : clock.gradient_sync(count),
        .optimizer = clock.optimizer(count),
        .parameter_sync = scenario.overlap_param_gather() ? Seconds{} : clock.parameter_sync(count),
        .expert_gradients = in_buckets ? Seconds{} : clock.expert_gradients(count),
        .expert_parameters =
            scenario.overlap_param_gather() ? Seconds{} : clock.expert_parameters(count),
        .host = clock.host(count)};
    previous = count;
  }
  if (in_buckets) {
    fill_gradient_buckets(scenario, costs);
  } else {
    costs.buckets.clear();
  }
}

}  // namespace titer
