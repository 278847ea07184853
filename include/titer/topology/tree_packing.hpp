#pragma once
// What a tree collective can use inside a group: spanning trees that share no link. Trees use what
// rings leave idle: the 9 links of four GPUs in a DGX-1 (V100) hold two rings, of 4 links each, or
// three trees, of 3.

#include <vector>

#include "titer/topology/topology.hpp"

namespace titer {

/// A link of a rooted tree, between devices.
struct TreeLink {
  int parent = 0;
  int child = 0;
  friend bool operator==(const TreeLink&, const TreeLink&) = default;
};

/// A spanning tree of a group: a broadcast goes through `links` from first to last (a parent is
/// reached before its children), a reduction from last to first.
struct SpanningTree {
  int root = 0;
  std::vector<TreeLink> links;
  int depth = 0;   // links from the root to the farthest member
  int copies = 1;  // equal trees, on parallel links
};

/// A division of the group that no packing can get past: each tree crosses it `parts - 1` times at
/// least, and there are only `crossing` (shares of) links to do so.
struct Division {
  std::vector<int> part_of;  // the part, 0 .. parts-1, of each member, in the order of the group
  int parts = 1;
  int crossing = 0;
  /// The most trees it allows. [Nash-Williams 1961, Tutte 1961]
  [[nodiscard]] int most_trees() const { return crossing / (parts - 1); }
};

struct TreePacking {
  int count = 0;            // trees, copies included
  BytesPerSecond per_tree;  // of each, one direction
  std::vector<SpanningTree> trees;
  Division division;  // the proof: division.most_trees() == count

  /// What a root can send, and all others get, at the same time over all trees.
  [[nodiscard]] BytesPerSecond bandwidth() const { return count * per_tree; }
};

/// The largest set of link-disjoint spanning trees of the links among `group` (device ids), exactly
/// (matroid union by augmenting paths [Roskind & Tarjan 1985]); for groups of up to some tens. Both
/// directions of a link belong to one tree: up for reductions, down for broadcasts.
/// - Each tree is rooted at its centre, and links are exchanged between trees as long as that makes
///   them shallower; the depths are therefore low, not proven least.
/// - `shares`: cuts every link into as many equal ones, for a fractional packing: a ring of four
/// has
///   one tree, but with three shares four trees, of a third of a link each: 4/3.
/// - Links count as fast as the slowest in the group. Switches are not used: no trees through them.
/// REQUIRES two or more distinct devices.
[[nodiscard]] TreePacking pack_trees(const Topology& topology,
                                     const std::vector<int>& group,
                                     int shares = 1);

}  // namespace titer
