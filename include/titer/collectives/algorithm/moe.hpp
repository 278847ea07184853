#pragma once
// The all-to-all of mixture-of-experts layers, in which a token crosses the network once per node
// that it goes to, not once per expert. Routing is taken as uniform: every choice of experts is as
// likely. The experts lie on the ranks in equal numbers.

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// How many of `places` places are hit by `choices` choices, on average, each choice being free:
/// N (1 - (1 - 1/N)^k).
[[nodiscard]] constexpr double expected_places_with_replacement(int places, int choices) {
  double missed = 1.0;
  for (int i = 0; i < choices; ++i) {
    missed *= 1.0 - 1.0 / places;
  }
  return places * (1.0 - missed);
}

/// The same where no expert is chosen twice, and each place holds experts / places of them:
/// N (1 - C(E - E/N, k) / C(E, k)).  [hypergeometric] It is the larger of the two.
[[nodiscard]] constexpr double expected_places(int experts, int places, int choices) {
  ensure(places >= 1 && experts % places == 0 && choices <= experts,
         "every place holds as many experts, and a token goes to different ones");
  const int elsewhere = experts - experts / places;
  double missed = 1.0;
  for (int i = 0; i < choices && missed > 0.0; ++i) {
    missed *= static_cast<double>(elsewhere - i) / (experts - i);
  }
  return places * (1.0 - missed);
}

/// What the ranks of a group hand to the experts of a layer. With a node limit M a token's experts
/// are chosen among those of M nodes, which are chosen first (DeepSeek-V3: 8 of 256, on 4 nodes).
struct MoeDispatch {
  int tokens = 0;  // of one rank
  Bytes token;     // its hidden vector, as sent
  int experts = 0;
  int top_k = 0;
  int node_limit = 0;  // none where 0

  /// Nodes that a token's experts may lie on.
  [[nodiscard]] constexpr int nodes_in_reach(const Group& group) const {
    return node_limit > 0 && node_limit < group.nodes ? node_limit : group.nodes;
  }
};

/// Bytes that a rank sends in each tier on average.
struct TierBytes {
  Bytes node;
  Bytes network;
};

/// Every copy of a token on its own: k (N-1)/N of them through the network, k (g-1)/n inside.
[[nodiscard]] constexpr TierBytes plain_dispatch(const MoeDispatch& moe, const Group& group) {
  const Bytes copies = moe.tokens * (moe.top_k * moe.token);
  return {.node = copies * (static_cast<double>(group.per_node - 1) / group.ranks()),
          .network = copies * (static_cast<double>(group.nodes - 1) / group.nodes)};
}

/// One copy to each other node with an expert of the token, to the rank of the sender's number;
/// from there (and on the own node from the sender) one to each other rank with an expert:
/// network: tokens x token x nodes (N-1)/N, node: tokens x token x ranks (g-1)/g, with the expected
/// numbers of different nodes and of different ranks.
[[nodiscard]] constexpr TierBytes once_per_node_dispatch(const MoeDispatch& moe,
                                                         const Group& group) {
  ensure(moe.experts % group.ranks() == 0, "every rank holds as many experts");
  const int reach = moe.nodes_in_reach(group);
  const int experts = moe.experts / group.nodes * reach;
  const double nodes = expected_places(experts, reach, moe.top_k);
  const double ranks = expected_places(experts, reach * group.per_node, moe.top_k);
  const Bytes bytes = moe.tokens * moe.token;
  return {.node = bytes * (ranks * (group.per_node - 1) / group.per_node),
          .network = bytes * (nodes * (group.nodes - 1) / group.nodes)};
}

/// What a dispatch takes in each tier, all messages at once: a + bytes / B; no time where there is
/// no other rank.
struct TierTimes {
  Seconds node;
  Seconds network;

  /// Each tier waits for the other one.
  [[nodiscard]] constexpr Seconds in_turn() const { return node + network; }
  /// Tokens are forwarded while others still arrive: a bound from below.
  [[nodiscard]] constexpr Seconds overlapped() const { return node < network ? network : node; }
};

[[nodiscard]] constexpr TierTimes dispatch_time(const TierBytes& bytes,
                                                const Group& group,
                                                const Fabric& fabric) {
  return {.node = fabric.exchange.stream(group.per_node > 1 ? 1 : 0, bytes.node),
          .network = fabric.network.stream(group.nodes > 1 ? 1 : 0, bytes.network)};
}

/// The messages of a dispatch with both tiers in turn, each of the expected size: from every rank
/// to those of its number on the other nodes, then to the other ranks of its node.
[[nodiscard]] Steps dispatch_steps(const TierBytes& bytes, const Group& group);

}  // namespace titer
