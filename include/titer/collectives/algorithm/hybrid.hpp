#pragma once
// All-reduce over two ways inside a node at once: its own fabric (NVLink) and the host's (PCIe).

#include "titer/collectives/algorithm/ring.hpp"

namespace titer {

/// The share of the buffer that goes over the node's own fabric: R / (1 + R), R = B_node / B_host.
/// [E15a]
[[nodiscard]] constexpr double node_share(const Fabric& fabric) {
  constexpr auto most = [](const Channel& channel) {
    BytesPerSecond bandwidth;
    for (const Link& link : channel.links()) {
      bandwidth = link.bandwidth > bandwidth ? link.bandwidth : bandwidth;
    }
    return bandwidth;
  };
  return most(fabric.node) / (most(fabric.node) + most(fabric.host));
}

/// A ring on each way, with shares of the buffer by bandwidth. Where both latencies are equal:
/// t = 2 (n-1) (a + S / (n (B_node + B_host))); otherwise that with the larger one.
struct HybridRingsAllReduce {
  static constexpr std::string_view name = "hybrid-rings";
  static constexpr std::string_view formula =
      "max over node, host of 2 (n-1) (a_i + S / (n (B_node + B_host)))";
  static constexpr std::string_view source = "seed equation E15a";
  static constexpr std::string_view needs =
      "ranks of one node that are joined by wires and through the host";
  static constexpr bool exact = true;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.nodes == 1 && fabric.node.exists() && fabric.host.exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    if (group.ranks() == 1) {
      return Seconds{};
    }
    const double share = node_share(fabric);
    const Seconds node = RingAllReduce::time(share * size, group, fabric);
    const Seconds host =
        RingAllReduce::time((1 - share) * size, group, Fabric{.node = fabric.host});
    return node < host ? host : node;
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return RingAllReduce::volume(size, group);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
