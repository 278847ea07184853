#pragma once
// Broadcasts from rank 0 and reduces to rank 0: along trees, along a chain, and by rank 0 itself.

#include "titer/collectives/algorithm/doubling.hpp"
#include "titer/collectives/algorithm/pipeline.hpp"

namespace titer {

/// Broadcast, twice as many ranks knowing after each message: ceil(lg n) (alpha + S / B).
/// [Thakur, Rabenseifner & Gropp 2005]
struct BinomialBroadcast : PairAlgorithm {
  static constexpr std::string_view name = "binomial";
  static constexpr std::string_view formula = "ceil(lg n) (a + S / B)";
  static constexpr std::string_view source = "Thakur, Rabenseifner & Gropp 2005";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return fabric.at(group.pair_tier()).time(log2_above(group.ranks()), size);
  }
  /// Rank 0 sends all the time.
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return log2_above(group.ranks()) * size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce: the same messages the other way, in the same time. Every rank sends once.
struct BinomialReduce : BinomialBroadcast {
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Broadcast from rank to rank in k blocks: (n - 2 + k) (alpha + S / (k B)).  [Chan et al. 2007]
struct ChainBroadcast : PairAlgorithm {
  static constexpr std::string_view name = "chain";
  static constexpr std::string_view formula = "(n - 2 + k) (a + S / (k B))";
  static constexpr std::string_view source = "Chan et al. 2007";

  [[nodiscard]] static constexpr Pipeline pipeline(const Group& group) {
    return {.fill = group.ranks() - 2};
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return group.ranks() == 1 ? Seconds{}
                              : pipeline(group).time(size, fabric.at(group.pair_tier()));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce along the same chain, towards rank 0.
struct ChainReduce : ChainBroadcast {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Broadcast, rank 0 sending to one rank after the other: (n-1) (alpha + S / B). What a program
/// does that copies from its first device to each of the others (nn.DataParallel without NCCL).
struct StarBroadcast : PairAlgorithm {
  static constexpr std::string_view name = "star";
  static constexpr std::string_view formula = "(n-1) (a + S / B)";
  static constexpr std::string_view source = "all through the root's port; seed 004, F55";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return fabric.at(group.pair_tier()).time(group.ranks() - 1, size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return (group.ranks() - 1) * size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce, one rank after the other sending to rank 0, in the same time.
struct StarReduce : StarBroadcast {
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Broadcast for large vectors: rank 0 scatters down a binomial tree, a ring all-gather follows:
/// (ceil(lg n) + n - 1) alpha + 2 (n-1) S / (n B).
/// [van de Geijn; Thakur, Rabenseifner & Gropp 2005]
/// A rank halves its run of ranks, the larger half its own, so that this holds for every n.
struct ScatterAllGatherBroadcast : PairAlgorithm {
  static constexpr std::string_view name = "scatter-all-gather";
  static constexpr std::string_view formula = "(ceil(lg n) + n - 1) a + 2 (n-1) S / (n B)";
  static constexpr std::string_view source = "van de Geijn; Thakur, Rabenseifner & Gropp 2005";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.pair_tier()).stream(log2_above(n) + n - 1, volume(size, group));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return 2 * (group.ranks() - 1) * (size / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce for large vectors: a reduce-scatter by recursive halving, and a gather to rank 0 up a
/// binomial tree; n a power of two: 2 lg n alpha + 2 (n-1) S / (n B).  [Rabenseifner 2004]
struct RabenseifnerReduce : PairAlgorithm {
  static constexpr std::string_view needs = "a power of two of ranks";
  static constexpr std::string_view name = "halving-gather";
  static constexpr std::string_view formula = "2 lg n a + 2 (n-1) S / (n B)";
  static constexpr std::string_view source = "Rabenseifner 2004; Thakur, Rabenseifner & Gropp 2005";

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return is_power_of_two(group.ranks()) && PairAlgorithm::applies(group, fabric);
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.pair_tier()).stream(2 * log2_above(n), 2 * (n - 1) * (size / n));
  }
  /// Rank n/2 brings half of the result to rank 0 in the end.
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    const int n = group.ranks();
    return n == 1 ? Bytes{} : (n - 1) * (size / n) + size / 2;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
