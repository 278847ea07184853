#include "titer/topology/network_parts.hpp"

#include <gtest/gtest.h>

#include "titer/topology/family/torus.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr BytesPerSecond kRate = BytesPerSecond::from_si(50e9);

/// Two ports at a switch, which has three links to another one with one port.
TEST(NetworkParts, CountsPortsOfSwitchesAndBothKindsOfLinks) {
  Topology network{.name = "small", .devices = 3, .switches = 2, .wires = {}};
  network.wires = {{.a = 0, .b = 3, .bandwidth = kRate},
                   {.a = 1, .b = 3, .bandwidth = kRate},
                   {.a = 4, .b = 2, .bandwidth = 2 * kRate},
                   {.a = 3, .b = 4, .count = 3, .bandwidth = kRate}};
  const NetworkParts parts = network_parts(network);
  EXPECT_EQ(parts.nic_ports, 3);
  EXPECT_EQ(parts.switches, 2);
  EXPECT_EQ(parts.nic_links, (1 + 1 + 2) * kRate);
  EXPECT_EQ(parts.switch_links, 3 * kRate);
  EXPECT_EQ(parts.switch_ports, (1 + 1 + 2 + 2 * 3) * kRate);
}

TEST(NetworkParts, OfATorusAreLinksAlone) {
  const Torus torus{.dimensions = {4, 4}, .wrap = {true, true}, .bandwidth = kRate};
  const NetworkParts parts = network_parts(torus.build());
  EXPECT_EQ(parts.switches, 0);
  EXPECT_EQ(parts.switch_ports, BytesPerSecond{});
  EXPECT_EQ(parts.switch_links, BytesPerSecond{});
  EXPECT_EQ(parts.nic_links, 2 * 16 * kRate);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
