#include "titer/plan/place/placement.hpp"

#include <algorithm>

#include "titer/plan/place/torus_place.hpp"

namespace titer {

namespace {

std::int64_t stride_of(const Plan& plan, Dimension dimension) {
  std::int64_t stride = 1;
  for (const Dimension other : plan.rank_order) {
    if (other == dimension) {
      break;
    }
    stride *= plan.degree(other);
  }
  return stride;
}

/// Data- and context-parallel ranks, the inner of both first.
GroupRanks replicas(const Plan& plan) {
  const std::int64_t data = stride_of(plan, Dimension::data);
  const std::int64_t context = stride_of(plan, Dimension::context);
  const bool by_data = plan.context == 1 || (plan.data > 1 && data < context);
  return {.ranks = plan.replicas(), .stride = by_data ? data : context};
}

/// Of ranks that have the same experts, those that split among them what is sharded: all, those of
/// an island, or as many as of the dense parameters where the plan says how many. A plan with more
/// islands than ranks, which a search comes by, has one each.
std::int64_t expert_shard_of(const Plan& plan, std::int64_t same) {
  return plan.local_steps ? std::max<std::int64_t>(1, same / plan.local_steps->islands)
                          : std::min(plan.shard.value_or(same), same);
}

}  // namespace

bool has_own_expert_groups(const Plan& plan) {
  return plan.expert > 1 || plan.expert_tensor_degree() != plan.tensor;
}

GroupRanks group_ranks(const Plan& plan, PlanGroup group) {
  const GroupRanks all = replicas(plan);
  const std::int64_t shard = std::max<std::int64_t>(1, plan.group().value_or(all.ranks));
  const std::int64_t etp = plan.expert_tensor_degree();
  const bool own = has_own_expert_groups(plan);
  switch (group) {
    case PlanGroup::tensor:
      return {.ranks = plan.tensor, .stride = stride_of(plan, Dimension::tensor)};
    case PlanGroup::context:
      return {.ranks = plan.context, .stride = stride_of(plan, Dimension::context)};
    case PlanGroup::data:
      return {.ranks = plan.data, .stride = stride_of(plan, Dimension::data)};
    case PlanGroup::context_inner:
      return {.ranks = plan.context_inner, .stride = stride_of(plan, Dimension::context)};
    case PlanGroup::context_outer:
      return {.ranks = plan.context / plan.context_inner,
              .stride = stride_of(plan, Dimension::context) * plan.context_inner};
    case PlanGroup::pipeline:
      return {.ranks = plan.pipeline, .stride = stride_of(plan, Dimension::pipeline)};
    case PlanGroup::replicas:
      return all;
    case PlanGroup::shard:
      return {.ranks = shard, .stride = all.stride};
    case PlanGroup::shard_copies:
      return {.ranks = all.ranks / shard, .stride = all.stride * shard};
    case PlanGroup::expert:
      return {.ranks = plan.expert, .stride = own ? etp : 1};
    case PlanGroup::expert_tensor:
      return own ? GroupRanks{.ranks = etp, .stride = 1} : group_ranks(plan, PlanGroup::tensor);
    case PlanGroup::all_experts:
      return own ? GroupRanks{.ranks = plan.expert * etp, .stride = 1}
                 : group_ranks(plan, PlanGroup::tensor);
    case PlanGroup::stage:
      return {.ranks = plan.stage_devices(), .stride = 1};
    case PlanGroup::expert_replicas:
      return own ? GroupRanks{.ranks = plan.expert_replicas(), .stride = etp * plan.expert} : all;
    case PlanGroup::expert_shard: {
      const GroupRanks same = group_ranks(plan, PlanGroup::expert_replicas);
      return {.ranks = expert_shard_of(plan, same.ranks), .stride = same.stride};
    }
    case PlanGroup::expert_shard_copies: {
      const GroupRanks same = group_ranks(plan, PlanGroup::expert_replicas);
      const std::int64_t among = expert_shard_of(plan, same.ranks);
      return {.ranks = same.ranks / among, .stride = same.stride * among};
    }
  }
  ensure(false, "a group is one of the enumerated ones");
  return {};
}

std::vector<std::vector<int>> groups_of(const Plan& plan, PlanGroup group, int rank) {
  const GroupRanks of = group_ranks(plan, group);
  const GroupRanks pipeline = group_ranks(plan, PlanGroup::pipeline);
  std::vector<std::vector<int>> groups;
  for (std::int64_t device = 0; device < plan.devices(); ++device) {
    if (pipeline.member(device) != rank || of.member(device) != 0) {
      continue;
    }
    std::vector<int>& ranks = groups.emplace_back();
    for (std::int64_t i = 0; i < of.ranks; ++i) {
      ranks.push_back(static_cast<int>(device + i * of.stride));
    }
  }
  return groups;
}

std::int64_t shard_ranks(const Plan& plan) {
  const std::int64_t copies = placement(plan.schedule) == Placement::two_ways ? 2 : 1;
  return plan.group().value_or(copies * plan.replicas());
}

std::int64_t expert_shard_ranks(const Plan& plan) {
  const std::int64_t copies = placement(plan.schedule) == Placement::two_ways ? 2 : 1;
  return expert_shard_of(plan, copies * plan.expert_replicas());
}

std::optional<std::string> refused_order(const Plan& plan) {
  const auto at = [&](Dimension dimension) {
    return std::ranges::find(plan.rank_order, dimension) - plan.rank_order.begin();
  };
  std::int64_t between = 1;
  const auto first = std::min(at(Dimension::data), at(Dimension::context));
  const auto last = std::max(at(Dimension::data), at(Dimension::context));
  for (auto i = first + 1; i < last; ++i) {
    between *= plan.degree(plan.rank_order[static_cast<std::size_t>(i)]);
  }
  if (plan.context > 1 && plan.data > 1 && between > 1) {
    return "expected cp and dp beside one another: their ranks have the same parameters";
  }
  const bool pipeline_last =
      plan.pipeline == 1 || stride_of(plan, Dimension::pipeline) == plan.stage_devices();
  const bool tensor_first = plan.tensor == 1 || stride_of(plan, Dimension::tensor) == 1;
  if (has_own_expert_groups(plan) && !(pipeline_last && tensor_first)) {
    return "expected tp first and pp last where experts have groups of their own";
  }
  return std::nullopt;
}

GroupPlace place(const Plan& plan, PlanGroup group, int devices_per_node) {
  const GroupRanks of = group_ranks(plan, group);
  const std::int64_t stride = of.stride;
  const auto ranks = static_cast<int>(of.ranks);
  const std::int64_t stretch = stride * ranks;
  GroupPlace placed;
  placed.stride = static_cast<int>(stride);
  placed.stretches = plan.devices() / stretch;
  const bool tiles_a_node = stretch <= devices_per_node && devices_per_node % stretch == 0;
  const bool one_node_holds_all = plan.devices() <= devices_per_node;
  if (tiles_a_node || one_node_holds_all) {
    placed.group = {.per_node = ranks, .nodes = 1};
    placed.stride_in_node = placed.stride;
  } else if (stride < devices_per_node && devices_per_node % stride == 0 &&
             stretch % devices_per_node == 0) {
    const auto per_node = static_cast<int>(devices_per_node / stride);
    placed.group = {.per_node = per_node, .nodes = ranks / per_node};
    placed.stride_in_node = placed.stride;
  } else {
    placed.group = {.per_node = 1, .nodes = ranks};
  }
  return placed;
}

GroupPlace place(const Plan& plan, PlanGroup group, const Cluster& cluster) {
  GroupPlace placed = place(plan, group, cluster.devices_per_node);
  if (const Torus* torus = cluster.torus_of(plan.devices())) {
    const auto shape = torus_shape(*torus, group_ranks(plan, group));
    ensure(shape.has_value(), "the groups of a valid plan are boxes of its torus");
    placed.group.torus = *shape;
  }
  return placed;
}

bool leaves_node(const GroupPlace& pipeline, int from, int devices_per_node) {
  const std::int64_t stages = pipeline.group.ranks();
  const std::int64_t here = from;
  const std::int64_t to = (here + 1) % stages;
  // Stretches begin alike after as many of them as a node has devices.
  const std::int64_t different = std::min<std::int64_t>(pipeline.stretches, devices_per_node);
  for (std::int64_t stretch = 0; stretch < different; ++stretch) {
    // The first rank of the one stage and the last of the other decide: with them on one node, so
    // are all pairs between.
    const std::int64_t start = stretch * stages * pipeline.stride;
    const std::int64_t first = start + std::min(here, to) * pipeline.stride;
    const std::int64_t last = start + (std::max(here, to) + 1) * pipeline.stride - 1;
    if (first / devices_per_node != last / devices_per_node) {
      return true;
    }
  }
  return false;
}

}  // namespace titer
