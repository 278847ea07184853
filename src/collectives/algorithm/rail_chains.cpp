#include "titer/collectives/algorithm/rail_chains.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace titer {

namespace {

struct ChainHop {
  int from = 0;
  int to = 0;
};

/// The hops of one chain towards rank 0, in their order: through every node from the rank after the
/// one that leaves it, round to that one. In rank 0's node, 0 comes last; the chain that enters it
/// there has the other ranks of the node come in beside what enters.
class RailChain {
 public:
  RailChain(const Group& group, int number) : g_(group.per_node), number_(number) {
    for (int node = group.nodes - 1; node > 0; --node) {
      go_round(node * g_);
      hops_.push_back({node * g_ + number_, (node - 1) * g_ + entry()});
    }
    come_home();
  }
  [[nodiscard]] const std::vector<ChainHop>& hops() const { return hops_; }

 private:
  [[nodiscard]] int entry() const { return (number_ + 1) % g_; }

  void go_round(int first) {
    for (int i = 1; i < g_; ++i) {
      hops_.push_back({first + (number_ + i) % g_, first + (number_ + i + 1) % g_});
    }
  }
  void come_home() {
    const int begin = entry() == 0 ? 1 : entry();
    for (int i = 0; i + 2 < g_; ++i) {
      hops_.push_back({home(begin + i), home(begin + i + 1)});
    }
    hops_.push_back({home(begin + g_ - 2), 0});
  }
  /// Ranks 1 to g-1 round.
  [[nodiscard]] int home(int place) const { return 1 + (place - 1) % (g_ - 1); }

  int g_;
  int number_;
  std::vector<ChainHop> hops_;
};

/// Writes the blocks of a chain: a message waits for all of its block that its sender is to get,
/// and for the block before on the same hop.
class ChainWriter {
 public:
  ChainWriter(Steps& steps, const Group& group) : steps_(steps), group_(group) {}

  void write(const std::vector<ChainHop>& hops, Arrival arrival, int first_piece, int blocks) {
    std::vector<std::uint32_t> before(hops.size());  // of the last block, by hop
    for (int block = 0; block < blocks; ++block) {
      const Run piece{first_piece + block, 1};
      std::vector<std::vector<std::uint32_t>> arrived(static_cast<std::size_t>(group_.ranks()));
      for (std::size_t i = 0; i < hops.size(); ++i) {
        const ChainHop& hop = hops[i];
        std::vector<std::uint32_t> after = arrived[static_cast<std::size_t>(hop.from)];
        if (block > 0) {
          after.push_back(before[i]);
        }
        const bool inside = hop.from / group_.per_node == hop.to / group_.per_node;
        before[i] = steps_.add({.from = hop.from,
                                .to = hop.to,
                                .tier = inside ? Tier::node : Tier::network,
                                .arrival = arrival},
                               std::span(&piece, 1),
                               after);
        arrived[static_cast<std::size_t>(hop.to)].push_back(before[i]);
      }
    }
  }

 private:
  Steps& steps_;
  const Group& group_;
};

Steps along_every_rail(Bytes size, const Group& group, const Fabric& fabric, Arrival arrival) {
  const int blocks = RailChains{size, group}.blocks(fabric);
  Steps steps(group.ranks(), size, blocks * group.per_node);
  for (int number = 0; number < group.per_node; ++number) {
    std::vector<ChainHop> hops = RailChain(group, number).hops();
    if (arrival == Arrival::replace) {
      std::ranges::reverse(hops);
      for (ChainHop& hop : hops) {
        std::swap(hop.from, hop.to);
      }
    }
    ChainWriter(steps, group).write(hops, arrival, number * blocks, blocks);
  }
  return steps;
}

}  // namespace

Seconds RailChains::inside(int blocks, const Link& node) const { return node.time(size / blocks); }

Seconds RailChains::between(int blocks, const Link& network) const {
  return network.time(size / (static_cast<double>(group.per_node) * blocks));
}

Seconds RailChains::time(int blocks, const Link& node, const Link& network) const {
  const Seconds in = inside(blocks, node);
  const Seconds out = between(blocks, network);
  return node.startup + network.startup + (group.nodes - 1) * out +
         group.nodes * (group.per_node - 1) * in + (blocks - 1) * std::max(in, out);
}

int RailChains::blocks(const Link& node, const Link& network) const {
  const double hops_inside = group.nodes * (group.per_node - 1);
  const Seconds in = size / node.bandwidth;
  const Seconds out = size / (group.per_node * network.bandwidth);
  int best = 1;
  // The better of the two whole numbers beside the best where either tier is the slower.
  for (const auto& [slower, latency] :
       {std::pair{in, node.latency}, std::pair{out, network.latency}}) {
    const Seconds filling = hops_inside * in + (group.nodes - 1) * out - slower;
    const double most = most_blocks;
    const int fewer = filling >= most * most * latency
                          ? most_blocks
                          : std::max(1, static_cast<int>(std::sqrt(filling / latency)));
    for (const int count : {fewer, std::min(fewer + 1, most_blocks)}) {
      best = time(count, node, network) < time(best, node, network) ? count : best;
    }
  }
  return best;
}

int RailChains::blocks(const Fabric& fabric) const {
  const Seconds least = time(fabric);
  for (const Link& node : fabric.node.links()) {
    for (const Link& network : fabric.network.links()) {
      const int count = blocks(node, network);
      if (time(count, node, network) == least) {
        return count;
      }
    }
  }
  return 1;
}

Seconds RailChains::time(const Fabric& fabric) const {
  return fabric.node.best([&](const Link& node) {
    return fabric.network.best(
        [&](const Link& network) { return time(blocks(node, network), node, network); });
  });
}

Steps RailChainsReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return along_every_rail(size, group, fabric, Arrival::add);
}

Steps RailChainsBroadcast::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return along_every_rail(size, group, fabric, Arrival::replace);
}

}  // namespace titer
