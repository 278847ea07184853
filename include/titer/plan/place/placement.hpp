#pragma once
// Where the ranks of a plan lie. Rank 0, 1, … fill nodes in turn; the plan's rank order says which
// dimension's neighbours are neighbouring ranks.

#include <optional>
#include <string>
#include <vector>

#include "titer/collectives/group.hpp"
#include "titer/plan/place/cluster.hpp"
#include "titer/plan/plan.hpp"

namespace titer {

/// A process group's shape on the nodes, and how far apart its ranks are.
struct GroupPlace {
  Group group;
  int stride = 1;              // distance of neighbouring ranks of the group
  int stride_in_node = 1;      // the same among its ranks of one node
  std::int64_t stretches = 1;  // as many stretches of ranks that hold whole groups, end to end

  [[nodiscard]] Fabric fabric(const Cluster& cluster) const {
    return cluster.fabric(group.per_node, stride_in_node);
  }
};

/// The process groups of a plan.
enum class PlanGroup {
  tensor,
  context,
  data,
  context_inner,  // neighbours of the hierarchical context method
  context_outer,  // ranks with the same place among these
  pipeline,
  replicas,             // the same parameters but for experts: data- and context-parallel ranks
  shard,                // of these, those that split among them what is sharded
  shard_copies,         // and those that have the same shard
  expert,               // different experts
  expert_tensor,        // parts of the same experts
  all_experts,          // both: that have all experts of a layer between them
  expert_replicas,      // the same parts of the same experts
  expert_shard,         // of these, those that split among them what is sharded
  expert_shard_copies,  // and those that have the same shard
  stage,                // all of a pipeline rank
};

/// The ranks of a group are `stride` apart, and the groups of a kind one beside the other.
struct GroupRanks {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;

  /// A rank's number in its group.
  [[nodiscard]] constexpr std::int64_t member(std::int64_t rank) const {
    return rank / stride % ranks;
  }
  /// The first rank of a rank's group.
  [[nodiscard]] constexpr std::int64_t first(std::int64_t rank) const {
    return rank - member(rank) * stride;
  }
  /// The number of a rank's group, from 0.
  [[nodiscard]] constexpr std::int64_t number(std::int64_t rank) const {
    return rank / (stride * ranks) * stride + rank % stride;
  }
  friend bool operator==(const GroupRanks&, const GroupRanks&) = default;
};
/// Of the group of rank 0; all groups of a kind are alike.
/// REQUIRES a plan of which refused_order() says nothing.
[[nodiscard]] GroupRanks group_ranks(const Plan& plan, PlanGroup group);
/// Whether experts lie otherwise than the rest of a layer does.
[[nodiscard]] bool has_own_expert_groups(const Plan& plan);
/// The ranks of each group of a kind that a rank of the pipeline has, in the order of their first
/// ones.
[[nodiscard]] std::vector<std::vector<int>> groups_of(const Plan& plan, PlanGroup group, int rank);
/// What of the rank order makes groups whose ranks are not evenly apart; empty: nothing.
[[nodiscard]] std::optional<std::string> refused_order(const Plan& plan);

/// Ranks that split among them what the plan shards; with two copies of the model in opposite ways
/// both copies' ranks do.
[[nodiscard]] std::int64_t shard_ranks(const Plan& plan);
[[nodiscard]] std::int64_t expert_shard_ranks(const Plan& plan);

/// Where the groups of a kind lie; they all lie alike. A group whose stretch of ranks neither fits
/// in a node nor fills whole nodes is taken to run through the network between every two of its
/// ranks.
[[nodiscard]] GroupPlace place(const Plan& plan, PlanGroup group, int devices_per_node);

/// The same on a cluster: on its nodes or, with the shape of the groups there, on its torus.
/// REQUIRES groups that are boxes of that torus (torus_place.hpp).
[[nodiscard]] GroupPlace place(const Plan& plan, PlanGroup group, const Cluster& cluster);

/// Whether stage `from` and the next one (the first again after the last) are on different nodes.
[[nodiscard]] bool leaves_node(const GroupPlace& pipeline, int from, int devices_per_node);

}  // namespace titer
