#pragma once
// All-reduce on spanning trees that share no wire.

#include "titer/collectives/algorithm.hpp"
#include "titer/collectives/algorithm/pipeline.hpp"

namespace titer {

/// Each of r edge-disjoint trees carries its share of the buffer in c blocks, which are added on
/// their way up to the root and handed down from there, on the two directions of the same wires:
/// (2 D - 1 + c) (alpha + S / (r c B)), D the hops from the deepest rank to its root, B of one
/// wire; c is the best whole number.  [Wang et al. 2020 (Blink)]
struct PackedTreesAllReduce {
  static constexpr std::string_view name = "packed-trees";
  static constexpr std::string_view formula =
      "(2 D - 1 + c) (a + S / (r c B)), r trees, D hops deep, c blocks";
  static constexpr std::string_view source = "Wang et al. 2020 (Blink)";
  static constexpr std::string_view needs =
      "ranks of one node whose direct wires hold a spanning tree";
  static constexpr bool exact = true;

  [[nodiscard]] static bool applies(const Group& group, const Fabric& fabric) {
    return group.wiring != nullptr && !group.wiring->trees.empty() && fabric.wire.exists();
  }
  /// REQUIRES a group of several ranks to which it applies.
  [[nodiscard]] static Pipeline pipeline(const Group& group);
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return group.ranks() == 1 ? Seconds{} : pipeline(group).time(size, fabric.wire);
  }
  [[nodiscard]] static Bytes volume(Bytes size, const Group& group);
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// How many hops each rank is from the root.
[[nodiscard]] std::vector<int> depths(const RankTree& tree);

}  // namespace titer
