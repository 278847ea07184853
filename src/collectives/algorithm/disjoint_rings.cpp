#include "titer/collectives/algorithm/disjoint_rings.hpp"

#include <cstddef>
#include <initializer_list>

namespace titer {

namespace {

using RingPhase = void (*)(Script&, const Ring&, Tier, int);

/// The phases on each of the wiring's rings, each with its part of the buffer, cut into home
/// pieces.
Steps on_every_ring(Bytes size, const Group& group, std::initializer_list<RingPhase> phases) {
  const int n = group.ranks();
  const auto count = static_cast<int>(group.wiring->rings.size());
  Script script(Steps(n, size, n * count), count);
  for (int r = 0; r < count; ++r) {
    Ring ring;
    for (const int rank : group.wiring->rings[static_cast<std::size_t>(r)]) {
      ring.push_back({.rank = rank, .block = {r * n + rank, 1}});
    }
    script.thread(r);
    for (const RingPhase phase : phases) {
      phase(script, ring, Tier::wire, r);
    }
  }
  return script.take();
}

}  // namespace

Steps DisjointRingsAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return on_every_ring(size, group, {ring_reduce_scatter, ring_all_gather});
}

Steps DisjointRingsAllGather::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return on_every_ring(size, group, {ring_all_gather});
}

Steps DisjointRingsReduceScatter::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return on_every_ring(size, group, {ring_reduce_scatter});
}

}  // namespace titer
