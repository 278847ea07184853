#include "titer/collectives/algorithm/hybrid.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace titer {

Steps HybridRingsAllReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  const int n = group.ranks();
  if (n == 1) {
    return Steps(1, size, 1);
  }
  const double share = node_share(fabric);
  // The first n pieces go over the node's fabric, the others over the host.
  std::vector<Bytes> pieces(static_cast<std::size_t>(n), share * size / n);
  pieces.resize(2 * pieces.size(), (1 - share) * size / n);
  Script script(Steps(n, std::move(pieces)), 2);
  for (const bool on_host : {false, true}) {
    const Tier tier = on_host ? Tier::host : Tier::node;
    Ring ring;
    for (int rank = 0; rank < n; ++rank) {
      ring.push_back({.rank = rank, .block = {(on_host ? n : 0) + rank, 1}});
    }
    script.thread(on_host ? 1 : 0);
    ring_reduce_scatter(script, ring, tier);
    ring_all_gather(script, ring, tier);
  }
  return script.take();
}

}  // namespace titer
