#include "titer/plan/memory/peak_bound.hpp"

#include <algorithm>

#include "plan/memory/states.hpp"
#include "plan/schedule/gathered.hpp"
#include "titer/plan/layers.hpp"

namespace titer {
namespace {

double layers_of_kind(const ModelBlocks& blocks, std::size_t kind) {
  double sum = 0;
  for (const LayerRun& run : blocks.order) {
    sum += static_cast<std::size_t>(run.kind) == kind ? static_cast<double>(run.count) : 0;
  }
  return sum;
}

/// Of the kind with least.
template <class BytesOf>
Bytes least_of_kinds(const ModelBlocks& blocks, const BytesOf& bytes_of) {
  Bytes least;
  for (std::size_t kind = 0; kind < blocks.kinds.size(); ++kind) {
    const Bytes own = bytes_of(kind);
    least = kind == 0 ? own : std::min(least, own);
  }
  return least;
}

/// Of the software, with a layer of this kind alone.
Bytes buffered(const Plan& plan, const MemoryNeeds& needs, std::size_t kind) {
  std::vector<double> kinds(needs.blocks->kinds.size());
  kinds[kind] = 1;
  BufferRules rules = needs.buffers;
  rules.flat_gradients = false;  // among the states
  return buffers(plan,
                 rules,
                 *needs.blocks,
                 {.kinds = kinds, .weight = needs.parameter.weight, .gradients = {}})
      .total();
}

/// Of a layer of the smallest kind, as it is gathered and its gradients are sent on.
Bytes least_gathered(const Plan& plan, const MemoryNeeds& needs) {
  const bool gathers = plan.sharding == Sharding::zero3 || plan.offload.weights;
  const Bytes each = (gathers ? needs.parameter.gathered : Bytes{}) +
                     (plan.reduces_every_pass() ? needs.parameter.gradient : Bytes{});
  return least_of_kinds(*needs.blocks, [&](std::size_t kind) {
    return passing_parameters(needs.blocks->kinds[kind].parameters, plan) * each;
  });
}

/// What of a chunk in flight is there at least: after its input gradient what the weights' takes.
Bytes kept_in_flight(const Schedule& schedule, const StageActivations& stage) {
  return schedule.entry().splits ? std::min(stage.kept, stage.after_input_gradient) : stage.kept;
}

/// Of one rank.
Bytes rank_pass_bound(const Plan& plan,
                      const MemoryNeeds& needs,
                      const StageBlocks& contents,
                      std::span<const StageActivations> stages,
                      int rank) {
  const auto of = [&](int chunk) -> const StageActivations& {
    return stages[static_cast<std::size_t>(contents.of(rank, chunk))];
  };
  Bytes all;  // of one micro-batch, before any of it has gone back
  Bytes kept = kept_in_flight(plan.schedule, of(0));
  Bytes working = of(0).working;
  int last = 0;  // chunk
  for (int chunk = 0; chunk < contents.chunks(); ++chunk) {
    all += of(chunk).kept;
    kept = std::min(kept, kept_in_flight(plan.schedule, of(chunk)));
    working = std::min(working, of(chunk).working);
    last = contents.of(rank, chunk) > contents.of(rank, last) ? chunk : last;
  }
  const bool one_way = contents.placement() != Placement::two_ways;
  const Bytes first = one_way ? all + of(last).working : Bytes{};
  const ScheduleEntry& entry = plan.schedule.entry();
  const bool tells = entry.in_flight != nullptr && (entry.has_plain_memory || entry.forwards_first);
  const std::optional<int> most = tells ? entry.in_flight(rank, needs.shape) : std::nullopt;
  return most ? std::max(first, *most * kept + working) : first;
}

}  // namespace

PassBytes pass_bytes(const Plan& plan, const ModelBlocks& blocks) {
  const double together = plan.recompute == Recompute::full
                              ? static_cast<double>(plan.recompute_every.value_or(1))
                              : 1.0;
  PassBytes passes{.kept = saved_bytes(blocks.embedding.operations),
                   .working = least_of_kinds(blocks, [&](std::size_t kind) {
                     return working_bytes(plan, blocks.kinds[kind]);
                   })};
  for (std::size_t kind = 0; kind < blocks.kinds.size(); ++kind) {
    passes.kept += layers_of_kind(blocks, kind) / together * kept_bytes(plan, blocks.kinds[kind]);
  }
  return passes;
}

Bytes pass_bound(const Plan& plan, const MemoryNeeds& needs, const PassBytes& passes) {
  const Bytes kept = passes.kept / static_cast<double>(plan.pipeline);
  if (!is_even(plan.layers)) {
    return kept;
  }
  return kept + passes.working + least_of_kinds(*needs.blocks, [&](std::size_t kind) {
           return buffered(plan, needs, kind);
         });
}

void pipeline_pass_bounds(const Plan& plan,
                          const MemoryNeeds& needs,
                          const StageBlocks& contents,
                          std::span<const StageActivations> stages,
                          std::vector<Bytes>& of_ranks) {
  of_ranks.clear();
  for (int rank = 0; rank < needs.shape.stages; ++rank) {
    of_ranks.push_back(rank_pass_bound(plan, needs, contents, stages, rank));
  }
}

Bytes pipeline_bound(const Plan& plan,
                     const MemoryNeeds& needs,
                     const StageBlocks& contents,
                     std::span<const Bytes> passes) {
  Bytes most;
  Bytes state;
  for (int rank = 0; rank < needs.shape.stages; ++rank) {
    if (!contents.as_before(rank)) {
      state = states(plan, needs, contents, rank).fixed();
    }
    most = std::max(most, state + passes[static_cast<std::size_t>(rank)]);
  }
  return most;
}

Bytes state_bound(const Plan& plan,
                  const MemoryNeeds& needs,
                  const StageBlocks& whole,
                  bool alone) {
  const StageMemory all = states(plan, needs, whole, 0);
  Bytes sum = all.weights + all.gradients;
  if (!needs.parameter.matrix) {  // how well owners share these out depends on the stages
    sum += all.optimizer;
  }
  if (needs.buffers.flat_gradients && plan.replicas() > 1) {
    sum += all.gradients;
  }
  const Bytes mean = sum / static_cast<double>(plan.pipeline);
  if (alone) {
    return mean + gathered_bytes(plan, whole, 0, needs);
  }
  return is_even(plan.layers) ? mean + least_gathered(plan, needs) : mean;
}

}  // namespace titer
