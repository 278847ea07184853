// The plans of a space as a tree.

#include <tuple>

#include "titer/plan/place/placement.hpp"
#include "titer/scenario/expert_overlap.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/search/search_space.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// Where all groups of a plan are on the nodes: equal numbers, equal times. Of devices that differ
/// by their numbers, which of them is which rank tells.
std::vector<std::int64_t> signature(const Plan& plan, const Cluster& cluster, bool differ) {
  std::vector<std::int64_t> numbers;
  if (differ || cluster.torus() != nullptr) {
    for (const Dimension dimension : plan.rank_order) {
      if (plan.degree(dimension) > 1) {
        numbers.push_back(static_cast<std::int64_t>(dimension));
      }
    }
    return numbers;
  }
  const int devices = cluster.devices_per_node;
  for (const PlanGroup group : {PlanGroup::tensor,
                                PlanGroup::context,
                                PlanGroup::data,
                                PlanGroup::context_inner,
                                PlanGroup::context_outer,
                                PlanGroup::replicas,
                                PlanGroup::shard,
                                PlanGroup::shard_copies,
                                PlanGroup::expert,
                                PlanGroup::expert_tensor,
                                PlanGroup::expert_replicas,
                                PlanGroup::expert_shard,
                                PlanGroup::expert_shard_copies,
                                PlanGroup::pipeline}) {
    if (group_ranks(plan, group).ranks > 1) {
      const GroupPlace at = place(plan, group, devices);
      numbers.insert(numbers.end(), {at.group.per_node, at.group.nodes, at.stride_in_node});
    }
  }
  // Whole nodes apart, all stages are on nodes of their own; otherwise their distance tells which
  // share one.
  const GroupRanks stages = group_ranks(plan, PlanGroup::pipeline);
  if (stages.ranks > 1 && stages.stride % devices != 0) {
    numbers.push_back(stages.stride);
  }
  return numbers;
}

/// Each of the ways with each of the values.
template <class T>
std::vector<ExpertExchange> with_each(const std::vector<ExpertExchange>& ways,
                                      const std::vector<T>& values,
                                      T ExpertExchange::*part) {
  std::vector<ExpertExchange> all;
  for (const ExpertExchange& way : ways) {
    for (const T& value : values) {
      all.push_back(way);
      all.back().*part = value;
    }
  }
  return all;
}

template <class T>
std::vector<T> first_of(const std::vector<T>& values) {
  return {values.front()};
}

}  // namespace

PlanTree::PlanTree(const Scenario& scenario,
                   const SearchSpace& space,
                   std::span<const std::int64_t> devices,
                   Abilities abilities)
    : scenario_(&scenario),
      space_(&space),
      abilities_(std::move(abilities)),
      global_batch_(scenario.training.global_batch) {
  for (const bool alone : {false, true}) {
    for (const bool pipelined : {false, true}) {
      add_states({.alone = alone, .pipelined = pipelined, .split = false});
      add_states({.alone = alone, .pipelined = pipelined, .split = true});
    }
  }
  for (const std::int64_t number : devices) {
    add_layouts(number);
  }
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    add_layers(i);
  }
}

void PlanTree::add_layouts(std::int64_t devices) {
  const Transformer* transformer = scenario_->model.if_transformer();
  for (const std::int64_t tensor : space_->tensor) {
    if (devices % tensor != 0 || (transformer != nullptr && transformer->heads % tensor != 0) ||
        !can_share_heads(abilities_, scenario_->model, tensor)) {
      continue;
    }
    for (const std::int64_t context : space_->context) {
      if (devices / tensor % context == 0) {
        add_experts({.devices = devices, .tensor = tensor, .context = context, .places = {}});
      }
    }
  }
}

void PlanTree::add_experts(PlanLayout layout) {
  for (const std::int64_t expert : space_->expert) {
    for (const std::optional<std::int64_t>& own : space_->expert_tensor) {
      const bool same = own && *own == layout.tensor && space_->expert_tensor.size() > 1;
      if (same) {
        continue;  // there is none beside it
      }
      layout.expert = expert;
      layout.expert_tensor = own;
      add_places(layout);
      if (!layout.places.empty()) {
        layouts_.push_back(layout);
      }
    }
  }
}

/// Whether islands and experts share the plan's devices out.
bool PlanTree::can_place(const Plan& plan) const {
  if (plan.local_steps && plan.data % plan.local_steps->islands != 0) {
    return false;
  }
  return plan.stage_devices() % plan.expert_ranks() == 0 &&
         is_able(abilities_, plan, PlanPart::degrees);
}

void PlanTree::add_places(PlanLayout& layout) const {
  layout.places.clear();
  Plan plan = scenario_->plan;
  plan.tensor = layout.tensor;
  plan.context = layout.context;
  plan.expert = layout.expert;
  plan.expert_tensor = layout.expert_tensor;
  for (const std::int64_t pipeline : space_->pipeline) {
    const std::int64_t rest = layout.devices / (layout.tensor * layout.context);
    plan.pipeline = pipeline;
    plan.data = rest / pipeline;
    if (rest % pipeline != 0 || !can_place(plan)) {
      continue;
    }
    std::vector<std::vector<std::int64_t>> seen;
    for (const auto& order : space_->rank_order) {
      plan.rank_order = order;
      if (refused_order(plan)) {
        continue;
      }
      auto placed = signature(plan, scenario_->cluster, !scenario_->conditions.devices.empty());
      if (!includes(seen, placed)) {
        layout.places.push_back({pipeline, plan.data, order});
        seen.push_back(std::move(placed));
      }
    }
  }
}

void PlanTree::add_layers(std::size_t layout) {
  for (const std::int64_t micro_batch : space_->micro_batch) {
    add_layer_choices({.layout = layout, .micro_batch = micro_batch});
  }
}

bool PlanTree::goes_together(const ExpertExchange& exchange) const {
  const ExpertDispatch dispatch = exchange.dispatch.value_or(scenario_->stack.expert_dispatch);
  return refused_overlaps(dispatch, exchange.overlap, exchange.shared_overlap).empty();
}

std::vector<ExpertExchange> PlanTree::exchanges_of(const PlanLayout& layout) const {
  const auto of = [&](const auto& values) { return layout.expert > 1 ? values : first_of(values); };
  std::vector<ExpertExchange> all = {{}};
  all = with_each(all, of(space_->expert_dispatch), &ExpertExchange::dispatch);
  all = with_each(all, of(space_->expert_overlap), &ExpertExchange::overlap);
  all = with_each(all, of(space_->shared_expert_overlap), &ExpertExchange::shared_overlap);
  if (all.size() > 1) {
    std::erase_if(all, [&](const ExpertExchange& one) { return !goes_together(one); });
  }
  return all;
}

/// Ways to share out its batch, and how many plans each of its ways to compute has below it.
std::size_t PlanTree::add_below(const LayerChoice& layer) {
  for (const PlanPlace& place : layout(layer).places) {
    if (has_batch(layer, place)) {
      add_pipelines(layer, place);
    }
  }
  return count(layer);
}

void PlanTree::add_layer_choices(LayerChoice layer) {
  for (const ExpertExchange& exchange : exchanges_of(layouts_[layer.layout])) {
    layer.exchange = exchange;
    if (const std::size_t below = add_below(layer); below > 0) {
      add_ways(layer, below);
    }
  }
}

/// Ways to compute a layer, with so many plans below each.
void PlanTree::add_ways(LayerChoice layer, std::size_t below) {
  const bool split = layouts_[layer.layout].tensor > 1;
  Plan plan = scenario_->plan;
  const auto sequences = split ? space_->sequence_parallel : first_of(space_->sequence_parallel);
  const auto overlaps = split ? space_->tensor_overlap : first_of(space_->tensor_overlap);
  for (const bool sequence : sequences) {
    for (const Recomputation& recompute : space_->recompute) {
      for (const TensorOverlap overlap : overlaps) {
        layer.sequence_parallel = sequence;
        layer.recompute = recompute;
        layer.tensor_overlap = overlap;
        put(layer, plan);
        if (is_able(abilities_, plan, PlanPart::layer)) {
          layers_.push_back(layer);
          plans_ += below;
        }
      }
    }
  }
}

const std::vector<PipelineChoice>& PlanTree::pipelines(const LayerChoice& layer,
                                                       const PlanPlace& place) const {
  return pipelines_.at(pipeline_key(layer, place));
}

const std::vector<StateChoice>& PlanTree::states(const LayerChoice& layer,
                                                 const PlanPlace& place) const {
  return states_[setting(layout(layer), place).number()];
}

std::size_t PlanTree::count(const LayerChoice& layer, const PlanPlace& place) const {
  const std::size_t leaves = leaves_[setting(layout(layer), place).number()];
  return pipelines(layer, place).size() * leaves;
}

std::size_t PlanTree::count(const LayerChoice& layer) const {
  std::size_t sum = 0;
  for (const PlanPlace& place : layout(layer).places) {
    sum += has_batch(layer, place) ? count(layer, place) : 0;
  }
  return sum;
}

void PlanTree::put(const LayerChoice& layer, Plan& plan) const {
  const PlanLayout& at = layout(layer);
  plan.tensor = at.tensor;
  plan.context = at.context;
  plan.expert = at.expert;
  plan.expert_tensor = at.expert_tensor;
  plan.micro_batch = layer.micro_batch;
  plan.sequence_parallel = layer.sequence_parallel;
  std::tie(plan.recompute, plan.recomputed) = layer.recompute;
  plan.tensor_overlap = layer.tensor_overlap;
  plan.expert_dispatch = layer.exchange.dispatch;
  plan.expert_overlap = layer.exchange.overlap;
  plan.shared_expert_overlap = layer.exchange.shared_overlap;
}

void PlanTree::put(const PlanPlace& place, Plan& plan) const {
  plan.pipeline = place.pipeline;
  plan.data = place.data;
  plan.rank_order = place.rank_order;
  const BatchShares& shares = scenario_->plan.batch_shares;
  plan.batch_shares = std::ssize(shares.weights) == place.data ? shares : BatchShares();
}

void PlanTree::put(const PipelineChoice& pipeline, Plan& plan) const {
  plan.schedule = space_->schedule[pipeline.schedule];
  plan.virtual_stages = pipeline.virtual_stages;
  const PipelineShape shape{.stages = static_cast<int>(plan.pipeline),
                            .micro_batches = 1,
                            .virtual_stages = static_cast<int>(pipeline.virtual_stages)};
  plan.layers = layers_of(pipeline.layers, model_stages(placement(plan.schedule), shape));
}

void PlanTree::put(const StateChoice& state, StateChoice::Overlap overlap, Plan& plan) const {
  plan.sharding = state.sharding;
  plan.servers =
      state.sharding == Sharding::parameter_server ? scenario_->plan.servers : std::nullopt;
  plan.offload = space_->offload[state.offload];
  plan.overlap_grad_reduce = overlap.grad_reduce;
  plan.overlap_param_gather = overlap.param_gather;
}

}  // namespace titer
