#include "titer/cost/sync_cost.hpp"

#include "titer/cost/move_clock.hpp"

namespace titer {
namespace {

/// Whether the model's first and last stage are on different ranks, so that each keeps a copy of a
/// tied token table.
bool ends_apart(const StepCosts& costs) {
  const StagePlace last = place_of(costs.placement, costs.stages - 1, 0, costs.shape);
  return costs.placement != Placement::two_ways && last.rank != 0;
}

/// Whether gradients are synchronised in buckets: those that the last backward passes make once,
/// all of them, or what the groups of shards add up.
bool has_buckets(const Scenario& scenario, const MoveClock& clock) {
  const Plan& plan = scenario.plan;
  const bool once = plan.shard.has_value() || !plan.reduces_every_pass();
  return scenario.overlap_grad_reduce() && !clock.alone() && once &&
         scheme_of(plan.sharding).in_buckets;
}

/// Of a rank that trains so many parameters; what goes on beside its passes takes nothing.
StageTail tail_of(const Scenario& scenario,
                  const MoveClock& clock,
                  bool in_buckets,
                  const DeviceParameters& trained,
                  const MatrixUpdate& matrices) {
  StageTail tail{.gradient_sync = {},
                 .optimizer = clock.optimizer(trained, matrices),
                 .parameter_sync = {},
                 .host = clock.time(MoveTime::update, trained)};
  const IslandMeeting meeting = clock.meeting(trained);
  tail.optimizer += meeting.update;
  tail.host += meeting.host;
  tail.meeting = meeting.exchange;
  if (!in_buckets) {
    tail.gradient_sync = clock.time(MoveTime::complete, trained);
    tail.expert_gradients = clock.expert_time(MoveTime::complete, trained);
  }
  if (!scenario.overlap_param_gather()) {
    tail.parameter_sync = clock.time(MoveTime::updated, trained);
    tail.expert_parameters = clock.expert_time(MoveTime::updated, trained);
  }
  return tail;
}

}  // namespace

DeviceParameters head_count(const Scenario& scenario, const StepCosts& costs) {
  DeviceParameters count = on_device(costs.blocks.head.trained(), scenario.plan);
  if (ends_apart(costs) && !costs.blocks.embedding.frozen) {
    count += on_device(ParameterCount{.split = costs.blocks.tied_table}, scenario.plan);
  }
  return count;
}

Bytes token_table_gradient(const Scenario& scenario, const ModelBlocks& blocks) {
  return on_device(ParameterCount{.split = blocks.tied_table}, scenario.plan).dense *
         size_of(scenario.gradient_type());
}

void fill_trained(const Plan& plan, StepCosts& costs) {
  costs.trained.resize(static_cast<std::size_t>(costs.shape.stages));
  for (int rank = 0; rank < costs.shape.stages; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    costs.trained[at] = costs.contents.as_before(rank)
                            ? costs.trained[at - 1]
                            : trained_parameters(costs.blocks, costs.contents, plan, rank);
  }
}

void fill_synchronisation(const Scenario& scenario, StepCosts& costs) {
  const bool two_ways = costs.placement == Placement::two_ways;
  const MoveClock clock(scenario, costs.groups);
  const bool in_buckets = has_buckets(scenario, clock);
  costs.tails.resize(static_cast<std::size_t>(costs.shape.stages));
  for (int rank = 0; rank < costs.shape.stages; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const DeviceParameters& trained = costs.trained[at];
    if (two_ways && rank > 0) {  // with two copies of the model no rank's groups are the next one's
      const SyncGroups own = sync_groups(scenario, costs.placement, rank);
      costs.tails[at] = tail_of(scenario,
                                MoveClock(scenario, own),
                                in_buckets,
                                trained,
                                matrix_update(scenario, costs, rank));
    } else if (!two_ways && costs.contents.as_before(rank)) {
      costs.tails[at] = costs.tails[at - 1];
    } else {
      costs.tails[at] =
          tail_of(scenario, clock, in_buckets, trained, matrix_update(scenario, costs, rank));
    }
  }
  const bool had_buckets = !costs.buckets.empty();
  if (in_buckets != had_buckets) {
    costs.buckets.swap(costs.unused_buckets);
  }
  if (in_buckets) {
    fill_gradient_buckets(scenario, clock, costs);
  }
}

}  // namespace titer
