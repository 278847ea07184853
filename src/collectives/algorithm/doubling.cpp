#include "titer/collectives/algorithm/doubling.hpp"

#include <algorithm>
#include <vector>

#include "titer/collectives/algorithm/pipeline.hpp"

namespace titer {

namespace {

/// The ranks from the power of two on, into or out of those that they stand behind.
void fold(Rendezvous& script, const Group& group, int pieces) {
  const int p = power_below(group.ranks());
  for (int rank = p; rank < group.ranks(); ++rank) {
    script.send({.from = rank, .to = rank - p, .tier = group.pair_tier(), .arrival = Arrival::add},
                Run{0, pieces});
  }
  script.next_round();
}

void unfold(Rendezvous& script, const Group& group, int pieces) {
  const int p = power_below(group.ranks());
  for (int rank = p; rank < group.ranks(); ++rank) {
    script.send({.from = rank - p, .to = rank, .tier = group.pair_tier()}, Run{0, pieces});
  }
  script.next_round();
}

/// Every rank sends its peer at `distance` the pieces of those ranks whose halves they are: of the
/// peer's half where it adds, of its own where it gathers. piece_of(rank) is a rank's piece.
template <class PieceOf>
void exchange_halves(
    Rendezvous& script, Message message, int ranks, int distance, PieceOf piece_of) {
  for (int rank = 0; rank < ranks; ++rank) {
    message.from = rank;
    message.to = rank ^ distance;
    const int owner = message.arrival == Arrival::add ? message.to : rank;
    const int first = owner / distance * distance;
    std::vector<Run> runs;
    for (int of = first; of < first + distance; ++of) {
      runs.push_back({piece_of(of), 1});
    }
    script.send(message, runs);
  }
  script.next_round();
}

template <class PieceOf>
void halve(Rendezvous& script, const Group& group, int ranks, PieceOf piece_of) {
  for (int distance = ranks / 2; distance >= 1; distance /= 2) {
    const Message message{.tier = group.pair_tier(), .arrival = Arrival::add};
    exchange_halves(script, message, ranks, distance, piece_of);
  }
}

template <class PieceOf>
void gather_doubling(Rendezvous& script, const Group& group, int ranks, PieceOf piece_of) {
  for (int distance = 1; distance < ranks; distance *= 2) {
    exchange_halves(script, {.tier = group.pair_tier()}, ranks, distance, piece_of);
  }
}

int same(int rank) { return rank; }

}  // namespace

Steps RecursiveDoublingAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Rendezvous script(Steps(group.ranks(), size, 1));
  fold(script, group, 1);
  const int p = power_below(group.ranks());
  for (int distance = 1; distance < p; distance *= 2) {
    for (int rank = 0; rank < p; ++rank) {
      script.send(
          {.from = rank, .to = rank ^ distance, .tier = group.pair_tier(), .arrival = Arrival::add},
          Run{0, 1});
    }
    script.next_round();
  }
  unfold(script, group, 1);
  return script.take();
}

Steps HalvingDoublingAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int p = power_below(group.ranks());
  Rendezvous script(Steps(group.ranks(), size, p));
  fold(script, group, p);
  halve(script, group, p, same);
  gather_doubling(script, group, p, same);
  unfold(script, group, p);
  return script.take();
}

Steps RecursiveDoublingAllGather::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Rendezvous script(Steps(group.ranks(), size, group.ranks()));
  gather_doubling(script, group, group.ranks(), [&](int rank) { return home_piece(rank, group); });
  return script.take();
}

Steps RecursiveHalvingReduceScatter::steps(Bytes size,
                                           const Group& group,
                                           const Fabric& /*fabric*/) {
  Rendezvous script(Steps(group.ranks(), size, group.ranks()));
  halve(script, group, group.ranks(), [&](int rank) { return home_piece(rank, group); });
  return script.take();
}

Steps BruckAllGather::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  Rendezvous script(Steps(n, size, n));
  // Before each round, rank r has the pieces of r .. r + distance - 1.
  for (int distance = 1; distance < n; distance *= 2) {
    for (int rank = 0; rank < n; ++rank) {
      std::vector<Run> runs;
      for (int i = 0; i < std::min(distance, n - distance); ++i) {
        runs.push_back({home_piece((rank + i) % n, group), 1});
      }
      script.send({.from = rank, .to = (rank + n - distance) % n, .tier = group.pair_tier()}, runs);
    }
    script.next_round();
  }
  return script.take();
}

Steps BruckAllToAll::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  Rendezvous script(Steps(n, n * size, n * n));
  for (int distance = 1; distance < n; distance *= 2) {
    for (int rank = 0; rank < n; ++rank) {
      std::vector<Run> runs;
      for (int j = 1; j < n; ++j) {
        if ((j & distance) != 0) {
          // It has gone the lower bits of its j ranks by now.
          const int origin = (rank + n - j % distance) % n;
          runs.push_back({origin * n + (origin + j) % n, 1});
        }
      }
      script.send({.from = rank, .to = (rank + distance) % n, .tier = group.pair_tier()}, runs);
    }
    script.next_round();
  }
  return script.take();
}

}  // namespace titer
