#pragma once
// Direct algorithms: every message goes from its origin to its final rank. S: the full result; for
// an all-to-all, the bytes that each rank hands out, its own share included.

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// Send and receive, rank 0 to rank 1: t = alpha + S / B.  [Hockney 1994]
struct PointToPoint {
  static constexpr std::string_view name = "point-to-point";
  static constexpr std::string_view formula = "a + S / B";
  static constexpr std::string_view source = "Hockney 1994";
  static constexpr std::string_view needs = "two ranks";
  static constexpr bool exact = true;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.ranks() <= 2 && fabric.at(group.pair_tier()).exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return fabric.at(group.pair_tier()).time(group.ranks() - 1, size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-to-all, in step k with the ranks k before and after: t = (n-1) (alpha + S / (n B)).
/// [Thakur, Rabenseifner & Gropp 2005]
struct PairwiseAllToAll : PairAlgorithm {
  static constexpr std::string_view name = "pairwise";
  static constexpr std::string_view formula = "(n-1) (a + S / (n B))";
  static constexpr std::string_view source = "Thakur, Rabenseifner & Gropp 2005";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    return fabric.at(group.pair_tier()).shares(group.ranks() - 1, size / group.ranks());
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return size * (static_cast<double>(group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter by the same exchange, every rank adding up what arrives.
struct PairwiseReduceScatter : PairwiseAllToAll {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-to-all with all messages at once: t = alpha + (n-1) S / (n B).
/// [Thakur, Rabenseifner & Gropp 2005]
struct DirectAllToAll : ExchangeAlgorithm {
  static constexpr std::string_view name = "direct";
  static constexpr std::string_view formula = "a + (n-1) S / (n B)";
  static constexpr std::string_view source = "Thakur, Rabenseifner & Gropp 2005";
  static constexpr bool one_exchange = true;

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.exchange_tier())
        .stream_with_own(n > 1 ? 1 : 0, (n - 1) * (size / n), size / n);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return size * (static_cast<double>(group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-gather, every rank sending its piece to all others at once.
struct DirectAllGather : DirectAllToAll {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter, every rank sending to all others their piece at once.
struct DirectReduceScatter : DirectAllToAll {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-reduce, every rank sending its whole vector to all others: t = alpha + (n-1) S / B.
/// [custom all-reduce kernels on NVSwitch, for small vectors]
struct OneShotAllReduce : ExchangeAlgorithm {
  static constexpr std::string_view name = "one-shot";
  static constexpr std::string_view formula = "a + (n-1) S / B";
  static constexpr std::string_view source = "custom all-reduce kernels on NVSwitch";
  static constexpr bool gathers = true;  // the steps gather the ranks' vectors, which each adds up

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.exchange_tier()).stream(n > 1 ? 1 : 0, (n - 1) * size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return (group.ranks() - 1) * size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-reduce, a direct reduce-scatter and a direct all-gather: t = 2 alpha + 2 (n-1) S / (n B).
struct TwoShotAllReduce : ExchangeAlgorithm {
  static constexpr std::string_view name = "two-shot";
  static constexpr std::string_view formula = "2 a + 2 (n-1) S / (n B)";
  static constexpr std::string_view source = "custom all-reduce kernels on NVSwitch";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const int n = group.ranks();
    return fabric.at(group.exchange_tier()).stream(n > 1 ? 2 : 0, 2 * (n - 1) * (size / n));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return size * (2.0 * (group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
