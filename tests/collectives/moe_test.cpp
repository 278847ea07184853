#include "titer/collectives/algorithm/moe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "collectives/port_network.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// The average of different places over all subsets of `choices` of the experts.
double counted_places(int experts, int places, int choices) {
  double total = 0.0;
  double subsets = 0.0;
  for (std::uint32_t set = 0; set < std::uint32_t{1} << experts; ++set) {
    std::set<int> hit;
    int chosen = 0;
    for (int expert = 0; expert < experts; ++expert) {
      if ((set >> expert & 1) != 0) {
        ++chosen;
        hit.insert(expert / (experts / places));
      }
    }
    if (chosen == choices) {
      total += static_cast<double>(hit.size());
      subsets += 1.0;
    }
  }
  return total / subsets;
}

/// Averages per token over simulated tokens: what is sent on each tier.
struct Copies {
  double node = 0.0;
  double network = 0.0;
};

/// Sends every token by the rules: nodes first where they are limited, then experts among theirs.
Copies simulated(const MoeDispatch& moe, const Group& group, int tokens) {
  std::mt19937 random(20240817);
  const int per_rank = moe.experts / group.ranks();
  const int per_node = moe.experts / group.nodes;
  Copies copies;
  std::vector<int> nodes(static_cast<std::size_t>(group.nodes));
  for (int token = 0; token < tokens; ++token) {
    const int sender = token % group.ranks();
    std::iota(nodes.begin(), nodes.end(), 0);
    std::shuffle(nodes.begin(), nodes.end(), random);
    std::vector<int> experts;
    for (int i = 0; i < moe.nodes_in_reach(group); ++i) {
      for (int e = 0; e < per_node; ++e) {
        experts.push_back(nodes[static_cast<std::size_t>(i)] * per_node + e);
      }
    }
    std::shuffle(experts.begin(), experts.end(), random);
    std::set<int> hit_nodes;
    std::set<int> hit_ranks;
    for (int i = 0; i < moe.top_k; ++i) {
      hit_nodes.insert(experts[static_cast<std::size_t>(i)] / per_node);
      hit_ranks.insert(experts[static_cast<std::size_t>(i)] / per_rank);
    }
    for (const int node : hit_nodes) {
      copies.network += node != sender / group.per_node ? 1.0 : 0.0;
    }
    for (const int rank : hit_ranks) {
      copies.node += rank % group.per_node != sender % group.per_node ? 1.0 : 0.0;
    }
  }
  return {.node = copies.node / tokens, .network = copies.network / tokens};
}

constexpr Group kEightNodes{.per_node = 8, .nodes = 8};
constexpr MoeDispatch kDeepSeekV3{
    .tokens = 4096, .token = 7168_B, .experts = 256, .top_k = 8, .node_limit = 4};

TEST(ExpectedPlaces, IsTheAverageOverAllChoicesOfExperts) {
  for (const int places : {1, 2, 3, 4, 6, 12}) {
    for (const int choices : {1, 2, 3, 5, 8, 12}) {
      EXPECT_NEAR(expected_places(12, places, choices), counted_places(12, places, choices), 1e-12)
          << choices << " of 12 experts on " << places;
    }
  }
}

TEST(ExpectedPlaces, OfTwoChoicesOnTwoPlaces) {
  EXPECT_DOUBLE_EQ(expected_places_with_replacement(2, 2), 2 * (1 - 0.5 * 0.5));
  EXPECT_DOUBLE_EQ(expected_places(4, 2, 2), 2 * (1 - 2.0 / 4 * 1.0 / 3));
}

TEST(ExpectedPlaces, IsLargerWithoutReplacementAndTendsToTheOtherWithManyExperts) {
  for (const int choices : {2, 4, 8}) {
    EXPECT_GT(expected_places(64, 8, choices), expected_places_with_replacement(8, choices));
  }
  EXPECT_NEAR(expected_places(8'000'000, 8, 8), expected_places_with_replacement(8, 8), 1e-5);
}

TEST(ExpectedPlaces, OfAllExpertsIsAllPlaces) {
  EXPECT_DOUBLE_EQ(expected_places(16, 4, 16), 4.0);
  EXPECT_DOUBLE_EQ(expected_places(16, 4, 13), 4.0);
  EXPECT_LT(expected_places(16, 4, 12), 4.0);
}

TEST(MoeDispatch, SendsWhatSimulatedTokensSend) {
  const Group groups[] = {kEightNodes, {.per_node = 4, .nodes = 2}, {.per_node = 2, .nodes = 16}};
  for (const Group& group : groups) {
    for (const int limit : {0, 1, 2, 4}) {
      MoeDispatch moe = kDeepSeekV3;
      moe.tokens = 1;
      moe.token = 1_B;
      moe.node_limit = limit;
      const TierBytes bytes = once_per_node_dispatch(moe, group);
      const Copies copies = simulated(moe, group, 10'000);
      // The standard error is below 2 / sqrt(10000) = 0.02.
      EXPECT_NEAR(bytes.network.si(), copies.network, 0.05) << limit;
      EXPECT_NEAR(bytes.node.si(), copies.node, 0.05) << limit;
    }
  }
}

TEST(MoeDispatch, OfDeepSeekV3CrossesTheNetworkAtMostFourTimes) {
  const TierBytes once = once_per_node_dispatch(kDeepSeekV3, kEightNodes);
  const TierBytes plain = plain_dispatch(kDeepSeekV3, kEightNodes);
  const double all = 4096.0 * 7168;
  EXPECT_DOUBLE_EQ(plain.network.si(), all * 8 * 7 / 8);
  EXPECT_DOUBLE_EQ(plain.node.si(), all * 8 * 7 / 64);
  double missed = 1.0;  // that none of 8 of 128 experts is among the 32 of a node
  for (int i = 0; i < 8; ++i) {
    missed *= (96.0 - i) / (128.0 - i);
  }
  EXPECT_DOUBLE_EQ(once.network.si(), all * 4 * (1 - missed) * 7 / 8);
  EXPECT_LT(once.network, all * 4 * 1_B);
  // 3.63 nodes instead of 8 experts: 2.2 times fewer bytes; and some more inside the nodes.
  EXPECT_NEAR(plain.network / once.network, 8 / (4 * (1 - missed)), 1e-12);
  EXPECT_GT(plain.network / once.network, 2.0);
  EXPECT_GT(once.node, plain.node);
}

TEST(MoeDispatch, WithoutALimitGoesToMoreNodes) {
  MoeDispatch free = kDeepSeekV3;
  free.node_limit = 0;
  EXPECT_GT(once_per_node_dispatch(free, kEightNodes).network,
            once_per_node_dispatch(kDeepSeekV3, kEightNodes).network);
  MoeDispatch loose = kDeepSeekV3;
  loose.node_limit = 9;  // more than there are
  EXPECT_EQ(once_per_node_dispatch(loose, kEightNodes).network,
            once_per_node_dispatch(free, kEightNodes).network);
}

TEST(MoeDispatch, OnOneNodeStaysInside) {
  const Group group{.per_node = 8};
  const MoeDispatch moe{.tokens = 10, .token = 100_B, .experts = 8, .top_k = 2};
  const TierBytes once = once_per_node_dispatch(moe, group);
  EXPECT_EQ(once.network, Bytes{});
  EXPECT_DOUBLE_EQ(once.node.si(), 10 * 100 * 2 * 7.0 / 8);  // one expert a rank: no doubles
  EXPECT_DOUBLE_EQ(plain_dispatch(moe, group).node.si(), once.node.si());
}

TEST(MoeDispatch, TakesTheTimeOfItsBytesOnEachTier) {
  const Fabric fabric{.network = Channel({.latency = 10_us, .bandwidth = 50_GBps}),
                      .exchange = Channel({.latency = 2_us, .bandwidth = 160_GBps})};
  const TierBytes bytes{.node = 320_MB, .network = 100_MB};
  const TierTimes times = dispatch_time(bytes, kEightNodes, fabric);
  EXPECT_DOUBLE_EQ(times.node.si(), 2e-6 + 320e6 / 160e9);
  EXPECT_DOUBLE_EQ(times.network.si(), 10e-6 + 100e6 / 50e9);
  EXPECT_DOUBLE_EQ(times.in_turn().si(), times.node.si() + times.network.si());
  EXPECT_EQ(times.overlapped(), times.network);
  EXPECT_EQ(dispatch_time({}, {.per_node = 8}, fabric).network, Seconds{});
}

TEST(MoeDispatch, ItsStepsTakeTheTimeOfBothTiersInTurnAndCarryTheirBytes) {
  const Link inside{.latency = 3_us, .bandwidth = 230_GBps};
  const Link between{.latency = 13_us, .bandwidth = 24_GBps};
  const Fabric fabric{.network = Channel(between), .exchange = Channel(inside)};
  const MoeDispatch moe{
      .tokens = 4096, .token = 14336_B, .experts = 192, .top_k = 8, .node_limit = 4};
  for (const Group& group : {Group{.per_node = 8, .nodes = 8},
                             Group{.per_node = 4, .nodes = 3},
                             Group{.per_node = 8},
                             Group{.per_node = 1, .nodes = 6},
                             Group{}}) {
    for (const TierBytes& bytes :
         {plain_dispatch(moe, group), once_per_node_dispatch(moe, group)}) {
      const Steps steps = dispatch_steps(bytes, group);
      const double executed = to_seconds(PortNetwork(steps, fabric).run().makespan).si();
      EXPECT_NEAR(executed,
                  dispatch_time(bytes, group, fabric).in_turn().si(),
                  0.5e-12 * longest_chain(steps) + 1e-12 * executed);
      std::vector<TierBytes> sent(static_cast<std::size_t>(group.ranks()));
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const Message& message = steps.message(i);
        if (!message.is_join()) {
          TierBytes& of = sent[static_cast<std::size_t>(message.from)];
          (message.tier == Tier::network ? of.network : of.node) += message.size;
          const bool same_node = message.from / group.per_node == message.to / group.per_node;
          EXPECT_EQ(message.tier == Tier::exchange, same_node);
        }
      }
      for (const TierBytes& of : sent) {
        EXPECT_NEAR(of.node.si(), bytes.node.si(), 1e-9 * bytes.node.si());
        EXPECT_NEAR(of.network.si(), bytes.network.si(), 1e-9 * bytes.network.si());
      }
    }
  }
}

TEST(MoeDispatch, RefusesExpertsThatDoNotSpreadEvenly) {
  const MoeDispatch moe{.tokens = 1, .token = 1_B, .experts = 9, .top_k = 2};
  EXPECT_THROW((void)once_per_node_dispatch(moe, {.per_node = 2, .nodes = 2}), Defect);
  EXPECT_THROW((void)expected_places(8, 2, 9), Defect);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
