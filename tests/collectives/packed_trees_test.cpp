#include "titer/collectives/algorithm/packed_trees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "collectives/contract_groups.hpp"
#include "titer/collectives/algorithm/disjoint_rings.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Link kWire{.latency = {}, .bandwidth = 25_GBps};

Group island() { return {.per_node = 4, .wiring = &dgx1_island()}; }

/// Two cycles through the island, each one way round.
Wiring two_one_way_rings() {
  const Wiring& both_ways = dgx1_island();
  return {.rings = {both_ways.rings[0], both_ways.rings[2]}, .trees = {}};
}

using Links = std::map<std::pair<int, int>, int>;  // how many wires between two ranks

Links wires_of_rings(const Wiring& wiring) {
  Links used;
  for (const auto& ring : wiring.rings) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const int next = ring[(i + 1) % ring.size()];
      ++used[std::minmax(int{ring[i]}, int{next})];
    }
  }
  return used;
}

Links wires_of_trees(const Wiring& wiring) {
  Links used;
  for (const RankTree& tree : wiring.trees) {
    for (int rank = 0; rank < static_cast<int>(tree.parent.size()); ++rank) {
      const int parent = tree.parent[static_cast<std::size_t>(rank)];
      if (parent != rank) {
        ++used[std::minmax(int{rank}, int{parent})];
      }
    }
  }
  return used;
}

// Links of the island: 0-1, 0-2, 1-3 once, 0-3, 1-2, 2-3 twice.
const Links kIsland = {
    {{0, 1}, 1}, {{0, 2}, 1}, {{0, 3}, 2}, {{1, 2}, 2}, {{1, 3}, 1}, {{2, 3}, 2}};

TEST(PackedTreesAllReduce, F44_ThreeTreesUseAllNineLinksOfTheIslandAndTwoRingsLeaveOneIdle) {
  EXPECT_EQ(wires_of_trees(dgx1_island()), kIsland);
  Links rings = wires_of_rings(two_one_way_rings());
  ++rings[{2, 3}];  // the idle one
  EXPECT_EQ(rings, kIsland);
}

TEST(PackedTreesAllReduce, E15_OneRoundOfDataIsAThirdOfTheVectorAgainstAHalf) {
  const double g = 1e9;
  const Wiring rings = two_one_way_rings();
  const Fabric fabric{.wire = Channel(kWire)};
  const Group ring_group{.per_node = 4, .wiring = &rings};
  // The chunked ring forwards the n-th part of its share, 2 (n-1) times.
  const double ring_round =
      DisjointRingsAllReduce::time(1_GB, ring_group, fabric).si() / (2 * 3) * 4;
  EXPECT_DOUBLE_EQ(ring_round, g / (2 * 25e9));
  const Pipeline trees = PackedTreesAllReduce::pipeline(island());
  const double tree_round = trees.time(1_GB, 1, kWire).si() / (trees.fill + 1);
  EXPECT_DOUBLE_EQ(tree_round, g / (3 * 25e9));
}

TEST(PackedTreesAllReduce, F44_TrapT14_EndToEndTheTreesGainAnEighth) {
  // Both ways on every link: 2 (n-1)/n over four directed rings against one share of three.
  const Fabric fabric{.wire = Channel({.latency = 1_ns, .bandwidth = 25_GBps})};
  const double rings = DisjointRingsAllReduce::time(100_GB, island(), fabric).si();
  const double trees = PackedTreesAllReduce::time(100_GB, island(), fabric).si();
  EXPECT_NEAR(rings * 25e9 / 100e9, 0.375, 1e-4);
  EXPECT_NEAR(trees * 25e9 / 100e9, 1.0 / 3, 1e-3);
  EXPECT_NEAR(rings / trees, 1.125, 2e-3);
}

TEST(PackedTreesAllReduce, IsUpAndDownTheDeepestTreeInBlocks) {
  const Fabric fabric{.wire = Channel({.latency = 2_us, .bandwidth = 25_GBps})};
  const int c = PackedTreesAllReduce::pipeline(island()).blocks(1_GB, fabric.wire);
  EXPECT_GT(c, 1);
  EXPECT_DOUBLE_EQ(PackedTreesAllReduce::time(1_GB, island(), fabric).si(),
                   (2 * 2 - 1 + c) * (2e-6 + 1e9 / (3 * c) / 25e9));
}

TEST(PackedTreesAllReduce, SendsASharePerEdgeOfTheBusiestRank) {
  // The ends of the island's links: 4 of rank 0, 4 of rank 1, 5 of rank 2, 5 of rank 3.
  EXPECT_DOUBLE_EQ(PackedTreesAllReduce::volume(3_GB, island()).si(), 5 * 1e9);
}

TEST(PackedTreesAllReduce, NeedsTreesAndWires) {
  const Fabric fabric{.wire = Channel(kWire)};
  const Wiring rings = two_one_way_rings();
  EXPECT_TRUE(PackedTreesAllReduce::applies(island(), fabric));
  EXPECT_FALSE(PackedTreesAllReduce::applies(island(), Fabric{}));
  EXPECT_FALSE(PackedTreesAllReduce::applies({.per_node = 4}, fabric));
  EXPECT_FALSE(PackedTreesAllReduce::applies({.per_node = 4, .wiring = &rings}, fabric));
}

TEST(TreeDepths, AreTheHopsToTheRoot) {
  EXPECT_EQ(depths({.root = 3, .parent = {3, 2, 3, 3}}), (std::vector<int>{1, 2, 1, 0}));
  EXPECT_THROW((void)depths({.root = 0, .parent = {0, 2, 1}}), Defect) << "a circle";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
