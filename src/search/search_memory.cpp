// Plans that need too much memory, told before their times are known.

#include <algorithm>

#include "search_worker.hpp"
#include "titer/estimate/model_state.hpp"

namespace titer {

bool SearchWorker::keeps_activations() const {
  const std::vector<Offload>& offloads = tree_->space().offload;
  return std::none_of(offloads.begin(), offloads.end(), [](const Offload& offload) {
    return offload.activations.has_value();
  });
}

/// Whether a schedule that goes back only after all forward passes keeps too much by the least of
/// its chunks alone: told without following it.
bool SearchWorker::keeps_too_much() {
  if (!scenario_.plan.schedule.entry().forwards_first) {
    return false;
  }
  stage_activations(
      scenario_.plan, memory_needs(scenario_, costs_->blocks), costs_->contents, activations_);
  Bytes least = activations_.front().kept;
  for (const StageActivations& stage : activations_) {
    least = std::min(least, stage.kept);
  }
  return in_flight(scenario_.plan.schedule, 0, costs_->shape) * least > capacity_;
}

/// What ranks need for activations and outside the tensors, however their state is kept.
SearchWorker::LeastMemory SearchWorker::any_state(const Scenario& scenario,
                                                  PipelineShape shape,
                                                  const StageBlocks& contents) {
  MemoryNeeds needs = memory_needs(scenario, costs_->blocks);
  needs.shape = shape;
  needs.step = {};  // by how their state is kept
  memory_.find(scenario.plan, needs, contents, stages_);
  LeastMemory memory{.least = needs.runtime + stages_.front().activations, .most = {}};
  for (const StageMemory& stage : stages_) {
    memory.least = std::min(memory.least, needs.runtime + stage.activations);
    memory.most = std::max(memory.most, needs.runtime + stage.activations + stage.working);
  }
  return memory;
}

/// What some rank keeps of the activations of one micro-batch, and outside the tensors. After the
/// forward pass of its last chunk it has those of all its chunks: with any schedule some rank keeps
/// no less than the mean of all, which is no less than the least with one chunk each.
Bytes SearchWorker::least_activations() {
  if (!keeps_activations() || plain_.plan.recompute_layers) {
    return {};
  }
  PipelineShape shape = plain_.shape();
  shape.micro_batches = 1;
  return any_state(plain_, shape, contents_of(plain_.plan, costs_->blocks.order)).least;
}

/// What some device has of the optimizer's states, as each is on one of them at least.
Bytes SearchWorker::least_state() const {
  return optimizer_ / static_cast<double>(plain_.plan.devices());
}

Bytes states_on_devices(const Search& search, const SearchSpace& space) {
  const bool elsewhere =
      std::any_of(space.offload.begin(),
                  space.offload.end(),
                  [](const Offload& offload) { return offload.optimizer.has_value(); }) ||
      std::find(space.sharding.begin(), space.sharding.end(), Sharding::parameter_server) !=
          space.sharding.end();
  return elsewhere ? Bytes{} : model_state(search.scenario).optimizer;
}

}  // namespace titer
