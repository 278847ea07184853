#include "titer/collectives/algorithm/exchange.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "titer/collectives/algorithm/direct.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Fabric kFabric{
    .network = Channel({.latency = 10_us, .bandwidth = 50_GBps}),
    .pair = Channel({.latency = 2_us, .bandwidth = 200_GBps}),
    .exchange = Channel({.latency = 3_us, .bandwidth = 180_GBps}),
};
constexpr Group kCluster{.per_node = 8, .nodes = 4};

/// Messages and bytes that rank 5 sends in a tier.
struct Sent {
  int messages = 0;
  double bytes = 0.0;
};

Sent sent_by_five(const Steps& steps, Tier tier) {
  Sent sent;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Message& message = steps.message(i);
    if (message.from == 5 && message.tier == tier && !message.is_join()) {
      ++sent.messages;
      sent.bytes += message.size.si();
    }
  }
  return sent;
}

TEST(TwoTierAllToAll, TakesTheSlowerOfTheTwoTiers) {
  const double s = 1e9;
  EXPECT_DOUBLE_EQ(TwoTierAllToAll::time(1_GB, kCluster, kFabric).si(), 10e-6 + 24 * s / 32 / 50e9);
  const Fabric slow_inside{.network = kFabric.network,
                           .exchange = Channel({.latency = 3_us, .bandwidth = 10_GBps})};
  EXPECT_DOUBLE_EQ(TwoTierAllToAll::time(1_GB, kCluster, slow_inside).si(),
                   3e-6 + 7 * s / 32 / 10e9);
}

TEST(TwoTierAllToAll, KeepsTheNodesOwnTrafficOffTheNetwork) {
  const Steps steps = TwoTierAllToAll::steps(1_GB, kCluster, kFabric);
  EXPECT_EQ(sent_by_five(steps, Tier::network).messages, 24);
  EXPECT_NEAR(sent_by_five(steps, Tier::network).bytes, 24e9 / 32, 1.0);
  EXPECT_EQ(sent_by_five(steps, Tier::exchange).messages, 7);
  EXPECT_LT(TwoTierAllToAll::time(1_GB, kCluster, kFabric),
            DirectAllToAll::time(1_GB, kCluster, kFabric));
}

TEST(RailAllToAll, CollectsInsideThenCrossesTheNetworkOnItsRail) {
  const double s = 1e9;
  EXPECT_DOUBLE_EQ(RailAllToAll::time(1_GB, kCluster, kFabric).si(),
                   3e-6 + 7 * s / 8 / 180e9 + 10e-6 + 3 * s / 4 / 50e9);
  EXPECT_DOUBLE_EQ(RailPairwiseAllToAll::time(1_GB, kCluster, kFabric).si(),
                   7 * (2e-6 + s / 8 / 200e9) + 3 * (10e-6 + s / 4 / 50e9));
}

TEST(RailAllToAll, SendsTheBytesOfTheDirectOneInFewerMessages) {
  const Steps rail = RailAllToAll::steps(1_GB, kCluster, kFabric);
  const Steps direct = TwoTierAllToAll::steps(1_GB, kCluster, kFabric);
  EXPECT_EQ(sent_by_five(rail, Tier::network).messages, 3);
  EXPECT_NEAR(
      sent_by_five(rail, Tier::network).bytes, sent_by_five(direct, Tier::network).bytes, 1.0);
  EXPECT_EQ(sent_by_five(rail, Tier::exchange).messages, 7);
  EXPECT_NEAR(sent_by_five(rail, Tier::exchange).bytes, 7e9 / 8, 1.0);
}

TEST(RailAllToAll, StaysOnTheRailOfItsRank) {
  const Steps steps = RailPairwiseAllToAll::steps(1_GB, kCluster, kFabric);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Message& message = steps.message(i);
    if (message.tier == Tier::network) {
      EXPECT_EQ(message.from % 8, message.to % 8);
    } else {
      EXPECT_EQ(message.from / 8, message.to / 8);
    }
  }
}

TEST(RailPairwise, PaysFarFewerLatenciesThanPairwise) {
  // 31 messages through the network against 7 inside and 3 through it.
  const double small = 32.0;
  EXPECT_DOUBLE_EQ(PairwiseAllToAll::time(32_B, kCluster, kFabric).si(),
                   31 * (10e-6 + small / 32 / 50e9));
  EXPECT_LT(RailPairwiseAllToAll::time(32_B, kCluster, kFabric).si(), 7 * 2e-6 + 3 * 10e-6 + 1e-8);
}

TEST(RailAllToAll, AppliesToSeveralRanksOnSeveralNodes) {
  EXPECT_TRUE(RailAllToAll::applies(kCluster, kFabric));
  EXPECT_FALSE(RailAllToAll::applies({.per_node = 8}, kFabric));
  EXPECT_FALSE(RailAllToAll::applies({.per_node = 1, .nodes = 4}, kFabric));
  EXPECT_FALSE(RailPairwiseAllToAll::applies(kCluster, Fabric{.network = kFabric.network}));
  EXPECT_FALSE(TwoTierAllToAll::applies(kCluster, Fabric{.exchange = kFabric.exchange}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
