// What of a plan is below its place: the schedule with its chunks, how layers are shared out, and
// how the state is kept.

#include "titer/search/search_space.hpp"

namespace titer {

/// One stage needs no schedule; the first that is allowed stands for all, 1F1B where it is.
void PlanTree::add_pipelines(const LayerChoice& layer, const PlanPlace& place) {
  const PipelineKey key = pipeline_key(layer, place);
  const auto [at, is_new] = pipelines_.try_emplace(key);
  if (!is_new) {
    return;
  }
  std::vector<PipelineChoice>& choices = at->second;
  Plan plan = scenario_->plan;
  plan.pipeline = place.pipeline;
  plan.expert_overlap = layer.exchange.overlap;
  for (std::size_t i = 0; i < space_->schedule.size(); ++i) {
    for (const PipelineChoice& choice : ways_of(i, place.pipeline)) {
      put(choice, plan);
      if (is_able(abilities_, plan, PlanPart::schedule) && is_possible(choice, key)) {
        choices.push_back(choice);
      }
    }
    if (place.pipeline == 1 && !choices.empty()) {
      return;
    }
  }
}

/// With every number of chunks, and every way to share the layers out.
std::vector<PipelineChoice> PlanTree::ways_of(std::size_t number, std::int64_t pipeline) const {
  const Schedule& schedule = space_->schedule[number];
  const bool chooses = interleaves(schedule) && pipeline > 1;
  const std::vector<std::int64_t> usual = {usual_chunks(schedule)};
  std::vector<PipelineChoice> ways;
  for (const std::int64_t v : chooses ? space_->virtual_stages : usual) {
    for (std::size_t split = 0; split < space_->layers.size(); ++split) {
      ways.push_back({.schedule = number, .virtual_stages = v, .layers = split});
    }
  }
  return ways;
}

bool PlanTree::shares_alike(const LayerSplit& split, int stages) const {
  const std::int64_t layers = scenario_->model.layers();
  return !is_listed(split) && !refusal(split, layers, stages) &&
         left_over(split, layers, stages) == 0;
}

/// Where the ranks can have as many layers each, chunks or rules that make them unlike are not
/// tried.
bool PlanTree::is_possible(const PipelineChoice& choice, const PipelineKey& key) const {
  const auto [pipeline, micro_batches, overlap] = key;
  const Schedule& schedule = space_->schedule[choice.schedule];
  const PipelineShape shape{.stages = static_cast<int>(pipeline),
                            .micro_batches = static_cast<int>(micro_batches),
                            .virtual_stages = static_cast<int>(choice.virtual_stages),
                            .group = scenario_->plan.micro_batch_group,
                            .overlaps = overlap};
  const int stages = model_stages(placement(schedule), shape);
  const LayerSplit split = layers_of(choice.layers, stages);
  for (std::size_t before = 0; before < choice.layers; ++before) {
    const LayerSplit other = layers_of(before, stages);
    if (other == split || shares_alike(other, shape.stages)) {
      return false;
    }
  }
  if (refusal(split, scenario_->model.layers(), stages) || refusal(schedule, shape)) {
    return false;
  }
  return !shares_alike(split, shape.stages) || shares_alike(split, stages);
}

PlanTree::Setting PlanTree::setting(const PlanLayout& layout, const PlanPlace& place) {
  const std::int64_t replicas = place.data * layout.context;
  return {.alone = replicas == 1 && layout.tensor == layout.expert_tensor.value_or(layout.tensor),
          .pipelined = place.pipeline > 1,
          .split = layout.tensor > 1};
}

/// Ways to overlap that the plan's sharding has: updated parameters are gathered by the buckets of
/// zero1.
std::vector<StateChoice::Overlap> PlanTree::overlaps_of(Plan plan) const {
  std::vector<StateChoice::Overlap> overlaps;
  const auto add = [&](bool reduce, bool gather) {
    plan.overlap_grad_reduce = reduce;
    plan.overlap_param_gather = gather;
    if (is_able(abilities_, plan, PlanPart::state)) {
      overlaps.push_back({reduce, gather});
    }
  };
  for (const bool reduce : space_->overlap_grad_reduce) {
    if (plan.sharding != Sharding::zero1 || !reduce) {
      add(reduce, false);
      continue;
    }
    for (const bool gather : space_->overlap_param_gather) {
      add(reduce, gather);
    }
  }
  return overlaps;
}

void PlanTree::add_states(Setting setting) {
  std::vector<StateChoice>& list = states_[setting.number()];
  Plan plan = scenario_->plan;
  plan.pipeline = setting.pipelined ? 2 : 1;
  plan.tensor = setting.split ? 2 : 1;
  plan.data = setting.alone ? 1 : 2;
  plan.context = 1;
  plan.expert_tensor.reset();
  for (const Sharding sharding :
       setting.alone ? std::vector{space_->sharding.front()} : space_->sharding) {
    for (std::size_t offload = 0; offload < space_->offload.size(); ++offload) {
      plan.sharding = sharding;
      plan.offload = space_->offload[offload];
      std::vector<StateChoice::Overlap> overlaps = overlaps_of(plan);
      if (setting.alone && !overlaps.empty()) {
        overlaps.resize(1);
      }
      if (!overlaps.empty()) {
        leaves_[setting.number()] += overlaps.size();
        list.push_back({.sharding = sharding, .offload = offload, .overlaps = std::move(overlaps)});
      }
    }
  }
}

LayerSplit PlanTree::layers_of(std::size_t number, std::int64_t stages) const {
  const LayerSplit& split = space_->layers[number];
  const auto* list = std::get_if<std::vector<std::int64_t>>(&split);
  return list == nullptr || std::ssize(*list) == stages ? split : LayerRule::even;
}

LayerSplit PlanTree::any_layers_of(std::int64_t stages) const {
  for (std::size_t number = 0; number < space_->layers.size(); ++number) {
    LayerSplit split = layers_of(number, stages);
    if (!refusal(split, scenario_->model.layers(), static_cast<int>(stages))) {
      return split;
    }
  }
  return layers_of(0, stages);
}

}  // namespace titer
