#include "titer/collectives/algorithm/tree.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace titer {

namespace {

/// Ranks first .. first+count-1, whose pieces `first` has.
struct Share {
  int first = 0;
  int count = 1;
};

/// Every holder of a run keeps the larger half and hands on the rest, until all have one piece.
void scatter(Rendezvous& script, const Group& group) {
  std::vector<Share> shares = {{0, group.ranks()}};
  for (int round = 0; round < log2_above(group.ranks()); ++round) {
    const std::vector<Share> before = std::exchange(shares, {});
    for (const Share& share : before) {
      const int kept = (share.count + 1) / 2;
      shares.push_back({share.first, kept});
      if (share.count > 1) {
        const Share rest{share.first + kept, share.count - kept};
        script.send({.from = share.first, .to = rest.first, .tier = group.pair_tier()},
                    Run{rest.first, rest.count});
        shares.push_back(rest);
      }
    }
    script.next_round();
  }
}

/// In blocks from the first rank to the last, or added up from the last to the first.
Steps along_chain(Bytes size, const Group& group, const Fabric& fabric, Arrival arrival) {
  const int n = group.ranks();
  if (n == 1) {
    return Steps(n, size, 1);
  }
  const bool adds = arrival == Arrival::add;
  const int blocks = ChainBroadcast::pipeline(group).blocks(size, fabric.at(group.pair_tier()));
  Script script(Steps(n, size, blocks));
  for (int round = 0; round < n - 2 + blocks; ++round) {
    // `hops` ranks lie between the one that begins and the one that sends.
    for (int hops = std::max(0, round - blocks + 1); hops <= std::min(round, n - 2); ++hops) {
      script.send({.from = adds ? n - 1 - hops : hops,
                   .to = adds ? n - 2 - hops : hops + 1,
                   .tier = group.pair_tier(),
                   .arrival = arrival},
                  Run{round - hops, 1});
    }
    script.next_round();
  }
  return script.take();
}

}  // namespace

Steps BinomialBroadcast::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Rendezvous script(Steps(group.ranks(), size, 1));
  for (int known = 1; known < group.ranks(); known *= 2) {
    for (int rank = 0; rank < std::min(known, group.ranks() - known); ++rank) {
      script.send({.from = rank, .to = rank + known, .tier = group.pair_tier()}, Run{0, 1});
    }
    script.next_round();
  }
  return script.take();
}

Steps BinomialReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Rendezvous script(Steps(group.ranks(), size, 1));
  for (int round = log2_above(group.ranks()); round > 0; --round) {
    const int left = 1 << (round - 1);
    for (int rank = left; rank < std::min(2 * left, group.ranks()); ++rank) {
      script.send(
          {.from = rank, .to = rank - left, .tier = group.pair_tier(), .arrival = Arrival::add},
          Run{0, 1});
    }
    script.next_round();
  }
  return script.take();
}

Steps ChainBroadcast::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return along_chain(size, group, fabric, Arrival::replace);
}

Steps ChainReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return along_chain(size, group, fabric, Arrival::add);
}

Steps StarBroadcast::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Rendezvous script(Steps(group.ranks(), size, 1));
  for (int rank = 1; rank < group.ranks(); ++rank) {
    script.send({.from = 0, .to = rank, .tier = group.pair_tier()}, Run{0, 1});
    script.next_round();
  }
  return script.take();
}

Steps StarReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Rendezvous script(Steps(group.ranks(), size, 1));
  for (int rank = 1; rank < group.ranks(); ++rank) {
    script.send({.from = rank, .to = 0, .tier = group.pair_tier(), .arrival = Arrival::add},
                Run{0, 1});
    script.next_round();
  }
  return script.take();
}

Steps ScatterAllGatherBroadcast::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  Rendezvous script(Steps(n, size, n));
  scatter(script, group);
  for (int round = 0; round < n - 1; ++round) {
    for (int rank = 0; rank < n; ++rank) {
      script.send({.from = rank, .to = (rank + 1) % n, .tier = group.pair_tier()},
                  Run{(rank + n - round) % n, 1});
    }
    script.next_round();
  }
  return script.take();
}

Steps RabenseifnerReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  Rendezvous script(Steps(n, size, n));
  for (int distance = n / 2; distance >= 1; distance /= 2) {
    for (int rank = 0; rank < n; ++rank) {
      const int peer = rank ^ distance;
      script.send({.from = rank, .to = peer, .tier = group.pair_tier(), .arrival = Arrival::add},
                  Run{peer / distance * distance, distance});
    }
    script.next_round();
  }
  for (int distance = 1; distance < n; distance *= 2) {
    for (int rank = distance; rank < n; rank += 2 * distance) {
      script.send({.from = rank, .to = rank - distance, .tier = group.pair_tier()},
                  Run{rank, distance});
    }
    script.next_round();
  }
  return script.take();
}

}  // namespace titer
