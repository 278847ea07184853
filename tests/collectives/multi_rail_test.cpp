#include "titer/collectives/algorithm/multi_rail.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "titer/collectives/choice.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Link kNode{.latency = 2_us, .bandwidth = 100_GBps, .startup = 30_us};
constexpr Link kNetwork{.latency = 10_us, .bandwidth = 20_GBps, .startup = 5_us};

Fabric fabric(Link node = kNode, Link network = kNetwork) {
  return {.node = Channel(node), .network = Channel(network)};
}

constexpr Group kFourNodes{.per_node = 8, .nodes = 4};

TEST(MultiRailRings, TakeTheLatencyOfTheLongestWayRoundAndTheBusierTier) {
  // 31 of 32 hops: 4 between nodes, 27 of 28 inside. A port in a node carries 7 rings of 100 MB/8,
  // each in 32 shares: 7 / 100 GB/s is more than 1 / 20 GB/s.
  const double share = 100e6 / 8 / 32;
  const double lap = 4 * 10e-6 + 27 * 2e-6;
  const double inside = 2 * lap + 2 * 31 * 7 * share / 100e9 + 35e-6;
  EXPECT_NEAR(MultiRailRingsAllReduce::time(100_MB, kFourNodes, fabric()).si(), inside, 1e-12);
  // With a tenth of the NICs the network is busier.
  const Link slow{.latency = 10_us, .bandwidth = 2_GBps, .startup = 5_us};
  const double between = 2 * lap + 2 * 31 * share / 2e9 + 35e-6;
  EXPECT_NEAR(
      MultiRailRingsAllReduce::time(100_MB, kFourNodes, fabric(kNode, slow)).si(), between, 1e-12);
}

TEST(MultiRailRings, GatherAndScatterInOneLap) {
  const double startup = 35e-6;
  const double both = MultiRailRingsAllReduce::time(1_GB, kFourNodes, fabric()).si() - startup;
  const double gather = MultiRailRingsAllGather::time(1_GB, kFourNodes, fabric()).si() - startup;
  EXPECT_NEAR(gather, both / 2, 1e-12);
  EXPECT_EQ(MultiRailRingsReduceScatter::time(1_GB, kFourNodes, fabric()),
            MultiRailRingsAllGather::time(1_GB, kFourNodes, fabric()));
}

TEST(MultiRailRings, TakeTheBestProtocolOfEachTier) {
  Fabric both = fabric();
  const Link quick{.latency = 1_us, .bandwidth = 1_GBps};
  both.node.add(quick);
  EXPECT_EQ(MultiRailRingsAllReduce::time(1000_B, kFourNodes, both),
            MultiRailRingsAllReduce::time(1000_B, kFourNodes, fabric(quick)));
  EXPECT_EQ(MultiRailRingsAllReduce::time(10_GB, kFourNodes, both),
            MultiRailRingsAllReduce::time(10_GB, kFourNodes, fabric()));
}

TEST(MultiRailRings, EveryRankSendsAndReceivesOneRingBetweenNodes) {
  const Steps steps = MultiRailRingsAllReduce::steps(1_GB, kFourNodes, fabric());
  std::map<int, std::set<int>> peers;
  std::map<std::pair<int, Tier>, double> sent;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Message& message = steps.message(i);
    if (message.tier == Tier::network) {
      peers[message.from].insert(message.to);
    }
    sent[{message.from, message.tier}] += message.size.si();
  }
  EXPECT_EQ(peers.size(), 32U);
  for (const auto& [rank, others] : peers) {
    // A ring that enters a node at number r leaves it at r-1.
    EXPECT_EQ(others, std::set<int>{(rank / 8 + 1) % 4 * 8 + (rank + 1) % 8});
    const double of_a_ring = 2 * 31.0 / 32 * 1e9 / 8;
    EXPECT_NEAR((sent[{rank, Tier::network}]), of_a_ring, 1.0);
    EXPECT_NEAR((sent[{rank, Tier::node}]), 7 * of_a_ring, 1.0);
  }
}

TEST(MultiRailRings, NothingWaitsButForWhatItForwards) {
  const Steps steps = MultiRailRingsAllGather::steps(1_MB, kFourNodes, fabric());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ASSERT_LE(steps.after(i).size(), 1U);
    for (const std::uint32_t before : steps.after(i)) {
      EXPECT_EQ(steps.message(before).to, steps.message(i).from);
      EXPECT_EQ(steps.runs(before).front().first, steps.runs(i).front().first);
    }
  }
}

TEST(MultiRailRings, AreTakenForLargeBuffersOnlyWhereTiersCanOverlap) {
  const auto taken = [](Bytes size, Group group) {
    return collective_time(Collective::all_reduce, size, group, fabric()).algorithm;
  };
  EXPECT_EQ(taken(1_GB, kFourNodes), "multi-rail-rings");
  EXPECT_EQ(taken(1000_B, kFourNodes), "hierarchical");
  EXPECT_EQ(taken(1_GB, {.per_node = 1, .nodes = 4}), "ring");
  EXPECT_EQ(taken(1_GB, {.per_node = 8}), "ring");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
