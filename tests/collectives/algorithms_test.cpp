#include "titer/collectives/algorithms.hpp"

#include <gtest/gtest.h>

#include <set>

#include "titer/collectives/choice.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Link kInside{.latency = 2_us, .bandwidth = 240_GBps};
constexpr Link kBetween{.latency = 10_us, .bandwidth = 20_GBps};
constexpr Fabric kFabric{.node = Channel(kInside),
                         .network = Channel(kBetween),
                         .pair = Channel(kInside),
                         .exchange = Channel(kInside)};

TEST(RingAllReduce, IsTwiceTheOthersTimesAPiece) {
  EXPECT_DOUBLE_EQ(RingAllReduce::time(1_GB, {.per_node = 8, .nodes = 1}, kFabric).si(),
                   2 * 7 * (2e-6 + 1e9 / 8 / 240e9));
}

TEST(RingAllReduce, OnSeveralNodesGoesThroughTheNetwork) {
  EXPECT_DOUBLE_EQ(RingAllReduce::time(1_GB, {.per_node = 2, .nodes = 3}, kFabric).si(),
                   2 * 5 * (10e-6 + 1e9 / 6 / 20e9));
}

TEST(RingAllReduce, TendsToTwiceTheVectorOverTheBandwidth) {
  const Fabric free{.node = Channel({.latency = Seconds{}, .bandwidth = 100_GBps})};
  const double limit = 2 * 1e9 / 100e9;
  EXPECT_NEAR(RingAllReduce::time(1_GB, {.per_node = 1024, .nodes = 1}, free).si(),
              limit * (1 - 1.0 / 1024),
              1e-12);
}

TEST(HierarchicalAllReduce, IsTheSumOfItsTwoTiers) {
  const double inside = 2 * 7 * (2e-6 + 1e9 / 8 / 240e9);
  const double between = 2 * 3 * (10e-6 + 1e9 / 32 / 20e9);
  EXPECT_DOUBLE_EQ(HierarchicalAllReduce::time(1_GB, {.per_node = 8, .nodes = 4}, kFabric).si(),
                   inside + between);
}

TEST(HierarchicalAllReduce, SendsAShardOfTheVectorThroughTheNetwork) {
  double through_network = 0.0;
  const Steps steps = HierarchicalAllReduce::steps(1_GB, {.per_node = 4, .nodes = 3}, kFabric);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.message(i).tier == Tier::network && steps.message(i).from == 5) {
      through_network += steps.message(i).size.si();
    }
  }
  EXPECT_NEAR(through_network, 2.0 * 2 / 3 * 1e9 / 4, 1.0);
}

TEST(NaiveRingAllReduce, E14_BookRingTakesTwiceTheRanksLessOneForwards) {
  const double g = 1e9;
  const double bandwidth = 25e9;
  const Fabric book{.node = Channel({.latency = Seconds{}, .bandwidth = 25_GBps})};
  for (const int n : {2, 3, 8}) {
    const double reduce = n * g / bandwidth;
    const double broadcast = (n - 1) * g / bandwidth;
    EXPECT_DOUBLE_EQ(NaiveRingAllReduce::time(1_GB, {.per_node = n, .nodes = 1}, book).si(),
                     reduce + broadcast);
  }
}

TEST(NaiveRingAllReduce, E14_TrapT11_ChunkedRingIsFarFaster) {
  const Fabric book{.node = Channel({.latency = Seconds{}, .bandwidth = 25_GBps})};
  const auto in_vectors = [&](Seconds time) { return time.si() * 25e9 / 1e9; };
  const Group three{.per_node = 3, .nodes = 1};
  const Group eight{.per_node = 8, .nodes = 1};
  EXPECT_NEAR(in_vectors(NaiveRingAllReduce::time(1_GB, three, book)), 5, 1e-9);
  EXPECT_NEAR(in_vectors(RingAllReduce::time(1_GB, three, book)), 4.0 / 3, 1e-9);
  EXPECT_NEAR(in_vectors(NaiveRingAllReduce::time(1_GB, eight, book)), 15, 1e-9);
  EXPECT_NEAR(in_vectors(RingAllReduce::time(1_GB, eight, book)), 1.75, 1e-9);
}

TEST(NaiveRingAllReduce, PaysTheLatencyOfEveryForward) {
  EXPECT_DOUBLE_EQ(NaiveRingAllReduce::time(Bytes{}, {.per_node = 4, .nodes = 1}, kFabric).si(),
                   (2 * 4 - 1) * 2e-6);
}

TEST(HierarchicalAllGather, IsTheSumOfItsTwoTiers) {
  EXPECT_DOUBLE_EQ(HierarchicalAllGather::time(1_GB, {.per_node = 8, .nodes = 4}, kFabric).si(),
                   3 * (10e-6 + 1e9 / 32 / 20e9) + 7 * (2e-6 + 1e9 / 8 / 240e9));
}

TEST(AllGather, IsHalfAnAllReduce) {
  for (const Group& group : {Group{8, 1}, Group{1, 5}, Group{4, 6}}) {
    EXPECT_DOUBLE_EQ(fastest<LibraryAllReduce>(1_GB, group, kFabric).time.si(),
                     2 * fastest<LibraryAllGather>(1_GB, group, kFabric).time.si());
    EXPECT_DOUBLE_EQ(fastest<LibraryReduceScatter>(1_GB, group, kFabric).time.si(),
                     fastest<LibraryAllGather>(1_GB, group, kFabric).time.si());
  }
}

TEST(PointToPoint, UsesTheTierThatJoinsThePair) {
  EXPECT_DOUBLE_EQ(fastest<SendRecv>(1_MB, {.per_node = 2, .nodes = 1}, kFabric).time.si(),
                   2e-6 + 1e6 / 240e9);
  EXPECT_DOUBLE_EQ(fastest<SendRecv>(1_MB, {.per_node = 1, .nodes = 2}, kFabric).time.si(),
                   10e-6 + 1e6 / 20e9);
}

TEST(PointToPoint, IsForAPairOnly) {
  EXPECT_FALSE(PointToPoint::applies({.per_node = 3, .nodes = 1}, kFabric));
  EXPECT_THROW((void)fastest<SendRecv>(1_MB, {.per_node = 3, .nodes = 1}, kFabric), Defect);
  EXPECT_THROW((void)PointToPoint::steps(1_MB, {.per_node = 3, .nodes = 1}, kFabric), Defect);
}

TEST(HomePiece, IsADifferentOneForEveryRank) {
  const Group group{.per_node = 4, .nodes = 3};
  std::set<int> pieces;
  for (int rank = 0; rank < group.ranks(); ++rank) {
    pieces.insert(home_piece(rank, group));
  }
  EXPECT_EQ(pieces.size(), 12U);
  EXPECT_EQ(*pieces.begin(), 0);
  EXPECT_EQ(*pieces.rbegin(), 12 - 1);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
