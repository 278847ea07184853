// InfraGraph: a whole cluster, its node and its network from one file.

#include <gtest/gtest.h>

#include "paths.hpp"
#include "titer/input/file.hpp"
#include "titer/input/yaml.hpp"
#include "titer/topology/import/fabric_files.hpp"
#include "topology/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

const std::vector<NamedBandwidth> kPcie = {{.link = "pcie", .bandwidth = 32_GBps}};

Document sample() {
  const std::string path = (testing::root() / "tests/data/networks/infragraph.yaml").string();
  return parse_yaml(read_text(path), "infragraph.yaml");
}

/// Labels of what a vertex is joined to, in order.
std::vector<std::string> neighbours(const Topology& topology, int vertex) {
  std::vector<std::string> found;
  for (const Wire& wire : topology.wires) {
    if (wire.a == vertex || wire.b == vertex) {
      const int other = wire.a == vertex ? wire.b : wire.a;
      found.push_back(topology.label(other) + " x" + std::to_string(wire.count));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

using Labels = std::vector<std::string>;

TEST(InfraGraph, IsANodeByItself) {
  const Imported read = import_infragraph(sample(), {.part = InfraPart::node, .links = kPcie});
  const Topology& node = read.topology;
  EXPECT_EQ(node.devices, 4);
  EXPECT_EQ(read.used, Labels{"links.pcie"});
  // Memory leads nowhere, nor do cards without a network.
  EXPECT_EQ(node.switches, 2);
  EXPECT_EQ(neighbours(node, 0), (Labels{"CPU 0 x1", "switch 0 x1"}));
  EXPECT_EQ(diameter(node), 2);
  const auto wire = std::find_if(node.wires.begin(), node.wires.end(), [&](const Wire& one) {
    return node.label(one.b) == "switch 0";
  });
  ASSERT_NE(wire, node.wires.end());
  EXPECT_EQ(wire->bandwidth, 100_GBps);
}

TEST(InfraGraph, IsTheNetworkOfItsHostsPorts) {
  const Topology network =
      import_infragraph(sample(), {.part = InfraPart::network, .links = {}}).topology;
  EXPECT_EQ(network.devices, 4) << "two ports of two hosts, which need no bandwidth inside";
  EXPECT_EQ(network.switches, 3);
  EXPECT_EQ(neighbours(network, 0), Labels{"leaf 0 x1"});
  EXPECT_EQ(neighbours(network, 3), Labels{"leaf 1 x1"});
  EXPECT_EQ(neighbours(network, 4), (Labels{"device 0 x1", "device 2 x1", "spine 0 x2"}));
  for (const Wire& wire : network.wires) {
    EXPECT_EQ(wire.bandwidth, 50_GBps);
    EXPECT_EQ(wire.latency, 200_ns);
  }
  EXPECT_EQ(diameter(network), 4);
}

TEST(InfraGraph, IsAWholeCluster) {
  const Topology all =
      import_infragraph(sample(), {.part = InfraPart::all, .links = kPcie}).topology;
  EXPECT_EQ(all.devices, 8);
  // A switch, a processor and two cards of each host; three switches between.
  EXPECT_EQ(all.switches, 2 * 4 + 3);
  EXPECT_TRUE(diameter(all).has_value());
}

TEST(InfraGraph, IsAFamilyLikeOthers) {
  const std::string path = (testing::root() / "tests/data/networks/infragraph.yaml").string();
  EXPECT_EQ(machine_family(read_text(path)), "infragraph");
  const Topology network = testing::graph_of(
      R"({"family": "infragraph", "part": "network", "file": ")" + path + R"("})");
  EXPECT_EQ(network.devices, 4);
  testing::expect_complaint(
      R"({"family": "infragraph", "part": "node", "file": ")" + path + R"("})",
      {"no bandwidth of pcie", R"(expected "links": {"pcie": "25 GB/s"})"});
}

/// The refusal of the sample with a text in place of another.
std::string refused(std::string_view from, std::string_view to) {
  std::string text = read_text((testing::root() / "tests/data/networks/infragraph.yaml").string());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  text.replace(at, from.size(), to);
  try {
    static_cast<void>(
        import_infragraph(parse_yaml(text, "f"), {.part = InfraPart::all, .links = kPcie}));
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "";
}

TEST(InfraGraph, RefusesWhatDoesNotAddUpWithItsLine) {
  EXPECT_EQ(refused("inner[0]", "outer[0]"), "f:17:34: outer: no component of that name");
  EXPECT_EQ(refused("inner[0]", "inner[1]"), "f:17:34: inner[1]: expected numbers from 0 to 0");
  EXPECT_EQ(refused("inner[0]", "inner[x]"),
            "f:17:34: inner[x]: expected a slice, such as xpu[0:8]");
  EXPECT_EQ(refused("link: lanes", "link: roads"), "f:17:5: roads: is none of the links");
  EXPECT_EQ(refused("scheme: many2many", "scheme: ring"),
            "f:17:5: ring: expected the scheme many2many or one2one");
  EXPECT_EQ(refused("xpu[0:4:2]", "xpu[0:3]"),
            "f:20:5: expected as many ends on both sides, got 3 and 2");
  EXPECT_EQ(refused("device: server, count: 2", "device: servers, count: 2"),
            "f:43:3: servers: is none of the devices");
  EXPECT_EQ(refused("device: server, count: 2", "device: server"),
            R"(f:43:3: expected "count", a whole number up to 100000)");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
