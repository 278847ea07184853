#pragma once
// Ring algorithms: every rank sends to the next one only. S: the full result.

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// All-reduce: t = 2 (n-1) (alpha + S / (n B)).  [Patarasuk & Yuan 2009]
/// One tier carries it: a group on several nodes goes through the network throughout. Where several
/// rings fit on the wires of a node, B is that of all of them.
struct RingAllReduce : RingAlgorithm {
  static constexpr std::string_view name = "ring";
  static constexpr std::string_view formula = "2 (n-1) (a + S / (n B))";
  static constexpr std::string_view source = "Patarasuk & Yuan 2009";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.ring_tier()).shares(2 * (n - 1), size / n);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return size * (2.0 * (group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-gather: t = (n-1) (alpha + S / (n B)).  [Thakur, Rabenseifner & Gropp 2005]
struct RingAllGather : RingAlgorithm {
  static constexpr std::string_view name = "ring";
  static constexpr std::string_view formula = "(n-1) (a + S / (n B))";
  static constexpr std::string_view source = "Thakur, Rabenseifner & Gropp 2005";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.ring_tier()).shares(n - 1, size / n);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return size * (static_cast<double>(group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter: t = (n-1) (alpha + S / (n B)).  [Thakur, Rabenseifner & Gropp 2005]
struct RingReduceScatter : RingAllGather {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// The unchunked ring of the textbooks: the whole vector is forwarded n times to reduce it and n-1
/// times to hand it out: t = (2n-1) (alpha + S / B).  [E14; "Distributed ML" ch. 4]
/// The last forward reaches a rank that holds the sum already; 2 (n-1) would do (trap T11). It is
/// kept as published, and is never the fastest.
struct NaiveRingAllReduce : RingAlgorithm {
  static constexpr std::string_view name = "naive-ring";
  static constexpr std::string_view formula = "(2n-1) (a + S / B)";
  static constexpr std::string_view source = "textbook form, unchunked (seed equation E14)";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.ring_tier()).time(n == 1 ? 0 : 2 * n - 1, size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : 2.0 * size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// The members of a ring in order, each with the run of pieces that it owns: it ends a
/// reduce-scatter with the sum of it, and starts an all-gather with it.
struct RingMember {
  int rank = 0;
  Run block;
};
using Ring = std::vector<RingMember>;

/// Adds the n-1 rounds to the script; the messages take `tier`, and `lane` where that matters.
void ring_reduce_scatter(Script& script, const Ring& ring, Tier tier, int lane = 0);
void ring_all_gather(Script& script, const Ring& ring, Tier tier, int lane = 0);
/// All ranks in order, each with its home piece.
[[nodiscard]] Ring flat_ring(const Group& group);

}  // namespace titer
