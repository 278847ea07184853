#pragma once
// The messages of an executed collective. The buffer of size S is cut into as many equal pieces as
// there are ranks; a message carries a run of neighbouring pieces.

#include <concepts>
#include <string_view>
#include <vector>

#include "titer/collectives/link.hpp"

namespace titer {

/// What the receiver does with a message: adds it to its own copy, or takes it in place of it.
enum class Arrival { add, replace };

/// One message: starts when the messages `after` (indices of earlier ones) have arrived, and
/// occupies its sender's port of that tier. It carries what its sender holds by then of the pieces
/// first_piece .. first_piece + pieces - 1.
struct Send {
  int from = 0;
  int to = 0;
  Tier tier = Tier::node;
  Arrival arrival = Arrival::replace;
  int first_piece = 0;
  int pieces = 1;
  Bytes size;
  std::vector<int> after;
};

/// The piece that a rank contributes to an all-gather, and is left with by a reduce-scatter.
/// Ranks with the same number on different nodes own neighbouring pieces, so that each phase of a
/// hierarchical algorithm moves one run of them.
[[nodiscard]] constexpr int home_piece(int rank, Group group) {
  return rank % group.per_node * group.nodes + rank / group.per_node;
}

/// What every alternative of a collective offers.
/// - applies(group): whether the algorithm is meant for such a group;
/// - time(S, group, fabric): the closed form, `formula`, taken from `source`. In formula texts,
///   n: ranks, g: per node, N: nodes; a, B: latency and bandwidth of the tier in use (a_node,
///   B_node: inside the node; a_net, B_net: a rank's share of the NICs); S: the full result;
/// - volume(S, group): the bytes that the busiest rank sends;
/// - sends(S, group): the messages, every one after those it waits for.
template <class A>
concept CollectiveAlgorithm = requires(Bytes size, Group group, const Fabric& fabric) {
  { A::name } -> std::convertible_to<std::string_view>;
  { A::formula } -> std::convertible_to<std::string_view>;
  { A::source } -> std::convertible_to<std::string_view>;
  { A::applies(group) } -> std::same_as<bool>;
  { A::time(size, group, fabric) } -> std::same_as<Seconds>;
  { A::volume(size, group) } -> std::same_as<Bytes>;
  { A::sends(size, group) } -> std::same_as<std::vector<Send>>;
};

}  // namespace titer
