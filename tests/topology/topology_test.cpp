#include "titer/topology/topology.hpp"

#include <gtest/gtest.h>

#include "titer/topology/families.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Topology chain(int devices) {
  Topology topology{.name = "chain", .devices = devices, .switches = 0, .wires = {}};
  for (int device = 0; device + 1 < devices; ++device) {
    topology.wires.push_back({.a = device, .b = device + 1, .count = 1, .bandwidth = 10_GBps});
  }
  return topology;
}

TEST(TopologyDiameter, ThroughASwitchIsTwo) {
  const Topology node = SwitchedNode{.devices = 8, .bandwidth = 300_GBps}.build();
  EXPECT_EQ(diameter(node), 2);
}

TEST(TopologyDiameter, IsAbsentBetweenSeparateParts) {
  Topology topology = chain(4);
  topology.wires.erase(topology.wires.begin() + 1);
  EXPECT_EQ(diameter(topology), std::nullopt);
}

TEST(TopologyDiameter, IsTheLengthOfAChain) { EXPECT_EQ(diameter(chain(7)), 7 - 1); }

TEST(TopologyDiameter, OfOneDeviceIsZero) { EXPECT_EQ(diameter(chain(1)), 0); }

TEST(HalvesBandwidth, OfASwitchIsHalfOfThePorts) {
  const Topology node = SwitchedNode{.devices = 8, .bandwidth = 300_GBps}.build();
  EXPECT_DOUBLE_EQ(halves_bandwidth(node).si(), 4 * 300e9);
}

TEST(HalvesBandwidth, OfARingIsTwoWires) {
  const Topology ring = RingNode{.devices = 8, .bandwidth = 25_GBps}.build();
  EXPECT_DOUBLE_EQ(halves_bandwidth(ring).si(), 2 * 25e9);
}

TEST(HalvesBandwidth, OfAFullyConnectedNodeIsEveryWireAcross) {
  const Topology node = FullyConnectedNode{.devices = 4, .bandwidth = 100_GBps}.build();
  EXPECT_DOUBLE_EQ(halves_bandwidth(node).si(), 2 * 2 * 100e9);
}

TEST(HalvesBandwidth, OfAnOddNumberPutsTheMiddleInTheUpperHalf) {
  Topology topology = chain(5);
  topology.wires[1].bandwidth = 3_GBps;  // joins device 1 (lower half) and 2 (upper half)
  EXPECT_DOUBLE_EQ(halves_bandwidth(topology).si(), 3e9);
}

TEST(HalvesBandwidth, CountsParallelLinksAndUsesDetours) {
  // 0 and 1 below, 2 and 3 above; the lower half is joined to the upper one by 1-2 (two links) and
  // by way of a switch between 0 and 3, whose slower side limits.
  const Topology topology{.name = "detour",
                          .devices = 4,
                          .switches = 1,
                          .wires = {{.a = 1, .b = 2, .count = 2, .bandwidth = 5_GBps},
                                    {.a = 0, .b = 4, .count = 1, .bandwidth = 7_GBps},
                                    {.a = 4, .b = 3, .count = 1, .bandwidth = 4_GBps}}};
  EXPECT_DOUBLE_EQ(halves_bandwidth(topology).si(), 2 * 5e9 + 4e9);
}

TEST(HalvesBandwidth, NeedsTwoDevices) { EXPECT_THROW((void)halves_bandwidth(chain(1)), Defect); }

}  // namespace TITER_TEST_FILE
}  // namespace titer
