#pragma once
// Reduces to rank 0 and broadcasts from it along chains through all ranks of several nodes, one for
// each rank of a node, so that every NIC has a chain of its own. g ranks on each of N nodes.

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// How such chains flow: each carries S/g in k blocks. It leaves every node by another rank and
/// enters the next one at the rank after that one, so that a NIC serves one chain, a rank's port in
/// the node at most g of them.
struct RailChains {
  static constexpr int most_blocks = 1024;
  Bytes size;
  Group group;

  /// At most: every block takes the longest way, N-1 hops between nodes and g-1 in each, and the
  /// others follow it as fast as the slowest hop.
  [[nodiscard]] Seconds time(int blocks, const Link& node, const Link& network) const;
  /// The best number of blocks.
  [[nodiscard]] int blocks(const Link& node, const Link& network) const;
  /// Of the protocols that are the fastest, each with its own best number.
  [[nodiscard]] int blocks(const Fabric& fabric) const;
  [[nodiscard]] Seconds time(const Fabric& fabric) const;

 private:
  /// What a block takes for a hop, where all chains meet at a port.
  [[nodiscard]] Seconds inside(int blocks, const Link& node) const;
  [[nodiscard]] Seconds between(int blocks, const Link& network) const;
};

/// Reduce. [NCCL's channels: a chain for each NIC, through all ranks of a node]
struct RailChainsReduce : TwoTierAlgorithm {
  static constexpr std::string_view name = "multi-rail-chains";
  static constexpr std::string_view formula =
      "(N-1) t_net + N (g-1) t_node + (k-1) max(t_net, t_node), "
      "t_net = a_net + S / (g k B_net), t_node = a_node + S / (k B_node)";
  static constexpr std::string_view source = "Chan et al. 2007, a chain per rail";
  static constexpr bool exact = false;

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return RailChains{size, group}.time(fabric);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Broadcast: the same messages the other way, in the same time. One of the chains begins with two:
/// to the next node, and to the other ranks of rank 0's.
struct RailChainsBroadcast : RailChainsReduce {
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size + size / group.per_node;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
