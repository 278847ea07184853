#pragma once
// What every algorithm of every collective offers.

#include <concepts>
#include <string_view>

#include "titer/collectives/steps.hpp"

namespace titer {

/// - name, formula, source: in formula texts, n: ranks, g: per node, N: nodes, lg: logarithm to
///   base 2; a, B: latency and bandwidth of the tier in use (with the tier's name where two are in
///   use); S: the full result; k: number of blocks, the best whole number; start-ups and own shares
///   (see Link) are left out;
/// - needs: what a group and its fabric must have for it, as in "needs a power of two of ranks";
/// - exact: whether the steps take the time of the formula wherever no two messages share more
///   than the port that the formula gives them; otherwise the formula bounds them from above;
/// - applies(group, fabric): whether the algorithm is meant for such a group, and the fabric has
///   the ways that it takes;
/// - time(S, group, fabric): the closed form; nothing for one rank;
/// - volume(S, group): the bytes that the busiest rank sends;
/// - steps(S, group, fabric): the messages.
template <class A>
concept CollectiveAlgorithm = requires(Bytes size, const Group& group, const Fabric& fabric) {
  { A::name } -> std::convertible_to<std::string_view>;
  { A::formula } -> std::convertible_to<std::string_view>;
  { A::source } -> std::convertible_to<std::string_view>;
  { A::needs } -> std::convertible_to<std::string_view>;
  { A::exact } -> std::convertible_to<bool>;
  { A::applies(group, fabric) } -> std::same_as<bool>;
  { A::time(size, group, fabric) } -> std::same_as<Seconds>;
  { A::volume(size, group) } -> std::same_as<Bytes>;
  { A::steps(size, group, fabric) } -> std::same_as<Steps>;
};

// What algorithms that take the same ways have in common: along a ring, pair by pair, from each
// rank to all others at once, inside the nodes and between them.

/// Every rank sends to the next one only.
struct RingAlgorithm {
  static constexpr std::string_view needs = "a ring through its ranks";
  static constexpr bool exact = true;
  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return fabric.at(group.ring_tier()).exists();
  }
};

/// Every rank sends to one other at a time.
struct PairAlgorithm {
  static constexpr std::string_view needs = "a way between every two of its ranks";
  static constexpr bool exact = true;
  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return fabric.at(group.pair_tier()).exists();
  }
};

/// Every rank sends to all others at once.
struct ExchangeAlgorithm {
  static constexpr std::string_view needs = "a way from each rank to all others at once";
  static constexpr bool exact = true;
  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return fabric.at(group.exchange_tier()).exists();
  }
};

/// Ranks send inside their nodes and through the network.
struct TwoTierAlgorithm {
  static constexpr std::string_view needs = "several ranks on each of several nodes";
  static constexpr bool exact = true;
  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.per_node > 1 && group.nodes > 1 && fabric.node.exists() && fabric.network.exists();
  }
};

}  // namespace titer
