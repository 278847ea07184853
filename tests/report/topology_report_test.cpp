#include "titer/report/network/topology_report.hpp"

#include <gtest/gtest.h>

#include "titer/topology/family/dragonfly.hpp"
#include "titer/topology/family/torus.hpp"
#include "topology/samples.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TopologyView view_of(const std::string& text) {
  TopologyView view;
  view.named = read_topology_text(text);
  view.graph = build(view.named.family);
  return view;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(TopologyReport, ListsEveryWireInEveryTable) {
  for (const std::string& text : small_families()) {
    SCOPED_TRACE(text);
    const TopologyView view = view_of(text);
    const std::size_t wires = view.graph.wires.size();
    EXPECT_EQ(parse_csv(topology_view(view).as_csv()).size(), 1 + wires);
    EXPECT_EQ(topology_view(view).as_json().find("wires")->items.size(), wires);
    EXPECT_EQ(occurrences(topology_dot(view), " -- "), wires);
    EXPECT_NE(topology_view(view).as_text().find("devices"), std::string::npos);
  }
}

TEST(TopologyReport, LeavesOutALongTableInText) {
  const std::string large =
      topology_view(
          view_of(
              R"({"family": "torus", "dimensions": [8, 8], "wrap": true, "bandwidth": "1 GB/s"})"))
          .as_text();
  EXPECT_EQ(large.find("bandwidth of one"), std::string::npos);
  const std::string small =
      topology_view(view_of(R"({"family": "ring", "devices": 4, "bandwidth": "1 GB/s"})"))
          .as_text();
  EXPECT_NE(small.find("bandwidth of one"), std::string::npos);
}

TEST(TopologyDot, QuotesTheUsersNames) {
  const std::string dot = topology_dot(
      view_of(R"({"family": "ring", "name": "a \"b\" \\", "devices": 4, "bandwidth": "1 GB/s"})"));
  EXPECT_TRUE(dot.starts_with(R"(graph "a \"b\" \\" {)")) << dot;
}

TEST(TopologySvg, DrawsEveryVertexAndWireOfASmallOne) {
  for (const std::string& text : small_families()) {
    SCOPED_TRACE(text);
    const TopologyView view = view_of(text);
    const std::string svg = topology_svg(view);
    EXPECT_EQ(occurrences(svg, "#ebf4ff"), static_cast<std::size_t>(view.graph.devices));
    EXPECT_EQ(occurrences(svg, "rx=\"5\""), static_cast<std::size_t>(view.graph.switches));
    if (view.named.family.as<Torus>() == nullptr) {
      std::vector<double> rates;  // each has a line in the legend
      for (const Wire& wire : view.graph.wires) {
        if (std::find(rates.begin(), rates.end(), wire.bandwidth.si()) == rates.end()) {
          rates.push_back(wire.bandwidth.si());
        }
      }
      const auto* dragonfly = view.named.family.as<Dragonfly>();
      const std::size_t bands =  // one behind each group
          dragonfly != nullptr ? static_cast<std::size_t>(dragonfly->groups) : 0;
      EXPECT_EQ(occurrences(svg, "<path"), view.graph.wires.size() + rates.size() + bands);
    }
    EXPECT_EQ(svg.find("drawn"), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
  }
}

TEST(TopologySvg, EndsTheRowsOfATorusInStubs) {
  const auto stubs = [](const std::string& shape) {
    return occurrences(
        topology_svg(view_of(R"({"family": "torus", "bandwidth": "1 GB/s", )" + shape + "}")),
        "stroke-dasharray=\"2 3\"");
  };
  EXPECT_EQ(stubs(R"("dimensions": [4, 3], "wrap": true)"), 2U * 3U + 2U * 4U);
  EXPECT_EQ(stubs(R"("dimensions": [4, 3], "wrap": [true, false])"), 2U * 3U);
  EXPECT_EQ(stubs(R"("dimensions": [4, 3], "wrap": false)"), 0U);
  // A corner of 12 x 12: the open rows go on at one end, the closed ones at both.
  EXPECT_EQ(stubs(R"("dimensions": [128, 32], "wrap": [false, true])"), 12U + 2U * 12U);
}

TEST(TopologySvg, DashesWiresThatBothDirectionsShare) {
  const std::string svg = topology_svg(view_of(
      R"({"family": "pcie-tree", "devices": 2, "devices_per_switch": 2, "switches_per_socket": 1,
          "device_bandwidth": "16 GB/s", "uplink_bandwidth": "16 GB/s", "half_duplex": true})"));
  EXPECT_EQ(occurrences(svg, "stroke-dasharray=\"6 4\""), 3U + 1U);  // and in the legend
  EXPECT_NE(svg.find("shared by both directions"), std::string::npos);
}

TEST(TopologySvg, SaysWhatItLeavesOutAndStaysSmall) {
  for (const char* text :
       {R"({"family": "switch", "devices": 1024, "planes": 8, "bandwidth": "1 GB/s"})",
        R"({"family": "fully-connected", "devices": 64, "bandwidth": "1 GB/s"})",
        R"({"family": "ring", "devices": 1000, "bandwidth": "1 GB/s"})",
        R"({"family": "torus", "dimensions": [8, 8, 8, 8], "wrap": true, "bandwidth": "1 GB/s"})",
        R"({"family": "fat-tree", "down": [32, 128], "up": [1, 8], "bandwidth": "1 GB/s"})",
        R"({"family": "rails", "nodes": 512, "rails": 8, "nodes_per_group": 32, "spines": 32,
            "oversubscription": 1, "bandwidth": "1 GB/s"})",
        R"({"family": "dragonfly", "groups": 33, "routers_per_group": 8, "devices_per_router": 4,
            "pair_links": 2, "device_bandwidth": "1 GB/s", "local_bandwidth": "1 GB/s",
            "global_bandwidth": "1 GB/s"})",
        R"({"family": "pcie-tree", "devices": 512, "devices_per_switch": 8,
            "switches_per_socket": 4, "device_bandwidth": "1 GB/s", "uplink_bandwidth": "1 GB/s",
            "socket_bandwidth": "1 GB/s"})",
        R"({"family": "nodes", "nodes": 64, "nics": 8, "nic_bandwidth": "1 GB/s",
            "node": {"family": "switch", "devices": 8, "bandwidth": "1 GB/s"},
            "network": {"family": "switch", "devices": 512, "bandwidth": "1 GB/s"}})"}) {
    const std::string svg = topology_svg(view_of(text));
    EXPECT_NE(svg.find("drawn"), std::string::npos) << text;
    EXPECT_LE(occurrences(svg, "#ebf4ff"), 150U) << text;
    EXPECT_LE(occurrences(svg, "<path"), 400U) << text;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << text;
  }
}

/// 32 ports over 8 spines: 4 links of 1 GB/s each, not 2 nodes' ports over 4 spines.
TEST(TopologySvg, DrawsLinksInSmallAsTheyAreInTheWhole) {
  const std::string svg = topology_svg(view_of(
      R"({"family": "rails", "nodes": 64, "rails": 8, "nodes_per_group": 32, "spines": 8,
          "oversubscription": 1, "bandwidth": "1 GB/s"})"));
  EXPECT_NE(svg.find("drawn: 4 of 64 nodes"), std::string::npos);
  EXPECT_EQ(occurrences(svg, " per link and direction"), 1U) << svg;
  EXPECT_NE(svg.find("1 GB/s per link and direction"), std::string::npos);
  EXPECT_NE(svg.find("parallel links, up to 4"), std::string::npos);
}

TEST(TopologySvg, KeepsGroupsOfADragonflyApart) {
  const std::string svg = topology_svg(view_of(
      R"({"family": "dragonfly", "groups": 5, "routers_per_group": 4, "devices_per_router": 2,
          "global_links": 1, "device_bandwidth": "1 GB/s", "local_bandwidth": "1 GB/s",
          "global_bandwidth": "1 GB/s"})"));
  EXPECT_NE(svg.find(">group 4<"), std::string::npos);
  EXPECT_EQ(occurrences(svg, "Q"), 5U * (4 * 3 / 2) + 5U * 4 / 2)
      << "all links between routers bend";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
