#include "plan/memory/states.hpp"

#include <utility>

#include "plan/schedule/gathered.hpp"
#include "titer/plan/memory/matrices.hpp"
#include "titer/plan/place/placement.hpp"

namespace titer {
namespace {

/// How many ranks split each state of a parameter among them, and of an expert's.
struct StateShards {
  DeviceParameters weights{.dense = 1, .experts = 1};
  DeviceParameters gradients{.dense = 1, .experts = 1};
  DeviceParameters optimizer{.dense = 1, .experts = 1};
  bool cuts_matrices = false;  // none has one owner
};

StateShards state_shards(const Plan& plan, const MemoryNeeds& needs) {
  const DeviceParameters all{.dense = needs.same_weights * static_cast<double>(shard_ranks(plan)),
                             .experts = static_cast<double>(expert_shard_ranks(plan))};
  const SplitStates splits = plan.splits();
  StateShards shards{.cuts_matrices = splits.gradients};
  if (splits.weights) {
    shards.weights = all;
  }
  if (splits.gradients && plan.reduces_every_pass()) {
    shards.gradients = all;
  }
  if (splits.optimizer) {
    shards.optimizer = all;
  }
  return shards;
}

double sharded(const DeviceParameters& parameters, const DeviceParameters& shards) {
  return parameters.dense / shards.dense + parameters.experts / shards.experts;
}

/// Of adapters as they are trained, of the rest as it is kept beside them.
Bytes weight_states(const MemoryNeeds& needs,
                    const StageBlocks& contents,
                    const StageMemory& memory,
                    const DeviceParameters& trained,
                    const DeviceParameters& shards) {
  const Bytes each = needs.parameter.weight;
  if (!needs.frozen) {
    return sharded(memory.parameters, shards) * each;
  }
  const DeviceParameters others{.dense = memory.parameters.dense - trained.dense,
                                .experts = memory.parameters.experts - trained.experts};
  const Bytes all =
      sharded(trained, shards) * each + sharded(others, shards) * needs.frozen->weight;
  if (!needs.frozen->quantised) {
    return all;
  }
  const RankMatrices matrices = frozen_matrices(*needs.blocks, contents, memory.stage);
  return all - matrices.parameters().total() * needs.frozen->weight +
         quantised_bytes(matrices, *needs.frozen->quantised);
}

/// Of matrices that are updated as such the rank that has most of them, where each has one owner.
Bytes optimizer_states(const MemoryNeeds& needs,
                       const StageBlocks& contents,
                       int rank,
                       const DeviceParameters& trained,
                       const StateShards& split) {
  const DeviceParameters& shards = split.optimizer;
  const Bytes each = needs.parameter.optimizer;
  if (!needs.parameter.matrix) {
    return sharded(trained, shards) * each;
  }
  const RankMatrices all = trained_matrices(*needs.blocks, contents, rank);
  const DeviceParameters of_matrices = all.parameters();
  const DeviceParameters others{.dense = trained.dense - of_matrices.dense,
                                .experts = trained.experts - of_matrices.experts};
  const Bytes of_others = sharded(others, shards) * each;
  if (split.cuts_matrices) {
    return of_others + sharded(of_matrices, shards) * *needs.parameter.matrix;
  }
  const RankMatrices own{.dense = busiest_owner(all.dense, static_cast<int>(shards.dense)),
                         .experts = busiest_owner(all.experts, static_cast<int>(shards.experts))};
  return of_others + matrix_states(needs.parameter, own.dense) +
         matrix_states(needs.parameter, own.experts);
}

}  // namespace

StageMemory states(const Plan& plan,
                   const MemoryNeeds& needs,
                   const StageBlocks& contents,
                   int rank) {
  StageMemory memory{.stage = rank,
                     .parameters = rank_parameters(*needs.blocks, contents, plan, rank)};
  const StateShards shards = state_shards(plan, needs);
  const DeviceParameters trained = trained_parameters(*needs.blocks, contents, plan, rank);
  memory.trained = trained;
  memory.weights = weight_states(needs, contents, memory, trained, shards.weights);
  if (plan.offload.weights) {
    memory.offloaded.add(*plan.offload.weights, std::exchange(memory.weights, Bytes{}));
  }
  memory.gradients = sharded(trained, shards.gradients) * needs.parameter.gradient;
  if (plan.offload.gradients) {
    memory.offloaded.add(*plan.offload.gradients, std::exchange(memory.gradients, Bytes{}));
  } else if (plan.offload.updates_on_host()) {
    memory.offloaded.add(HostPlace::host,
                         sharded(trained, shards.optimizer) * needs.parameter.gradient);
  }
  if (plan.sharding != Sharding::parameter_server) {
    memory.optimizer = optimizer_states(needs, contents, rank, trained, shards);
  }
  if (plan.offload.optimizer) {
    memory.offloaded.add(*plan.offload.optimizer, std::exchange(memory.optimizer, Bytes{}));
  }
  if (plan.local_steps) {
    const Bytes outer = sharded(trained, shards.optimizer) * kOuterState;
    if (plan.local_steps->state) {
      memory.offloaded.add(*plan.local_steps->state, outer);
    } else {
      memory.optimizer += outer;
    }
  }
  memory.buffers = rank_buffers(plan, needs, contents, memory).total() +
                   gathered_bytes(plan, contents, rank, needs);
  return memory;
}

Bytes step_bytes(const Plan& plan,
                 const MemoryNeeds& needs,
                 const StageBlocks& contents,
                 int rank) {
  const DeviceParameters trained = trained_parameters(*needs.blocks, contents, plan, rank);
  return plan.offload.optimizer
             ? Bytes{}
             : sharded(trained, state_shards(plan, needs).optimizer) * needs.step;
}

Buffers rank_buffers(const Plan& plan,
                     const MemoryNeeds& needs,
                     const StageBlocks& stages,
                     const StageMemory& memory) {
  Buffers most;
  const int different = stages.alike(memory.stage) ? 1 : stages.chunks();
  for (int chunk = 0; chunk < different; ++chunk) {
    const Buffers own = buffers(plan,
                                needs.buffers,
                                *needs.blocks,
                                {.kinds = stages.kinds(stages.of(memory.stage, chunk)),
                                 .weight = needs.parameter.weight,
                                 .gradients = memory.gradients});
    most = own.total() > most.total() ? own : most;
  }
  return most;
}

}  // namespace titer
