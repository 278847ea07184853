#include "titer/plan/place/cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "plan/shipped.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

/// The time of one message of `size` by the best of a cluster's protocols on that bandwidth.
Seconds message(const std::vector<Protocol>& protocols, BytesPerSecond bandwidth, Bytes size) {
  Seconds best = Seconds::from_si(1e9);
  for (const Protocol& protocol : protocols) {
    best = std::min(best,
                    protocol.startup + protocol.latency + size / (protocol.efficiency * bandwidth));
  }
  return best;
}

/// What reading a cluster complains about after a change to its document.
Lines complaints(std::string_view name, const std::function<void(Value&)>& change) {
  Document document = shipped::cluster_document(name);
  change(document.root);
  try {
    (void)shipped::read_all(document, read_cluster);
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

void expect_one_complaint(const Lines& lines, const std::vector<std::string>& parts) {
  ASSERT_EQ(lines.size(), 1U) << (lines.empty() ? "" : lines.back());
  for (const std::string& part : parts) {
    EXPECT_NE(lines[0].find(part), std::string::npos) << lines[0] << "\nlacks: " << part;
  }
}

Value& set(Value& object, const std::string& key, Value value) {
  if (object.find(key) == nullptr) {
    object.add(key, Value());
  }
  *object.find(key) = std::move(value);
  return object;
}

/// The shipped clusters of nodes on a network; pods that are one torus are left out.
std::vector<Cluster> clusters_of_nodes() {
  std::vector<Cluster> clusters;
  for (const std::string& name : shipped_names(kClusterData)) {
    Cluster cluster = shipped::cluster(name);
    EXPECT_EQ(cluster.name, name);
    if (cluster.torus() == nullptr) {
      clusters.push_back(std::move(cluster));
    }
  }
  return clusters;
}

TEST(Cluster, KeepsWhatFitsLeaveOpenOfItsChipItsNodesAndItsNetworkApart) {
  Document document = shipped::cluster_document("dgx-a100-80gb");
  const auto bars = [](double low, double high) {
    return Value::make_object().add("low", low).add("high", high);
  };
  set(document.root, "error_bars", bars(0.9, 1.1));
  set(*document.root.find("chip"), "error_bars", bars(0.8, 1.2));
  set(*document.root.find("network"), "error_bars", bars(0.7, 1.3));
  const Cluster cluster = shipped::read_all(document, read_cluster);
  EXPECT_EQ(cluster.fit_errors.low, 0.9);
  EXPECT_EQ(cluster.fit_errors.high, 1.1);
  EXPECT_EQ(cluster.chip.fit_errors.low, 0.8);
  EXPECT_EQ(cluster.chip.fit_errors.high, 1.2);
  EXPECT_EQ(cluster.network_fit_errors.low, 0.7);
  EXPECT_EQ(cluster.network_fit_errors.high, 1.3);
  EXPECT_NE(cluster.evidence.find("network.error_bars.low"), nullptr) << "a figure like others";
}

TEST(Cluster, LeavesNothingOpenWhereNoFitSaysSo) {
  Document document = shipped::cluster_document("dgx-a100-80gb");
  for (Value* part : {&document.root, document.root.at("chip"), document.root.at("network")}) {
    part->erase("error_bars");
  }
  const Cluster cluster = shipped::read_all(document, read_cluster);
  for (const FitErrors& errors :
       {cluster.fit_errors, cluster.chip.fit_errors, cluster.network_fit_errors}) {
    EXPECT_EQ(errors.low, 1);
    EXPECT_EQ(errors.high, 1);
  }
}

TEST(ShippedClusters, AreAllRead) {
  ASSERT_FALSE(clusters_of_nodes().empty());
  for (const Cluster& cluster : clusters_of_nodes()) {
    EXPECT_FALSE(cluster.title.empty());
    EXPECT_GT(cluster.devices_per_node, 0);
    EXPECT_GT(cluster.nics, 0);
    EXPECT_EQ(cluster.nodes, std::nullopt) << "a shipped cluster is as large as a plan needs";
    EXPECT_FALSE(cluster.node_protocols.empty());
    EXPECT_FALSE(cluster.network_protocols.empty());
    EXPECT_NE(cluster.evidence.find("node.nic_bandwidth"), nullptr);
  }
}

TEST(ShippedClusters, JoinEveryTwoDevicesOfANode) {
  for (const Cluster& cluster : clusters_of_nodes()) {
    for (int a = 0; a < cluster.devices_per_node; ++a) {
      for (int b = 0; b < cluster.devices_per_node; ++b) {
        if (a != b) {
          EXPECT_GT(cluster.pair_channel(a, b).time(1, 1_MB), Seconds{}) << cluster.name;
        }
      }
    }
  }
}

TEST(ShippedClusters, HaveAFabricForEveryGroupThatTilesANode) {
  for (const Cluster& cluster : clusters_of_nodes()) {
    for (int ranks = 2; ranks <= cluster.devices_per_node; ++ranks) {
      for (int stride = 1; ranks * stride <= cluster.devices_per_node; ++stride) {
        EXPECT_GT(cluster.fabric(ranks, stride).node.time(1, 1_MB), Seconds{}) << cluster.name;
      }
    }
  }
}

TEST(ShippedClusters, TellTheLibraryOfTheMachineThatTheyAre) {
  int machines = 0;
  for (const std::string& name : shipped_names(kClusterData)) {
    const Cluster cluster = shipped::cluster(name);
    if (!cluster.nccl) {
      continue;
    }
    EXPECT_EQ(cluster.nccl->gpus_per_node, cluster.devices_per_node) << name;
    EXPECT_EQ(cluster.nccl->nics, cluster.nics) << name;
    EXPECT_EQ(cluster.nccl->nic_bandwidth, cluster.nic_bandwidth) << name;
    EXPECT_EQ(cluster.nccl->nvls, !cluster.node_switch_protocols.empty()) << name;
    EXPECT_EQ(cluster.nccl->collnet, !cluster.network_switch_protocols.empty()) << name;
    // NCCL counts 20 to 21 of the 25 GB/s of a link of Volta to Hopper.
    const BytesPerSecond rings = *cluster.ring_bandwidth(cluster.devices_per_node, 1);
    EXPECT_GT(cluster.nccl->node_bandwidth, 0.75 * rings) << name;
    EXPECT_LE(cluster.nccl->node_bandwidth, rings) << name;
    ++machines;
  }
  EXPECT_GE(machines, 9);
}

TEST(DgxH100, AddsInItsSwitchWhatIsLarge) {
  const Fabric fabric = shipped::cluster("dgx-h100").fabric(8, 1);
  const Group node{.per_node = 8};
  EXPECT_EQ(collective_time(Collective::all_reduce, 64_KiB, node, fabric).algorithm, "ring");
  EXPECT_EQ(collective_time(Collective::all_reduce, 1_GiB, node, fabric).algorithm, "in-switch");
  EXPECT_EQ(collective_time(Collective::all_gather, 1_GiB, node, fabric).algorithm, "ring");
}

TEST(DgxA100, GivesEveryRingThePortOfItsSwitch) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  EXPECT_EQ(cluster.devices_per_node, 8);
  for (const int ranks : {2, 3, 4, 8}) {
    EXPECT_EQ(cluster.ring_bandwidth(ranks, 1), 300_GBps);
  }
  EXPECT_EQ(cluster.ring_bandwidth(2, 4), 300_GBps);
  EXPECT_EQ(cluster.nic_share(), 200_Gbps) << "one NIC per device";
}

TEST(Dgx1V100, RingsUseTheWiresOfTheirDevices) {
  const Cluster cluster = shipped::cluster("dgx1-v100");
  EXPECT_EQ(cluster.ring_bandwidth(8, 1), 6 * 25_GBps) << "three rings, in both directions";
  EXPECT_EQ(cluster.ring_bandwidth(4, 1), 4 * 25_GBps) << "two rings in each island";
  EXPECT_EQ(cluster.ring_bandwidth(2, 1), 1 * 25_GBps) << "the pair 0-1 has one link";
  EXPECT_EQ(cluster.ring_bandwidth(2, 4), 1 * 25_GBps) << "the pair 2-6 has one, 0-4 two";
}

TEST(Dgx1V100, SharesFourNicsAmongEightDevices) {
  EXPECT_EQ(shipped::cluster("dgx1-v100").nic_share(), 0.5 * 100_Gbps);
}

TEST(Dgx1V100, PairsUseTheirOwnLinks) {
  const Cluster cluster = shipped::cluster("dgx1-v100");
  const Bytes size = 256_MB;
  EXPECT_EQ(cluster.pair_channel(0, 1).time(1, size),
            message(cluster.node_protocols, 1 * 25_GBps, size));
  EXPECT_EQ(cluster.pair_channel(0, 3).time(1, size),
            message(cluster.node_protocols, 2 * 25_GBps, size));
}

TEST(Dgx1V100, GoesThroughTheHostWhereNoWireJoinsAPair) {
  const Cluster cluster = shipped::cluster("dgx1-v100");
  EXPECT_EQ(cluster.pair_channel(0, 5).time(1, 256_MB), 3.8_us + 256_MB / 7.2_GBps);
  EXPECT_EQ(cluster.pair_channel(5, 0).time(1, 256_MB), cluster.pair_channel(0, 5).time(1, 256_MB));
}

TEST(Dgx1V100, GroupsWithoutARingUseTheHostToo) {
  const Cluster cluster = shipped::cluster("dgx1-v100");
  EXPECT_EQ(cluster.ring_bandwidth(2, 3), std::nullopt) << "of 0-3, 1-4 and 2-5 only 0-3 is wired";
  EXPECT_EQ(cluster.fabric(2, 3).node.time(1, 1_MB), 3.8_us + 1_MB / 7.2_GBps);
}

TEST(Polaris, RingsGoRoundItsPairwiseWires) {
  const Cluster cluster = shipped::cluster("polaris");
  EXPECT_EQ(cluster.ring_bandwidth(4, 1), 2 * 6 * 25_GBps)
      << "three ways round four devices, two links of each pair for each, both directions";
  EXPECT_EQ(cluster.ring_bandwidth(2, 1), 4 * 25_GBps);
  EXPECT_EQ(cluster.nic_share(), 2 * 100_Gbps / 4) << "two NICs for four devices";
}

/// Two sockets with two switches of two devices each.
PcieTree two_sockets() {
  PcieTree tree;
  tree.devices = 8;
  tree.devices_per_switch = 2;
  tree.switches_per_socket = 2;
  tree.device_bandwidth = 32_GBps;
  tree.uplink_bandwidth = 24_GBps;
  tree.socket_bandwidth = 16_GBps;
  return tree;
}

Cluster with_tree(const PcieTree& tree) {
  Cluster cluster = shipped::cluster("a100-pcie-8");
  cluster.topology = tree;
  EXPECT_EQ(cluster.fill_bandwidths(), tree.sockets() < 3);
  return cluster;
}

TEST(PcieNode, GivesARingTheNarrowestEdgeOnItsWay) {
  const Cluster cluster = with_tree(two_sockets());
  EXPECT_EQ(cluster.ring_bandwidth(2, 1), 32_GBps) << "below one switch";
  EXPECT_EQ(cluster.ring_bandwidth(4, 1), 24_GBps) << "over the switches of each socket";
  EXPECT_EQ(cluster.ring_bandwidth(8, 1), 16_GBps) << "over both sockets";
}

TEST(PcieNode, SharesEdgesAmongTheGroupsThatTileIt) {
  const Cluster cluster = with_tree(two_sockets());
  EXPECT_EQ(cluster.ring_bandwidth(2, 2), 24_GBps / 2) << "0-2 and 1-3 leave the same switch";
  EXPECT_EQ(cluster.ring_bandwidth(4, 2), 16_GBps / 2) << "all even devices and all odd ones";
  EXPECT_EQ(cluster.ring_bandwidth(2, 4), 16_GBps / 4) << "0-4, 1-5, 2-6, 3-7";
}

TEST(PcieNode, SharesABusBetweenItsDirections) {
  PcieTree buses = two_sockets();
  buses.duplex = Duplex::half;
  EXPECT_EQ(with_tree(buses).ring_bandwidth(8, 1), 16_GBps / 2);
}

TEST(PcieNode, SendsToAllOthersAsItsFullestEdgeLetsThem) {
  const Cluster cluster = with_tree(two_sockets());
  // Each of the four of a socket sends four of its seven parts to the other socket.
  EXPECT_DOUBLE_EQ(*cluster.exchange_bandwidth(8, 1) / 1_GBps, 16.0 / (4 * 4.0 / 7));
  EXPECT_EQ(*cluster.exchange_bandwidth(2, 1), 32_GBps);
  EXPECT_FALSE(shipped::cluster("dgx-a100-80gb").exchange_bandwidth(8, 1)) << "one switch";
}

TEST(PcieNode, OfThreeSocketsHasSeveralWays) {
  PcieTree three = two_sockets();
  three.devices = 12;
  EXPECT_FALSE(with_tree(three).exchange_bandwidth(12, 1));
}

/// A group by itself, whatever of its messages meet.
TEST(PcieNode, TakesInClosedFormWhatItsWiresTake) {
  const Cluster cluster = shipped::cluster("a100-pcie-8");
  const std::vector<std::vector<int>> groups = {
      {0, 1}, {0, 4}, {0, 1, 2, 3}, {0, 2, 4, 6}, {0, 1, 2, 3, 4, 5, 6, 7}};
  for (const std::vector<int>& group : groups) {
    CollectiveDesk desk(cluster, {&group, 1});
    for (const Collective collective :
         {Collective::all_reduce, Collective::all_gather, Collective::all_to_all}) {
      const CollectiveAnswer answer = desk.answer({.collective = collective,
                                                   .size = 1_GB,
                                                   .algorithm = {},
                                                   .fidelity = NetworkFidelity::flow});
      EXPECT_NEAR(answer.time / answer.closed_time, 1.0, 1e-6)
          << name_of(collective) << " of " << group.size() << " from " << group.front();
    }
  }
}

TEST(ClusterFabric, TakesTheBetterProtocolForEachSize) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  const Fabric fabric = cluster.fabric(8, 1);
  for (const Bytes size : {1_KiB, 64_KiB, 1_MB, 1_GB}) {
    EXPECT_EQ(fabric.node.time(1, size), message(cluster.node_protocols, 300_GBps, size));
    EXPECT_EQ(fabric.network.time(1, size), message(cluster.network_protocols, 200_Gbps, size));
  }
}

TEST(ClusterFabric, OfOneRankPerNodeNeedsNoWires) {
  EXPECT_TRUE(shipped::cluster("dgx-a100-80gb").fabric(1, 1).node.links().empty());
}

TEST(RingBandwidth, IsNoneForGroupsBeyondTheNode) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  EXPECT_EQ(cluster.ring_bandwidth(16, 1), std::nullopt);
  EXPECT_EQ(cluster.ring_bandwidth(8, 2), std::nullopt);
}

TEST(ReadCluster, TakesAFixedNumberOfNodes) {
  Document document = shipped::cluster_document("polaris");
  set(document.root, "nodes", 560);
  EXPECT_EQ(shipped::read_all(document, read_cluster).nodes, 560);
}

TEST(ReadCluster, DemandsAHostPathWhereSomePairHasNoWire) {
  expect_one_complaint(
      complaints("dgx1-v100", [](Value& root) { root.find("node")->erase("host_path"); }),
      {"node: ", "expected a \"host_path\""});
}

TEST(ReadCluster, RefusesABandwidthWithoutUnit) {
  expect_one_complaint(
      complaints("polaris", [](Value& root) { set(*root.find("node"), "nic_bandwidth", 25); }),
      {"node.nic_bandwidth: 25: expected a bandwidth with its unit",
       "did you mean \"25 GB/s\" or \"25 Gbps\"?"});
}

TEST(ReadCluster, RefusesAnEfficiencyAboveOne) {
  expect_one_complaint(complaints("polaris",
                                  [](Value& root) {
                                    Value& item = root.find("network")->find("protocols")->items[1];
                                    set(item, "efficiency", 1.2);
                                  }),
                       {"network.protocols.1.efficiency: 1.2: expected a number from"});
}

TEST(ReadCluster, RefusesNoProtocolsAndMoreThanFour) {
  const auto with_protocols = [](int count) {
    return complaints("polaris", [count](Value& root) {
      Value* protocols = root.find("network")->find("protocols");
      protocols->items.resize(static_cast<std::size_t>(count), protocols->items[0]);
    });
  };
  expect_one_complaint(with_protocols(0),
                       {"network.protocols: ", "expected one to four protocols"});
  expect_one_complaint(with_protocols(5),
                       {"network.protocols: ", "expected one to four protocols"});
  EXPECT_EQ(with_protocols(4), Lines());
}

TEST(ReadCluster, SuggestsTheFamilyThatWasMeant) {
  expect_one_complaint(
      complaints(
          "polaris",
          [](Value& root) { set(*root.find("node")->find("fabric"), "family", "fully-conected"); }),
      {"node.fabric.family: \"fully-conected\"", "did you mean \"fully-connected\"?"});
}

TEST(ReadCluster, RefusesASourceThatItDoesNotList) {
  expect_one_complaint(complaints("polaris",
                                  [](Value& root) {
                                    Value* nic = root.find("node")->find("nic_bandwidth");
                                    set(*nic, "source", "hearsay");
                                  }),
                       {"nic_bandwidth", "\"hearsay\" is not in the file's \"sources\""});
}

TEST(ReadCluster, ReportsEverythingThatIsMissing) {
  const Lines lines = complaints("polaris", [](Value& root) {
    root.find("node")->erase("nics");
    root.find("network")->erase("protocols");
    root.erase("name");
  });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find("name: missing"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("node.nics: missing"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("network.protocols: missing"), std::string::npos) << lines[2];
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
