#pragma once
// All-to-alls over the two tiers of a cluster: g ranks on each of N nodes, n = g N. S: the bytes
// that each rank hands out, its own share included.

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// All messages at once, those to the own node inside it, the others through the network:
/// t = max(a_node + (g-1) S / (n B_node), a_net + (n-g) S / (n B_net)).
struct TwoTierAllToAll : TwoTierAlgorithm {
  static constexpr std::string_view name = "two-tier-direct";
  static constexpr std::string_view formula =
      "max(a_node + (g-1) S / (n B_node), a_net + (n-g) S / (n B_net))";
  static constexpr std::string_view source = "direct, each tier with its own traffic";
  static constexpr bool one_exchange = true;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.per_node > 1 && group.nodes > 1 && fabric.exchange.exists() &&
           fabric.network.exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    const int g = group.per_node;
    const Seconds inside =
        fabric.exchange.stream_with_own(g > 1 ? 1 : 0, (g - 1) * (size / n), size / n);
    const Seconds between = fabric.network.stream(n > g ? 1 : 0, (n - g) * (size / n));
    return inside < between ? between : inside;
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return size * (static_cast<double>(group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Along rails: inside the node first, every rank collecting what is for the ranks of its number on
/// all nodes; then it sends each of them one message. All messages of a phase at once:
/// t = a_node + (g-1) S / (g B_node) + a_net + (N-1) S / (N B_net).  [NCCL's PXN]
/// Through the network go the same bytes as directly, in N-1 messages instead of n-g.
struct RailAllToAll : TwoTierAlgorithm {
  static constexpr std::string_view name = "rail-direct";
  static constexpr std::string_view formula =
      "a_node + (g-1) S / (g B_node) + a_net + (N-1) S / (N B_net)";
  static constexpr std::string_view source = "NCCL PXN";

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return TwoTierAllToAll::applies(group, fabric);
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int g = group.per_node;
    const int nodes = group.nodes;
    return fabric.exchange.stream(g > 1 ? 1 : 0, (g - 1) * (size / g)) +
           fabric.network.stream(nodes > 1 ? 1 : 0, (nodes - 1) * (size / nodes));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    const int g = group.per_node;
    const int nodes = group.nodes;
    return (g - 1) * (size / g) + (nodes - 1) * (size / nodes);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// The same, one message after the other: t = (g-1) (a_node + S / (g B_node)) +
/// (N-1) (a_net + S / (N B_net)): of the latencies of the pairwise all-to-all, far fewer.
struct RailPairwiseAllToAll : RailAllToAll {
  static constexpr std::string_view name = "rail-pairwise";
  static constexpr std::string_view formula =
      "(g-1) (a_node + S / (g B_node)) + (N-1) (a_net + S / (N B_net))";

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.per_node > 1 && group.nodes > 1 && fabric.pair.exists() && fabric.network.exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int g = group.per_node;
    const int nodes = group.nodes;
    return fabric.pair.time(g - 1, size / g) + fabric.network.time(nodes - 1, size / nodes);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
