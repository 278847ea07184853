#pragma once
// Hierarchical algorithms: one phase inside the nodes, one between them. g ranks on each of N
// nodes; S: the full result.

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// Reduce-scatter inside each node, ring all-reduce of each shard S/g over the nodes (all shards at
/// once, each on its ranks' share of the NICs), all-gather inside:
/// t = 2 (g-1) (alpha_node + S / (g B_node)) + 2 (N-1) (alpha_net + S / (n B_net)), n = g N.
/// [ring of Patarasuk & Yuan 2009 on each tier; peers: NCCL on rail-optimised networks]
struct HierarchicalAllReduce : TwoTierAlgorithm {
  static constexpr std::string_view name = "hierarchical";
  static constexpr std::string_view formula =
      "2 (g-1) (a_node + S / (g B_node)) + 2 (N-1) (a_net + S / (g N B_net))";
  static constexpr std::string_view source = "Patarasuk & Yuan 2009, on each of two tiers";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return fabric.node.shares(2 * (group.per_node - 1), size / group.per_node) +
           fabric.network.time(2 * (group.nodes - 1), size / group.ranks());
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    const int g = group.per_node;
    const int nodes = group.nodes;
    return size * (2.0 * (g - 1) / g) + size / g * (2.0 * (nodes - 1) / nodes);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-gather first over the nodes among the ranks of equal number (S/n each), then inside each
/// node (S/g each): t = (N-1) (alpha_net + S / (n B_net)) + (g-1) (alpha_node + S / (g B_node)).
struct HierarchicalAllGather : HierarchicalAllReduce {
  static constexpr std::string_view formula =
      "(N-1) (a_net + S / (g N B_net)) + (g-1) (a_node + S / (g B_node))";
  static constexpr std::string_view source =
      "Thakur, Rabenseifner & Gropp 2005, on each of two tiers";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return fabric.network.time(group.nodes - 1, size / group.ranks()) +
           fabric.node.shares(group.per_node - 1, size / group.per_node);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return (group.nodes - 1) * (size / group.ranks()) +
           (group.per_node - 1) * (size / group.per_node);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter: the same two phases the other way round, and the same time.
struct HierarchicalReduceScatter : HierarchicalAllGather {
  static constexpr std::string_view formula =
      "(g-1) (a_node + S / (g B_node)) + (N-1) (a_net + S / (g N B_net))";
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
