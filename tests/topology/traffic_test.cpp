#include "titer/topology/traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "titer/units/ensure.hpp"
#include "topology/graphs.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using graphs::all_devices;
using graphs::fat_tree;
using graphs::grid;
using graphs::kRate;
using graphs::leaf_spine;
using graphs::random_graph;
using graphs::ring;
using graphs::wire;
using graphs::wired;

Traffic all_to_all(const Topology& topology, Bytes per_pair) {
  return {.demands = {}, .exchanges = {{.ranks = all_devices(topology), .per_pair = per_pair}}};
}

Bytes total(const std::vector<Bytes>& loads) {
  Bytes sum;
  for (const Bytes load : loads) {
    sum += load;
  }
  return sum;
}

void expect_near(const std::vector<Bytes>& actual, const std::vector<Bytes>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t lane = 0; lane < actual.size(); ++lane) {
    ASSERT_NEAR(actual[lane].si(), expected[lane].si(), 1e-9 * total(expected).si()) << lane;
  }
}

/// Walks every best route of one pair, dividing at every vertex: no aggregation, no order.
void walk(Router& router, int at, int to, Bytes bytes, std::vector<Bytes>& loads) {
  const auto next = router.next(at, to);
  const std::vector<Lane> lanes(next.begin(), next.end());
  int links = 0;
  for (const Lane lane : lanes) {
    links += router.topology().wires[wire_of(lane)].count;
  }
  for (const Lane lane : lanes) {
    const Bytes part = bytes * router.topology().wires[wire_of(lane)].count / links;
    loads[lane] += part;
    walk(router, lane_end(router.topology(), lane), to, part, loads);
  }
}

std::vector<Bytes> walked(Router& router, const std::vector<Demand>& demands) {
  std::vector<Bytes> loads(2 * router.topology().wires.size());
  for (const Demand& demand : demands) {
    walk(router, demand.from, demand.to, demand.bytes, loads);
  }
  return loads;
}

std::vector<Demand> pairs(const UniformExchange& exchange) {
  std::vector<Demand> demands;
  for (const int from : exchange.ranks) {
    for (const int to : exchange.ranks) {
      if (from != to) {
        demands.push_back({from, to, exchange.per_pair});
      }
    }
  }
  return demands;
}

/// A random graph whose devices all reach each other: some hang on one switch by one wire.
Topology random_connected(std::minstd_rand& random) {
  const int devices = 4 + static_cast<int>(random() % 6);
  Topology topology = random_graph(random, devices, 4, 6 + static_cast<int>(random() % 8));
  const Router router(topology);
  for (int device = 0; device < devices; ++device) {
    if (router.exits(device).empty() || random() % 3 == 0) {
      topology.wires.push_back(wire(device, devices + static_cast<int>(random() % 4)));
    }
  }
  for (int hub = devices; hub + 1 < topology.vertices(); ++hub) {
    topology.wires.push_back(wire(hub, hub + 1));
  }
  Router finished(topology);
  for (int device = 0; device < devices; ++device) {
    if (!finished.hops(device, devices)) {
      topology.wires.push_back(wire(device, devices));
    }
  }
  return topology;
}

TEST(LinkLoads, AreThoseOfEveryRouteWalkedOneByOne) {
  std::minstd_rand random(1);
  for (int trial = 0; trial < 300; ++trial) {
    Router router(random_connected(random));
    Traffic traffic;
    std::vector<Demand> all;
    const auto devices = static_cast<unsigned>(router.topology().devices);
    for (int i = 0; i < trial % 7; ++i) {
      traffic.demands.push_back({static_cast<int>(random() % devices),
                                 static_cast<int>(random() % devices),
                                 Bytes::from_si(static_cast<double>(random() % 1000))});
    }
    all = traffic.demands;
    for (int i = 0; i < trial % 3; ++i) {
      UniformExchange exchange{.ranks = {}, .per_pair = Bytes::from_si(1.0 + i)};
      for (const int device : all_devices(router.topology())) {
        if (random() % 3 != 0) {
          exchange.ranks.push_back(device);
        }
      }
      const auto each = pairs(exchange);
      all.insert(all.end(), each.begin(), each.end());
      traffic.exchanges.push_back(std::move(exchange));
    }
    SCOPED_TRACE(trial);
    expect_near(link_loads(router, traffic), walked(router, all));
  }
}

TEST(LinkLoads, AddUpToBytesTimesHops) {
  std::minstd_rand random(2);
  for (int trial = 0; trial < 100; ++trial) {
    Router router(random_connected(random));
    const Traffic traffic = all_to_all(router.topology(), 3_B);
    double expected = 0.0;
    for (const Demand& demand : pairs(traffic.exchanges[0])) {
      expected += 3.0 * *router.hops(demand.from, demand.to);
    }
    EXPECT_NEAR(total(link_loads(router, traffic)).si(), expected, 1e-9 * expected);
  }
}

TEST(LinkLoads, OfATorusFollowDimensionOrderWhenItIsAsked) {
  const std::array sizes = {4, 3, 2};
  Router router(grid({4, 3, 2}), sizes);
  const Traffic traffic{.demands = {{0, 23, 12_B}, {5, 14, 7_B}, {23, 1, 1_B}}, .exchanges = {}};
  expect_near(link_loads(router, traffic), walked(router, traffic.demands));
  // From 0 to (1, 1, 1) = 1 + 4 + 12: along x, then y, then z.
  const auto loads = link_loads(router, {.demands = {{0, 1 + 4 + 12, 5_B}}, .exchanges = {}});
  EXPECT_DOUBLE_EQ(total(loads).si(), 3 * 5.0);
  EXPECT_EQ(std::count(loads.begin(), loads.end(), 5_B), 3);
}

TEST(LinkLoads, OfSeveralGroupsAreTheirSum) {
  const Router router(leaf_spine(4, 4, 2));
  const Traffic first{.demands = {}, .exchanges = {{.ranks = {0, 4, 8, 12}, .per_pair = 2_B}}};
  const Traffic second{.demands = {{0, 5, 9_B}},
                       .exchanges = {{.ranks = {0, 1, 6, 7}, .per_pair = 3_B}}};
  Traffic both = first;
  both.demands = second.demands;
  both.exchanges.push_back(second.exchanges[0]);
  std::vector<Bytes> sum = link_loads(router, first);
  const std::vector<Bytes> more = link_loads(router, second);
  for (std::size_t lane = 0; lane < sum.size(); ++lane) {
    sum[lane] += more[lane];
  }
  expect_near(link_loads(router, both), sum);
}

// Per rank n = p * per_pair bytes with its own share. The even ring's links carry n p / 8 each:
// p sources, half-way round p/4 hops on average, 2p lanes: p * n * (p/4) / (2p) = n p / 8.
TEST(LinkLoads, OfAnAllToAllOnARingAreAnEighthOfRanksTimesBytes) {
  for (const int p : {4, 6, 8, 16}) {
    const Topology topology = ring(p);
    const Bytes per_pair = 1_MB;
    const Bytes per_rank = p * per_pair;
    for (const Bytes load : link_loads(Router(topology), all_to_all(topology, per_pair))) {
      EXPECT_NEAR(load.si(), (per_rank * p / 8).si(), 1e-3);
    }
  }
}

TEST(LinkLoads, OfAnAllToAllOnATorusReachTheBisectionBound) {
  const Topology topology = grid({8, 4, 4});
  const Bytes per_pair = 1_MB;
  const Bytes per_rank = 8 * 4 * 4 * per_pair;
  const auto busiest =
      busiest_link(topology, link_loads(Router(topology), all_to_all(topology, per_pair)));
  // n p_max / (8 B), the longest dimension being 8.
  EXPECT_NEAR(busiest->time.si(), (per_rank * 8 / (8 * kRate)).si(), 1e-12);
}

TEST(LinkLoads, OfAnAllToAllOnAMeshReachTheBisectionBoundInDimensionOrder) {
  const Topology topology = grid({8, 4}, false);
  const std::array sizes = {8, 4};
  const Bytes per_pair = 1_MB;
  const Bytes per_rank = 8 * 4 * per_pair;
  const Traffic traffic = all_to_all(topology, per_pair);
  const auto busiest = busiest_link(topology, link_loads(Router(topology, sizes), traffic));
  EXPECT_NEAR(busiest->time.si(), (per_rank * 8 / (4 * kRate)).si(), 1e-12);
}

TEST(LinkLoads, OfAnOversubscribedFatTreeGrowWithTheOversubscription) {
  const int leaves = 4;
  const int hosts = 8;
  for (const int spines : {8, 4, 2}) {
    const Topology topology = leaf_spine(leaves, hosts, spines);
    const auto loads = link_loads(Router(topology), all_to_all(topology, 1_MB));
    const int p = leaves * hosts;
    EXPECT_NEAR(loads[0].si(), (p - 1) * 1e6, 1e-3);  // a host's wire
    // A leaf's hosts send to the hosts of the other leaves, over all spines.
    const double up = static_cast<double>(hosts) * (p - hosts) / spines * 1e6;
    EXPECT_NEAR(loads[2 * static_cast<std::size_t>(p)].si(), up, 1e-3);
    const auto busiest = busiest_link(topology, loads);
    EXPECT_NEAR(busiest->bytes.si(), std::max(up, (p - 1) * 1e6), 1e-3);
  }
}

TEST(LinkLoads, OfAFullFatTreeAreNowhereMoreThanAHostSends) {
  const Topology topology = fat_tree(8);
  const auto busiest =
      busiest_link(topology, link_loads(Router(topology), all_to_all(topology, 1_B)));
  EXPECT_DOUBLE_EQ(busiest->bytes.si(), topology.devices - 1);
  EXPECT_EQ(busiest->lane, 0U);
}

TEST(LinkLoads, StayOffOtherDevicesWhereASwitchJoinsAll) {
  // 0 - 1 - 2 by direct wires, and all of them on switch 3.
  const Topology topology =
      wired(3, 1, {wire(0, 1), wire(1, 2), wire(0, 3), wire(1, 3), wire(2, 3)});
  const auto loads = link_loads(Router(topology), {.demands = {{0, 2, 5_B}}, .exchanges = {}});
  EXPECT_EQ(loads, (std::vector<Bytes>{0_B, 0_B, 0_B, 0_B, 5_B, 0_B, 0_B, 0_B, 0_B, 5_B}));
}

TEST(LinkLoads, GiveAWireOfParallelLinksItsShare) {
  const Topology topology = wired(2, 0, {wire(0, 1, 3), wire(1, 0)});
  const auto loads = link_loads(Router(topology), {.demands = {{0, 1, 8_B}}, .exchanges = {}});
  EXPECT_EQ(loads, (std::vector<Bytes>{6_B, 0_B, 0_B, 2_B}));
}

TEST(LinkLoads, AreNoneForWhatStaysOnItsDevice) {
  const Router router(leaf_spine(2, 2, 1));
  const Traffic traffic{
      .demands = {{1, 1, 5_B}},
      .exchanges = {{.ranks = {2}, .per_pair = 3_B}, {.ranks = {}, .per_pair = 1_B}}};
  EXPECT_EQ(total(link_loads(router, traffic)), 0_B);
  EXPECT_EQ(busiest_link(router.topology(), link_loads(router, traffic)), std::nullopt);
}

TEST(LinkLoads, StartAndEndAtSwitchesToo) {
  const Router hubs(leaf_spine(2, 2, 1));  // devices 0 to 3, leaves 4 and 5, spine 6
  const auto down = link_loads(hubs, {.demands = {{6, 0, 3_B}}, .exchanges = {}});
  EXPECT_EQ(total(down), 2 * 3_B);  // to the leaf, to the device
  const auto up = link_loads(hubs, {.demands = {{0, 4, 5_B}}, .exchanges = {}});
  EXPECT_EQ(total(up), 5_B);
  EXPECT_EQ(busiest_link(hubs.topology(), up)->bytes, 5_B);
}

TEST(LinkLoads, RefuseWhatCannotBeSent) {
  const Router apart(wired(4, 0, {wire(0, 1), wire(2, 3)}));
  EXPECT_THROW((void)link_loads(apart, {.demands = {{0, 2, 1_B}}, .exchanges = {}}), Defect);
  EXPECT_THROW((void)link_loads(apart, all_to_all(apart.topology(), 1_B)), Defect);
  const Router hubs(leaf_spine(2, 2, 1));
  EXPECT_THROW((void)link_loads(hubs, {.demands = {{0, 7, 1_B}}, .exchanges = {}}), Defect);
  EXPECT_THROW((void)link_loads(hubs, {.demands = {}, .exchanges = {{{0, 1, 0}, 1_B}}}), Defect);
}

TEST(BusiestLink, AddsBothDirectionsOfABus) {
  Topology topology = wired(3, 0, {wire(0, 1), wire(1, 2)});
  const std::vector<Bytes> loads = {6_B, 0_B, 4_B, 5_B};
  EXPECT_EQ(busiest_link(topology, loads)->lane, 0U);
  topology.wires[1].duplex = Duplex::half;
  const auto busiest = busiest_link(topology, loads);
  EXPECT_EQ(busiest->lane, 2U);
  EXPECT_DOUBLE_EQ(busiest->bytes.si(), 4 + 5);
  EXPECT_DOUBLE_EQ(busiest->time.si(), (4 + 5) / kRate.si());
}

TEST(BusiestLink, IsTheSlowestAndNotTheFullest) {
  Topology topology = wired(3, 0, {wire(0, 1, 4), wire(1, 2)});
  const std::vector<Bytes> loads = {0_B, 12_B, 4_B, 0_B};
  const auto busiest = busiest_link(topology, loads);
  EXPECT_EQ(busiest->lane, 2U);  // 4 / 1 > 12 / 4
  EXPECT_DOUBLE_EQ(busiest->time.si(), 4 / kRate.si());
}

TEST(HalvesTime, IsReachedOnARingAndNeverBeaten) {
  const Topology topology = ring(8);
  const Traffic traffic = all_to_all(topology, 1_MB);
  EXPECT_NEAR(busiest_link(topology, link_loads(Router(topology), traffic))->time.si(),
              halves_time(topology, traffic)->si(),
              1e-12);
  EXPECT_DOUBLE_EQ(halves_time(topology, traffic)->si(), 4 * 4 * 1e6 / (2 * kRate.si()));
  std::minstd_rand random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Topology any = random_connected(random);
    const Traffic all = all_to_all(any, 1_MB);
    EXPECT_GE(busiest_link(any, link_loads(Router(any), all))->time.si(),
              halves_time(any, all)->si() * (1 - 1e-12));
  }
}

TEST(HalvesTime, CountsTheFullerDirection) {
  const Topology topology = wired(4, 0, {wire(0, 1), wire(1, 2), wire(2, 3)});
  const Traffic traffic{.demands = {{0, 2, 5_B}, {3, 1, 4_B}, {1, 3, 1_B}, {0, 1, 99_B}},
                        .exchanges = {{.ranks = {0, 2, 3}, .per_pair = 10_B}}};
  EXPECT_DOUBLE_EQ(halves_time(topology, traffic)->si(), (5 + 1 + 2 * 10) / kRate.si());
}

TEST(HalvesTime, IsAbsentWhereTheHalvesAreApart) {
  const Topology apart = wired(4, 0, {wire(0, 1), wire(2, 3)});
  EXPECT_EQ(halves_time(apart, all_to_all(apart, 1_B)), std::nullopt);
  EXPECT_EQ(halves_time(apart, {.demands = {{0, 1, 7_B}}, .exchanges = {}}), 0_s);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
