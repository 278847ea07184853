#include "titer/step/known_memory.hpp"

#include <algorithm>
#include <utility>

#include "titer/step/estimate.hpp"

namespace titer {
namespace {

bool are_same(const MemoryKeys& keys, const Plan& plan, const PipelineShape& shape, bool ahead) {
  return keys.sharding == plan.sharding && keys.shape == shape && keys.data == plan.data &&
         keys.receives_ahead == ahead && keys.shard == plan.shard &&
         keys.reshard_after_forward == plan.reshard_after_forward &&
         keys.reduce_every_pass == plan.reduce_every_pass && keys.prefetch == plan.prefetch &&
         keys.offload == plan.offload && keys.recompute_every == plan.recompute_every &&
         keys.recompute_layers == plan.recompute_layers && keys.layers == plan.layers &&
         is_same(keys.schedule, plan.schedule);
}

}  // namespace

const std::vector<StageMemory>& KnownMemory::find(const Scenario& scenario,
                                                  const StepCosts& costs,
                                                  bool same_layers) {
  const Plan& plan = scenario.plan;
  const bool ahead = scenario.pipeline_send() != PipelineSend::blocking;
  count_ = same_layers ? count_ : 0;
  const auto end = known_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto known = std::find_if(known_.begin(), end, [&](const Known& one) {
    return are_same(one.keys, plan, costs.shape, ahead);
  });
  if (known != end) {
    return known->stages;
  }
  const std::size_t before = std::exchange(count_, 0);  // none holds, should this not be found
  const std::size_t at = before == 0 ? 0 : next_;
  Known& found = known_[at];
  found.keys = {.shape = costs.shape,
                .schedule = plan.schedule,
                .layers = plan.layers,
                .data = plan.data,
                .shard = plan.shard,
                .recompute_every = plan.recompute_every,
                .recompute_layers = plan.recompute_layers,
                .sharding = plan.sharding,
                .offload = plan.offload,
                .reshard_after_forward = plan.reshard_after_forward,
                .reduce_every_pass = plan.reduce_every_pass,
                .prefetch = plan.prefetch,
                .receives_ahead = ahead};
  finder_.find(plan, memory_needs(scenario, costs.blocks), costs.contents, found.stages);
  next_ = (at + 1) % known_.size();
  count_ = std::min(before + 1, known_.size());
  return found.stages;
}

}  // namespace titer
