#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "paths.hpp"
#include "titer/input/file.hpp"
#include "titer/topology/families.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/topology.hpp"
#include "titer/units/ensure.hpp"
#include "topology/graphs.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// The shipped wiring of that name, with links of 25 GB/s (NVLink 2).
Topology shipped(const std::string& name) {
  const Document list = load_json(testing::root().string() + "/topologies/" + name + ".json");
  const Document document = parse_json(
      R"({"family": "edges", "bandwidth": "25 GB/s", "topology": )" + to_json(list.root) + "}",
      "test");
  Problems problems;
  Reader reader(document, problems);
  const NodeTopology node = read_node_topology(reader);
  problems.raise();
  return build(node);
}

std::vector<int> first_devices(int count) {
  std::vector<int> group(static_cast<std::size_t>(count));
  std::iota(group.begin(), group.end(), 0);
  return group;
}

using Multiplicity = std::map<std::pair<int, int>, int>;

Multiplicity links_of(const Topology& topology) {
  Multiplicity links;
  for (const Wire& wire : topology.wires) {
    links[std::minmax(wire.a, wire.b)] += wire.count;
  }
  return links;
}

/// Takes the links of a cycle out; false when one of them is not there.
bool take_out(Multiplicity& links, const std::vector<int>& cycle) {
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto pair = std::minmax(cycle[i], cycle[(i + 1) % cycle.size()]);
    if (links[pair]-- < 1) {
      return false;
    }
  }
  return true;
}

/// Every ring visits the group once, and no link carries more rings than there are of it.
void expect_valid(const Topology& topology, std::vector<int> group, const RingPacking& packing) {
  Multiplicity links = links_of(topology);
  std::sort(group.begin(), group.end());
  for (const auto& ring : packing.rings) {
    auto visited = ring;
    std::sort(visited.begin(), visited.end());
    EXPECT_EQ(visited, group);
    EXPECT_TRUE(take_out(links, ring)) << "two rings share a link";
  }
  EXPECT_EQ(static_cast<std::size_t>(packing.directed_rings), 2 * packing.rings.size());
}

/// The largest number of disjoint cycles, by trying every cycle at every step.
int exhaustive(const Multiplicity& links,
               const std::vector<std::vector<int>>& cycles,
               std::size_t from) {
  int most = 0;
  for (std::size_t i = from; i < cycles.size(); ++i) {
    Multiplicity left = links;
    if (take_out(left, cycles[i])) {
      most = std::max(most, 1 + exhaustive(left, cycles, i));
    }
  }
  return most;
}

std::vector<std::vector<int>> all_cycles(int devices) {
  std::vector<std::vector<int>> cycles;
  std::vector<int> order = first_devices(devices);
  do {
    if (order[1] < order.back()) {
      cycles.push_back(order);
    }
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return cycles;
}

TEST(PackRings, AgreesWithExhaustiveSearchOnRandomWirings) {
  std::mt19937 random(20);
  int with_rings = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int devices = 3 + trial % 4;
    Topology topology{.name = "random", .devices = devices, .switches = 0, .wires = {}};
    for (int a = 0; a < devices; ++a) {
      for (int b = a + 1; b < devices; ++b) {
        const int count = static_cast<int>(random() % 3);
        if (count > 0) {
          topology.wires.push_back({.a = a, .b = b, .count = count, .bandwidth = 1_GBps});
        }
      }
    }
    const std::vector<int> group = first_devices(devices);
    const RingPacking packing = pack_rings(topology, group);
    expect_valid(topology, group, packing);
    EXPECT_TRUE(packing.proven);
    EXPECT_EQ(packing.directed_rings, 2 * exhaustive(links_of(topology), all_cycles(devices), 0))
        << "trial " << trial;
    with_rings += packing.directed_rings > 0 ? 1 : 0;
  }
  EXPECT_GT(with_rings, 200 / 4) << "the wirings must not all be without rings";
}

TEST(PackRings, DgxV100HasSixLinksAtEveryDevice) {
  const Topology node = shipped("dgx1-v100");
  int links = 0;
  for (int device = 0; device < 8; ++device) {
    EXPECT_EQ(graphs::degree(node, device), 6);
    links += graphs::degree(node, device);
  }
  EXPECT_EQ(links / 2, 8 * 6 / 2);
  EXPECT_EQ(diameter(node), 2);
}

TEST(PackRings, DgxP100HasFourLinksAtEveryDevice) {
  const Topology node = shipped("dgx1-p100");
  int links = 0;
  for (int device = 0; device < 8; ++device) {
    EXPECT_EQ(graphs::degree(node, device), 4);
    links += graphs::degree(node, device);
  }
  EXPECT_EQ(links / 2, 16);
  const RingPacking packing = pack_rings(node, first_devices(8));
  EXPECT_EQ(packing.directed_rings, 2 * (4 / 2));  // every device's four links are used up
}

TEST(PackRings, DgxV100RunsSixRingsOverAllDevices) {
  const Topology node = shipped("dgx1-v100");
  const RingPacking packing = pack_rings(node, first_devices(8));
  expect_valid(node, first_devices(8), packing);
  EXPECT_EQ(packing.directed_rings, 2 * 3);
  EXPECT_DOUBLE_EQ(packing.bandwidth().si(), 6 * 25e9);
}

TEST(PackRings, F44_IslandOfDgxV100LeavesOneOfNineLinksIdle) {
  const Topology node = shipped("dgx1-v100");
  const std::vector<int> island = first_devices(4);
  std::vector<int> degrees(4, 0);
  int links = 0;
  for (const auto& [pair, count] : links_of(node)) {
    if (pair.second < 4) {
      degrees[static_cast<std::size_t>(pair.first)] += count;
      degrees[static_cast<std::size_t>(pair.second)] += count;
      links += count;
    }
  }
  std::sort(degrees.begin(), degrees.end());
  EXPECT_EQ(degrees, (std::vector{4, 4, 5, 5}));
  EXPECT_EQ(links, 9);

  const RingPacking packing = pack_rings(node, island);
  expect_valid(node, island, packing);
  EXPECT_EQ(packing.directed_rings, 2 * 2);
  EXPECT_EQ(links - 4 * static_cast<int>(packing.rings.size()), 1);
  EXPECT_DOUBLE_EQ(packing.bandwidth().si(), 4 * 25e9);
}

TEST(PackRings, F43_FullyConnectedFourUseFourOfSixLinks) {
  const Topology node = FullyConnectedNode{.devices = 4, .bandwidth = 100_GBps}.build();
  const RingPacking packing = pack_rings(node, first_devices(4));
  expect_valid(node, first_devices(4), packing);
  ASSERT_EQ(packing.rings.size(), 1U);
  EXPECT_EQ(static_cast<int>(node.wires.size()) - 4, 2);  // idle
  EXPECT_DOUBLE_EQ(packing.bandwidth().si(), 2 * 100e9);
}

TEST(PackRings, BetweenTwoDevicesIsEveryLinkBetweenThem) {
  const Topology node = shipped("dgx1-v100");
  const RingPacking doubled = pack_rings(node, {0, 3});
  EXPECT_EQ(doubled.directed_rings, 2);
  EXPECT_DOUBLE_EQ(doubled.bandwidth().si(), 2 * 25e9);
  EXPECT_EQ(doubled.rings, (std::vector<std::vector<int>>{{0, 3}, {0, 3}}));
  EXPECT_EQ(pack_rings(node, {0, 1}).directed_rings, 1);
}

TEST(PackRings, FindsNothingBetweenUnwiredDevices) {
  const Topology node = shipped("dgx1-v100");
  const RingPacking pair = pack_rings(node, {0, 5});
  EXPECT_EQ(pair.directed_rings, 0);
  EXPECT_TRUE(pair.rings.empty());
  EXPECT_DOUBLE_EQ(pair.bandwidth().si(), 0.0);
  EXPECT_EQ(pack_rings(node, {0, 5, 7}).directed_rings, 0);  // 5-7 is the only link
  EXPECT_TRUE(pack_rings(node, {0, 5, 7}).proven);
}

TEST(PackRings, DoesNotDependOnTheOrderOfTheGroup) {
  const Topology node = shipped("dgx1-v100");
  std::vector<int> group = first_devices(8);
  std::mt19937 random(3);
  for (int trial = 0; trial < 50; ++trial) {
    std::shuffle(group.begin(), group.end(), random);
    const std::vector<int> part(group.begin(), group.begin() + 3 + trial % 6);
    std::vector<int> sorted = part;
    std::sort(sorted.begin(), sorted.end());
    const RingPacking packing = pack_rings(node, part);
    expect_valid(node, part, packing);
    EXPECT_EQ(packing.directed_rings, pack_rings(node, sorted).directed_rings);
  }
}

TEST(PackRings, OfOddFullyConnectedNodesUseEveryLink) {
  for (const int devices : {3, 5, 7, 9}) {
    const Topology node = FullyConnectedNode{.devices = devices, .bandwidth = 1_GBps}.build();
    const RingPacking packing = pack_rings(node, first_devices(devices));
    expect_valid(node, first_devices(devices), packing);
    EXPECT_EQ(packing.directed_rings, devices - 1);
  }
}

TEST(PackRings, OfARingNodeAreItsTwoDirections) {
  const Topology node = RingNode{.devices = 16, .bandwidth = 50_GBps}.build();
  const RingPacking packing = pack_rings(node, first_devices(16));
  EXPECT_EQ(packing.directed_rings, 2);
  EXPECT_DOUBLE_EQ(packing.bandwidth().si(), 2 * 50e9);
  EXPECT_EQ(pack_rings(node, {0, 1, 2}).directed_rings, 0);  // an arc does not close
}

TEST(PackRings, ThroughASwitchIsOneRingAtThePort) {
  const Topology node = SwitchedNode{.devices = 16, .bandwidth = 150_GBps}.build();
  for (const int devices : {2, 3, 16}) {
    const RingPacking packing = pack_rings(node, first_devices(devices));
    EXPECT_EQ(packing.directed_rings, 1);
    EXPECT_DOUBLE_EQ(packing.bandwidth().si(), 150e9);
    EXPECT_EQ(packing.rings, std::vector<std::vector<int>>(1, first_devices(devices)));
  }
}

TEST(PackRings, ThroughASwitchIsLimitedByTheSlowestPort) {
  Topology node = SwitchedNode{.devices = 4, .bandwidth = 100_GBps}.build();
  node.wires[2].bandwidth = 60_GBps;
  node.wires[3].count = 2;
  EXPECT_DOUBLE_EQ(pack_rings(node, {0, 1, 2, 3}).bandwidth().si(), 60e9);
  EXPECT_DOUBLE_EQ(pack_rings(node, {0, 1, 3}).bandwidth().si(), 100e9);
}

TEST(PackRings, CountsASwitchOnlyWhenItJoinsAllOfTheGroup) {
  Topology node = SwitchedNode{.devices = 3, .bandwidth = 100_GBps}.build();
  node.wires.pop_back();
  EXPECT_EQ(pack_rings(node, {0, 1}).directed_rings, 1);
  EXPECT_EQ(pack_rings(node, {0, 1, 2}).directed_rings, 0);
}

TEST(PackRings, TakesTheSlowestLinkWhereLinksDiffer) {
  Topology node = RingNode{.devices = 4, .bandwidth = 50_GBps}.build();
  node.wires[1].bandwidth = 20_GBps;
  EXPECT_DOUBLE_EQ(pack_rings(node, first_devices(4)).bandwidth().si(), 2 * 20e9);
}

TEST(PackRings, StaysBoundedOnLargeNodesAndSaysSo) {
  const Topology node = FullyConnectedNode{.devices = 16, .bandwidth = 1_GBps}.build();
  const auto begin = std::chrono::steady_clock::now();
  const RingPacking packing = pack_rings(node, first_devices(16));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  expect_valid(node, first_devices(16), packing);
  EXPECT_GT(packing.directed_rings, 0);
  EXPECT_LE(packing.directed_rings, 2 * (15 / 2));
  EXPECT_TRUE(packing.proven == (packing.directed_rings == 2 * (15 / 2)));
  EXPECT_LT(taken.count(), 5.0);  // milliseconds when optimised; generous for sanitizers
}

TEST(PackRings, RefusesGroupsThatAreNotSetsOfDevices) {
  const Topology node = SwitchedNode{.devices = 4, .bandwidth = 1_GBps}.build();
  EXPECT_THROW((void)pack_rings(node, {}), Defect);
  EXPECT_THROW((void)pack_rings(node, {1}), Defect);
  EXPECT_THROW((void)pack_rings(node, {1, 1}), Defect);
  EXPECT_THROW((void)pack_rings(node, {0, 4}), Defect);  // 4 is the switch
  EXPECT_THROW((void)pack_rings(node, {-1, 0}), Defect);
}

TEST(RingPacking, LinksOfTheirOwnCountBeforeAProcessorWhereAllMeet) {
  Topology pair;
  pair.devices = 2;
  pair.wires = {{.a = 0, .b = 1, .count = 12, .bandwidth = 25_GBps}};
  const int cpu = add_switches(pair, 1, {.kind = SwitchKind::cpu});
  for (const int device : {0, 1}) {
    pair.wires.push_back({.a = device, .b = cpu, .count = 1, .bandwidth = 31.5_GBps});
  }
  const RingPacking packing = pack_rings(pair, {0, 1});
  EXPECT_EQ(packing.directed_rings, 12);
  EXPECT_DOUBLE_EQ(packing.bandwidth().si(), 12 * 25e9);
  // Where the way through the processor is the wider one, it is taken.
  pair.wires.front().count = 1;
  EXPECT_EQ(pack_rings(pair, {0, 1}).directed_rings, 1);
  EXPECT_DOUBLE_EQ(pack_rings(pair, {0, 1}).bandwidth().si(), 31.5e9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
