#pragma once
// Algorithms that double what is done, or halve what is left, with every message: about lg n of
// them. S: the full result; for an all-to-all, the bytes that each rank hands out.

#include <bit>

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// The largest power of two that is not above n, and its logarithm; the logarithm rounded up.
[[nodiscard]] constexpr int power_below(int n) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
}
[[nodiscard]] constexpr int log2_below(int n) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1;
}
[[nodiscard]] constexpr int log2_above(int n) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n) - 1U));
}
[[nodiscard]] constexpr bool is_power_of_two(int n) { return power_below(n) == n; }

/// All-reduce, the whole vector exchanged with ranks 1, 2, 4 ... apart: lg n (alpha + S / B).
/// Where n is no power of two, the ranks beyond the last one below fold theirs into another
/// rank's vector first, and are told the result last.  [Thakur, Rabenseifner & Gropp 2005]
struct RecursiveDoublingAllReduce : PairAlgorithm {
  static constexpr std::string_view name = "recursive-doubling";
  static constexpr std::string_view formula = "(floor(lg n) + 2 [n no power of 2]) (a + S / B)";
  static constexpr std::string_view source = "Thakur, Rabenseifner & Gropp 2005";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.pair_tier()).time(log2_below(n) + (is_power_of_two(n) ? 0 : 2), size);
  }
  /// A rank below the power of two sends lg times, and the result to one beyond it.
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    const int n = group.ranks();
    return (log2_below(n) + (is_power_of_two(n) ? 0 : 1)) * size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-reduce, a reduce-scatter by recursive halving and an all-gather by recursive doubling:
/// 2 lg n alpha + 2 (n-1) S / (n B); other n fold as above.  [Rabenseifner 2004]
struct HalvingDoublingAllReduce : PairAlgorithm {
  static constexpr std::string_view name = "halving-doubling";
  static constexpr std::string_view formula =
      "2 lg p a + 2 (p-1) S / (p B) + 2 [p < n] (a + S / B), p = 2^floor(lg n)";
  static constexpr std::string_view source = "Rabenseifner 2004; Thakur, Rabenseifner & Gropp 2005";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    const int folds = is_power_of_two(n) ? 0 : 2;
    return fabric.at(group.pair_tier())
        .stream(2 * log2_below(n) + folds, halves(size, n) + folds * size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    const int n = group.ranks();
    return halves(size, n) + (is_power_of_two(n) ? Bytes{} : size);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);

 private:
  [[nodiscard]] static constexpr Bytes halves(Bytes size, int n) {
    const int p = power_below(n);
    return 2 * (p - 1) * (size / p);
  }
};

/// All-gather, what is gathered exchanged with ranks 1, 2, 4 ... apart; n a power of two:
/// lg n alpha + (n-1) S / (n B).  [Thakur, Rabenseifner & Gropp 2005]
struct RecursiveDoublingAllGather : PairAlgorithm {
  static constexpr std::string_view needs = "a power of two of ranks";
  static constexpr std::string_view name = "recursive-doubling";
  static constexpr std::string_view formula = "lg n a + (n-1) S / (n B)";
  static constexpr std::string_view source = "Thakur, Rabenseifner & Gropp 2005";

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return is_power_of_two(group.ranks()) && PairAlgorithm::applies(group, fabric);
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return fabric.at(group.pair_tier()).stream(log2_above(group.ranks()), volume(size, group));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return (group.ranks() - 1) * (size / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter: the same exchanges the other way round, every rank adding up what arrives.
struct RecursiveHalvingReduceScatter : RecursiveDoublingAllGather {
  static constexpr std::string_view name = "recursive-halving";
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-gather for any n, what is gathered sent to the rank 1, 2, 4 ... before:
/// ceil(lg n) alpha + (n-1) S / (n B). The shuffle in memory is left out.  [Bruck et al. 1997]
struct BruckAllGather : RecursiveDoublingAllGather {
  static constexpr std::string_view name = "bruck";
  static constexpr std::string_view formula = "ceil(lg n) a + (n-1) S / (n B)";
  static constexpr std::string_view source = "Bruck et al. 1997";
  static constexpr std::string_view needs = PairAlgorithm::needs;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return PairAlgorithm::applies(group, fabric);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-to-all in few messages: what has j ranks to go takes a message for each bit that j has,
/// together with all else that has this bit: ceil(lg n) alpha + b S / (n B), b the number of bits
/// of 1 .. n-1; b = n/2 lg n for a power of two.  [Bruck et al. 1997]
struct BruckAllToAll : PairAlgorithm {
  static constexpr std::string_view name = "bruck";
  static constexpr std::string_view formula =
      "ceil(lg n) a + b S / (n B), b the sum of the binary digits of 1 .. n-1";
  static constexpr std::string_view source = "Bruck et al. 1997";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return fabric.at(group.pair_tier()).stream(log2_above(group.ranks()), volume(size, group));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    int bits = 0;
    for (int j = 1; j < group.ranks(); ++j) {
      bits += std::popcount(static_cast<unsigned>(j));
    }
    return bits * (size / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
