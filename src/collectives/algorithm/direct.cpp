#include "titer/collectives/algorithm/direct.hpp"

#include "titer/units/ensure.hpp"

namespace titer {

namespace {

/// Calls send(from, to) for every two different ranks, in one round.
template <class Send>
void all_to_all_round(Script& script, int ranks, Send send) {
  for (int from = 0; from < ranks; ++from) {
    for (int step = 1; step < ranks; ++step) {
      send(from, (from + step) % ranks);
    }
  }
  script.next_round();
}

/// Every rank sends to every other one the piece of one of the two.
void direct_round(Script& script, const Group& group, Arrival arrival) {
  all_to_all_round(script, group.ranks(), [&](int from, int to) {
    const int owner = arrival == Arrival::add ? to : from;
    script.send({.from = from, .to = to, .tier = group.exchange_tier(), .arrival = arrival},
                Run{home_piece(owner, group), 1});
  });
}

}  // namespace

Steps PointToPoint::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  ensure(group.ranks() <= 2, "a message goes from one rank to one other");
  Script script(Steps(group.ranks(), size, 1));
  if (group.ranks() == 2) {
    script.send({.from = 0, .to = 1, .tier = group.pair_tier(), .arrival = Arrival::replace},
                Run{0, 1});
  }
  return script.take();
}

Steps PairwiseAllToAll::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  Script script(Steps(n, n * size, n * n));  // piece f n + t: from rank f to rank t
  for (int step = 1; step < n; ++step) {
    for (int from = 0; from < n; ++from) {
      const int to = (from + step) % n;
      script.send({.from = from, .to = to, .tier = group.pair_tier()}, Run{from * n + to, 1});
    }
    script.next_round();
  }
  return script.take();
}

Steps PairwiseReduceScatter::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  Script script(Steps(n, size, n));
  for (int step = 1; step < n; ++step) {
    for (int from = 0; from < n; ++from) {
      const int to = (from + step) % n;
      script.send({.from = from, .to = to, .tier = group.pair_tier(), .arrival = Arrival::add},
                  Run{home_piece(to, group), 1});
    }
    script.next_round();
  }
  return script.take();
}

Steps DirectAllToAll::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  Script script(Steps(n, n * size, n * n));
  all_to_all_round(script, n, [&](int from, int to) {
    script.send({.from = from, .to = to, .tier = group.exchange_tier()}, Run{from * n + to, 1});
  });
  return script.take();
}

Steps DirectAllGather::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Script script(Steps(group.ranks(), size, group.ranks()));
  direct_round(script, group, Arrival::replace);
  return script.take();
}

Steps DirectReduceScatter::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Script script(Steps(group.ranks(), size, group.ranks()));
  direct_round(script, group, Arrival::add);
  return script.take();
}

Steps OneShotAllReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  // Every rank gathers the vectors of all, and adds them up by itself.
  return DirectAllGather::steps(group.ranks() * size, group, fabric);
}

Steps TwoShotAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Script script(Steps(group.ranks(), size, group.ranks()));
  direct_round(script, group, Arrival::add);
  direct_round(script, group, Arrival::replace);
  return script.take();
}

}  // namespace titer
