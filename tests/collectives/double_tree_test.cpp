#include "titer/collectives/algorithm/double_tree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "collectives/port_network.hpp"
#include "titer/collectives/algorithm/ring.hpp"
#include "titer/collectives/algorithm/tree.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Fabric kFabric{.node = Channel({.latency = 2_us, .bandwidth = 100_GBps}),
                         .pair = Channel({.latency = 2_us, .bandwidth = 100_GBps})};

Group ranks(int count) { return {.per_node = count}; }

TEST(DoubleTreeBroadcast, IsHalfTheVectorDownEachTree) {
  const Group group = ranks(16);
  const int k = DoubleTreeBroadcast::pipeline(group).blocks(1_GB, kFabric.pair);
  EXPECT_DOUBLE_EQ(DoubleTreeBroadcast::time(1_GB, group, kFabric).si(),
                   2 * (4 - 1 + k) * (2e-6 + 1e9 / (2 * k) / 100e9));
}

TEST(DoubleTreeBroadcast, HasBothTheBandwidthOfAChainAndTheLatencyOfATree) {
  const double wire = 1e9 / 100e9;
  const int hops = 10 - 1;
  const double best = wire + 2 * hops * 2e-6 + std::sqrt(8 * hops * 2e-6 * wire);
  EXPECT_NEAR(DoubleTreeBroadcast::time(1_GB, ranks(1024), kFabric).si(), best, 1e-3 * best);
  EXPECT_LT(best, 1.15 * wire);
  EXPECT_GT(ChainBroadcast::time(1_GB, ranks(1024), kFabric).si(), 2 * wire);
  EXPECT_LT(DoubleTreeBroadcast::time(8_B, ranks(1024), kFabric),
            ChainBroadcast::time(8_B, ranks(1024), kFabric));
}

/// The ranks but 0 that pass on pieces of that tree; its pieces are the even or the odd ones.
std::set<int> inner_ranks(const Steps& steps, int tree) {
  std::set<int> inner;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.message(i).from != 0 && steps.runs(i)[0].first % 2 == tree) {
      inner.insert(steps.message(i).from);
    }
  }
  return inner;
}

TEST(DoubleTreeBroadcast, MakesEveryRankALeafOfOneTree) {
  for (int n = 2; n <= 40; ++n) {
    const Steps steps = DoubleTreeBroadcast::steps(1_KiB, ranks(n), kFabric);
    const std::set<int> first = inner_ranks(steps, 0);
    for (const int rank : inner_ranks(steps, 1)) {
      EXPECT_EQ(first.count(rank), 0U) << rank << " of " << n;
    }
  }
}

TEST(DoubleTreeBroadcast, SendsAndReceivesOneBlockAtATime) {
  for (const int n : {2, 3, 4, 5, 8, 13, 16, 31}) {
    const Steps steps = DoubleTreeBroadcast::steps(1_GB, ranks(n), kFabric);
    const FlowTimeline timeline = PortNetwork(steps, kFabric).run();
    const Ticks alone = to_ticks(kFabric.pair.links()[0].time(steps.message(0).size));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      // A message that shared a port would take longer than its own latency and bytes.
      EXPECT_NEAR(static_cast<double>(timeline.finish[i] - timeline.start[i]),
                  static_cast<double>(alone),
                  1.0)
          << i << " of " << n;
    }
  }
}

TEST(DoubleTreeAllReduce, IsUpAndDown) {
  for (const int n : {2, 7, 64}) {
    EXPECT_DOUBLE_EQ(DoubleTreeAllReduce::time(1_GB, ranks(n), kFabric).si(),
                     2 * DoubleTreeBroadcast::time(1_GB, ranks(n), kFabric).si());
  }
}

TEST(DoubleTreeAllReduce, BeatsTheRingWhereLatencyCounts) {
  EXPECT_LT(DoubleTreeAllReduce::time(1_MB, ranks(1024), kFabric),
            RingAllReduce::time(1_MB, ranks(1024), kFabric));
  EXPECT_GT(DoubleTreeAllReduce::time(1_GB, ranks(8), kFabric),
            RingAllReduce::time(1_GB, ranks(8), kFabric));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
