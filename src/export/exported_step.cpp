#include "titer/export/exported_step.hpp"

#include <algorithm>
#include <utility>

#include "export_writer.hpp"
#include "titer/cost/group_fabric.hpp"
#include "titer/cost/shard_cost.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/estimate/device_classes.hpp"
#include "titer/estimate/step_length.hpp"
#include "titer/simulate/world.hpp"

namespace titer {
namespace {

/// Of the first and the last rank of a pipeline.
GroupWays ways_of_pair(const Scenario& scenario, Bytes boundary, int first, int second) {
  const Cluster& cluster = scenario.cluster;
  if (cluster.torus() != nullptr) {
    const auto last = static_cast<int>(scenario.plan.pipeline - 1);
    const StageWay way = stage_way(scenario, last, boundary);
    return {.group = way.pair, .fabric = {.wire = way.channel}};
  }
  if (first / cluster.devices_per_node != second / cluster.devices_per_node) {
    return {.group = {.per_node = 1, .nodes = 2}, .fabric = {.network = cluster.network_channel()}};
  }
  const Channel channel =
      cluster.pair_channel(first % cluster.devices_per_node, second % cluster.devices_per_node);
  return {.group = {.per_node = 2, .nodes = 1}, .fabric = {.node = channel}};
}

/// The same of all parameters, where experts have no groups of their own.
PlanGroup without_experts(PlanGroup group) {
  switch (group) {
    case PlanGroup::expert_tensor:
    case PlanGroup::all_experts:
      return PlanGroup::tensor;
    case PlanGroup::expert_replicas:
      return PlanGroup::replicas;
    case PlanGroup::expert_shard:
      return PlanGroup::shard;
    case PlanGroup::expert_shard_copies:
      return PlanGroup::shard_copies;
    default:
      return group;
  }
}

}  // namespace

PlanGroup ExportedStep::ranks_of(GroupRole role) const {
  constexpr std::array<PlanGroup, kGroupRoleCount> groups = {PlanGroup::tensor,
                                                             PlanGroup::replicas,
                                                             PlanGroup::pipeline,
                                                             PlanGroup::context,
                                                             PlanGroup::expert,
                                                             PlanGroup::expert_tensor,
                                                             PlanGroup::expert_replicas,
                                                             PlanGroup::context_inner,
                                                             PlanGroup::context_outer,
                                                             PlanGroup::all_experts,
                                                             PlanGroup::shard,
                                                             PlanGroup::shard_copies,
                                                             PlanGroup::expert_shard,
                                                             PlanGroup::expert_shard_copies};
  // Where images are cut, all ranks of a stage have the same parameters.
  return role == GroupRole::data && scenario_.cuts_images()
             ? PlanGroup::stage
             : groups[static_cast<std::size_t>(role)];
}

ExportedStep::ExportedStep(Scenario scenario, ExportDetail detail)
    : scenario_(std::move(scenario)), detail_(detail) {
  int stride = 1;
  for (const Dimension dimension : scenario_.plan.rank_order) {
    strides_[static_cast<std::size_t>(dimension)] = stride;
    stride *= static_cast<int>(scenario_.plan.degree(dimension));
  }
  scenario_.conditions = scenario_.conditions.quiet();
  const std::size_t classes = class_count(scenario_);
  seen_.resize(classes);  // names in costs and items are those of the scenario beside them
  std::vector<StepCosts> costs;
  for (std::size_t i = 0; i < classes; ++i) {
    Seen& seen = seen_[i];
    seen.scenario = classes == 1 ? scenario_ : class_scenario(scenario_, i);
    step_costs(seen.scenario, seen.costs);
    check_length(seen.scenario, seen.costs);
    seen.items = model_items(seen.scenario, seen.costs);
    if (seen.costs.shape.overlaps) {
      seen.overlapped_items = model_items(seen.scenario, seen.costs, true);
    }
    costs.push_back(seen.costs);
  }
  costs_ = costs.front();
  if (classes > 1) {
    class_of_ = classes_of(scenario_, World(scenario_, true), costs);
  }
  fill_ways();
  fill_roles();
  fill_groups();
}

// Groups of a role lie alike, but for those that synchronise two copies of the model: these by
// rank of the pipeline.
void ExportedStep::fill_ways() {
  const auto set = [&](GroupRole role) {
    roles_[static_cast<std::size_t>(role)].ways = ways_.size();
  };
  for (const GroupRole role : {GroupRole::tensor,
                               GroupRole::context,
                               GroupRole::context_inner,
                               GroupRole::context_outer,
                               GroupRole::expert,
                               GroupRole::expert_tensor,
                               GroupRole::all_experts,
                               GroupRole::shard,
                               GroupRole::shard_copies,
                               GroupRole::expert_shard,
                               GroupRole::expert_shard_copies}) {
    const GroupPlace at = place(scenario_.plan, ranks_of(role), scenario_.cluster);
    set(role);
    ways_.push_back({.group = at.group, .fabric = group_fabric(scenario_, at)});
  }
  const auto both = ends();
  set(GroupRole::ends);
  ways_.push_back(both ? ways_of_pair(scenario_,
                                      boundary_bytes(costs_.blocks),
                                      rank_at({.pipeline = both->front()}),
                                      rank_at({.pipeline = both->back()}))
                       : GroupWays{});
  const int different = costs_.placement == Placement::two_ways ? costs_.shape.stages : 1;
  for (const GroupRole role : {GroupRole::data, GroupRole::experts}) {
    set(role);
    for (int rank = 0; rank < different; ++rank) {
      const SyncGroups groups = sync_groups(scenario_, costs_.placement, rank);
      const SyncGroup& at = role == GroupRole::data ? groups.dense : groups.experts;
      ways_.push_back({.group = at.group, .fabric = at.fabric});
    }
  }
}

std::size_t ExportedStep::ways_of(GroupRole role, int pipeline) const {
  const bool by_rank = costs_.placement == Placement::two_ways && synchronises(role);
  return roles_[static_cast<std::size_t>(role)].ways +
         (by_rank ? static_cast<std::size_t>(pipeline) : 0);
}

bool ExportedStep::is_in_use(GroupRole role) const {
  switch (role) {
    case GroupRole::expert:
    case GroupRole::expert_tensor:
    case GroupRole::experts:
      return has_own_expert_groups(scenario_.plan);
    case GroupRole::all_experts:
      return has_own_expert_groups(scenario_.plan) &&
             scenario_.expert_dispatch() == ExpertDispatch::all_gather;
    case GroupRole::context_inner:
    case GroupRole::context_outer:
      return scenario_.plan.context_method == ContextMethod::hierarchical;
    case GroupRole::shard:
    case GroupRole::shard_copies:
      return scenario_.plan.group().has_value();
    case GroupRole::expert_shard:
    case GroupRole::expert_shard_copies:
      return scenario_.plan.group() && has_own_expert_groups(scenario_.plan);
    case GroupRole::tensor:
    case GroupRole::data:
    case GroupRole::ends:
    case GroupRole::context:
      break;
  }
  return true;
}

// Groups are numbered role by role.
void ExportedStep::fill_roles() {
  const Plan& plan = scenario_.plan;
  const bool two_ways = costs_.placement == Placement::two_ways;
  const auto p = static_cast<int>(plan.pipeline);
  const auto of_stage = static_cast<int>(plan.stage_devices());
  int next = 1;
  for (const GroupRole role : kGroupRoles) {
    const auto ranks = static_cast<int>(group_ranks(plan, ranks_of(role)).ranks);
    const bool copies = synchronises(role) && two_ways && p > 1;
    const bool is_there =
        role == GroupRole::ends ? ends().has_value() : is_in_use(role) && (ranks > 1 || copies);
    Role& at = roles_[static_cast<std::size_t>(role)];
    at.first = next;
    if (is_there) {
      at.groups = role == GroupRole::ends ? of_stage : (copies ? p / 2 : p) * (of_stage / ranks);
    }
    next += at.groups;
  }
}

RankPlace ExportedStep::place_of_rank(int rank) const {
  const auto along = [&](Dimension dimension) {
    return rank / stride(dimension) % static_cast<int>(scenario_.plan.degree(dimension));
  };
  return {.pipeline = along(Dimension::pipeline),
          .tensor = along(Dimension::tensor),
          .data = along(Dimension::data),
          .context = along(Dimension::context)};
}

int ExportedStep::rank_at(const RankPlace& place) const {
  return place.pipeline * stride(Dimension::pipeline) + place.tensor * stride(Dimension::tensor) +
         place.data * stride(Dimension::data) + place.context * stride(Dimension::context);
}

std::optional<std::array<int, 2>> ExportedStep::ends() const {
  const int first = place_of(costs_.placement, 0, 0, costs_.shape).rank;
  const int last = place_of(costs_.placement, costs_.stages - 1, 0, costs_.shape).rank;
  if (first == last || costs_.embedding_sync <= Seconds{}) {
    return std::nullopt;
  }
  return std::array{first, last};
}

GroupRole ExportedStep::role_of(PlanGroup group) const {
  const PlanGroup own = has_own_expert_groups(scenario_.plan) ? group : without_experts(group);
  const auto* const role =
      std::ranges::find_if(kGroupRoles, [&](GroupRole one) { return ranks_of(one) == own; });
  ensure(role != kGroupRoles.end(), "a collective is one of a group with a role");
  return *role;
}

// Within a role by the rank of the pipeline, and there by what of data, context and tensor its
// ranks have in common.
int ExportedStep::number_in_role(GroupRole role, int rank) const {
  const RankPlace at = place_of_rank(rank);
  const auto p = static_cast<int>(scenario_.plan.pipeline);
  const auto t = static_cast<int>(scenario_.plan.tensor);
  const auto d = static_cast<int>(scenario_.plan.data);
  const auto cp = static_cast<int>(scenario_.plan.context);
  const bool two_ways = costs_.placement == Placement::two_ways;
  const int model = two_ways ? std::min(at.pipeline, p - 1 - at.pipeline) : at.pipeline;
  switch (role) {
    case GroupRole::tensor:
      return (at.pipeline * d + at.data) * cp + at.context;
    case GroupRole::data:
      return scenario_.cuts_images() ? model : model * t + at.tensor;
    case GroupRole::ends:
      return (at.data * cp + at.context) * t + at.tensor;
    case GroupRole::context:
      return (at.pipeline * d + at.data) * t + at.tensor;
    case GroupRole::context_inner:
    case GroupRole::context_outer:
    case GroupRole::shard:
    case GroupRole::shard_copies:
    case GroupRole::expert_shard:
    case GroupRole::expert_shard_copies:
      return static_cast<int>(group_ranks(scenario_.plan, ranks_of(role)).number(rank));
    case GroupRole::expert:
    case GroupRole::expert_tensor:
    case GroupRole::experts:
    case GroupRole::all_experts:
      break;
  }
  // Of a pipeline rank all devices are in a row, see refused_order().
  const GroupRanks ranks = group_ranks(scenario_.plan, ranks_of(role));
  const auto of_stage = static_cast<int>(scenario_.plan.stage_devices());
  const int stage = role == GroupRole::experts ? model : at.pipeline;
  return static_cast<int>(ranks.number(stage * of_stage + rank % of_stage));
}

std::optional<int> ExportedStep::group_of(int rank, GroupRole role) const {
  const Role& at = roles_[static_cast<std::size_t>(role)];
  if (at.groups == 0) {
    return std::nullopt;
  }
  if (role == GroupRole::ends) {
    const int pipeline = place_of_rank(rank).pipeline;
    const auto both = ends();
    if (pipeline != both->front() && pipeline != both->back()) {
      return std::nullopt;
    }
  }
  return at.first + number_in_role(role, rank);
}

void ExportedStep::fill_groups() {
  for (const GroupRole role : kGroupRoles) {
    for (int rank = 0; rank < devices(); ++rank) {
      const auto number = group_of(rank, role);
      if (!number) {
        continue;
      }
      const auto count = static_cast<std::size_t>(*number);
      groups_.resize(std::max(groups_.size(), count));
      groups_[count - 1].number = *number;
      groups_[count - 1].role = role;
      groups_[count - 1].ways = ways_of(
          role,
          place_of_rank(groups_[count - 1].ranks.empty() ? rank : groups_[count - 1].ranks.front())
              .pipeline);
      groups_[count - 1].ranks.push_back(rank);
    }
  }
}

double ExportedStep::most_nodes() const {
  double layers = 0;
  for (int stage = 0; stage < costs_.stages; ++stage) {
    layers = std::max(layers, costs_.contents.layers(stage));
  }
  const auto longest = [](const BlockItems& block) {
    return static_cast<double>(block.recompute.size() +
                               std::max({block.forward.size() + block.backward.size(),
                                         block.forward.size() + block.input_gradient.size() +
                                             block.weight_gradient.size()}));
  };
  double longest_layer = 0;
  for (const BlockItems& kind : seen_.front().items.kinds) {
    longest_layer = std::max(longest_layer, longest(kind));
  }
  double kinds_of_groups = 0;
  for (const GroupRole role : {GroupRole::context,
                               GroupRole::context_inner,
                               GroupRole::context_outer,
                               GroupRole::expert,
                               GroupRole::expert_tensor}) {
    kinds_of_groups += roles_[static_cast<std::size_t>(role)].groups > 0 ? 1.0 : 0.0;
  }
  kinds_of_groups += 1.0;  // tensor
  const bool by_pass = detail_ == ExportDetail::pass;
  // Of a block its parameters, again, and their gradients; each may be two collectives, and cut
  // where the block waits. Copies of its parameters and of what it keeps, in and out.
  const bool moves = moves_with_passes(scenario_);
  const double moved = (moves ? 6.0 : 0.0) + (scenario_.plan.offload.any() ? 4.0 : 0.0);
  const double of_chunk =
      by_pass ? 6.0 * static_cast<double>(kCollectives.size()) * kinds_of_groups + 3.0 * moved
              : (moves ? 2.0 : 1.0) *
                        (layers * (longest_layer + 2.0) + longest(seen_.front().items.embedding) +
                         longest(seen_.front().items.head)) +
                    moved * (layers + 2.0);
  // A bucket may be two collectives, and as many of equal shards.
  const double own_experts =
      roles_[static_cast<std::size_t>(GroupRole::experts)].groups > 0 ? 2.0 : 1.0;
  const double synchronised = own_experts * (scenario_.plan.shard ? 2.0 : 1.0);
  // Receive, gather and send of three passes; the tail.
  const double passes = micro_batches_per_chunk(costs_.placement, costs_.shape) *
                        static_cast<double>(chunks_per_rank(costs_.placement, costs_.shape));
  // Through a root two of a forward pass and one of its outputs, and one each back.
  const double of_root = scenario_.plan.sharding == Sharding::data_parallel_root ? 5.0 : 0.0;
  return passes * (of_chunk + of_root + 9.0) +
         2.0 * chunks_per_rank(costs_.placement, costs_.shape) * (layers + 3.0) * synchronised +
         5.0 + 2.0 * (synchronised - 1.0) + (scenario_.plan.local_steps ? own_experts : 0.0) +
         (servers() > 0 ? 2.0 * (servers() + devices()) : 0.0);
}

RankGraph ExportedStep::graph(int rank) const {
  ensure(rank >= 0 && rank < ranks(), "a rank of the step has a graph");
  return rank < devices() ? Writer(*this, rank).run() : server_graph();
}

}  // namespace titer
