#include "titer/cost/cost_finder.hpp"

#include "titer/cost/cost_parts.hpp"
#include "titer/cost/shard_cost.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/plan/plan_fields.hpp"

namespace titer {
namespace {

LayerKeys layer_keys_of(const Plan& plan) {
  return {.devices = plan.devices(),
          .launchers = plan.sharding == Sharding::data_parallel_root ? plan.data : 1};
}

}  // namespace

LayerPlaces layer_places(const Scenario& scenario) {
  LayerPlaces places{.own_experts = scenario.plan.expert_replicas() == 1};
  for (std::size_t i = 0; i < kLayerGroups; ++i) {
    const auto of = static_cast<LayerGroup>(i);
    if (of == LayerGroup::data && scenario.model.if_layered() == nullptr) {
      continue;  // only operations of a model's own are among these
    }
    const PlanGroup group = plan_group(of);
    if (group_ranks(scenario.plan, group).ranks > 1) {
      const GroupPlace at = place(scenario.plan, group, scenario.cluster);
      places.groups[i] = at.group;
      places.strides[i] = at.stride_in_node;
    }
  }
  return places;
}

void CostFinder::find(const Scenario& scenario, Changed changed) {
  const bool may_keep = changed == Changed::plan && complete_;
  complete_ = false;
  fill_shape(scenario, costs_);
  const bool same_places = may_keep && are_same<kPlaces>(plan_, scenario.plan);
  const bool same_stage_keys = may_keep && are_same<kStages>(plan_, scenario.plan) &&
                               placement(plan_.schedule) == placement(scenario.plan.schedule);
  const bool was_moved = moved_;
  moved_ = moves_with_passes(scenario);
  same_layers_ = keeps_layers(scenario, may_keep, same_places);
  if (!same_layers_) {
    find_layers(scenario);
  } else if (was_moved) {
    restore_layers();
  }
  const bool same_stages = find_stages(scenario.plan, same_stage_keys);
  if (!same_places || !same_stages) {
    costs_.groups = sync_groups(scenario, costs_.placement, 0);
    fill_trained(scenario.plan, costs_);
  }
  add_pass_transfers(scenario, costs_);
  same_sends_ = find_sends(scenario) && same_stages;
  if (!same_sends_) {
    costs_.embedding_sync = embedding_sync_time(scenario, costs_);
  }
  same_passes_ = same_stages && !moved_ && !was_moved;
  fill_synchronisation(scenario, costs_);
  plan_ = scenario.plan;
  complete_ = true;
}

/// Whether layers are those of the find() before.
bool CostFinder::keeps_layers(const Scenario& scenario, bool may_keep, bool same_places) {
  const LayerKeys keys = layer_keys_of(scenario.plan);
  bool same = may_keep && keys == layer_keys_ && are_same<kLayerCosts>(plan_, scenario.plan);
  layer_keys_ = keys;
  if (!same_places) {
    const LayerPlaces places = layer_places(scenario);
    same = same && places == layer_places_;
    layer_places_ = places;
  }
  return same;
}

/// Whether layers and stages are.
bool CostFinder::find_stages(const Plan& plan, bool same_keys) {
  if (same_layers_ && same_keys) {
    return true;
  }
  costs_.contents.fill(plan, costs_.blocks);
  return false;
}

/// Whether what stages send and its way are.
bool CostFinder::find_sends(const Scenario& scenario) {
  const GroupRanks pipeline = group_ranks(scenario.plan, PlanGroup::pipeline);
  if (same_layers_ && pipeline == pipeline_) {
    return true;
  }
  fill_sends(scenario, costs_);
  pipeline_ = pipeline;
  return false;
}

void CostFinder::find_layers(const Scenario& scenario) {
  fill_layer_costs(scenario, costs_);
  kinds_ = costs_.kinds;
  embedding_ = costs_.embedding;
  head_ = costs_.head;
}

void CostFinder::restore_layers() {
  costs_.kinds = kinds_;
  costs_.embedding = embedding_;
  costs_.head = head_;
}

}  // namespace titer
