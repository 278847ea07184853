#include "titer/collectives/algorithm/server.hpp"

#include <algorithm>

namespace titer {

Steps ParameterServer::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  const int servers = n > 1 ? group.servers : 0;
  Script script(Steps(n, size, std::max(servers, 1), servers));
  for (int rank = 0; rank < n; ++rank) {
    for (int i = 0; i < servers; ++i) {
      script.send(
          {.from = rank, .to = n + i, .tier = group.exchange_tier(), .arrival = Arrival::add},
          Run{i, 1});
    }
  }
  script.next_round();
  for (int rank = 0; rank < n; ++rank) {
    for (int i = 0; i < servers; ++i) {
      script.send({.from = n + i, .to = rank, .tier = group.exchange_tier()}, Run{i, 1});
    }
  }
  return script.take();
}

}  // namespace titer
