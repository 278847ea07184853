#include "titer/plan/memory/memory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "plan/memory/states.hpp"
#include "titer/plan/memory/peak_bound.hpp"

namespace titer {
namespace {

constexpr std::size_t kShapesFollowed = 1024;  // as many as a search is likely to go back to

/// What one micro-batch keeps of some layers, and what the one at work needs beyond that.
struct LayerBytes {
  Bytes kept;
  Bytes working;
  Bytes after_input_gradient;
  Bytes offloaded{};  // of what is kept
};

/// What a backward pass has beside what the forward pass kept: the gradient of an operation's
/// output, and that of the block's output, which waits for the residual sum. Core attention's
/// scores have a gradient as large as what is kept of them.
Bytes gradients_at_work(const Block& block) {
  Bytes most;
  for (const Operation& op : block.operations) {
    most = std::max({most, op.output_gradient, op.core_saved, op.working});
  }
  return most + block.input;
}

/// Of the input of a layer that is recomputed whole, what a rank keeps.
Bytes kept_input(const Plan& plan, const Block& block) {
  return plan.distribute_saved_activations ? block.input / static_cast<double>(plan.tensor)
                                           : block.input;
}

/// Of `count` layers of a kind, one after the other in a stage; whole-layer recomputation takes
/// `repeated` of them, and `offloaded` of all that is kept goes to the host.
LayerBytes layer_bytes(
    const Plan& plan, const Block& block, double count, double repeated, double offloaded) {
  const Bytes all = saved_bytes(block.operations);
  LayerBytes bytes{.kept = count * all,
                   .working = gradients_at_work(block),
                   .after_input_gradient = count * weight_gradient_bytes(block.operations)};
  if (plan.recompute == Recompute::full) {
    // One layer's activations, or of those whose input is kept together, are rebuilt from it.
    const double together = static_cast<double>(plan.recompute_every.value_or(1));
    const Bytes kept = kept_input(plan, block);
    bytes.kept = std::ceil(repeated / together) * kept + (count - repeated) * all;
    bytes.working += std::min(together, repeated) * all;
    bytes.working += repeated > 0 ? block.input - kept : Bytes{};  // whole while it is worked on
  } else if (plan.recompute != Recompute::none) {
    const Bytes left = kept_bytes(plan, block);
    bytes.kept = count * left;
    bytes.working += all - left;  // what is recomputed of one layer
  }
  if (plan.offload.activations && count > 0) {
    // Of the layer at work, and of the one whose copy is on its way.
    const double here = std::min(offloaded * count, plan.offload.prefetch ? 2.0 : 1.0);
    bytes.working += here / count * bytes.kept;
    bytes.offloaded = offloaded * bytes.kept;
    bytes.kept -= bytes.offloaded;
  }
  return bytes;
}

/// Of all layers of a stage.
LayerBytes stage_bytes(const Plan& plan,
                       const ModelBlocks& blocks,
                       const StageBlocks& contents,
                       int stage) {
  const std::span<const double> kinds = contents.kinds(stage);
  const std::span<const double> repeated = contents.repeated(stage);
  const double layers = std::accumulate(kinds.begin(), kinds.end(), 0.0);
  const double offloaded = plan.offload.share_of(layers * static_cast<double>(plan.virtual_stages));
  LayerBytes sum;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind] > 0) {
      const LayerBytes own =
          layer_bytes(plan, blocks.kinds[kind], kinds[kind], repeated[kind], offloaded);
      sum.kept += own.kept;
      sum.working = std::max(sum.working, own.working);
      sum.after_input_gradient += own.after_input_gradient;
      sum.offloaded += own.offloaded;
    }
  }
  return sum;
}

/// Passes of chunk 0 alive at the most, of `chunks` alive in all. Micro-batches go in groups of p,
/// and the first p (v-1) backward passes free other chunks.
int first_chunks_in_flight(int chunks, PipelineShape shape) {
  const int group = shape.stages * shape.virtual_stages;
  const int forwards = std::min(shape.micro_batches * shape.virtual_stages,
                                chunks + shape.stages * (shape.virtual_stages - 1));
  return forwards / group * shape.stages + std::min(forwards % group, shape.stages);
}

/// Passes of the last stage's last chunk alive at the most; when interleaved, as with 1F1B, each of
/// its backward passes follows its forward at once.
int last_chunks_in_flight(int chunks, PipelineShape shape) {
  return shape.virtual_stages == 1 ? chunks : 1;
}

/// The most that a rank with the last stage has at work: the head, as kept and with the gradient of
/// the logits, or a layer after the head's backward pass.
Bytes with_head(Bytes layers, const Block& head) {
  return std::max(layers, saved_bytes(head.operations) + gradients_at_work(head));
}

/// Whether the formulas above hold for a rank.
bool has_formula(const Plan& plan, int rank, PipelineShape shape, const StageBlocks& stages) {
  const bool whole_groups = shape.virtual_stages == 1 || (shape.group_size() == shape.stages &&
                                                          shape.micro_batches % shape.stages == 0);
  return plan.schedule.entry().has_plain_memory && whole_groups && !shape.overlaps &&
         stages.alike(rank);
}

/// The peak of a rank by formula. `layers`: of each of its stages.
void add_counted(const Plan& plan,
                 const MemoryNeeds& needs,
                 const LayerBytes& layers,
                 StageMemory& memory) {
  const int chunks = in_flight(plan.schedule, memory.stage, needs.shape);
  memory.activations = chunks * layers.kept;
  memory.working = layers.working;
  if (memory.stage == 0) {
    memory.activations += first_chunks_in_flight(chunks, needs.shape) *
                          saved_bytes(needs.blocks->embedding.operations);
  }
  if (memory.stage == needs.shape.stages - 1) {
    const Bytes head = saved_bytes(needs.blocks->head.operations);
    memory.working = with_head(layers.working, needs.blocks->head);
    memory.activations += (last_chunks_in_flight(chunks, needs.shape) - 1) * head;
  }
}

/// The peak of a rank along its actions. A head at work counts as working, not as kept.
void add_followed(const Plan& plan,
                  const MemoryNeeds& needs,
                  const ActivationMoments& moments,
                  std::span<const StageActivations> stages,
                  StageMemory& memory) {
  const ActivationPeak peak =
      moments.peak(placement(plan.schedule), memory.stage, needs.shape, stages);
  const Bytes at_work = peak.last_stages > 0 ? saved_bytes(needs.blocks->head.operations) : Bytes{};
  memory.activations = peak.kept - at_work;
  memory.working = peak.working + at_work;
}

}  // namespace

Bytes kept_bytes(const Plan& plan, const Block& block) {
  switch (plan.recompute) {
    case Recompute::full:
      return kept_input(plan, block);
    case Recompute::operations:
      return block.input + result_bytes(block.operations);
    case Recompute::none:
    case Recompute::selective:
    case Recompute::modules:
      break;
  }
  return saved_bytes(block.operations, plan.recomputed_modules());
}

Bytes working_bytes(const Plan& plan, const Block& block) {
  return layer_bytes(plan, block, 1, plan.recompute_layers ? 0 : 1, 0).working;
}

std::vector<StageActivations> stage_activations(const Plan& plan, const MemoryNeeds& needs) {
  StageBlocks stages;
  stages.fill(plan, *needs.blocks);
  std::vector<StageActivations> all;
  stage_activations(plan, needs, stages, all);
  return all;
}

void stage_activations(const Plan& plan,
                       const MemoryNeeds& needs,
                       const StageBlocks& stages,
                       std::vector<StageActivations>& all) {
  const ModelBlocks& blocks = *needs.blocks;
  all.clear();
  LayerBytes layers;
  for (int stage = 0; stage < stages.count(); ++stage) {
    if (stage == 0 || !stages.same(stage, stage - 1)) {
      layers = stage_bytes(plan, blocks, stages, stage);
    }
    // What full recomputation rebuilds for a layer's input gradient stays for its weight gradient.
    StageActivations one{.kept = layers.kept,
                         .after_input_gradient = layers.after_input_gradient,
                         .working = layers.working};
    if (stage == 0) {
      one.kept += saved_bytes(blocks.embedding.operations);
      one.after_input_gradient += weight_gradient_bytes(blocks.embedding.operations);
    }
    if (stage == stages.last()) {
      const Bytes head = saved_bytes(blocks.head.operations);
      one.kept += head;
      one.working = with_head(layers.working, blocks.head) - head;
      one.after_input_gradient += weight_gradient_bytes(blocks.head.operations);
    }
    all.push_back(one);
  }
}

const std::vector<ActivationMoments>& MemoryFinder::moments(const Schedule& schedule,
                                                            const PipelineShape& shape) {
  const auto is_of = [&](const Followed& known) {
    return known.shape == shape && is_same(known.schedule, schedule);
  };
  if (last_ < followed_.size() && is_of(followed_[last_])) {
    return followed_[last_].ranks;
  }
  const auto known = std::ranges::find_if(followed_, is_of);
  last_ = static_cast<std::size_t>(known - followed_.begin());
  if (known != followed_.end()) {
    return known->ranks;
  }
  Followed followed{.schedule = schedule, .shape = shape, .ranks = {}};
  for (const ActionList& list : action_lists(schedule, shape)) {
    followed.ranks.emplace_back(list);
  }
  if (followed_.size() < kShapesFollowed) {
    return followed_.emplace_back(std::move(followed)).ranks;
  }
  last_ = oldest_;
  oldest_ = (oldest_ + 1) % kShapesFollowed;
  followed_[last_] = std::move(followed);
  return followed_[last_].ranks;
}

void MemoryFinder::find(const Plan& plan,
                        const MemoryNeeds& needs,
                        std::vector<StageMemory>& stages) {
  contents_.fill(plan, *needs.blocks);
  find(plan, needs, contents_, stages);
}

void MemoryFinder::find(const Plan& plan,
                        const MemoryNeeds& needs,
                        const StageBlocks& contents,
                        std::vector<StageMemory>& stages) {
  stages.resize(static_cast<std::size_t>(needs.shape.stages));
  for (int rank = 0; rank < needs.shape.stages; ++rank) {
    StageMemory& memory = stages[static_cast<std::size_t>(rank)];
    if (contents.as_before(rank)) {
      memory = stages[static_cast<std::size_t>(rank - 1)];
      memory.stage = rank;
    } else {
      memory = states(plan, needs, contents, rank);
    }
  }
  find_activations(plan, needs, contents, stages);
  for (StageMemory& memory : stages) {
    // No micro-batch keeps anything by then.
    const Bytes step =
        needs.step > Bytes{} ? step_bytes(plan, needs, contents, memory.stage) : Bytes{};
    memory.working = std::max(memory.working, step - memory.activations);
    memory.runtime = needs.runtime + needs.allocator_overhead * memory.allocated();
  }
}

namespace {

/// Of as many passes as are alive at the most, each as if of the chunk that keeps most.
void add_offloaded_activations(const Plan& plan,
                               const MemoryNeeds& needs,
                               const StageBlocks& contents,
                               StageMemory& memory) {
  if (!plan.offload.activations) {
    return;
  }
  Bytes most;
  for (int chunk = 0; chunk < contents.chunks(); ++chunk) {
    const int stage = contents.of(memory.stage, chunk);
    most = std::max(most, stage_bytes(plan, *needs.blocks, contents, stage).offloaded);
  }
  memory.offloaded.add(*plan.offload.activations,
                       in_flight(plan.schedule, memory.stage, needs.shape) * most);
}

}  // namespace

void MemoryFinder::find_activations(const Plan& plan,
                                    const MemoryNeeds& needs,
                                    const StageBlocks& contents,
                                    std::vector<StageMemory>& stages) {
  const std::vector<ActivationMoments>* followed = nullptr;
  LayerBytes layers;
  std::optional<int> counted;  // whose layers these are
  for (StageMemory& memory : stages) {
    add_offloaded_activations(plan, needs, contents, memory);
    if (has_formula(plan, memory.stage, needs.shape, contents)) {
      const int stage = contents.of(memory.stage, 0);
      if (!counted || !contents.same(stage, *counted)) {
        layers = stage_bytes(plan, *needs.blocks, contents, stage);
        counted = stage;
      }
      add_counted(plan, needs, layers, memory);
      continue;
    }
    if (followed == nullptr) {
      stage_activations(plan, needs, contents, activations_);
      followed = &moments(plan.schedule, needs.shape);
    }
    const ActivationMoments& rank = (*followed)[static_cast<std::size_t>(memory.stage)];
    add_followed(plan, needs, rank, activations_, memory);
  }
}

}  // namespace titer
