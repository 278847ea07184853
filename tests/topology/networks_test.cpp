// The families of networks: tori, fat trees, rails, dragonflies, PCIe trees, joined nodes.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "titer/topology/properties.hpp"
#include "topology/graphs.hpp"
#include "topology/samples.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using graphs::links_between;

std::string torus(const std::string& dimensions, const std::string& wrap) {
  return R"({"family": "torus", "bandwidth": "1 GB/s", "dimensions": )" + dimensions +
         R"(, "wrap": )" + wrap + "}";
}

int links(const Topology& topology) {
  int sum = 0;
  for (const Wire& wire : topology.wires) {
    sum += wire.count;
  }
  return sum;
}

TEST(Families, AllBuildSoundConnectedGraphs) {
  for (const std::string& text : small_families()) {
    const Topology topology = graph_of(text);
    EXPECT_GT(topology.devices, 0) << text;
    EXPECT_FALSE(unreachable_device(topology)) << text;
    EXPECT_TRUE(topology.details.empty() ||
                topology.details.size() == static_cast<std::size_t>(topology.switches));
    std::set<std::pair<int, int>> pairs;
    for (const Wire& wire : topology.wires) {
      EXPECT_GE(std::min(wire.a, wire.b), 0) << text;
      EXPECT_LT(std::max(wire.a, wire.b), topology.vertices()) << text;
      EXPECT_NE(wire.a, wire.b) << text;
      EXPECT_GE(wire.count, 1) << text;
      EXPECT_GT(wire.bandwidth, BytesPerSecond{}) << text;
      pairs.insert(std::minmax(wire.a, wire.b));
    }
    EXPECT_EQ(pairs.size(), topology.wires.size()) << "a pair was wired twice: " << text;
  }
}

TEST(Families, RefuseZeroAndMissingBandwidths) {
  for (std::string text : small_families()) {
    const std::size_t at = text.find("GB/s");
    const std::size_t begin = text.rfind('"', at) + 1;
    text.replace(begin, at - begin, "0 ");
    EXPECT_FALSE(complaints(text).empty()) << text;
  }
}

TEST(Families, AreReadFromWhatHoldsThem) {
  const Topology topology = graph_of(
      R"({"topology": {"name": "mine", "title": "Mine", "source": "me", "family": "torus",
          "dimensions": [4], "wrap": true, "bandwidth": "1 GB/s"}})");
  EXPECT_EQ(topology.devices, 4);
}

TEST(TorusFamily, GivesEveryDeviceTwoLinksPerDimension) {
  const Topology topology = graph_of(torus("[4, 3, 5]", "true"));
  EXPECT_EQ(topology.devices, 4 * 3 * 5);
  EXPECT_EQ(links(topology), 3 * 4 * 3 * 5);
  for (const int degree : degrees(topology)) {
    EXPECT_EQ(degree, 2 * 3);
  }
}

TEST(TorusFamily, NumbersTheFirstDimensionFastest) {
  const Topology topology = graph_of(torus("[4, 3]", "false"));
  EXPECT_EQ(links_between(topology, 0, 1), 1);
  EXPECT_EQ(links_between(topology, 0, 4), 1);
  EXPECT_EQ(links_between(topology, 3, 4), 0);
  EXPECT_EQ(links_between(topology, 0, 3), 0);
}

TEST(TorusFamily, JoinsAPairOnceAndASingleDeviceNotAtAll) {
  const Topology topology = graph_of(torus("[2, 1, 3]", "true"));
  EXPECT_EQ(links(topology), 3 * 1 + 2 * 3);
  EXPECT_EQ(links_between(topology, 0, 1), 1);
}

TEST(TorusFamily, ClosesTheDimensionsThatWrap) {
  const Topology topology = graph_of(torus("[5, 4]", "[false, true]"));
  EXPECT_EQ(links(topology), 4 * 4 + 5 * 4);
  EXPECT_EQ(links_between(topology, 0, 4), 0);
  EXPECT_EQ(links_between(topology, 0, 15), 1);
}

TEST(TorusFamily, IsClosedUnlessItSaysOtherwise) {
  const auto of = [](const std::string& text) { return graph_of(text); };
  const std::string closed = R"({"family": "torus", "bandwidth": "1 GB/s", "dimensions": [4, 5]})";
  EXPECT_EQ(links(of(closed)), 2 * 4 * 5);
  EXPECT_EQ(links(of(torus("[4, 5]", "true"))), 2 * 4 * 5);
  EXPECT_EQ(links(of(torus("[4, 5]", "false"))), 3 * 5 + 4 * 4);
}

TEST(TorusFamily, RefusesWhatIsNoGrid) {
  expect_complaint(torus("[4, 0]", "true"), {"topology.json:1:", "dimensions", "1 .. ", "not 0"});
  expect_complaint(torus("[4, 4]", "[true]"), {"wrap", "a list of 2, not of 1"});
  expect_complaint(torus("[4, 4]", "1"), {"wrap", "true, false"});
  expect_complaint(torus("[1024, 1024, 2]", "true"), {"dimensions", "1048576 devices"});
  EXPECT_FALSE(complaints(R"({"family": "torus", "wrap": true, "bandwidth": "1 GB/s"})").empty());
}

TEST(FatTreeFamily, IsTheGeneralisedFatTreeOfFourLeavesAndTwoCores) {
  // SimGrid's "2;4,4;1,2;1,2": 4 leaves with 4 nodes each, 2 cores with two cables to each leaf.
  const Topology topology = graph_of(
      R"({"family": "fat-tree", "down": [4, 4], "up": [1, 2], "parallel": [1, 2],
          "bandwidth": "1 Gbps"})");
  EXPECT_EQ(topology.devices, 16);
  EXPECT_EQ(topology.switches, 4 + 2);
  for (int leaf = 0; leaf < 4; ++leaf) {
    EXPECT_EQ(graphs::degree(topology, 16 + leaf), 4 + 2 * 2);
    for (int core = 0; core < 2; ++core) {
      EXPECT_EQ(links_between(topology, 16 + leaf, 20 + core), 2);
    }
  }
  EXPECT_EQ(links_between(topology, 5, 16 + 5 / 4), 1);
  EXPECT_EQ(topology.label(20), "spine 0");
}

TEST(FatTreeFamily, FollowsTheRatioOfDownToUp) {
  const Topology topology = graph_of(
      R"({"family": "fat-tree", "down": [8, 4, 2], "oversubscription": [2, 1],
          "bandwidth": "1 GB/s"})");
  const int leaves = 4 * 2;
  const int spines = (8 / 2) * 2;
  const int cores = (8 / 2) * 4;
  EXPECT_EQ(topology.devices, 8 * 4 * 2);
  EXPECT_EQ(topology.switches, leaves + spines + cores);
  EXPECT_EQ(graphs::degree(topology, topology.devices), 8 + 4);
  EXPECT_EQ(graphs::degree(topology, topology.devices + leaves), 4 + 4);
  EXPECT_EQ(graphs::degree(topology, topology.vertices() - 1), 2);
}

TEST(FatTreeFamily, AttachesEveryDeviceToAllPlanes) {
  const Topology topology = graph_of(
      R"({"family": "fat-tree", "down": [2, 3], "up": [1, 2], "planes": 3, "reduces": true,
          "latency": "1 us", "bandwidth": ["2 GB/s", "1 GB/s"]})");
  EXPECT_EQ(topology.switches, 3 * (3 + 2));
  EXPECT_EQ(graphs::degree(topology, 0), 3);
  EXPECT_DOUBLE_EQ(topology.wires.front().bandwidth.si(), 2e9);
  EXPECT_DOUBLE_EQ(topology.wires.back().bandwidth.si(), 1e9);
  EXPECT_DOUBLE_EQ(topology.wires.back().latency.si(), 1e-6);
  EXPECT_TRUE(topology.detail(6).reduces);
}

TEST(FatTreeFamily, RefusesHalfASwitchAndBothWaysOfSayingIt) {
  const std::string begin = R"({"family": "fat-tree", "bandwidth": "1 GB/s", "down": [8, 4], )";
  expect_complaint(begin + R"("oversubscription": 3})", {"oversubscription", "whole number"});
  expect_complaint(begin + R"("oversubscription": 2, "up": [1, 4]})", {"up", "one of them"});
  expect_complaint(begin + R"("up": [1]})", {"up", "as many entries as \"down\", 2"});
  expect_complaint(begin + R"("notes": ""})", {"oversubscription", "one of them"});
  expect_complaint(begin + R"("up": [1, 2], "parallel": [1, 2, 3]})", {"parallel", "2"});
}

TEST(RailsFamily, BringsPortIOfEveryNodeToRailI) {
  const Topology topology = graph_of(
      R"({"family": "rails", "nodes": 4, "rails": 3, "nodes_per_group": 2, "spines": 2,
          "oversubscription": 1, "bandwidth": "50 GB/s"})");
  EXPECT_EQ(topology.devices, 4 * 3);
  EXPECT_EQ(topology.switches, 2 * 3 + 2);
  for (int node = 0; node < 4; ++node) {
    for (int rail = 0; rail < 3; ++rail) {
      EXPECT_EQ(links_between(topology, node * 3 + rail, 12 + node / 2 * 3 + rail), 1);
    }
  }
  // A rail switch has 2 ports down, so 2 up: one to each spine.
  EXPECT_EQ(links_between(topology, 12, 18), 1);
  EXPECT_EQ(graphs::degree(topology, 18), 2 * 3);
}

TEST(RailsFamily, SlowsTheLinksUpThatDoNotComeOutWhole) {
  const Topology topology = graph_of(
      R"({"family": "rails", "nodes": 3, "rails": 1, "spines": 2, "oversubscription": 2,
          "bandwidth": "40 GB/s"})");
  const Wire& up = topology.wires.back();
  EXPECT_EQ(up.count, 1);
  EXPECT_DOUBLE_EQ(up.bandwidth.si(), 3 * 40e9 / 2 / 2);
}

TEST(DragonflyFamily, JoinsEveryPairOfGroupsAndAllRoutersOfAGroup) {
  const Topology topology = graph_of(
      R"({"family": "dragonfly", "groups": 9, "routers_per_group": 4, "devices_per_router": 2,
          "global_links": 2, "device_bandwidth": "1 GB/s", "local_bandwidth": "2 GB/s",
          "global_bandwidth": "3 GB/s"})");
  EXPECT_EQ(topology.devices, 9 * 4 * 2);
  EXPECT_EQ(topology.switches, 9 * 4);
  std::map<std::pair<int, int>, int> global;
  int local = 0;
  for (const Wire& wire : topology.wires) {
    const auto group = [&](int vertex) { return (vertex - topology.devices) / 4; };
    if (wire.a < topology.devices) {
      continue;
    }
    if (group(wire.a) == group(wire.b)) {
      ++local;
      EXPECT_DOUBLE_EQ(wire.bandwidth.si(), 2e9);
    } else {
      ++global[std::minmax(group(wire.a), group(wire.b))];
      EXPECT_DOUBLE_EQ(wire.bandwidth.si(), 3e9);
    }
  }
  EXPECT_EQ(local, 9 * 4 * 3 / 2);
  EXPECT_EQ(global.size(), 9U * 8U / 2U);
  for (const auto& [pair, count] : global) {
    EXPECT_EQ(count, 4 * 2 / (9 - 1));
  }
  for (int router = topology.devices; router < topology.vertices(); ++router) {
    EXPECT_EQ(graphs::degree(topology, router), 2 + 3 + 2);
  }
  EXPECT_EQ(diameter(topology), 1 + 1 + 1 + 1 + 1);
}

TEST(DragonflyFamily, RefusesLinksThatDoNotSpreadEvenly) {
  const std::string begin =
      R"({"family": "dragonfly", "groups": 6, "routers_per_group": 4, "devices_per_router": 2,
          "device_bandwidth": "1 GB/s", "local_bandwidth": "2 GB/s", "global_bandwidth": "3 GB/s")";
  expect_complaint(begin + R"(, "global_links": 2})",
                   {"global_links", "8 global links", "5 other"});
  expect_complaint(begin + "}", {"global_links", "pair_links"});
  EXPECT_TRUE(complaints(begin + R"(, "pair_links": 2})").empty());
}

/// Of g groups of r routers with d devices each: g r (d + r / 2) and a wire between groups for
/// each.
TEST(DragonflyFamily, HasFourMillionLinksAtMost) {
  const auto of_routers = [](int routers) {
    return complaints(
        R"({"family": "dragonfly", "groups": 2, "pair_links": 2, "devices_per_router": 1,
            "device_bandwidth": "1 GB/s", "local_bandwidth": "2 GB/s",
            "global_bandwidth": "3 GB/s", "routers_per_group": )" +
        std::to_string(routers) + "}");
  };
  EXPECT_TRUE(of_routers(1990).empty());
  EXPECT_FALSE(of_routers(2000).empty());
}

TEST(PcieTreeFamily, PutsDevicesOnSwitchesAndTheseOnSockets) {
  const Topology topology = graph_of(
      R"({"family": "pcie-tree", "devices": 8, "devices_per_switch": 2, "switches_per_socket": 2,
          "device_bandwidth": "16 GB/s", "uplink_bandwidth": "15 GB/s",
          "socket_bandwidth": "20 GB/s", "half_duplex": true, "nics_per_switch": 1,
          "nic_bandwidth": "12 GB/s"})");
  EXPECT_EQ(topology.switches, 4 + 2 + 4);
  EXPECT_EQ(links(topology), 8 + 4 + 1 + 4);
  EXPECT_EQ(graphs::hops(topology, 0, 1), 2);
  EXPECT_EQ(graphs::hops(topology, 0, 2), 4);
  EXPECT_EQ(graphs::hops(topology, 0, 7), 5);
  for (const Wire& wire : topology.wires) {
    EXPECT_EQ(wire.duplex, Duplex::half);
  }
  EXPECT_EQ(topology.label(8), "PCIe switch 0");
  EXPECT_EQ(topology.label(12), "CPU 0");
  EXPECT_EQ(topology.label(17), "NIC 3");
  expect_complaint(R"({"family": "pcie-tree", "devices": 8, "devices_per_switch": 2,
                       "switches_per_socket": 2, "device_bandwidth": "16 GB/s",
                       "uplink_bandwidth": "15 GB/s"})",
                   {"socket_bandwidth", "2 sockets"});
}

std::string joined(int devices, int nics, int ports) {
  return R"({"family": "nodes", "nodes": 2, "nics": )" + std::to_string(nics) +
         R"(, "nic_bandwidth": "25 GB/s", "node": {"family": "switch", "devices": )" +
         std::to_string(devices) +
         R"(, "bandwidth": "300 GB/s"}, "network": {"family": "switch", "devices": )" +
         std::to_string(ports) + R"(, "bandwidth": "25 GB/s"}})";
}

TEST(JoinedNodesFamily, BringsDeviceGToItsShareOfTheNics) {
  const Topology topology = graph_of(joined(8, 4, 8));
  EXPECT_EQ(topology.devices, 16);
  EXPECT_EQ(topology.switches, 2 + 2 * 4 + 1);
  const int first_nic = 16 + 2;
  for (int device = 0; device < 16; ++device) {
    const int nic = device / 8 * 4 + device % 8 * 4 / 8;
    EXPECT_EQ(links_between(topology, device, first_nic + nic), 1);
    EXPECT_EQ(graphs::degree(topology, device), 1 + 1);
  }
  EXPECT_EQ(graphs::hops(topology, 0, 1), 2);
  EXPECT_EQ(graphs::hops(topology, 0, 8), 1 + 1 + 1 + 1);
  EXPECT_EQ(topology.label(first_nic), "NIC 0");
}

TEST(JoinedNodesFamily, GivesADeviceSeveralNics) {
  const Topology topology = graph_of(joined(2, 4, 8));
  const int first_nic = 4 + 2;
  EXPECT_EQ(graphs::degree(topology, 0), 1 + 2);
  EXPECT_EQ(links_between(topology, 0, first_nic + 1), 1);
  EXPECT_EQ(links_between(topology, 1, first_nic + 2), 1);
  EXPECT_EQ(links_between(topology, 3, first_nic + 7), 1);
}

TEST(JoinedNodesFamily, RefusesANetworkOfAnotherSize) {
  expect_complaint(joined(8, 4, 16), {"network", "16 devices; expected 8"});
}

TEST(EdgesFamily, MayHaveSwitchesAndBandwidthsOfTheirOwn) {
  const Topology topology = graph_of(
      R"({"family": "edges", "name": "two", "devices": 2, "switches": ["pcie"],
          "bandwidth": "1 GB/s", "edges": [[0, 2, 1], [1, 2, 3, "2 GB/s"]]})");
  EXPECT_EQ(topology.name, "two");
  EXPECT_EQ(topology.switches, 1);
  EXPECT_DOUBLE_EQ(topology.wires[0].bandwidth.si(), 1e9);
  EXPECT_DOUBLE_EQ(topology.wires[1].bandwidth.si(), 2e9);
  EXPECT_EQ(topology.label(2), "PCIe switch 0");
  expect_complaint(R"({"family": "edges", "devices": 2, "switches": 1, "bandwidth": "1 GB/s",
                       "edges": [[0, 3, 1]]})",
                   {"device 3 is not in 0 .. 2"});
  expect_complaint(R"({"family": "edges", "devices": 2, "switches": ["plug"],
                       "bandwidth": "1 GB/s", "edges": [[0, 1, 1]]})",
                   {"plug", "pcie or cpu"});
  expect_complaint(R"({"family": "edges", "devices": 2, "bandwidth": "1 GB/s",
                       "edges": [[0, 1, 1, "0 GB/s"]]})",
                   {"above zero"});
}

TEST(SwitchFamily, SharesAPortAmongItsPlanes) {
  const Topology topology = graph_of(
      R"({"family": "switch", "devices": 72, "planes": 18, "reduces": true,
          "bandwidth": "900 GB/s"})");
  EXPECT_EQ(topology.wires.size(), 72U * 18U);
  EXPECT_DOUBLE_EQ(topology.wires[0].bandwidth.si(), 900e9 / 18);
  EXPECT_TRUE(topology.detail(72).reduces);
  // Rings use all planes.
  EXPECT_DOUBLE_EQ(pack_rings(topology, {0, 1, 2, 3}).bandwidth().si(), 900e9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
