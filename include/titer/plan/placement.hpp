#pragma once
// Where the ranks of a plan lie. Rank 0, 1, … fill nodes in turn; the plan's rank order says which
// dimension's neighbours are neighbouring ranks.

#include "titer/collectives/group.hpp"
#include "titer/plan/cluster.hpp"
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

/// Where the groups of one dimension lie; all groups of a dimension lie alike. A group whose
/// stretch of ranks neither fits in a node nor fills whole nodes is taken to run through the
/// network between every two of its ranks.
[[nodiscard]] GroupPlace place(const Plan& plan, Dimension dimension, int devices_per_node);

/// Whether stage `from` and the next one (the first again after the last) are on different nodes.
[[nodiscard]] bool leaves_node(const GroupPlace& pipeline, int from, int devices_per_node);

}  // namespace titer
