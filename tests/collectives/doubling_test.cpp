#include "titer/collectives/algorithm/doubling.hpp"

#include <gtest/gtest.h>

#include "titer/collectives/algorithm/direct.hpp"
#include "titer/collectives/algorithm/ring.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Fabric kFabric{.node = Channel({.latency = 3_us, .bandwidth = 200_GBps}),
                         .network = Channel({.latency = 10_us, .bandwidth = 20_GBps}),
                         .pair = Channel({.latency = 2_us, .bandwidth = 100_GBps})};

TEST(Log2, IsRoundedDownOrUp) {
  EXPECT_EQ(log2_below(1), 0);
  EXPECT_EQ(log2_above(1), 0);
  EXPECT_EQ(log2_below(8), 3);
  EXPECT_EQ(log2_above(8), 3);
  EXPECT_EQ(log2_below(9), 3);
  EXPECT_EQ(log2_above(9), 4);
  EXPECT_EQ(power_below(9), 8);
  EXPECT_FALSE(is_power_of_two(9));
}

TEST(RecursiveDoublingAllReduce, ExchangesTheWholeVectorLgTimes) {
  EXPECT_DOUBLE_EQ(RecursiveDoublingAllReduce::time(1_MB, {.per_node = 8}, kFabric).si(),
                   3 * (2e-6 + 1e6 / 100e9));
}

TEST(RecursiveDoublingAllReduce, FoldsTheRanksBeyondThePowerOfTwo) {
  EXPECT_DOUBLE_EQ(RecursiveDoublingAllReduce::time(1_MB, {.per_node = 11}, kFabric).si(),
                   (3 + 2) * (2e-6 + 1e6 / 100e9));
}

TEST(RecursiveDoublingAllReduce, OnSeveralNodesGoesThroughTheNetwork) {
  const Group group{.per_node = 2, .nodes = 4};
  EXPECT_DOUBLE_EQ(RecursiveDoublingAllReduce::time(1_MB, group, kFabric).si(),
                   3 * (10e-6 + 1e6 / 20e9));
  const Steps steps = RecursiveDoublingAllReduce::steps(1_MB, group, kFabric);
  ASSERT_EQ(steps.size(), 3U * 8);
  EXPECT_EQ(steps.message(0).tier, Tier::network);
}

TEST(HalvingDoublingAllReduce, MovesWhatTheRingMovesInFewerMessages) {
  const Group group{.per_node = 8};
  EXPECT_DOUBLE_EQ(HalvingDoublingAllReduce::time(1_GB, group, kFabric).si(),
                   2 * 3 * 2e-6 + 2.0 * 7 / 8 * 1e9 / 100e9);
  EXPECT_DOUBLE_EQ(HalvingDoublingAllReduce::volume(1_GB, group).si(),
                   RingAllReduce::volume(1_GB, group).si());
}

TEST(HalvingDoublingAllReduce, PaysTwoWholeVectorsToFold) {
  EXPECT_DOUBLE_EQ(HalvingDoublingAllReduce::time(1_GB, {.per_node = 6}, kFabric).si(),
                   (2 * 2 + 2) * 2e-6 + (2.0 * 3 / 4 + 2) * 1e9 / 100e9);
}

TEST(HalvingDoublingAllReduce, TakesTheProtocolThatSuitsAllOfIt) {
  Fabric fabric;
  fabric.pair.add({.latency = 20_us, .bandwidth = 100_GBps});
  fabric.pair.add({.latency = 1_us, .bandwidth = 10_GBps});
  const Group group{.per_node = 4};
  EXPECT_DOUBLE_EQ(HalvingDoublingAllReduce::time(1_KiB, group, fabric).si(),
                   4 * 1e-6 + 2.0 * 3 / 4 * 1024 / 10e9);
  EXPECT_DOUBLE_EQ(HalvingDoublingAllReduce::time(1_GB, group, fabric).si(),
                   4 * 20e-6 + 2.0 * 3 / 4 * 1e9 / 100e9);
}

TEST(RecursiveDoublingAllGather, IsForPowersOfTwoOnly) {
  EXPECT_TRUE(RecursiveDoublingAllGather::applies({.per_node = 8}, kFabric));
  EXPECT_TRUE(RecursiveDoublingAllGather::applies({.per_node = 2, .nodes = 4}, kFabric));
  EXPECT_FALSE(RecursiveDoublingAllGather::applies({.per_node = 6}, kFabric));
  EXPECT_FALSE(RecursiveHalvingReduceScatter::applies({.per_node = 6}, kFabric));
}

TEST(RecursiveDoublingAllGather, HandsOutAllButItsOwnInLgMessages) {
  EXPECT_DOUBLE_EQ(RecursiveDoublingAllGather::time(1_GB, {.per_node = 16}, kFabric).si(),
                   4 * 2e-6 + 15.0 / 16 * 1e9 / 100e9);
}

TEST(BruckAllGather, TakesTheLogarithmRoundedUp) {
  EXPECT_DOUBLE_EQ(BruckAllGather::time(1_GB, {.per_node = 11}, kFabric).si(),
                   4 * 2e-6 + 10.0 / 11 * 1e9 / 100e9);
  EXPECT_EQ(BruckAllGather::steps(1_GB, {.per_node = 11}, kFabric).size(), 4U * 11);
}

TEST(BruckAllGather, IsTheRecursiveDoublingWhereThatExists) {
  for (const int n : {2, 4, 32}) {
    EXPECT_EQ(BruckAllGather::time(1_GB, {.per_node = n}, kFabric),
              RecursiveDoublingAllGather::time(1_GB, {.per_node = n}, kFabric));
  }
}

TEST(BruckAllToAll, OfAPowerOfTwoMovesHalfTheVectorLgTimes) {
  EXPECT_DOUBLE_EQ(BruckAllToAll::time(1_GB, {.per_node = 8}, kFabric).si(),
                   3 * 2e-6 + 3 * 0.5e9 / 100e9);
}

TEST(BruckAllToAll, OfSixRanksMovesABlockPerBinaryDigit) {
  // 1, 10, 11, 100, 101: 1 + 1 + 2 + 1 + 2 digits.
  EXPECT_DOUBLE_EQ(BruckAllToAll::time(6_MB, {.per_node = 6}, kFabric).si(),
                   3 * 2e-6 + (1 + 1 + 2 + 1 + 2) * 1e6 / 100e9);
}

TEST(BruckAllToAll, IsBetterThanPairwiseForSmallVectorsOnly) {
  const Group group{.per_node = 16};
  EXPECT_LT(BruckAllToAll::time(1_KiB, group, kFabric),
            PairwiseAllToAll::time(1_KiB, group, kFabric));
  EXPECT_GT(BruckAllToAll::time(1_GB, group, kFabric),
            PairwiseAllToAll::time(1_GB, group, kFabric));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
