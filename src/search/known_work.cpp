#include "titer/search/known_work.hpp"

#include <algorithm>

#include "titer/plan/place/placement.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostKnown = 1'000'000;  // some 150 MB
constexpr double kBelowProduct = 1 - 1e-9;     // for what rounding makes of it

/// Kernels slower by a factor make no sum of kernels and transfers longer by more than it, nor
/// shorter.
BlockWork at_pace(BlockWork work, double slower) {
  if (slower < 1) {
    for (Seconds* part : {&work.launched, &work.busy, &work.transferred}) {
      *part = kBelowProduct * slower * *part;
    }
  }
  return work;
}

}  // namespace

LayersPlace layers_place(const Scenario& scenario) {
  LayersPlace placed{.own_experts = scenario.plan.expert_replicas() == 1};
  for (std::size_t i = 0; i < kLayerGroups; ++i) {
    const auto of = static_cast<LayerGroup>(i);
    if (of == LayerGroup::data && scenario.model.if_layered() == nullptr) {
      continue;  // no operation of these layers is among replicas
    }
    const PlanGroup group = plan_group(of);
    if (group_ranks(scenario.plan, group).ranks > 1) {
      const GroupPlace at = place(scenario.plan, group, scenario.cluster);
      placed.groups.emplace_back(at.group, at.stride_in_node);
    }
  }
  return placed;
}

KnownWork::Layout KnownWork::layout_of(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  return {plan.tensor,
          plan.context,
          plan.expert,
          plan.expert_tensor,
          scenario.cluster.devices_per_node};
}

KnownWork::Layer KnownWork::layer_of(const Plan& plan, std::size_t place) {
  return {plan.micro_batch,
          plan.sequence_parallel,
          {plan.recompute, plan.recomputed},
          plan.tensor_overlap,
          place};
}

std::optional<BlockWork> KnownWork::find(const Scenario& scenario, const LayersPlace& place) const {
  const double pace = kernel_pace(scenario).all;
  const std::lock_guard lock(mutex_);
  const auto layout = layouts_.find(layout_of(scenario));
  if (layout == layouts_.end()) {
    return std::nullopt;
  }
  const auto& [places, layers] = layout->second;
  const auto number = static_cast<std::size_t>(std::ranges::find(places, place) - places.begin());
  const auto known = layers.find(layer_of(scenario.plan, number));
  return known == layers.end()
             ? std::nullopt
             : std::optional(at_pace(known->second.work, pace / known->second.pace));
}

void KnownWork::add(const Scenario& scenario, const LayersPlace& place, const BlockWork& work) {
  const double pace = kernel_pace(scenario).all;
  const std::lock_guard lock(mutex_);
  if (count_ == kMostKnown) {
    return;
  }
  KnownLayout& layout = layouts_[layout_of(scenario)];
  const auto found = std::ranges::find(layout.places, place);
  const auto number = static_cast<std::size_t>(found - layout.places.begin());
  if (found == layout.places.end()) {
    layout.places.push_back(place);
  }
  const bool is_new =
      layout.layers.emplace(layer_of(scenario.plan, number), Known{work, pace}).second;
  count_ += is_new ? 1 : 0;
}

}  // namespace titer
