#include "titer/collectives/algorithm/multi_rail.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titer {

namespace {

/// Ring number r goes through the nodes in order, and in each through rank r of it, r+1, … round to
/// r-1, which sends to the next node.
int rank_on_ring(const Group& group, int ring, int position) {
  const int around = position % group.ranks();
  const int first = around / group.per_node * group.per_node;
  return first + (ring + around) % group.per_node;
}

/// One ring, hops `from` to `to` of every share: the first n-1 add the share up, from the position
/// after its owner's round to its owner; the next n-1 hand it round from there.
void go_round(Steps& steps, const Group& group, int ring, int from, int to) {
  const int n = group.ranks();
  const auto shares = static_cast<std::size_t>(n);
  std::vector<std::uint32_t> arrived(shares);  // the last hop of each share
  for (int hop = from; hop < to; ++hop) {
    for (int owner = 0; owner < n; ++owner) {
      const int sender = rank_on_ring(group, ring, owner + 1 + hop);
      const int receiver = rank_on_ring(group, ring, owner + 2 + hop);
      const bool inside = sender / group.per_node == receiver / group.per_node;
      const int home = home_piece(rank_on_ring(group, ring, owner), group);
      const Run share{ring * n + home, 1};
      std::uint32_t& before = arrived[static_cast<std::size_t>(owner)];
      before = steps.add({.from = sender,
                          .to = receiver,
                          .tier = inside ? Tier::node : Tier::network,
                          .arrival = hop < n - 1 ? Arrival::add : Arrival::replace},
                         std::span(&share, 1),
                         std::span(&before, hop > from ? 1 : 0));
    }
  }
}

Steps on_every_rail(Bytes size, const Group& group, int from, int to) {
  Steps steps(group.ranks(), size, group.ranks() * group.per_node);
  for (int ring = 0; ring < group.per_node; ++ring) {
    go_round(steps, group, ring, from, to);
  }
  return steps;
}

}  // namespace

Steps MultiRailRingsAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return on_every_rail(size, group, 0, 2 * (group.ranks() - 1));
}

Steps MultiRailRingsAllGather::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return on_every_rail(size, group, group.ranks() - 1, 2 * (group.ranks() - 1));
}

Steps MultiRailRingsReduceScatter::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return on_every_rail(size, group, 0, group.ranks() - 1);
}

}  // namespace titer
