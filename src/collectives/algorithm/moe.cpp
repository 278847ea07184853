#include "titer/collectives/algorithm/moe.hpp"

#include <algorithm>

namespace titer {

Steps dispatch_steps(const TierBytes& bytes, const Group& group) {
  const int g = group.per_node;
  const Bytes between = bytes.network / std::max(group.nodes - 1, 1);
  const Bytes inside = bytes.node / std::max(g - 1, 1);
  Script script(Steps(group.ranks(), {between, inside}));
  for (int rank = 0; rank < group.ranks(); ++rank) {
    for (int to = rank % g; to < group.ranks(); to += g) {
      if (to != rank) {
        script.send({.from = rank, .to = to, .tier = Tier::network}, Run{0, 1});
      }
    }
  }
  script.next_round();
  for (int rank = 0; rank < group.ranks(); ++rank) {
    const int first = rank / g * g;
    for (int to = first; to < first + g; ++to) {
      if (to != rank) {
        script.send({.from = rank, .to = to, .tier = Tier::exchange}, Run{1, 1});
      }
    }
  }
  script.next_round();
  return script.take();
}

}  // namespace titer
