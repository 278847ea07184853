#include "titer/collectives/choice.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

constexpr Link kInside{.latency = 2_us, .bandwidth = 240_GBps};
constexpr Link kBetween{.latency = 10_us, .bandwidth = 20_GBps};
constexpr Fabric kFabric{.node = Channel(kInside),
                         .network = Channel(kBetween),
                         .pair = Channel(kInside),
                         .exchange = Channel(kInside)};

TEST(AlgorithmChoice, TakesTheFasterOneByPredictedTime) {
  const Group group{.per_node = 8, .nodes = 4};
  const CollectiveTime large = fastest<LibraryAllReduce>(1_GB, group, kFabric);
  EXPECT_EQ(large.algorithm, "multi-rail-rings");
  EXPECT_EQ(large.time, MultiRailRingsAllReduce::time(1_GB, group, kFabric));
  const CollectiveTime small = fastest<LibraryAllReduce>(1_KiB, group, kFabric);
  EXPECT_EQ(small.algorithm, "hierarchical");
  EXPECT_EQ(small.time, HierarchicalAllReduce::time(1_KiB, group, kFabric));

  // A slow node and a network without latency: the flat ring avoids the node.
  const Fabric slow_node{.node = Channel({.latency = 50_us, .bandwidth = 1_GBps}),
                         .network = Channel({.latency = Seconds{}, .bandwidth = 20_GBps})};
  EXPECT_EQ(fastest<LibraryAllReduce>(1_GB, group, slow_node).algorithm, "ring");
  EXPECT_EQ(fastest<LibraryAllGather>(1_GB, group, slow_node).algorithm, "ring");
  EXPECT_EQ(fastest<LibraryReduceScatter>(1_GB, group, slow_node).algorithm, "ring");
}

TEST(AlgorithmChoice, LeavesTheHierarchyOutWhereThereIsNone) {
  EXPECT_EQ(fastest<LibraryAllReduce>(1_GB, {.per_node = 8, .nodes = 1}, kFabric).algorithm,
            "ring");
  EXPECT_EQ(fastest<LibraryAllGather>(1_GB, {.per_node = 1, .nodes = 8}, kFabric).algorithm,
            "ring");
}

TEST(AlgorithmChoice, NeverTakesTheNaiveRing) {
  for (const Bytes size : {1_B, 1_KiB, 1_MiB, 1_GiB}) {
    for (int ranks = 2; ranks <= 64; ++ranks) {
      EXPECT_NE(fastest<AllReduce>(size, {.per_node = ranks, .nodes = 1}, kFabric).algorithm,
                "naive-ring");
    }
  }
}

TEST(AlgorithmChoice, OfOneRankIsNoneAndNeedsNoFabric) {
  for (const Collective collective : kCollectives) {
    const CollectiveTime none = collective_time(collective, 1_GB, Group{}, Fabric{});
    EXPECT_EQ(none.time, Seconds{});
    EXPECT_EQ(none.algorithm, "none");
  }
}

TEST(AlgorithmChoice, IsTheSameForACollectiveKnownAtRunTime) {
  const Group pair{.per_node = 1, .nodes = 2};
  EXPECT_EQ(collective_time(Collective::all_reduce, 1_MB, pair, kFabric).time,
            fastest<LibraryAllReduce>(1_MB, pair, kFabric).time);
  EXPECT_EQ(collective_time(Collective::all_gather, 1_MB, pair, kFabric).time,
            fastest<LibraryAllGather>(1_MB, pair, kFabric).time);
  EXPECT_EQ(collective_time(Collective::reduce_scatter, 1_MB, pair, kFabric).time,
            fastest<LibraryReduceScatter>(1_MB, pair, kFabric).time);
  EXPECT_EQ(collective_time(Collective::all_to_all, 1_MB, pair, kFabric).time,
            fastest<LibraryAllToAll>(1_MB, pair, kFabric).time);
  EXPECT_EQ(collective_time(Collective::broadcast, 1_MB, pair, kFabric).time,
            fastest<LibraryBroadcast>(1_MB, pair, kFabric).time);
  EXPECT_EQ(collective_time(Collective::reduce, 1_MB, pair, kFabric).time,
            fastest<LibraryReduce>(1_MB, pair, kFabric).time);
  EXPECT_EQ(collective_time(Collective::send_recv, 1_MB, pair, kFabric).time,
            fastest<SendRecv>(1_MB, pair, kFabric).time);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
