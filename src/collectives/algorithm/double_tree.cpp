#include "titer/collectives/algorithm/double_tree.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace titer {

namespace {

/// One edge of one of the trees, downwards.
struct Edge {
  int parent = 0;
  int child = 0;
  int tree = 0;
  int colour = 0;  // the rounds in which it is used: even or odd
};

/// A block on its way down an edge.
struct Hop {
  int parent = 0;
  int child = 0;
  int piece = 0;
};
using Rounds = std::vector<std::vector<Hop>>;

/// The parent of position x among 1 .. m in the binary tree whose leaves are the odd positions and
/// whose order is that of the positions; 0 above the root.
int parent_position(int x, int m) {
  const int level = x & -x;
  const int right = (x ^ level) | (2 * level);
  return right <= m ? right : x ^ level;
}

/// The rank at a position: in the second tree the order is reversed, or shifted by one, so that
/// its odd positions are the ranks at even ones of the first.
int rank_at(int position, int m, int tree) {
  if (position == 0 || tree == 0) {
    return position;
  }
  return m % 2 == 0 ? m + 1 - position : position % m + 1;
}

std::vector<Edge> edges_of_both(int ranks) {
  const int m = ranks - 1;
  std::vector<Edge> edges;
  for (int tree = 0; tree < 2; ++tree) {
    for (int position = 1; position <= m; ++position) {
      edges.push_back({.parent = rank_at(parent_position(position, m), m, tree),
                       .child = rank_at(position, m, tree),
                       .tree = tree});
    }
  }
  return edges;
}

/// For each edge, those that leave the same rank or enter the same rank.
std::vector<std::vector<std::size_t>> neighbours(const std::vector<Edge>& edges, int ranks) {
  std::vector<std::vector<std::size_t>> near(edges.size());
  for (int Edge::*const end : {&Edge::parent, &Edge::child}) {
    std::vector<std::optional<std::size_t>> first(static_cast<std::size_t>(ranks));
    for (std::size_t e = 0; e < edges.size(); ++e) {
      std::optional<std::size_t>& other = first[static_cast<std::size_t>(edges[e].*end)];
      if (other) {
        near[e].push_back(*other);
        near[*other].push_back(e);
      }
      other = e;
    }
  }
  return near;
}

/// Colours the edges so that no two out of a rank, and no two into one, have the same. At most two
/// meet at either end, so that they form paths and even circles: along each, colours take turns.
void colour(std::vector<Edge>& edges, int ranks) {
  const auto near = neighbours(edges, ranks);
  std::vector<bool> is_coloured(edges.size(), false);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    std::vector<std::size_t> reached;
    if (!is_coloured[e]) {
      is_coloured[e] = true;
      reached.push_back(e);
    }
    while (!reached.empty()) {
      const std::size_t at = reached.back();
      reached.pop_back();
      for (const std::size_t next : near[at]) {
        if (!is_coloured[next]) {
          is_coloured[next] = true;
          edges[next].colour = 1 - edges[at].colour;
          reached.push_back(next);
        }
      }
    }
  }
}

/// What goes down which edge in which round until all blocks are at the leaves. Piece 2 b + t is
/// block b of tree t.
Rounds broadcast_rounds(int ranks, int blocks) {
  std::vector<Edge> edges = edges_of_both(ranks);
  colour(edges, ranks);
  std::vector<std::array<int, 2>> has(static_cast<std::size_t>(ranks), {0, 0});
  has[0] = {blocks, blocks};
  Rounds rounds;
  std::size_t left = edges.size() * static_cast<std::size_t>(blocks);
  while (left > 0) {
    std::vector<Hop> hops;
    const int turn = static_cast<int>(rounds.size() % 2);
    const std::vector<std::array<int, 2>> before = has;
    for (const Edge& edge : edges) {
      const auto tree = static_cast<std::size_t>(edge.tree);
      int& next = has[static_cast<std::size_t>(edge.child)][tree];
      if (edge.colour == turn && next < before[static_cast<std::size_t>(edge.parent)][tree]) {
        hops.push_back({edge.parent, edge.child, 2 * next++ + edge.tree});
      }
    }
    left -= hops.size();
    rounds.push_back(std::move(hops));
  }
  return rounds;
}

void broadcast(Rendezvous& script, const Rounds& rounds, Tier tier) {
  for (const std::vector<Hop>& round : rounds) {
    for (const Hop& hop : round) {
      script.send({.from = hop.parent, .to = hop.child, .tier = tier}, Run{hop.piece, 1});
    }
    script.next_round();
  }
}

/// The broadcast backwards.
void reduce(Rendezvous& script, const Rounds& rounds, Tier tier) {
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    for (const Hop& hop : *round) {
      script.send({.from = hop.child, .to = hop.parent, .tier = tier, .arrival = Arrival::add},
                  Run{hop.piece, 1});
    }
    script.next_round();
  }
}

}  // namespace

Steps DoubleTreeBroadcast::steps(Bytes size, const Group& group, const Fabric& fabric) {
  const int n = group.ranks();
  if (n == 1) {
    return Steps(n, size, 1);
  }
  const int blocks = pipeline(group).blocks(size, fabric.at(group.pair_tier()));
  Rendezvous script(Steps(n, size, 2 * blocks));
  broadcast(script, broadcast_rounds(n, blocks), group.pair_tier());
  return script.take();
}

Steps DoubleTreeAllReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  const int n = group.ranks();
  if (n == 1) {
    return Steps(n, size, 1);
  }
  const int blocks = pipeline(group).blocks(size, fabric.at(group.pair_tier()));
  const Rounds rounds = broadcast_rounds(n, blocks);
  Rendezvous script(Steps(n, size, 2 * blocks));
  reduce(script, rounds, group.pair_tier());
  broadcast(script, rounds, group.pair_tier());
  return script.take();
}

}  // namespace titer
