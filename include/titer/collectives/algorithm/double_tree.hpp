#pragma once
// Two binary trees over the same ranks, each for half of the buffer: a rank that passes things on
// in the one is a leaf of the other, so that all ports are in use.

#include "titer/collectives/algorithm/doubling.hpp"
#include "titer/collectives/algorithm/pipeline.hpp"

namespace titer {

/// So many times up or down both trees.
template <int ways>
struct DoubleTree : PairAlgorithm {
  static constexpr std::string_view name = "double-tree";
  static constexpr std::string_view source = "Sanders, Speck & Traeff 2009";
  static constexpr bool exact = false;

  [[nodiscard]] static constexpr Pipeline pipeline(const Group& group) {
    return {.fill = 2 * ways * (log2_above(group.ranks()) - 1), .per_block = 2 * ways, .parts = 2};
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return group.ranks() == 1 ? Seconds{}
                              : pipeline(group).time(size, fabric.at(group.pair_tier()));
  }
};

/// Broadcast from rank 0, k blocks down each tree: at most 2 (h - 1 + k) (alpha + S / (2 k B)),
/// h = ceil(lg n) hops down the deepest tree.  [Sanders, Speck & Traeff 2009]
/// The edges have two colours that take turns, so that a rank sends one block at a time, and
/// receives one; a block waits for the turn of its next edge for one round at most.
struct DoubleTreeBroadcast : DoubleTree<1> {
  static constexpr std::string_view formula = "2 (ceil(lg n) - 1 + k) (a + S / (2 k B))";

  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-reduce: the same up both trees to rank 0, and then down.
/// At most 4 (h - 1 + k) (alpha + S / (2 k B)).
struct DoubleTreeAllReduce : DoubleTree<2> {
  static constexpr std::string_view formula = "4 (ceil(lg n) - 1 + k) (a + S / (2 k B))";

  /// Half of the vector up each tree, and to each child in the tree in which the rank has some: two
  /// from four ranks on.
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    const int n = group.ranks();
    return n == 1 ? Bytes{} : (n == 2 ? 1.0 : n == 3 ? 1.5 : 2.0) * size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
