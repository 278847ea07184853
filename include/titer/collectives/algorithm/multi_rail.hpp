#pragma once
// Rings through all ranks of several nodes, one for each rank of a node, so that every NIC has a
// ring of its own. g ranks on each of N nodes, n = g N; S: the full result.

#include <algorithm>

#include "titer/collectives/algorithm/ring.hpp"

namespace titer {

/// What `laps` times round n-1 ranks of such rings takes. Each of the g rings carries S/g in n
/// shares. It enters every node at another rank, and leaves it by the rank before that one: a
/// rank's port in the node carries g-1 rings, its share of the NICs one. A share waits only for its
/// own arrival, so that the latencies of shares overlap and both tiers work at the same time: the
/// latency is that of the longest n-1 hops of a ring, the rest the busier port.
[[nodiscard]] constexpr Seconds multi_rail_time(int laps,
                                                Bytes size,
                                                const Group& group,
                                                const Fabric& fabric) {
  const int n = group.ranks();
  const int inside = n - group.nodes;  // hops of a ring inside nodes
  const double hops = laps * (n - 1);
  const Bytes share = size / (static_cast<double>(n) * group.per_node);
  return fabric.node.best([&](const Link& node) {
    return fabric.network.best([&](const Link& net) {
      const Seconds lap =
          group.nodes * net.latency + inside * node.latency - std::min(net.latency, node.latency);
      const Seconds slower =
          std::max((group.per_node - 1) * (share / node.bandwidth), share / net.bandwidth);
      return node.startup + net.startup + laps * lap + hops * slower;
    });
  });
}

/// All-reduce, at most 2 (N a_net + (n-N) a_node - min(a_net, a_node)) +
/// 2 (n-1) max(S / (n g B_net), (g-1) S / (n g B_node)).
/// [Patarasuk & Yuan 2009 on every rail; NCCL's rings on nodes of several NICs]
struct MultiRailRingsAllReduce : TwoTierAlgorithm {
  static constexpr std::string_view name = "multi-rail-rings";
  static constexpr std::string_view formula =
      "2 (N a_net + (n-N) a_node - min(a)) + 2 (n-1)/(n g) S max(1/B_net, (g-1)/B_node)";
  static constexpr std::string_view source = "Patarasuk & Yuan 2009, a ring per rail";
  static constexpr bool exact = false;

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return multi_rail_time(2, size, group, fabric);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return RingAllReduce::volume(size, group);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-gather on the same rings: half of it, one lap.
struct MultiRailRingsAllGather : MultiRailRingsAllReduce {
  static constexpr std::string_view formula =
      "N a_net + (n-N) a_node - min(a) + (n-1)/(n g) S max(1/B_net, (g-1)/B_node)";
  static constexpr std::string_view source = "Thakur, Rabenseifner & Gropp 2005, a ring per rail";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return multi_rail_time(1, size, group, fabric);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return RingAllGather::volume(size, group);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter on the same rings, in the time of the all-gather.
struct MultiRailRingsReduceScatter : MultiRailRingsAllGather {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
