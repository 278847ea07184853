#include "titer/collectives/algorithm/hybrid.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "collectives/port_network.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Fabric fabric_of(Seconds node_latency, Seconds host_latency) {
  return {.node = Channel({.latency = node_latency, .bandwidth = 50_GBps}),
          .host = Channel({.latency = host_latency, .bandwidth = 10_GBps})};
}

constexpr Group kNode{.per_node = 4};

TEST(HybridRings, E15a_SharesTheBufferByBandwidth) {
  const double r = 50.0 / 10.0;
  const Fabric fabric = fabric_of(Seconds{}, Seconds{});
  EXPECT_DOUBLE_EQ(node_share(fabric), r / (1 + r));
  const Steps steps = HybridRingsAllReduce::steps(1_GB, kNode, fabric);
  double node = 0.0;
  double host = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    (steps.message(i).tier == Tier::host ? host : node) += steps.message(i).size.si();
  }
  EXPECT_NEAR(node / (node + host), r / (1 + r), 1e-12);
  EXPECT_NEAR(node + host, 4 * 2 * 3.0 / 4 * 1e9, 10.0);
}

TEST(HybridRings, E15a_TakeTheTimeOfBothBandwidthsTogether) {
  const double n = 4;
  EXPECT_NEAR(HybridRingsAllReduce::time(1_GB, kNode, fabric_of(Seconds{}, Seconds{})).si(),
              2 * (n - 1) / n * 1e9 / (50e9 + 10e9),
              1e-15);
}

TEST(HybridRings, WaitForTheWayOfTheLargerLatency) {
  const double bytes = 1e9 / 4 / 60e9;
  EXPECT_NEAR(HybridRingsAllReduce::time(1_GB, kNode, fabric_of(2_us, 9_us)).si(),
              2 * 3 * (9e-6 + bytes),
              1e-15);
  EXPECT_NEAR(HybridRingsAllReduce::time(1_GB, kNode, fabric_of(9_us, 2_us)).si(),
              2 * 3 * (9e-6 + bytes),
              1e-15);
}

TEST(HybridRings, GainOnLargeBuffersAndLoseOnSmallOnes) {
  const Fabric fabric = fabric_of(2_us, 20_us);
  EXPECT_LT(HybridRingsAllReduce::time(1_GB, kNode, fabric),
            RingAllReduce::time(1_GB, kNode, fabric));
  EXPECT_GT(HybridRingsAllReduce::time(1_KiB, kNode, fabric),
            RingAllReduce::time(1_KiB, kNode, fabric));
}

TEST(HybridRings, ShareByTheBestBandwidthOfSeveralProtocols) {
  Fabric fabric = fabric_of(4_us, 9_us);
  fabric.node.add({.latency = 1_us, .bandwidth = 20_GBps});
  EXPECT_DOUBLE_EQ(node_share(fabric), 50.0 / 60.0);
}

TEST(HybridRings, RunInTheTimeOfTheSlowerRing) {
  for (const auto& fabric : {fabric_of(2_us, 9_us), fabric_of(9_us, 2_us)}) {
    for (const int ranks : {2, 3, 8}) {
      const Group group{.per_node = ranks};
      const Steps steps = HybridRingsAllReduce::steps(10_MB, group, fabric);
      const double formula = HybridRingsAllReduce::time(10_MB, group, fabric).si();
      EXPECT_NEAR(to_seconds(PortNetwork(steps, fabric).run().makespan).si(),
                  formula,
                  0.5e-12 * longest_chain(steps) + 1e-12 * formula);
    }
  }
}

TEST(HybridRings, ApplyInsideANodeWithBothWays) {
  EXPECT_TRUE(HybridRingsAllReduce::applies(kNode, fabric_of(1_us, 1_us)));
  EXPECT_FALSE(HybridRingsAllReduce::applies({.per_node = 4, .nodes = 2}, fabric_of(1_us, 1_us)));
  EXPECT_FALSE(HybridRingsAllReduce::applies(kNode, Fabric{.node = fabric_of(1_us, 1_us).node}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
