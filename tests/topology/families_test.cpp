#include "titer/topology/families.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/torus.hpp"
#include "titer/topology/routes.hpp"
#include "topology/graphs.hpp"

namespace titer {
namespace TITER_TEST_FILE {

NodeTopology read_text(const std::string& text) {
  const Document document = parse_json(text, "node.json");
  Problems problems;
  Reader reader(document, problems);
  NodeTopology node = read_node_topology(reader);
  problems.raise();
  return node;
}

std::vector<std::string> complaints(const std::string& text) {
  try {
    (void)read_text(text);
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

std::string edge_list(const std::string& edges) {
  return R"({"family": "edges", "bandwidth": "25 GB/s",
 "topology": {"name": "wired", "devices": 4,
  "edges": )" +
         edges + "}}";
}

/// One complaint, at the line of "edges", that holds every one of the given texts.
void expect_complaint(const std::string& edges, const std::vector<std::string>& parts) {
  const auto lines = complaints(edge_list(edges));
  ASSERT_EQ(lines.size(), 1U) << edges;
  EXPECT_EQ(lines[0].rfind("node.json:3:", 0), 0U) << lines[0];
  EXPECT_NE(lines[0].find("topology.edges"), std::string::npos) << lines[0];
  for (const std::string& part : parts) {
    EXPECT_NE(lines[0].find(part), std::string::npos) << lines[0] << "\nlacks: " << part;
  }
}

TEST(NodeFamilies, OnlyTheTorusRoutesByDimension) {
  const Torus torus =
      *read_text(
           R"({"family": "torus", "dimensions": [4, 4], "wrap": true, "bandwidth": "50 GB/s"})")
           .as<Torus>();
  // One step along x and one along y: in either order of the wires alone, x first on a torus.
  const int across = 1 + 4;
  EXPECT_EQ(Router(torus.build()).all_routes(0, across, 10).size(), 2U);
  EXPECT_EQ(router_of(torus, torus.build()).all_routes(0, across, 10).size(), 1U);
  const NodeTopology star = SwitchedNode{.devices = 4, .bandwidth = 1_GBps};
  EXPECT_EQ(router_of(star, build(star)).hops(0, 3), 2);
}

TEST(NodeFamilies, AreListedOnceEachWithASentence) {
  std::set<std::string_view> names;
  for (const TopologyFamily* family : topology_families()) {
    EXPECT_TRUE(names.insert(family->name).second) << family->name;
    EXPECT_FALSE(family->about.empty() || family->about.ends_with('.')) << family->name;
  }
  const NodeTopology ring = RingNode{.devices = 3, .bandwidth = 1_GBps};
  EXPECT_EQ(family_name(ring), "ring");
  EXPECT_EQ(ring.as<RingNode>()->devices, 3);
  EXPECT_EQ(ring.as<SwitchedNode>(), nullptr);
}

TEST(NodeFamilies, SwitchIsRead) {
  const NodeTopology node =
      read_text(R"({"family": "switch", "devices": 8, "bandwidth": "300 GB/s"})");
  ASSERT_TRUE(node.as<SwitchedNode>() != nullptr);
  const Topology topology = build(node);
  EXPECT_EQ(topology.name, "switch");
  EXPECT_EQ(topology.devices, 8);
  EXPECT_EQ(topology.switches, 1);
  ASSERT_EQ(topology.wires.size(), 8U);
  for (const Wire& wire : topology.wires) {
    EXPECT_EQ(wire.b, 8);
    EXPECT_DOUBLE_EQ(wire.bandwidth.si(), 300e9);
  }
}

TEST(NodeFamilies, OneDeviceMayStandAloneOnASwitch) {
  EXPECT_EQ(
      build(read_text(R"({"family": "switch", "devices": 1, "bandwidth": "1 GB/s"})")).devices, 1);
}

TEST(NodeFamilies, FullyConnectedJoinsEveryPairOnce) {
  const Topology topology =
      build(read_text(R"({"family": "fully-connected", "devices": 4, "bandwidth": "100 GB/s"})"));
  EXPECT_EQ(topology.wires.size(), 4U * 3U / 2U);
  for (int device = 0; device < 4; ++device) {
    EXPECT_EQ(graphs::degree(topology, device), 4 - 1);
  }
  EXPECT_EQ(diameter(topology), 1);
}

TEST(NodeFamilies, ParallelLinksOfAFullyConnectedNodeServeRingsOfTheirOwn) {
  // Polaris: 3 ways around 4 devices, each pair on 2 of them, 4 links per pair: 6 cycles, used in
  // both directions.
  const Topology links = build(read_text(
      R"({"family": "fully-connected", "devices": 4, "links": 4, "bandwidth": "25 GB/s"})"));
  EXPECT_EQ(graphs::degree(links, 0), 3 * 4);
  EXPECT_EQ(pack_rings(links, {0, 1, 2, 3}).directed_rings, 2 * 3 * 4 / 2);
  const Topology wires =
      build(read_text(R"({"family": "fully-connected", "devices": 4, "bandwidth": "100 GB/s"})"));
  EXPECT_LT(pack_rings(wires, {0, 1, 2, 3}).bandwidth(),
            pack_rings(links, {0, 1, 2, 3}).bandwidth());
}

TEST(NodeFamilies, RingGivesEveryDeviceTwoNeighbours) {
  const Topology topology =
      build(read_text(R"({"family": "ring", "devices": 5, "bandwidth": "50 GB/s"})"));
  EXPECT_EQ(topology.wires.size(), 5U);
  for (int device = 0; device < 5; ++device) {
    EXPECT_EQ(graphs::degree(topology, device), 2);
  }
  EXPECT_EQ(diameter(topology), 5 / 2);
}

TEST(NodeFamilies, EdgesAreReadWithTheirMultiplicity) {
  const Topology topology = build(read_text(
      R"({"family": "edges",
          "topology": {"name": "triangle", "title": "Three", "source": "drawn", "devices": 3,
                       "notes": "allowed", "edges": [[0, 1, 2], [1, 2, 1], [2, 0, 1]]},
          "bandwidth": {"value": "25 GB/s", "source": "datasheet"}})"));
  EXPECT_EQ(topology.name, "triangle");
  EXPECT_EQ(topology.devices, 3);
  EXPECT_EQ(topology.switches, 0);
  EXPECT_EQ(graphs::degree(topology, 1), 2 + 1);
  EXPECT_EQ(graphs::degree(topology, 2), 1 + 1);
  EXPECT_DOUBLE_EQ(topology.wires[0].bandwidth.si(), 25e9);
}

TEST(NodeFamilies, UnknownFamilyIsRefusedWithTheKnownOnes) {
  const auto lines = complaints(R"({"family": "swich", "devices": 8, "bandwidth": "1 GB/s"})");
  ASSERT_FALSE(lines.empty());
  for (const char* name : {"switch", "fully-connected", "ring", "edges"}) {
    EXPECT_NE(lines[0].find(name), std::string::npos) << lines[0];
  }
}

TEST(NodeFamilies, UnknownKeyIsRefused) {
  const auto lines =
      complaints(R"({"family": "ring", "devices": 8, "bandwidth": "1 GB/s", "speed": 1})");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("speed"), std::string::npos);
}

TEST(NodeFamilies, TooFewDevicesAreRefused) {
  EXPECT_EQ(complaints(R"({"family": "switch", "devices": 0, "bandwidth": "1 GB/s"})").size(), 1U);
  EXPECT_EQ(
      complaints(R"({"family": "fully-connected", "devices": 1, "bandwidth": "1 GB/s"})").size(),
      1U);
  EXPECT_EQ(complaints(R"({"family": "ring", "devices": 2, "bandwidth": "1 GB/s"})").size(), 1U);
}

TEST(EdgeList, RefusesADeviceOutsideTheNode) {
  expect_complaint("[[0, 1, 1], [0, 4, 1]]", {"entry 1", "device 4 is not in 0 .. 3"});
  expect_complaint("[[-1, 1, 1]]", {"entry 0", "device -1 is not in 0 .. 3"});
}

TEST(EdgeList, RefusesALinkToItself) { expect_complaint("[[2, 2, 1]]", {"entry 0", "itself"}); }

TEST(EdgeList, RefusesAPairListedTwiceInEitherOrder) {
  expect_complaint("[[0, 1, 1], [1, 2, 1], [1, 0, 2]]", {"entry 2", "listed before"});
}

TEST(EdgeList, RefusesFewerThanOneLink) {
  expect_complaint("[[0, 1, 0]]", {"entry 0", "parallel links must be 1 .. 64"});
  expect_complaint("[[0, 1, 65]]", {"entry 0", "parallel links must be 1 .. 64"});
}

TEST(EdgeList, RefusesEntriesOfAnotherShape) {
  for (const char* edges : {"[[0, 1]]", "[[0, 1, 1.5]]", R"([["a", 1, 1]])", "[7]"}) {
    expect_complaint(edges, {"entry 0", "three integers"});
  }
}

TEST(EdgeList, RefusesAnEmptyOrMissingList) {
  expect_complaint("[]", {"list of [device, device, parallel links]"});
  EXPECT_FALSE(complaints(R"({"family": "edges", "bandwidth": "1 GB/s",
                              "topology": {"name": "none", "devices": 4}})")
                   .empty());
}

TEST(EdgeList, ReportsEveryFlawAtOnce) {
  EXPECT_EQ(complaints(edge_list("[[0, 0, 1], [0, 9, 1], [0, 1, 0], [0, 1, 1]]")).size(), 3U);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
