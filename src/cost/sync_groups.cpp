// The groups over which gradients and parameters are synchronised.

#include <algorithm>
#include <array>

#include "titer/collectives/algorithm/rail_chains.hpp"
#include "titer/collectives/algorithm/tree.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/cost/group_fabric.hpp"
#include "titer/cost/sync_cost.hpp"

namespace titer {
namespace {

/// Whether the copies of a stage are on the same node for every rank of their groups, on different
/// ones for every rank, or neither.
enum class Copies { same_node, other_nodes, mixed };

Copies copies_of(const Scenario& scenario, int rank, std::int64_t stride) {
  const std::int64_t devices = scenario.cluster.devices_per_node;
  const Plan& plan = scenario.plan;
  const std::int64_t p = plan.pipeline;
  if (plan.devices() <= devices) {
    return Copies::same_node;
  }
  // Devices that differ by whole pipelines lie on nodes alike after as many as a node has devices,
  // and so do the neighbours of a device.
  const std::int64_t neighbours = std::min(stride, devices);
  const std::int64_t stretch = stride * p;
  const std::int64_t pipelines = std::min<std::int64_t>(plan.devices() / stretch, devices);
  bool same = false;
  bool other = false;
  for (std::int64_t i = 0; i < pipelines; ++i) {
    for (std::int64_t offset = 0; offset < neighbours; ++offset) {
      const std::int64_t here = i * stretch + rank * stride + offset;
      const std::int64_t there = i * stretch + (p - 1 - rank) * stride + offset;
      const bool together = here / devices == there / devices;
      same = same || together;
      other = other || !together;
    }
  }
  return same && other ? Copies::mixed : (same ? Copies::same_node : Copies::other_nodes);
}

/// Of the ranks of a group.
SyncGroup sync_group_of(const Scenario& scenario, PlanGroup of, Placement placement, int rank) {
  const Cluster& cluster = scenario.cluster;
  const int devices = cluster.devices_per_node;
  const GroupPlace data = place(scenario.plan, of, cluster);
  if (placement != Placement::two_ways) {
    return {data.group, group_fabric(scenario, data)};
  }
  const GroupPlace pipeline = place(scenario.plan, PlanGroup::pipeline, devices);
  GroupPlace both = data;
  switch (copies_of(scenario, rank, pipeline.stride)) {
    case Copies::same_node: {
      const int apart =
          std::abs(static_cast<int>(scenario.plan.pipeline) - 1 - 2 * rank) * pipeline.stride;
      const int between = data.group.per_node > 1 ? std::min(apart, data.stride_in_node) : apart;
      both.group.per_node = 2 * data.group.per_node;
      // A ring over both copies' devices; no wider than the node.
      both.stride_in_node = std::clamp(between, 1, devices / both.group.per_node);
      break;
    }
    case Copies::other_nodes:
      both.group.nodes = 2 * data.group.nodes;
      break;
    case Copies::mixed:
      both.group = {.per_node = 1, .nodes = 2 * data.group.ranks()};
      both.stride_in_node = 1;
      break;
  }
  return {both.group, group_fabric(scenario, both)};
}

}  // namespace

Seconds group_time(Collective kind, Bytes size, Group group, const Fabric& fabric) {
  return group.ranks() == 1 ? Seconds{} : collective_time(kind, size, group, fabric).time;
}

Collective collective_of(GradientCollective exchange) {
  constexpr std::array collectives = {
      Collective::all_reduce, Collective::reduce_scatter, Collective::reduce};
  return collectives[static_cast<std::size_t>(exchange)];
}

Fabric along_ring(Fabric fabric) {
  fabric.pair = fabric.node;
  return fabric;
}

Seconds exchange_time(Collective exchange, Bytes size, Group group, const Fabric& fabric) {
  const int n = group.ranks();
  return goes_in_turn(exchange) ? n * group_time(exchange, size / n, group, along_ring(fabric))
                                : group_time(exchange, size, group, fabric);
}

ChainRings chain_rings(Collective exchange, Bytes size, const Group& group, const Fabric& fabric) {
  static_assert(RailChainsReduce::name == RailChainsBroadcast::name);
  const int n = group.ranks();
  const Fabric ring = along_ring(fabric);
  const Bytes own = size / n;
  if (collective_time(exchange, own, group, ring).algorithm == RailChainsReduce::name) {
    return {.ranks = n, .count = group.per_node, .blocks = RailChains{own, group}.blocks(ring)};
  }
  const Channel& channel = ring.at(group.pair_tier());
  return {.ranks = n, .count = 1, .blocks = ChainReduce::pipeline(group).blocks(own, channel)};
}

SyncGroup sync_group(const Scenario& scenario, Placement placement, int rank) {
  const PlanGroup same = scenario.cuts_images() ? PlanGroup::stage : PlanGroup::replicas;
  return sync_group_of(scenario, same, placement, rank);
}

SyncGroups sync_groups(const Scenario& scenario, Placement placement, int rank) {
  SyncGroups groups;
  groups.dense = sync_group(scenario, placement, rank);
  const GroupRanks all = group_ranks(scenario.plan, PlanGroup::replicas);
  const GroupRanks of_experts = group_ranks(scenario.plan, PlanGroup::expert_replicas);
  const bool own = all.ranks != of_experts.ranks || all.stride != of_experts.stride;
  groups.experts =
      own ? sync_group_of(scenario, PlanGroup::expert_replicas, placement, rank) : groups.dense;
  groups.dense_shard = groups.dense;
  groups.expert_shard = groups.experts;
  if (scenario.plan.group()) {
    const auto of = [&](PlanGroup group) {
      return sync_group_of(scenario, group, placement, rank);
    };
    groups.dense_shard = of(PlanGroup::shard);
    groups.dense_copies = of(PlanGroup::shard_copies);
    groups.expert_shard = of(PlanGroup::expert_shard);
    groups.expert_copies = of(PlanGroup::expert_shard_copies);
  }
  return groups;
}

}  // namespace titer
