#include "titer/collectives/algorithm/in_switch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "collectives/honoured.hpp"
#include "titer/collectives/algorithm/in_switch_hierarchical.hpp"
#include "titer/collectives/algorithm/ring.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kA = 4e-6;
constexpr double kB = 200e9;
constexpr Fabric kFabric{
    .node = Channel({.latency = 2_us, .bandwidth = 250_GBps}),
    .network = Channel({.latency = 10_us, .bandwidth = 25_GBps}),
    .node_switch = Channel({.latency = 4_us, .bandwidth = 200_GBps}),
    .network_switch = Channel({.latency = 15_us, .bandwidth = 20_GBps}),
};
constexpr Group kNode{.per_node = 8};

double in_blocks(double bytes, int k) { return (k + 1) * (kA + bytes / (k * kB)); }

// ---- Number of blocks ------------------------------------------------------------------------

TEST(SwitchPlan, HasTheBestWholeNumberOfBlocks) {
  for (const double bytes : {1.0, 1e5, 1e6, 1.5e6, 1e7, 1e8, 1e9, 1e11}) {
    const Bytes size = bytes * 1_B;
    const SwitchPlan plan = switch_plan(size, size, kFabric.node_switch);
    double best = in_blocks(bytes, 1);
    for (int k = 2; k <= SwitchPlan::most_blocks; ++k) {
      best = std::min(best, in_blocks(bytes, k));
    }
    EXPECT_NEAR(plan.time.si(), best, 1e-12 * best) << bytes;
    EXPECT_NEAR(plan.time.si(), in_blocks(bytes, plan.blocks), 1e-12 * best) << bytes;
  }
}

TEST(SwitchPlan, CutsAMessageOnceItsBytesOutweighTheLatency) {
  // From one to two blocks where 1 (1 + 1) a = S / B.
  const Bytes even = Bytes::from_si(2 * kA * kB);
  EXPECT_EQ(switch_plan(0.99 * even, 0.99 * even, kFabric.node_switch).blocks, 1);
  EXPECT_EQ(switch_plan(1.01 * even, 1.01 * even, kFabric.node_switch).blocks, 2);
}

TEST(SwitchPlan, TakesAsManyBlocksAsAllowedWhereTheyCostNothing) {
  const Channel free({.latency = Seconds{}, .bandwidth = 200_GBps});
  EXPECT_EQ(switch_plan(1_GB, 1_GB, free).blocks, SwitchPlan::most_blocks);
}

TEST(SwitchPlan, TakesTheProtocolThatIsFasterWithItsOwnBlocks) {
  Channel both({.latency = 4_us, .bandwidth = 200_GBps});
  both.add({.latency = 1_us, .bandwidth = 50_GBps});
  EXPECT_DOUBLE_EQ(switch_plan(1_KiB, 1_KiB, both).time.si(), 2 * (1e-6 + 1024 / 50e9));
  EXPECT_EQ(switch_plan(1_GB, 1_GB, both).time, switch_plan(1_GB, 1_GB, kFabric.node_switch).time);
  EXPECT_THROW((void)switch_plan(1_GB, 1_GB, Channel{}), Defect);
}

TEST(SwitchPlan, PaysTheStartUpOnce) {
  const Channel slow({.latency = 4_us, .bandwidth = 200_GBps, .startup = 30_us});
  EXPECT_NEAR(switch_plan(1_GB, 1_GB, slow).time.si(),
              30e-6 + switch_plan(1_GB, 1_GB, kFabric.node_switch).time.si(),
              1e-15);
}

// ---- In a node -------------------------------------------------------------------------------

TEST(InSwitchAllReduce, NeedsNearlyHalfTheTimeOfARingForLargeVectors) {
  const Fabric alike{.node = kFabric.node_switch, .node_switch = kFabric.node_switch};
  const double in_switch = InSwitchAllReduce::time(1_GB, kNode, alike).si();
  const double ring = RingAllReduce::time(1_GB, kNode, alike).si();
  EXPECT_NEAR(in_switch / (1e9 / kB), 1.0, 0.1);
  EXPECT_NEAR(ring / in_switch, 2 * 7.0 / 8, 0.1);
}

TEST(InSwitchAllReduce, OfASmallVectorIsUpAndDown) {
  EXPECT_DOUBLE_EQ(InSwitchAllReduce::time(1_KiB, kNode, kFabric).si(), 2 * (kA + 1024 / kB));
  EXPECT_DOUBLE_EQ(InSwitchAllReduce::time(1_KiB, kNode, kFabric).si(),
                   InSwitchAllReduce::time(1_KiB, {.per_node = 64}, kFabric).si())
      << "whatever the number of ranks";
}

TEST(InSwitchAllGather, SendsAPieceUpAndGetsTheOthers) {
  // One block: up S/8, down 7/8 S.
  EXPECT_NEAR(InSwitchAllGather::time(8_KiB, kNode, kFabric).si(),
              (kA + 1024 / kB) + (kA + 7 * 1024 / kB),
              1e-15);
  EXPECT_DOUBLE_EQ(InSwitchAllGather::volume(8_KiB, kNode).si(), 1024.0);
  EXPECT_DOUBLE_EQ(InSwitchReduceScatter::volume(8_KiB, kNode).si(), 7 * 1024.0);
  EXPECT_EQ(InSwitchReduceScatter::time(1_GB, kNode, kFabric),
            InSwitchAllGather::time(1_GB, kNode, kFabric));
}

TEST(InSwitchAllGather, HidesTheWayUpBehindTheWayDown) {
  const double down = 7.0 / 8 * 1e9 / kB;
  const double time = InSwitchAllGather::time(1_GB, kNode, kFabric).si();
  EXPECT_GT(time, down);
  EXPECT_LT(time, down + 1e9 / 8 / kB);
}

TEST(InSwitchSteps, KeepTheirPromise) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    for (const Bytes size : {1_B, 100_MB}) {
      SCOPED_TRACE(ranks);
      const Group group{.per_node = ranks};
      expect_honoured<InSwitchAllReduce>(Collective::all_reduce, group, size, kFabric);
      expect_honoured<InSwitchBroadcast>(Collective::broadcast, group, size, kFabric);
      expect_honoured<InSwitchReduce>(Collective::reduce, group, size, kFabric);
      expect_honoured<InSwitchAllGather>(Collective::all_gather, group, size, kFabric);
      expect_honoured<InSwitchReduceScatter>(Collective::reduce_scatter, group, size, kFabric);
    }
  }
}

TEST(InSwitchSteps, KeepTheirPromiseOverSeveralNodesInSeveralBlocks) {
  for (const auto& [per_node, nodes] : {std::pair{2, 3}, std::pair{4, 2}, std::pair{3, 4}}) {
    const Group group{.per_node = per_node, .nodes = nodes};
    SCOPED_TRACE(per_node);
    EXPECT_GT(switch_plan(100_MB / per_node, 100_MB / per_node, kFabric.node_switch).blocks, 1);
    expect_honoured<NetworkTreeAllReduce>(Collective::all_reduce, group, 100_MB, kFabric);
    expect_honoured<HierarchicalNetworkTreeAllReduce>(
        Collective::all_reduce, group, 100_MB, kFabric);
    expect_honoured<HierarchicalInSwitchAllReduce>(Collective::all_reduce, group, 100_MB, kFabric);
  }
}

TEST(InSwitchSteps, SendTheVolumeOfTheFormula) {
  double sent = 0.0;
  double received = 0.0;
  const Steps steps = InSwitchAllGather::steps(1_GB, kNode, kFabric);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    sent += steps.message(i).from == 3 ? steps.message(i).size.si() : 0.0;
    received += steps.message(i).to == 3 ? steps.message(i).size.si() : 0.0;
  }
  EXPECT_NEAR(sent, 1e9 / 8, 1.0);
  EXPECT_NEAR(received, 7e9 / 8, 1.0);
}

// ---- In the network --------------------------------------------------------------------------

TEST(NetworkTree, TakesNoLongerOnMoreNodes) {
  const double few = NetworkTreeAllReduce::time(1_MB, {.per_node = 1, .nodes = 2}, kFabric).si();
  const double many = NetworkTreeAllReduce::time(1_MB, {.per_node = 1, .nodes = 512}, kFabric).si();
  EXPECT_EQ(few, many);
  // 2 blocks: 2 * 3 * 15 us >= 1 MB / 20 GB/s = 50 us.
  EXPECT_DOUBLE_EQ(few, 3 * (15e-6 + 0.5e6 / 20e9));
}

TEST(HierarchicalNetworkTree, AddsUpEveryShardInTheNetwork) {
  const Group group{.per_node = 8, .nodes = 16};
  const double shard = 1e6 / 8;
  EXPECT_DOUBLE_EQ(HierarchicalNetworkTreeAllReduce::time(1_MB, group, kFabric).si(),
                   2 * 7 * (2e-6 + shard / 250e9) + 2 * (15e-6 + shard / 20e9));
}

TEST(HierarchicalInSwitch, IsTwoSwitchPhasesAroundARing) {
  const Group group{.per_node = 8, .nodes = 4};
  const double shard = 8192.0 / 8;
  EXPECT_DOUBLE_EQ(HierarchicalInSwitchAllReduce::time(8_KiB, group, kFabric).si(),
                   2 * (2 * kA + (7 + 1) * shard / kB) + 2 * 3 * (10e-6 + shard / 4 / 25e9));
}

TEST(InSwitch, AppliesWhereItsSwitchesAre) {
  const Group cluster{.per_node = 8, .nodes = 4};
  EXPECT_TRUE(InSwitchAllReduce::applies(kNode, kFabric));
  EXPECT_FALSE(InSwitchAllReduce::applies(cluster, kFabric));
  EXPECT_FALSE(InSwitchAllReduce::applies(kNode, Fabric{.node = kFabric.node}));
  EXPECT_FALSE(NetworkTreeAllReduce::applies(kNode, kFabric));
  EXPECT_TRUE(NetworkTreeAllReduce::applies(cluster, kFabric));
  EXPECT_FALSE(HierarchicalNetworkTreeAllReduce::applies({.per_node = 1, .nodes = 4}, kFabric));
  EXPECT_FALSE(HierarchicalInSwitchAllReduce::applies(cluster, Fabric{.node = kFabric.node}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
