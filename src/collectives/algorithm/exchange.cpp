#include "titer/collectives/algorithm/exchange.hpp"

#include <cstddef>

namespace titer {

namespace {

Script script_of(Bytes size, const Group& group) {
  const int n = group.ranks();
  return Script(Steps(n, n * size, n * n));  // piece f n + t: from rank f to rank t
}

/// What `from` holds for the ranks of a number on all nodes.
std::vector<Run> for_rail(const Group& group, int from, int number) {
  std::vector<Run> runs;
  runs.reserve(static_cast<std::size_t>(group.nodes));
  for (int node = 0; node < group.nodes; ++node) {
    runs.push_back({from * group.ranks() + node * group.per_node + number, 1});
  }
  return runs;
}

/// What the ranks of a node hold for one rank.
std::vector<Run> from_node(const Group& group, int node, int to) {
  std::vector<Run> runs;
  runs.reserve(static_cast<std::size_t>(group.per_node));
  for (int i = 0; i < group.per_node; ++i) {
    runs.push_back({(node * group.per_node + i) * group.ranks() + to, 1});
  }
  return runs;
}

/// `pairwise`: a round for every distance between two ranks, instead of one for all.
Steps along_rails(Bytes size, const Group& group, Tier inside, bool pairwise) {
  const int g = group.per_node;
  Script script = script_of(size, group);
  const auto end_step = [&](bool last) {
    if (pairwise || last) {
      script.next_round();
    }
  };
  for (int step = 1; step < g; ++step) {
    for (int from = 0; from < group.ranks(); ++from) {
      const int number = (from % g + step) % g;
      script.send({.from = from, .to = from / g * g + number, .tier = inside},
                  for_rail(group, from, number));
    }
    end_step(step + 1 == g);
  }
  for (int step = 1; step < group.nodes; ++step) {
    for (int from = 0; from < group.ranks(); ++from) {
      const int to = (from + step * g) % group.ranks();
      script.send({.from = from, .to = to, .tier = Tier::network}, from_node(group, from / g, to));
    }
    end_step(step + 1 == group.nodes);
  }
  return script.take();
}

}  // namespace

Steps TwoTierAllToAll::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  const int n = group.ranks();
  Script script = script_of(size, group);
  for (int from = 0; from < n; ++from) {
    for (int step = 1; step < n; ++step) {
      const int to = (from + step) % n;
      const bool inside = from / group.per_node == to / group.per_node;
      script.send({.from = from, .to = to, .tier = inside ? Tier::exchange : Tier::network},
                  Run{from * n + to, 1});
    }
  }
  script.next_round();
  return script.take();
}

Steps RailAllToAll::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return along_rails(size, group, Tier::exchange, false);
}

Steps RailPairwiseAllToAll::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return along_rails(size, group, Tier::pair, true);
}

}  // namespace titer
