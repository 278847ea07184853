#include "titer/collectives/algorithm/ring.hpp"

#include <cstddef>

namespace titer {

namespace {

/// In step k, member i sends block i-k-lead to the next.
void rotate(Script& script, const Ring& ring, Message message, std::size_t lead) {
  const std::size_t n = ring.size();
  for (std::size_t step = 0; step + 1 < n; ++step) {
    for (std::size_t i = 0; i < n; ++i) {
      message.from = ring[i].rank;
      message.to = ring[(i + 1) % n].rank;
      script.send(message, ring[(i + 2 * n - step - lead) % n].block);
    }
    script.next_round();
  }
}

Message along(Tier tier, int lane, Arrival arrival) {
  return {.tier = tier, .lane = static_cast<std::uint16_t>(lane), .arrival = arrival};
}

}  // namespace

void ring_reduce_scatter(Script& script, const Ring& ring, Tier tier, int lane) {
  // After n-1 steps, member i holds the sum of block i.
  rotate(script, ring, along(tier, lane, Arrival::add), 1);
}

void ring_all_gather(Script& script, const Ring& ring, Tier tier, int lane) {
  rotate(script, ring, along(tier, lane, Arrival::replace), 0);
}

Ring flat_ring(const Group& group) {
  Ring ring;
  for (int rank = 0; rank < group.ranks(); ++rank) {
    ring.push_back({.rank = rank, .block = {home_piece(rank, group), 1}});
  }
  return ring;
}

Steps RingAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Script script(Steps(group.ranks(), size, group.ranks()));
  const Ring ring = flat_ring(group);
  ring_reduce_scatter(script, ring, group.ring_tier());
  ring_all_gather(script, ring, group.ring_tier());
  return script.take();
}

Steps RingAllGather::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Script script(Steps(group.ranks(), size, group.ranks()));
  ring_all_gather(script, flat_ring(group), group.ring_tier());
  return script.take();
}

Steps RingReduceScatter::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Script script(Steps(group.ranks(), size, group.ranks()));
  ring_reduce_scatter(script, flat_ring(group), group.ring_tier());
  return script.take();
}

Steps NaiveRingAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  Script script(Steps(n, size, n));
  for (int i = 0; n > 1 && i < 2 * n - 1; ++i) {
    // Ranks 1 .. n-1 add their own; the n-th forward brings rank 0 the sum, the rest hand it on.
    const Arrival arrival = i + 1 < n ? Arrival::add : Arrival::replace;
    script.send({.from = i % n, .to = (i + 1) % n, .tier = group.ring_tier(), .arrival = arrival},
                Run{0, n});
    script.next_round();
  }
  return script.take();
}

}  // namespace titer
