#include "titer/topology/tree_packing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "titer/units/ensure.hpp"
#include "topology/graphs.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using graphs::all_devices;
using graphs::grid;
using graphs::kRate;
using graphs::random_graph;
using graphs::ring;
using graphs::wire;
using graphs::wired;

std::size_t index(int member) { return static_cast<std::size_t>(member); }

/// Four GPUs of a DGX-1: each pair has an NVLink (P100); 0-3, 1-2 and 2-3 have two (V100).
Topology dgx1_p100_island() {
  return wired(4, 0, {wire(0, 1), wire(0, 2), wire(0, 3), wire(1, 2), wire(1, 3), wire(2, 3)});
}
Topology dgx1_v100_island() {
  Topology island = dgx1_p100_island();
  for (const std::size_t doubled : {2U, 3U, 5U}) {
    island.wires[doubled].count = 2;
  }
  return island;
}

Topology fully_connected(int devices, int links = 1) {
  Topology topology = wired(devices, 0, {});
  for (int a = 0; a < devices; ++a) {
    for (int b = a + 1; b < devices; ++b) {
      topology.wires.push_back(wire(a, b, links));
    }
  }
  return topology;
}

/// The least floor(crossing links / (parts - 1)) over all divisions of the group in two or more
/// parts. [Nash-Williams, Tutte]
int tree_bound(const Topology& topology, const std::vector<int>& group, int shares) {
  std::vector<int> part_of(group.size(), 0);
  std::optional<int> least;
  const auto visit = [&](auto& self, std::size_t member, int parts) -> void {
    if (member < group.size()) {
      for (int part = 0; part <= parts; ++part) {
        part_of[member] = part;
        self(self, member + 1, std::max(parts, part + 1));
      }
      return;
    }
    if (parts < 2) {
      return;
    }
    int crossing = 0;
    for (const Wire& each : topology.wires) {
      const auto a = std::find(group.begin(), group.end(), each.a) - group.begin();
      const auto b = std::find(group.begin(), group.end(), each.b) - group.begin();
      const auto size = static_cast<std::ptrdiff_t>(group.size());
      if (a < size && b < size &&
          part_of[static_cast<std::size_t>(a)] != part_of[static_cast<std::size_t>(b)]) {
        crossing += shares * each.count;
      }
    }
    const int trees = crossing / (parts - 1);
    least = std::min(least.value_or(trees), trees);
  };
  visit(visit, 0, 0);
  return least.value_or(0);
}

/// Every tree spans the group from its root outwards and is as deep as it says, no link carries
/// more trees than it has shares, and the division allows no tree more.
void expect_valid(const Topology& topology,
                  const std::vector<int>& group,
                  const TreePacking& packing,
                  int shares = 1) {
  std::map<std::pair<int, int>, int> left;
  for (const Wire& each : topology.wires) {
    left[std::minmax(each.a, each.b)] += shares * each.count;
  }
  int count = 0;
  for (const SpanningTree& tree : packing.trees) {
    std::map<int, int> depth = {{tree.root, 0}};
    int deepest = 0;
    for (const TreeLink& link : tree.links) {
      ASSERT_TRUE(depth.contains(link.parent));
      ASSERT_TRUE(depth.emplace(link.child, depth[link.parent] + 1).second);
      deepest = std::max(deepest, depth[link.child]);
      left[std::minmax(link.parent, link.child)] -= tree.copies;
    }
    ASSERT_EQ(tree.depth, deepest);
    std::set<int> spanned;
    for (const auto& [member, unused] : depth) {
      spanned.insert(member);
    }
    ASSERT_EQ(spanned, std::set<int>(group.begin(), group.end()));
    count += tree.copies;
  }
  for (const auto& [pair, free] : left) {
    ASSERT_GE(free, 0) << pair.first << "-" << pair.second;
  }
  ASSERT_EQ(count, packing.count);
  ASSERT_EQ(packing.division.most_trees(), packing.count);
}

/// The division's own figures, counted again.
void expect_honest(const Topology& topology,
                   const std::vector<int>& group,
                   const Division& division) {
  ASSERT_EQ(division.part_of.size(), group.size());
  ASSERT_GE(division.parts, 2);
  ASSERT_EQ(
      static_cast<int>(std::set<int>(division.part_of.begin(), division.part_of.end()).size()),
      division.parts);
  int crossing = 0;
  for (const Wire& each : topology.wires) {
    const auto a = std::find(group.begin(), group.end(), each.a);
    const auto b = std::find(group.begin(), group.end(), each.b);
    if (a != group.end() && b != group.end() &&
        division.part_of[index(static_cast<int>(a - group.begin()))] !=
            division.part_of[index(static_cast<int>(b - group.begin()))]) {
      crossing += each.count;
    }
  }
  ASSERT_EQ(division.crossing, crossing);
}

TEST(TreePacking, F44_ThreeTreesUseTheNineLinksOfADgx1IslandWhereTwoRingsUseEight) {
  const Topology island = dgx1_v100_island();
  const std::vector<int> group = all_devices(island);
  EXPECT_EQ(pack_rings(island, group).rings.size(), 2U);  // of 4 links each
  const TreePacking packing = pack_trees(island, group);
  EXPECT_EQ(packing.count, 9 / 3);
  expect_valid(island, group, packing);
}

TEST(TreePacking, E15_ForwardsARoundInTwoThirdsOfTheTimeOfTheRings) {
  const Topology island = dgx1_v100_island();
  const std::vector<int> group = all_devices(island);
  const Bytes gradients = 100_MB;
  const Seconds rings =
      gradients / (static_cast<double>(pack_rings(island, group).rings.size()) * kRate);
  EXPECT_DOUBLE_EQ(rings.si(), 100e6 / (2 * kRate.si()));
  EXPECT_DOUBLE_EQ((gradients / pack_trees(island, group).bandwidth()).si(),
                   100e6 / (3 * kRate.si()));
}

TEST(TreePacking, OfAFullyConnectedIslandAreTwoTreesOfAllSixLinks) {
  const Topology island = dgx1_p100_island();
  const TreePacking packing = pack_trees(island, {0, 1, 2, 3});
  EXPECT_EQ(packing.count, 6 / 3);
  expect_valid(island, {0, 1, 2, 3}, packing);
}

TEST(TreePacking, OfNFullyConnectedDevicesAreHalfAsManyTrees) {
  for (const int devices : {2, 3, 4, 5, 6, 7, 8, 16}) {
    const Topology node = fully_connected(devices);
    const TreePacking packing = pack_trees(node, all_devices(node));
    EXPECT_EQ(packing.count, devices / 2);  // n (n-1) / 2 links, n - 1 for a tree
    expect_valid(node, all_devices(node), packing);
  }
}

TEST(TreePacking, ReachesTheBoundOfAllDivisionsOnRandomGraphs) {
  std::minstd_rand random(1);
  for (int trial = 0; trial < 150; ++trial) {
    const int devices = 2 + static_cast<int>(random() % 5);
    const Topology topology = random_graph(random, devices, 0, devices + trial % 14);
    const int shares = 1 + trial % 3;
    const std::vector<int> group = all_devices(topology);
    const TreePacking packing = pack_trees(topology, group, shares);
    SCOPED_TRACE(trial);
    ASSERT_EQ(packing.count, tree_bound(topology, group, shares));
    expect_valid(topology, group, packing, shares);
    if (shares == 1) {
      expect_honest(topology, group, packing.division);
    }
  }
}

TEST(TreePacking, TakesOnlyTheLinksAmongTheGroup) {
  std::minstd_rand random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const Topology topology = random_graph(random, 8, 1, 40);
    const std::vector<int> group = {7, 2, 4, 1, 6};
    const TreePacking packing = pack_trees(topology, group);
    ASSERT_EQ(packing.count, tree_bound(topology, group, 1));
    expect_valid(topology, group, packing);
  }
}

TEST(TreePacking, CutsLinksIntoSharesForAFractionalPacking) {
  const Topology circle = ring(4);
  const std::vector<int> group = all_devices(circle);
  EXPECT_EQ(pack_trees(circle, group).count, 1);
  const TreePacking packing = pack_trees(circle, group, 3);
  EXPECT_EQ(packing.count, 4);  // 12 thirds of links, 3 for a tree
  EXPECT_DOUBLE_EQ(packing.bandwidth().si(), 4.0 / 3.0 * kRate.si());
  expect_valid(circle, group, packing, 3);
}

TEST(TreePacking, OfTwoDevicesIsEachLinkATree) {
  const Topology pair = wired(2, 0, {wire(0, 1, 3)});
  const TreePacking packing = pack_trees(pair, {1, 0});
  EXPECT_EQ(packing.count, 3);
  ASSERT_EQ(packing.trees.size(), 1U);
  EXPECT_EQ(packing.trees[0].copies, 3);
  EXPECT_EQ(packing.trees[0].depth, 1);
}

TEST(TreePacking, HasNoTreeWhereTheGroupIsNotJoinedByDirectLinks) {
  const Topology apart = wired(4, 0, {wire(0, 1), wire(2, 3)});
  const TreePacking packing = pack_trees(apart, {0, 1, 2, 3});
  EXPECT_EQ(packing.count, 0);
  EXPECT_TRUE(packing.trees.empty());
  EXPECT_EQ(packing.bandwidth(), BytesPerSecond{});
  EXPECT_EQ(packing.division.most_trees(), 0);
  const Topology hub = wired(2, 1, {wire(0, 2), wire(1, 2)});
  EXPECT_EQ(pack_trees(hub, {0, 1}).count, 0);
}

TEST(TreePacking, NamesTheWeakPlaceAsItsDivision) {
  // Two fully connected fours of double links, joined by a single one.
  Topology topology = wired(8, 0, {wire(3, 4)});
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      topology.wires.push_back(wire(a, b, 2));
      topology.wires.push_back(wire(4 + a, 4 + b, 2));
    }
  }
  const TreePacking packing = pack_trees(topology, all_devices(topology));
  EXPECT_EQ(packing.count, 1);
  EXPECT_EQ(packing.division.part_of, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(packing.division.crossing, 1);
}

TEST(TreePacking, RootsTreesAtTheirCentres) {
  const Topology chain = wired(5, 0, {wire(0, 1), wire(1, 2), wire(2, 3), wire(3, 4)});
  const TreePacking packing = pack_trees(chain, {0, 1, 2, 3, 4});
  ASSERT_EQ(packing.trees.size(), 1U);
  EXPECT_EQ(packing.trees[0].root, 2);
  EXPECT_EQ(packing.trees[0].depth, 2);
  const TreeLink outward[] = {{2, 1}, {2, 3}, {1, 0}, {3, 4}};
  EXPECT_TRUE(std::equal(
      packing.trees[0].links.begin(), packing.trees[0].links.end(), std::begin(outward)));
}

TEST(TreePacking, PrefersShallowTrees) {
  // A star over a chain: one tree fits beside what is left, and the star is the shallow one.
  Topology topology = wired(7, 0, {});
  for (int device = 1; device + 1 < 7; ++device) {
    topology.wires.push_back(wire(device, device + 1));
  }
  for (int device = 1; device < 7; ++device) {
    topology.wires.push_back(wire(0, device));
  }
  const TreePacking packing = pack_trees(topology, all_devices(topology));
  ASSERT_EQ(packing.count, 1);  // 11 links, 6 for a tree
  EXPECT_EQ(packing.trees[0].root, 0);
  EXPECT_EQ(packing.trees[0].depth, 1);
  // Four trees of a full eight: none is a star (each star would use up a device's links), all reach
  // everyone in at most three.
  const Topology node = fully_connected(8);
  for (const SpanningTree& tree : pack_trees(node, all_devices(node)).trees) {
    EXPECT_LE(tree.depth, 3);
  }
}

TEST(TreePacking, CountsTheSlowestLinkOfTheGroup) {
  Topology island = dgx1_p100_island();
  island.wires[4].bandwidth = 3_GBps;
  EXPECT_DOUBLE_EQ(pack_trees(island, {0, 1, 2, 3}).bandwidth().si(), 2 * 3e9);
  EXPECT_DOUBLE_EQ(pack_trees(island, {0, 1, 2}).bandwidth().si(), kRate.si());
}

TEST(TreePacking, OfATorusUsesNearlyAllItsLinks) {
  const Topology torus = grid({4, 4, 2});
  const TreePacking packing = pack_trees(torus, all_devices(torus));
  EXPECT_EQ(packing.count, (2 * 32 + 16) / 31);
  expect_valid(torus, all_devices(torus), packing);
}

TEST(TreePacking, RefusesWhatIsNoGroup) {
  const Topology island = dgx1_p100_island();
  EXPECT_THROW((void)pack_trees(island, {0}), Defect);
  EXPECT_THROW((void)pack_trees(island, {0, 0}), Defect);
  EXPECT_THROW((void)pack_trees(island, {0, 4}), Defect);
  EXPECT_THROW((void)pack_trees(island, {0, 1}, 0), Defect);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
