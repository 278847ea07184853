#pragma once
// All-gather: every rank holds a piece S/n and ends with all of them. S: the gathered bytes.

#include <string_view>
#include <vector>

#include "titer/collectives/send.hpp"

namespace titer {

/// Ring: t = (n-1) (alpha + S / (n B)).  [Thakur, Rabenseifner & Gropp 2005]
struct RingAllGather {
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

/// First over the nodes among the ranks of equal number (S/n each), then inside each node (S/g
/// each): t = (N-1) (alpha_net + S / (n B_net)) + (g-1) (alpha_node + S / (g B_node)), n = g N.
struct HierarchicalAllGather {
  static constexpr std::string_view name = "hierarchical";
  static constexpr std::string_view formula =
      "(N-1) (a_net + S / (g N B_net)) + (g-1) (a_node + S / (g B_node))";
  static constexpr std::string_view source =
      "Thakur, Rabenseifner & Gropp 2005, on each of two tiers";

  [[nodiscard]] static constexpr bool applies(Group group) {
    return group.per_node > 1 && group.nodes > 1;
  }
  [[nodiscard]] static constexpr Seconds time(Bytes size, Group group, const Fabric& fabric) {
    return fabric.network.time(group.nodes - 1, size / group.ranks()) +
           fabric.node.time(group.per_node - 1, size / group.per_node);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, Group group) {
    return (group.nodes - 1) * (size / group.ranks()) +
           (group.per_node - 1) * (size / group.per_node);
  }
  [[nodiscard]] static std::vector<Send> sends(Bytes size, Group group);
};

}  // namespace titer
