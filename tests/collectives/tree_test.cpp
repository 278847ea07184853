#include "titer/collectives/algorithm/tree.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace titer {
namespace TITER_TEST_FILE {

constexpr Fabric kFabric{.network = Channel({.latency = 10_us, .bandwidth = 20_GBps}),
                         .pair = Channel({.latency = 2_us, .bandwidth = 100_GBps})};

TEST(BinomialBroadcast, DoublesTheRanksThatKnow) {
  EXPECT_DOUBLE_EQ(BinomialBroadcast::time(1_MB, {.per_node = 8}, kFabric).si(),
                   3 * (2e-6 + 1e6 / 100e9));
  EXPECT_DOUBLE_EQ(BinomialBroadcast::time(1_MB, {.per_node = 9}, kFabric).si(),
                   4 * (2e-6 + 1e6 / 100e9));
}

TEST(BinomialBroadcast, SendsToEveryOtherRankOnce) {
  for (const int n : {2, 5, 8, 13}) {
    EXPECT_EQ(BinomialBroadcast::steps(1_MB, {.per_node = n}, kFabric).size(),
              static_cast<std::size_t>(n - 1));
    EXPECT_EQ(BinomialReduce::steps(1_MB, {.per_node = n}, kFabric).size(),
              static_cast<std::size_t>(n - 1));
  }
}

TEST(BinomialReduce, TakesTheTimeOfTheBroadcastWithLessFromOneRank) {
  const Group group{.per_node = 3, .nodes = 3};
  EXPECT_EQ(BinomialReduce::time(1_MB, group, kFabric),
            BinomialBroadcast::time(1_MB, group, kFabric));
  EXPECT_DOUBLE_EQ(BinomialReduce::volume(1_MB, group).si(), 1e6);
  EXPECT_DOUBLE_EQ(BinomialBroadcast::volume(1_MB, group).si(), 4 * 1e6);
}

TEST(ChainBroadcast, IsTheVectorAndTheFillingOfTheChain) {
  const Group group{.per_node = 10};
  const int k = ChainBroadcast::pipeline(group).blocks(1_GB, kFabric.pair);
  EXPECT_DOUBLE_EQ(ChainBroadcast::time(1_GB, group, kFabric).si(),
                   (10 - 2 + k) * (2e-6 + 1e9 / k / 100e9));
}

TEST(ChainBroadcast, TendsToTheClosedFormWithTheBestBlocks) {
  const double wire = 1e9 / 100e9;
  const double best = wire + 8 * 2e-6 + 2 * std::sqrt(8 * 2e-6 * wire);
  EXPECT_NEAR(ChainBroadcast::time(1_GB, {.per_node = 10}, kFabric).si(), best, 1e-5 * best);
}

TEST(ChainBroadcast, SendsTinyVectorsWhole) {
  EXPECT_DOUBLE_EQ(ChainBroadcast::time(8_B, {.per_node = 10}, kFabric).si(),
                   9 * (2e-6 + 8 / 100e9));
}

TEST(ChainBroadcast, IsOneMessageForTwoRanks) {
  EXPECT_DOUBLE_EQ(ChainBroadcast::time(1_GB, {.per_node = 2}, kFabric).si(), 2e-6 + 1e9 / 100e9);
  EXPECT_EQ(ChainBroadcast::steps(1_GB, {.per_node = 2}, kFabric).size(), 1U);
}

TEST(ChainReduce, EndsAtRankZero) {
  const Steps steps = ChainReduce::steps(1_GB, {.per_node = 4}, kFabric);
  EXPECT_EQ(steps.message(steps.size() - 1).to, 0);
  EXPECT_EQ(ChainReduce::time(1_GB, {.per_node = 4}, kFabric),
            ChainBroadcast::time(1_GB, {.per_node = 4}, kFabric));
}

TEST(ScatterAllGatherBroadcast, MovesTheVectorTwice) {
  for (const int n : {5, 8}) {
    EXPECT_DOUBLE_EQ(ScatterAllGatherBroadcast::time(1_GB, {.per_node = n}, kFabric).si(),
                     (3 + n - 1) * 2e-6 + 2.0 * (n - 1) / n * 1e9 / 100e9);
  }
}

TEST(ScatterAllGatherBroadcast, BeatsTheBinomialTreeForLargeVectorsOnly) {
  const Group group{.per_node = 16};
  EXPECT_LT(ScatterAllGatherBroadcast::time(1_GB, group, kFabric),
            BinomialBroadcast::time(1_GB, group, kFabric));
  EXPECT_GT(ScatterAllGatherBroadcast::time(1_KiB, group, kFabric),
            BinomialBroadcast::time(1_KiB, group, kFabric));
}

TEST(RabenseifnerReduce, HalvesAndGathers) {
  EXPECT_DOUBLE_EQ(RabenseifnerReduce::time(1_GB, {.per_node = 8}, kFabric).si(),
                   2 * 3 * 2e-6 + 2.0 * 7 / 8 * 1e9 / 100e9);
  EXPECT_FALSE(RabenseifnerReduce::applies({.per_node = 6}, kFabric));
}

TEST(RabenseifnerReduce, BringsHalfTheResultToRankZeroInTheEnd) {
  const Steps steps = RabenseifnerReduce::steps(1_GB, {.per_node = 8}, kFabric);
  const Message& last = steps.message(steps.size() - 1);
  EXPECT_EQ(last.from, 8 / 2);
  EXPECT_EQ(last.to, 0);
  EXPECT_DOUBLE_EQ(last.size.si(), 0.5e9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
