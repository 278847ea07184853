#include "titer/search/bound/memory_bound.hpp"

#include <algorithm>

#include "titer/estimate/estimate.hpp"

namespace titer {
namespace {

constexpr double kBelowSums = 1 - 1e-9;  // of sums of the same bytes in another order

bool keep_activations(const SearchSpace& space) {
  return std::ranges::none_of(
      space.offload, [](const Offload& offload) { return offload.activations.has_value(); });
}

/// Whether the only rank of a pipeline has all layers as one chunk.
bool has_one_chunk(const SearchSpace& space, const std::vector<PipelineChoice>& pipelines) {
  return std::ranges::all_of(pipelines, [&](const PipelineChoice& choice) {
    const PipelineShape shape{.stages = 1,
                              .micro_batches = 1,
                              .virtual_stages = static_cast<int>(choice.virtual_stages),
                              .group = {}};
    return chunks_per_rank(placement(space.schedule[choice.schedule]), shape) == 1;
  });
}

}  // namespace

BlocksKey blocks_key(const Scenario& scenario, const LayerChoice& layer) {
  const Slice slice = scenario.slice();
  return {.layout = layer.layout,
          .micro_batch = layer.micro_batch,
          .sequence_parallel = layer.sequence_parallel,
          .own_experts = scenario.plan.expert_replicas() == 1,
          .expert_load = slice.expert_load,
          .expert_kept = slice.expert_kept,
          .expert_sent = slice.expert_sent,
          .gathers_tokens = slice.gathers_tokens,
          .shared_aside = slice.shared_aside};
}

MemoryBound::MemoryBound(const Scenario& scenario, const PlanTree& tree)
    : tree_(&tree),
      keeps_activations_(keep_activations(tree.space())),
      scenario_(scenario),
      states_(tree.layouts().size()) {}

Bytes MemoryBound::find(const LayerChoice& layer, std::size_t place) {
  tree_->put(layer, scenario_.plan);
  tree_->put(tree_->layout(layer).places[place], scenario_.plan);
  take_blocks(layer);
  const Bytes states = of_states(layer, place);
  if (!keeps_activations_) {
    return kBelowSums * states;
  }
  if (recompute_ != layer.recompute) {
    passes_ = pass_bytes(scenario_.plan, blocks_);
    recompute_ = layer.recompute;
  }
  const MemoryNeeds needs = memory_needs(scenario_, blocks_);
  const Bytes passes = pass_bound(scenario_.plan, needs, passes_);
  return kBelowSums * (states + (1 + needs.allocator_overhead) * passes);
}

/// Of all ways to keep the state: the least that `bound` says of tensors with its needs, and what
/// is outside of them.
template <class Bound>
std::optional<Bytes> MemoryBound::least_of(std::span<const StateChoice> states,
                                           const ModelBlocks& blocks,
                                           Scenario& scenario,
                                           const Bound& bound) const {
  std::optional<Bytes> least;
  for (const StateChoice& state : states) {
    tree_->put(state, state.overlaps.front(), scenario.plan);
    const MemoryNeeds needs = memory_needs(scenario, blocks);
    const Bytes own = needs.runtime + (1 + needs.allocator_overhead) * bound(needs);
    least = least ? std::min(*least, own) : own;
  }
  return least;
}

Bytes MemoryBound::of_pipeline(std::span<const StateChoice> states,
                               const ModelBlocks& blocks,
                               const StageBlocks& contents,
                               Scenario& scenario) {
  tree_->put(states.front(), states.front().overlaps.front(), scenario.plan);
  const MemoryNeeds first = memory_needs(scenario, blocks);
  of_ranks_.assign(static_cast<std::size_t>(first.shape.stages), Bytes{});
  if (keeps_activations_) {
    stage_activations(scenario.plan, first, contents, activations_);
    pipeline_pass_bounds(scenario.plan, first, contents, activations_, of_ranks_);
  }
  const auto least = least_of(states, blocks, scenario, [&](const MemoryNeeds& needs) {
    return pipeline_bound(scenario.plan, needs, contents, of_ranks_);
  });
  return kBelowSums * *least;
}

void MemoryBound::take_blocks(const LayerChoice& layer) {
  const BlocksKey key = blocks_key(scenario_, layer);
  if (key_ != key) {
    scenario_blocks(scenario_, blocks_);
    key_ = key;
    recompute_.reset();
  }
}

/// What a layer is split into is all that its parameters depend on.
Bytes MemoryBound::of_states(const LayerChoice& layer, std::size_t place) {
  std::vector<std::optional<Bytes>>& known = states_[layer.layout];
  known.resize(tree_->layout(layer).places.size());
  if (!known[place]) {
    known[place] = least_of_states(layer, tree_->layout(layer).places[place]);
  }
  return *known[place];
}

Bytes MemoryBound::least_of_states(const LayerChoice& layer, const PlanPlace& place) {
  Plan one = scenario_.plan;
  one.pipeline = 1;
  one.schedule = Schedule();
  one.virtual_stages = 1;
  one.layers = LayerRule::even;
  StageBlocks whole;
  whole.fill(one, blocks_);
  const bool alone =
      place.pipeline == 1 && has_one_chunk(tree_->space(), tree_->pipelines(layer, place));
  const auto least =
      least_of(tree_->states(layer, place), blocks_, scenario_, [&](const MemoryNeeds& needs) {
        return state_bound(scenario_.plan, needs, whole, alone);
      });
  return least.value_or(Bytes{});
}

}  // namespace titer
