// The shipped topologies are what their names say; the figures are arithmetic on link counts.

#include <gtest/gtest.h>

#include <map>

#include "titer/scenario/source.hpp"
#include "titer/topology/properties.hpp"

namespace titer {
namespace TITER_TEST_FILE {

NamedTopology load(const std::string& name) {
  const Document document = load_data(kTopologyData, name);
  Problems problems;
  Reader in(document, problems);
  NamedTopology topology = read_topology(in);
  problems.raise();
  return topology;
}

TopologySummary summary_of(const std::string& name) {
  const NamedTopology topology = load(name);
  return summarize(topology.family, build(topology.family));
}

TEST(ShippedTopologies, AllReadConnectedAndNamed) {
  ASSERT_FALSE(shipped_names(kTopologyData).empty());
  for (const std::string& name : shipped_names(kTopologyData)) {
    SCOPED_TRACE(name);
    const NamedTopology topology = load(name);
    EXPECT_EQ(topology.name, name);
    EXPECT_FALSE(topology.title.empty());
    EXPECT_FALSE(topology.source.empty());
    const Topology graph = build(topology.family);
    EXPECT_GE(graph.devices, 2);
    EXPECT_FALSE(unreachable_device(graph));
  }
}

TEST(ShippedTopologies, HaveTheDevicesOfTheirSystems) {
  const std::map<std::string, int> devices = {{"dgx1-p100", 8},
                                              {"dgx1-v100", 8},
                                              {"dgx2-v100", 16},
                                              {"dgx-a100", 8},
                                              {"dgx-h100", 8},
                                              {"dgx-b200", 8},
                                              {"gb200-nvl72", 72},
                                              {"polaris-node", 4},
                                              {"tpu-v2-pod", 16 * 16},
                                              {"tpu-v3-pod", 32 * 32},
                                              {"tpu-v3-multipod", 128 * 32},
                                              {"tpu-v4-pod", 16 * 16 * 16},
                                              {"tpu-v5p-pod", 8960},
                                              {"tpu-v5e-pod", 256},
                                              {"tpu-v6e-pod", 256},
                                              {"tpu7x-pod", 9216},
                                              {"fat-tree-2-level-1024", 1024},
                                              {"fat-tree-3-level-8192", 8192},
                                              {"dgx-h100-su", 32 * 8},
                                              {"dragonfly-1056", 33 * 8 * 4}};
  for (const auto& [name, expected] : devices) {
    EXPECT_EQ(build(load(name).family).devices, expected) << name;
  }
}

TEST(ShippedTopologies, OfTheDgx1HaveTheLinksOfTheirGpus) {
  // Eight GPUs with 4 or 6 NVLinks each; every link has two ends.
  for (const auto& [name, links] :
       {std::pair<std::string, int>{"dgx1-p100", 4}, {"dgx1-v100", 6}}) {
    const TopologySummary summary = summary_of(name);
    EXPECT_EQ(summary.links, 8 * links / 2) << name;
    EXPECT_EQ(summary.least_degree, links) << name;
    EXPECT_EQ(summary.most_degree, links) << name;
    EXPECT_EQ(summary.diameter, 2) << name;
    ASSERT_TRUE(summary.rings.has_value());
    EXPECT_EQ(summary.rings->directed_rings, links) << name;
  }
}

TEST(ShippedTopologies, OfPodsHaveTwoLinksPerDimension) {
  for (const auto& [name, dimensions] : {std::pair<std::string, int>{"tpu-v2-pod", 2},
                                         {"tpu-v3-pod", 2},
                                         {"tpu-v4-pod", 3},
                                         {"tpu-v5p-pod", 3},
                                         {"tpu-v5e-pod", 2},
                                         {"tpu-v6e-pod", 2}}) {
    const TopologySummary summary = summary_of(name);
    EXPECT_EQ(summary.least_degree, 2 * dimensions) << name;
    EXPECT_EQ(summary.most_degree, 2 * dimensions) << name;
  }
  EXPECT_EQ(summary_of("tpu-v3-pod").diameter, 32 / 2 + 32 / 2);
  EXPECT_EQ(summary_of("tpu-v4-pod").diameter, 3 * 16 / 2);
  EXPECT_EQ(summary_of("tpu-v3-multipod").diameter, (128 - 1) + 32 / 2);
  EXPECT_EQ(summary_of("tpu-v3-multipod").least_degree, 3);
  EXPECT_DOUBLE_EQ(summary_of("tpu-v4-pod").bisection->bandwidth.si(), 2 * 16 * 16 * 50e9);
  EXPECT_DOUBLE_EQ(summary_of("tpu-v3-multipod").bisection->bandwidth.si(), 32 * 82e9);
}

TEST(ShippedTopologies, OfNetworksAreAsWideAsTheirRatiosSay) {
  const double port = 400e9 / 8;
  EXPECT_DOUBLE_EQ(summary_of("fat-tree-2-level-1024").bisection->bandwidth.si(), 512 * port);
  EXPECT_DOUBLE_EQ(summary_of("fat-tree-3-level-8192").bisection->bandwidth.si(), 4096 * port / 2);
  EXPECT_NEAR(summary_of("dgx-h100-su").bisection->bandwidth.si(), 128 * port, 1.0);
  EXPECT_EQ(summary_of("dgx-h100-su").diameter, 1 + 1 + 2 + 1 + 1);
  EXPECT_EQ(summary_of("dragonfly-1056").diameter, 5);
}

TEST(ShippedTopologies, OfPolarisCarryFourLinksToEachPeer) {
  const TopologySummary summary = summary_of("polaris-node");
  EXPECT_EQ(summary.most_degree, 3 * 4);
  EXPECT_EQ(summary.rings->directed_rings, 2 * 3 * 4 / 2);
}

TEST(ShippedTopologies, CanStandInAClusterUnderTheirName) {
  // The edge list of a DGX-1 is named by its clusters; so can any family be.
  Document document = load_data(kClusterData, "dgx-h100");
  Value fabric = Value::make_object();
  fabric.add("topology", Value("polaris-node"));
  *document.root.find("node")->find("fabric") = fabric;
  Document scenario;
  scenario.root = Value::make_object();
  scenario.root.add("cluster", adopt(scenario, std::move(document)));
  Scenario read;
  ScenarioSource(std::move(scenario)).read_part(ScenarioPart::cluster, read);
  EXPECT_EQ(read.cluster.devices_per_node, 4);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
