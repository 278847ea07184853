#pragma once
// Collectives through switches that add what the ranks send up and multicast what they send down
// (NVLink SHARP in a node, SHARP trees in the network). S: the full result; k: number of blocks,
// which follow one another: while block j goes up, block j-1 comes down.

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// The number of blocks with which a switched collective takes the least time, and that time.
struct SwitchPlan {
  static constexpr int most_blocks = 64;  // more would save less than 1/64 of the time on the wire
  int blocks = 1;
  Seconds time;
};

/// k blocks of `through` bytes together pass a port, and `lead` bytes more once, cut by k:
/// t = (k+1) a + (through + lead / k) / B. The best k is the smallest with k (k+1) a B >= lead.
/// `phases` of that take as often that time, and the start-up once.
[[nodiscard]] constexpr SwitchPlan switch_plan(Bytes through,
                                               Bytes lead,
                                               const Channel& channel,
                                               int phases = 1) {
  SwitchPlan best;
  bool found = false;
  for (const Link& link : channel.links()) {
    int low = 1;
    int high = SwitchPlan::most_blocks;
    while (low < high) {
      const int k = (low + high) / 2;
      const bool enough = (1.0 * k * (k + 1)) * link.latency >= lead / link.bandwidth;
      (enough ? high : low) = enough ? k : k + 1;
    }
    const Seconds phase = (low + 1) * link.latency + (through + lead / low) / link.bandwidth;
    const Seconds time = link.startup + phases * phase;
    if (!found || time < best.time) {
      best = {.blocks = low, .time = time};
      found = true;
    }
  }
  ensure(found, "a channel needs a protocol");
  return best;
}

/// All-reduce in the switch of a node: t = (k+1) (a + S / (k B)): nearly S / B, half of a ring's.
/// [NVLink SHARP; NCCL's NVLS]
struct InSwitchAllReduce {
  static constexpr std::string_view name = "in-switch";
  static constexpr std::string_view formula = "(k+1) (a + S / (k B))";
  static constexpr std::string_view source = "NVLink SHARP (NCCL NVLS)";
  static constexpr std::string_view needs =
      "ranks of one node, and a switch of the node that adds and multicasts";
  static constexpr bool exact = true;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.nodes == 1 && fabric.node_switch.exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return group.ranks() == 1 ? Seconds{} : switch_plan(size, size, fabric.node_switch).time;
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Broadcast from rank 0 by the switch's multicast, in the time of the all-reduce.
struct InSwitchBroadcast : InSwitchAllReduce {
  static constexpr std::string_view source = "NVLink multicast";
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce to rank 0, in that time too.
struct InSwitchReduce : InSwitchAllReduce {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-gather: every rank's piece goes up once, and those of the others come down:
/// t = (k+1) a + (n-1 + 1/k) S / (n B).
struct InSwitchAllGather : InSwitchAllReduce {
  static constexpr std::string_view formula = "(k+1) a + (n-1 + 1/k) S / (n B)";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return n == 1 ? Seconds{}
                  : switch_plan((n - 1) * (size / n), size / n, fabric.node_switch).time;
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size / group.ranks();
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter: the others' pieces go up, and the sum of its own piece comes down to each rank,
/// in the same time.
struct InSwitchReduceScatter : InSwitchAllGather {
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return size * (static_cast<double>(group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-reduce in a tree of adding switches of the network, which is one helper here: its channel's
/// latency is that of all levels of switches: t = (k+1) (a + S / (k B)).
/// [Graham et al. 2016 (SHARP); NCCL CollNet]
struct NetworkTreeAllReduce {
  static constexpr std::string_view name = "network-tree";
  static constexpr std::string_view formula = "(k+1) (a + S / (k B)), a: up through all levels";
  static constexpr std::string_view source = "Graham et al. 2016 (SHARP)";
  static constexpr std::string_view needs = "a network whose switches add";
  static constexpr bool exact = true;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.nodes > 1 && fabric.network_switch.exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return group.ranks() == 1 ? Seconds{} : switch_plan(size, size, fabric.network_switch).time;
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
