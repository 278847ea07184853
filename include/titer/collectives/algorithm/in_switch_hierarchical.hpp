#pragma once
// All-reduces on several nodes in which switches add: in the network, or in the nodes. g ranks on
// each of N nodes; S: the full result; k: number of blocks.

#include "titer/collectives/algorithm/hierarchical.hpp"
#include "titer/collectives/algorithm/in_switch.hpp"

namespace titer {

/// Ring reduce-scatter inside each node, every shard S/g added up by a tree of switches of the
/// network (each rank on its share of the NICs), ring all-gather inside:
/// t = 2 (g-1) (a_node + S / (g B_node)) + (k+1) (a_tree + S / (g k B_tree)).
struct HierarchicalNetworkTreeAllReduce {
  static constexpr std::string_view name = "hierarchical-network-tree";
  static constexpr std::string_view formula =
      "2 (g-1) (a_node + S / (g B_node)) + (k+1) (a_tree + S / (g k B_tree))";
  static constexpr std::string_view source = "Graham et al. 2016 (SHARP), a tree per rail";
  static constexpr std::string_view needs =
      "several ranks on each of several nodes, and a network whose switches add";
  static constexpr bool exact = true;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.per_node > 1 && group.nodes > 1 && fabric.node.exists() &&
           fabric.network_switch.exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int g = group.per_node;
    if (group.ranks() == 1) {
      return Seconds{};
    }
    return fabric.node.shares(2 * (g - 1), size / g) +
           switch_plan(size / g, size / g, fabric.network_switch).time;
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    const int g = group.per_node;
    return group.ranks() == 1 ? Bytes{} : size * (2.0 * (g - 1) / g) + size / g;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter in the switch of each node, ring all-reduce of the shards over the nodes,
/// all-gather through the switches:
/// t = 2 ((k+1) a_switch + (g-1 + 1/k) S / (g B_switch)) + 2 (N-1) (a_net + S / (g N B_net)).
struct HierarchicalInSwitchAllReduce {
  static constexpr std::string_view name = "hierarchical-in-switch";
  static constexpr std::string_view formula =
      "2 ((k+1) a_switch + (g-1 + 1/k) S / (g B_switch)) + 2 (N-1) (a_net + S / (g N B_net))";
  static constexpr std::string_view source = "NVLink SHARP, and a ring per rail";
  static constexpr std::string_view needs =
      "several ranks on each of several nodes, and a switch of the node that adds and multicasts";
  static constexpr bool exact = true;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.per_node > 1 && group.nodes > 1 && fabric.node_switch.exists() &&
           fabric.network.exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    if (group.ranks() == 1) {
      return Seconds{};
    }
    const int g = group.per_node;
    return switch_plan((g - 1) * (size / g), size / g, fabric.node_switch, 2).time +
           fabric.network.time(2 * (group.nodes - 1), size / group.ranks());
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    const int nodes = group.nodes;
    return group.ranks() == 1 ? Bytes{}
                              : size + size / group.per_node * (2.0 * (nodes - 1) / nodes);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
