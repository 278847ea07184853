#include "titer/plan/memory/overhead.hpp"

#include <algorithm>

namespace titer {
namespace {

constexpr double kBothWays = 2.0;  // an activation and a gradient

/// Autograd is given a gradient of the right shape for every weight that is trained; weights of one
/// shape share it. The layers of a kind are alike, so these are the weights of one layer. Those of
/// experts, of which one would come on top, and what kinds have apart are left out.
Bytes dummies(const Plan& plan,
              const ModelBlocks& blocks,
              std::span<const double> kinds,
              Bytes weight) {
  Bytes most;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind] > 0) {
      most = std::max(most, on_device(blocks.kinds[kind].trained(), plan).dense * weight);
    }
  }
  return most;
}

}  // namespace

Buffers buffers(const Plan& plan,
                const BufferRules& rules,
                const ModelBlocks& blocks,
                const StageStates& stage) {
  Bytes input;
  Bytes whole;
  for (std::size_t kind = 0; kind < stage.kinds.size(); ++kind) {
    // What a tower's blocks hand on stays on the stage.
    if (stage.kinds[kind] > 0 && blocks.kinds[kind].output > Bytes{}) {
      input = std::max(input, blocks.kinds[kind].input);
      whole = std::max(whole, blocks.kinds[kind].output);
    }
  }
  Buffers own;
  own.gathered = plan.sequence_parallel && plan.tensor > 1 ? kBothWays * whole : Bytes{};
  own.received = plan.pipeline > 1 && rules.receives_ahead ? kBothWays * input : Bytes{};
  own.flat_gradients = rules.flat_gradients && plan.replicas() > 1 ? stage.gradients : Bytes{};
  if (rules.weight_gradient_dummies) {
    own.weight_gradient_dummies = dummies(plan, blocks, stage.kinds, stage.weight);
  }
  return own;
}

ProcessGroups process_groups(const Plan& plan) {
  ProcessGroups groups{.collective = 0, .sends = plan.pipeline > 1};
  const auto count = [&](std::int64_t ranks) { groups.collective += ranks > 1 ? 1 : 0; };
  count(plan.devices());
  count(plan.tensor);
  count(plan.context);
  count(plan.replicas());
  count(plan.expert);
  if (plan.expert > 1) {  // without, experts' groups are those of the rest
    count(plan.expert_tensor_degree());
    count(plan.expert_replicas());
  }
  if (plan.group() && *plan.group() < plan.replicas()) {
    count(*plan.group());
  }
  return groups;
}

RuntimeMemory runtime_memory(const Plan& plan, const Stack& stack, const Cluster& cluster) {
  const ProcessGroups groups = cluster.torus() == nullptr ? process_groups(plan) : ProcessGroups{};
  return {.context = stack.memory.context,
          .communicators = groups.collective * stack.memory.communicator +
                           (groups.sends ? stack.memory.sends : Bytes{}),
          .rest = stack.runtime_memory};
}

}  // namespace titer
