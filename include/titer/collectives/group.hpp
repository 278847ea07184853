#pragma once
// How the ranks of a collective lie: on nodes, on a torus, on the wires of a node.

#include <array>
#include <cstddef>
#include <vector>

#include "titer/collectives/link.hpp"

namespace titer {

/// An n-dimensional torus of ranks, the first axis the fastest to count; an axis without `wrap` is
/// a line (a mesh).
struct TorusShape {
  static constexpr std::size_t most_axes = 4;
  std::array<int, most_axes> length{};
  std::array<bool, most_axes> wrap{};
  std::size_t axes = 0;
  // Where the ranks are every k-th chip of an axis: the wires from one to the next, and how many
  // groups like this one take turns on each of them.
  std::array<int, most_axes> hops{1, 1, 1, 1};
  std::array<double, most_axes> sharing{1, 1, 1, 1};

  [[nodiscard]] constexpr int ranks() const {
    int product = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      product *= length[axis];
    }
    return product;
  }
  friend constexpr bool operator==(const TorusShape&, const TorusShape&) = default;
};

/// A spanning tree of the ranks: parent[r] is next on the way from r to the root, the root's own
/// parent is itself.
struct RankTree {
  int root = 0;
  std::vector<int> parent;
};

/// What was found on the wires that join a group's ranks directly.
struct Wiring {
  std::vector<std::vector<int>> rings;  // link-disjoint directed rings, as orders of ranks
  std::vector<RankTree> trees;          // edge-disjoint spanning trees
};

/// How the ranks of a group lie on nodes: `per_node` on each of `nodes` nodes. Rank r is number
/// r % per_node on node r / per_node.
struct Group {
  int per_node = 1;
  int nodes = 1;
  TorusShape torus{};  // of all the ranks, where they are wired as one
  int servers = 0;     // parameter servers beside the ranks, each with a port of its own
  const Wiring* wiring = nullptr;  // not owned; of the ranks of one node

  [[nodiscard]] constexpr int ranks() const { return per_node * nodes; }
  /// The way that rings take: a group on several nodes goes through the network throughout.
  [[nodiscard]] constexpr Tier ring_tier() const { return nodes > 1 ? Tier::network : Tier::node; }
  /// The way between any two ranks, one message at a time.
  [[nodiscard]] constexpr Tier pair_tier() const { return nodes > 1 ? Tier::network : Tier::pair; }
  /// The way to all other ranks at once.
  [[nodiscard]] constexpr Tier exchange_tier() const {
    return nodes > 1 ? Tier::network : Tier::exchange;
  }
  friend constexpr bool operator==(const Group&, const Group&) = default;
};

}  // namespace titer
