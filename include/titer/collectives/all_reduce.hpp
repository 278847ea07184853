#pragma once
// All-reduce: every rank holds a vector of size S and ends with the sum of all of them.

#include <string_view>
#include <vector>

#include "titer/collectives/send.hpp"

namespace titer {

/// Ring: t = 2 (n-1) (alpha + S / (n B)).  [Patarasuk & Yuan 2009]
/// One tier carries it: a group on several nodes goes through the network throughout.
struct RingAllReduce {
  static constexpr std::string_view name = "ring";
  static constexpr std::string_view formula = "2 (n-1) (a + S / (n B))";
  static constexpr std::string_view source = "Patarasuk & Yuan 2009";

  [[nodiscard]] static constexpr bool applies(Group /*group*/) { return true; }
  [[nodiscard]] static constexpr Seconds time(Bytes size, Group group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.widest_tier()).time(2 * (n - 1), size / n);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, Group group) {
    return size * (2.0 * (group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static std::vector<Send> sends(Bytes size, Group group);
};

/// Reduce-scatter inside each node, ring all-reduce of each shard S/g over the nodes (all shards at
/// once, each on its ranks' share of the NICs), all-gather inside:
/// t = 2 (g-1) (alpha_node + S / (g B_node)) + 2 (N-1) (alpha_net + S / (n B_net)), n = g N.
/// [ring of Patarasuk & Yuan 2009 on each tier; peers: NCCL on rail-optimised networks]
struct HierarchicalAllReduce {
  static constexpr std::string_view name = "hierarchical";
  static constexpr std::string_view formula =
      "2 (g-1) (a_node + S / (g B_node)) + 2 (N-1) (a_net + S / (g N B_net))";
  static constexpr std::string_view source = "Patarasuk & Yuan 2009, on each of two tiers";

  [[nodiscard]] static constexpr bool applies(Group group) {
    return group.per_node > 1 && group.nodes > 1;
  }
  [[nodiscard]] static constexpr Seconds time(Bytes size, Group group, const Fabric& fabric) {
    return fabric.node.time(2 * (group.per_node - 1), size / group.per_node) +
           fabric.network.time(2 * (group.nodes - 1), size / group.ranks());
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, Group group) {
    const int g = group.per_node;
    const int nodes = group.nodes;
    return size * (2.0 * (g - 1) / g) + size / g * (2.0 * (nodes - 1) / nodes);
  }
  [[nodiscard]] static std::vector<Send> sends(Bytes size, Group group);
};

/// The unchunked ring of the textbooks: the whole vector is forwarded n times to reduce it and n-1
/// times to hand it out: t = (2n-1) (alpha + S / B).  [E14; "Distributed ML" ch. 4]
/// The last forward reaches a rank that holds the sum already; 2 (n-1) would do (trap T11). It is
/// kept as published, and is never the fastest.
struct NaiveRingAllReduce {
  static constexpr std::string_view name = "naive-ring";
  static constexpr std::string_view formula = "(2n-1) (a + S / B)";
  static constexpr std::string_view source = "textbook form, unchunked (seed equation E14)";

  [[nodiscard]] static constexpr bool applies(Group /*group*/) { return true; }
  [[nodiscard]] static constexpr Seconds time(Bytes size, Group group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.widest_tier()).time(n == 1 ? 0 : 2 * n - 1, size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, Group group) {
    return group.ranks() == 1 ? Bytes{} : 2.0 * size;
  }
  [[nodiscard]] static std::vector<Send> sends(Bytes size, Group group);
};

}  // namespace titer
