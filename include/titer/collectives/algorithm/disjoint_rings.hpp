#pragma once
// Ring algorithms on several rings at once: those that were found on the direct wires of a node.

#include "titer/collectives/algorithm/ring.hpp"

namespace titer {

/// So many times round the rings, each of which has its share of the buffer in n pieces.
template <int laps>
struct OnDisjointRings {
  static constexpr std::string_view name = "disjoint-rings";
  static constexpr std::string_view needs = "ranks of one node whose direct wires form a ring";
  static constexpr bool exact = true;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.wiring != nullptr && !group.wiring->rings.empty() && fabric.wire.exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    const auto rings = static_cast<double>(group.wiring->rings.size());
    return fabric.wire.shares(laps * (n - 1), size / (n * rings));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return laps * RingAllGather::volume(size, group);
  }
};

/// All-reduce on the r link-disjoint directed rings found on the wires of a node, each with its
/// share of the buffer: t = 2 (n-1) (alpha + S / (n r B)), B of one wire. A two-way ring is two.
/// [Patarasuk & Yuan 2009 on each; seed equation E15]
struct DisjointRingsAllReduce : OnDisjointRings<2> {
  static constexpr std::string_view formula = "2 (n-1) (a + S / (n r B)), r rings";
  static constexpr std::string_view source = "Patarasuk & Yuan 2009, on each of several rings";

  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-gather on the same rings: t = (n-1) (alpha + S / (n r B)).
struct DisjointRingsAllGather : OnDisjointRings<1> {
  static constexpr std::string_view formula = "(n-1) (a + S / (n r B)), r rings";
  static constexpr std::string_view source =
      "Thakur, Rabenseifner & Gropp 2005, on each of several rings";

  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter on the same rings, in the same time.
struct DisjointRingsReduceScatter : DisjointRingsAllGather {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
