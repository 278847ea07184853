#pragma once
// Reduce-scatter: every rank holds a vector of size S and ends with its piece S/n of the sum.

#include <string_view>
#include <vector>

#include "titer/collectives/send.hpp"

namespace titer {

/// Ring: t = (n-1) (alpha + S / (n B)).  [Thakur, Rabenseifner & Gropp 2005]
struct RingReduceScatter {
  static constexpr std::string_view name = "ring";
  static constexpr std::string_view formula = "(n-1) (a + S / (n B))";
  static constexpr std::string_view source = "Thakur, Rabenseifner & Gropp 2005";

  [[nodiscard]] static constexpr bool applies(Group /*group*/) { return true; }
  [[nodiscard]] static constexpr Seconds time(Bytes size, Group group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.widest_tier()).time(n - 1, size / n);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, Group group) {
    return size * (static_cast<double>(group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static std::vector<Send> sends(Bytes size, Group group);
};

/// First inside each node (S/g each), then over the nodes among the ranks of equal number (S/n
/// each): t = (g-1) (alpha_node + S / (g B_node)) + (N-1) (alpha_net + S / (n B_net)), n = g N.
struct HierarchicalReduceScatter {
  static constexpr std::string_view name = "hierarchical";
  static constexpr std::string_view formula =
      "(g-1) (a_node + S / (g B_node)) + (N-1) (a_net + S / (g N B_net))";
  static constexpr std::string_view source =
      "Thakur, Rabenseifner & Gropp 2005, on each of two tiers";

  [[nodiscard]] static constexpr bool applies(Group group) {
    return group.per_node > 1 && group.nodes > 1;
  }
  [[nodiscard]] static constexpr Seconds time(Bytes size, Group group, const Fabric& fabric) {
    return fabric.node.time(group.per_node - 1, size / group.per_node) +
           fabric.network.time(group.nodes - 1, size / group.ranks());
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, Group group) {
    return (group.per_node - 1) * (size / group.per_node) +
           (group.nodes - 1) * (size / group.ranks());
  }
  [[nodiscard]] static std::vector<Send> sends(Bytes size, Group group);
};

}  // namespace titer
