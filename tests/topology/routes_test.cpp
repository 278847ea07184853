#include "titer/topology/routes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "titer/units/ensure.hpp"
#include "topology/graphs.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using graphs::fat_tree;
using graphs::grid;
using graphs::leaf_spine;
using graphs::random_graph;
using graphs::ring;
using graphs::wire;
using graphs::wired;

std::size_t index(int vertex) { return static_cast<std::size_t>(vertex); }

/// {other devices passed, lanes} of the best routes between all pairs. [Floyd-Warshall]
using Cost = std::pair<int, int>;
constexpr Cost kNone = {std::numeric_limits<int>::max(), 0};

std::vector<std::vector<Cost>> all_costs(const Topology& topology) {
  const int n = topology.vertices();
  std::vector<std::vector<Cost>> cost(index(n), std::vector<Cost>(index(n), kNone));
  for (int vertex = 0; vertex < n; ++vertex) {
    cost[index(vertex)][index(vertex)] = {0, 0};
  }
  for (const Wire& each : topology.wires) {
    cost[index(each.a)][index(each.b)] = {0, 1};
    cost[index(each.b)][index(each.a)] = {0, 1};
  }
  for (int middle = 0; middle < n; ++middle) {
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to) {
        const Cost first = cost[index(from)][index(middle)];
        const Cost second = cost[index(middle)][index(to)];
        if (first == kNone || second == kNone || middle == from || middle == to) {
          continue;
        }
        const Cost both = {first.first + second.first + (middle < topology.devices ? 1 : 0),
                           first.second + second.second};
        cost[index(from)][index(to)] = std::min(cost[index(from)][index(to)], both);
      }
    }
  }
  return cost;
}

/// What a route costs, after a check that its lanes follow one another from `from` to `to`.
Cost cost_of(const Topology& topology, const Route& route, int from, int to) {
  Cost cost = {0, 0};
  int at = from;
  for (const Lane lane : route) {
    EXPECT_EQ(lane_begin(topology, lane), at);
    at = lane_end(topology, lane);
    cost.first += at < topology.devices && at != to ? 1 : 0;
    ++cost.second;
  }
  EXPECT_EQ(at, to);
  return cost;
}

TEST(Lanes, AreTheTwoDirectionsOfAWire) {
  const Topology topology = wired(3, 0, {wire(0, 1), wire(2, 1)});
  EXPECT_EQ(lane_begin(topology, 2), 2);
  EXPECT_EQ(lane_end(topology, 2), 1);
  EXPECT_EQ(lane_begin(topology, 3), 1);
  EXPECT_EQ(lane_end(topology, 3), 2);
  EXPECT_EQ(wire_of(3), 1U);
  EXPECT_THROW((void)lane_begin(topology, 4), Defect);
}

TEST(Capacities, AreOnePerDirectionOfAFullDuplexWireAndOnePerBus) {
  Topology topology = wired(3, 0, {wire(0, 1, 3), wire(1, 2), wire(2, 0)});
  topology.wires[1].duplex = Duplex::half;
  const Capacities limits = capacities(topology);
  EXPECT_EQ(limits.of_lane, (std::vector<std::uint32_t>{0, 1, 2, 2, 3, 4}));
  ASSERT_EQ(limits.rates.size(), 2U + 1U + 2U);
  EXPECT_DOUBLE_EQ(limits.rates[0].si(), 3 * 10e9);
  EXPECT_DOUBLE_EQ(limits.rates[1].si(), 3 * 10e9);
  EXPECT_DOUBLE_EQ(limits.rates[2].si(), 10e9);
}

TEST(Router, FindsBestRoutesOnRandomGraphs) {
  std::minstd_rand random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const int devices = 1 + static_cast<int>(random() % 8);
    const Topology topology =
        random_graph(random, devices, 2 + static_cast<int>(random() % 6), 4 + trial % 12);
    const auto costs = all_costs(topology);
    Router router(topology);
    for (int from = 0; from < topology.vertices(); ++from) {
      for (int to = 0; to < topology.vertices(); ++to) {
        const Cost best = costs[index(from)][index(to)];
        const auto route = router.route(from, to, random());
        ASSERT_EQ(route.has_value(), best != kNone) << trial << ": " << from << " to " << to;
        ASSERT_EQ(router.hops(from, to).has_value(), best != kNone);
        if (route) {
          ASSERT_EQ(cost_of(topology, *route, from, to), best)
              << trial << ": " << from << " to " << to;
          ASSERT_EQ(router.hops(from, to), best.second);
        }
      }
    }
  }
}

TEST(Router, OffersExactlyTheFirstLanesOfBestRoutes) {
  std::minstd_rand random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const Topology topology = random_graph(random, 6, 5, 16);
    const auto costs = all_costs(topology);
    Router router(topology);
    for (int from = 0; from < topology.vertices(); ++from) {
      for (int to = 0; to < topology.vertices(); ++to) {
        std::vector<Lane> expected;
        for (Lane lane = 0; lane < 2 * topology.wires.size(); ++lane) {
          const int via = lane_end(topology, lane);
          Cost rest = costs[index(via)][index(to)];
          if (from == to || lane_begin(topology, lane) != from || rest == kNone) {
            continue;
          }
          rest.first += via < topology.devices && via != to ? 1 : 0;
          rest.second += 1;
          if (rest == costs[index(from)][index(to)]) {
            expected.push_back(lane);
          }
        }
        const auto next = router.next(from, to);
        ASSERT_EQ(std::vector<Lane>(next.begin(), next.end()), expected);
      }
    }
  }
}

TEST(Router, SettlesVerticesInOrderOfRisingCost) {
  std::minstd_rand random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Topology topology = random_graph(random, 7, 7, 18);
    const Router router(topology);
    RouteCosts costs;
    router.find_costs(trial % topology.vertices(), costs);
    ASSERT_EQ(costs.order.front(), trial % topology.vertices());
    for (std::size_t i = 1; i < costs.order.size(); ++i) {
      ASSERT_LE(costs.of_vertex[index(costs.order[i - 1])], costs.of_vertex[index(costs.order[i])]);
    }
    const auto reached =
        costs.of_vertex.size() -
        static_cast<std::size_t>(
            std::count(costs.of_vertex.begin(), costs.of_vertex.end(), RouteCosts::unreachable));
    ASSERT_EQ(std::set<int>(costs.order.begin(), costs.order.end()).size(), reached);
    ASSERT_EQ(costs.order.size(), reached);
  }
}

TEST(Router, NeedsNoLaneFromAVertexToItself) {
  Router router(ring(4));
  EXPECT_EQ(router.route(2, 2), Route{});
  EXPECT_EQ(router.hops(2, 2), 0);
  EXPECT_TRUE(router.next(2, 2).empty());
  EXPECT_EQ(router.all_routes(2, 2, 5), std::vector<Route>{Route{}});
}

TEST(Router, HasNoRouteBetweenSeparateParts) {
  Router router(wired(4, 0, {wire(0, 1), wire(2, 3)}));
  EXPECT_EQ(router.route(0, 2), std::nullopt);
  EXPECT_EQ(router.hops(0, 2), std::nullopt);
  EXPECT_TRUE(router.next(0, 2).empty());
  EXPECT_TRUE(router.all_routes(0, 2, 5).empty());
}

TEST(Router, RefusesVerticesOutsideTheGraph) {
  Router router(ring(4));
  EXPECT_THROW((void)router.route(0, 4), Defect);
  EXPECT_THROW((void)router.route(-1, 0), Defect);
  EXPECT_THROW((void)router.next(4, 0), Defect);
  EXPECT_THROW(Router(wired(2, 0, {wire(0, 2)})), Defect);
  EXPECT_THROW(Router(wired(2, 0, {wire(0, 1, 0)})), Defect);
}

TEST(Router, LetsDevicesForwardInARing) {
  Router router(ring(8));
  EXPECT_EQ(router.hops(0, 3), 3);
  EXPECT_EQ(router.all_routes(0, 4, 10).size(), 2U);  // both ways round
}

// 0 - 1 - 2 directly, and all three on a chain of two switches: 0 - 3 - 4 - 2.
Topology host_path() {
  return wired(3, 2, {wire(0, 1), wire(1, 2), wire(0, 3), wire(3, 4), wire(4, 2)});
}

TEST(Router, LetsNoDeviceForwardWhereALongerSwitchPathExists) {
  Router router(host_path());
  EXPECT_EQ(router.hops(0, 2), 3);  // not 2, through device 1
  EXPECT_EQ(router.route(0, 2), (Route{2 * 2, 2 * 3, 2 * 4}));
  EXPECT_EQ(router.hops(0, 1), 1);  // a direct wire is no forwarding
}

TEST(Router, LetsADeviceForwardWhereNoSwitchPathExists) {
  Topology topology = host_path();
  topology.wires.pop_back();  // switch 4 leads nowhere
  Router router(topology);
  EXPECT_EQ(router.route(0, 2), (Route{2 * 0, 2 * 1}));
  EXPECT_EQ(router.hops(4, 2), 4);  // 4 - 3 - 0 - 1 - 2
}

TEST(Router, CountsTheWaysAcrossATorus) {
  Router router(grid({4, 4}));
  // (0,0) to (2,2): four lanes, two of them along x; both ways round in each dimension.
  EXPECT_EQ(router.hops(0, 2 + 4 * 2), 2 + 2);
  EXPECT_EQ(router.all_routes(0, 2 + 4 * 2, 1000).size(), std::size_t{2 * 2 * (4 * 3 / 2)});
  EXPECT_EQ(router.next(0, 2 + 4 * 2).size(), 4U);
  // (0,0) to (1,2): one lane along x at three places among the two along y, two ways round.
  EXPECT_EQ(router.all_routes(0, 1 + 4 * 2, 1000).size(), std::size_t{2 * 3});
}

TEST(Router, CountsTheWaysThroughAFatTree) {
  const int k = 4;
  Router router(fat_tree(k));
  EXPECT_EQ(router.all_routes(0, 1, 100).size(), 1U);                  // same edge switch
  EXPECT_EQ(router.all_routes(0, 2, 100).size(), std::size_t{k / 2});  // same pod
  EXPECT_EQ(router.all_routes(0, 15, 100).size(), std::size_t{(k / 2) * (k / 2)});  // another pod
  EXPECT_EQ(router.hops(0, 15), 6);
}

TEST(Router, ListsDistinctRoutesUpToTheLimit) {
  const Topology topology = grid({4, 4});
  Router router(topology);
  const auto all = router.all_routes(0, 10, 1000);
  EXPECT_EQ(std::set<Route>(all.begin(), all.end()).size(), all.size());
  for (const Route& route : all) {
    EXPECT_EQ(cost_of(topology, route, 0, 10), (Cost{3, 4}));
  }
  EXPECT_EQ(router.all_routes(0, 10, 7), std::vector<Route>(all.begin(), all.begin() + 7));
  EXPECT_TRUE(router.all_routes(0, 10, 0).empty());
}

TEST(Router, GivesTheSameRouteForTheSameChoiceAndAllRoutesForAllChoices) {
  const Topology topology = grid({4, 4});
  Router router(topology);
  Router other(topology);
  std::set<Route> seen;
  for (std::uint64_t choice = 0; choice < 1000; ++choice) {
    EXPECT_EQ(router.route(0, 10, choice), other.route(0, 10, choice));
    seen.insert(*router.route(0, 10, choice));
  }
  const auto all = router.all_routes(0, 10, 1000);
  EXPECT_EQ(seen, std::set<Route>(all.begin(), all.end()));
}

TEST(Router, PicksAWireInProportionToItsParallelLinks) {
  Router router(wired(2, 0, {wire(0, 1, 3), wire(0, 1, 1)}));
  constexpr int kTrials = 4000;
  int first = 0;
  for (std::uint64_t choice = 0; choice < kTrials; ++choice) {
    first += router.route(0, 1, choice)->front() == 0 ? 1 : 0;
  }
  // The standard deviation is sqrt(4000 * 3/4 * 1/4) = 27; five of them.
  EXPECT_NEAR(first, kTrials * 3 / 4, 5 * 27);
}

TEST(Router, SpreadsPairsOverTheSpinesWithoutBeingAsked) {
  const int hosts = 16;
  const int spines = 8;
  Router router(leaf_spine(2, hosts, spines));
  std::vector<int> used(spines, 0);
  for (int from = 0; from < hosts; ++from) {
    for (int to = hosts; to < 2 * hosts; ++to) {
      const Route route = *router.route(from, to);
      ++used[index(lane_end(router.topology(), route[1]) - 2 * hosts - 2)];
    }
  }
  const double mean = hosts * hosts / static_cast<double>(spines);  // 32, deviation 5.3
  EXPECT_GT(*std::min_element(used.begin(), used.end()), mean / 2);
  EXPECT_LT(*std::max_element(used.begin(), used.end()), 2 * mean);
}

TEST(Router, AddsTheLatenciesOfARoute) {
  Topology topology = host_path();
  for (std::size_t i = 0; i < topology.wires.size(); ++i) {
    topology.wires[i].latency = (1 << i) * 1_us;
  }
  Router router(topology);
  EXPECT_DOUBLE_EQ(router.latency(*router.route(0, 2)).si(), (4 + 8 + 16) * 1e-6);
  EXPECT_DOUBLE_EQ(router.latency(Route{}).si(), 0.0);
}

TEST(DimensionOrder, SettlesTheFirstDimensionFirst) {
  const std::array sizes = {4, 5, 3};
  const Topology topology = grid({4, 5, 3});
  Router router(topology, sizes);
  Router free(topology);
  for (int from = 0; from < topology.devices; ++from) {
    for (int to = 0; to < topology.devices; ++to) {
      const Route route = *router.route(from, to, 7);
      ASSERT_EQ(cost_of(topology, route, from, to).second, free.hops(from, to));
      int at = from;
      for (const Lane lane : route) {
        const int next = lane_end(topology, lane);
        // A step along y needs x settled, one along z both.
        if (at % 4 == next % 4) {
          ASSERT_EQ(at % 4, to % 4);
          if (at / 4 % 5 == next / 4 % 5) {
            ASSERT_EQ(at / 4 % 5, to / 4 % 5);
          }
        }
        at = next;
      }
    }
  }
}

TEST(DimensionOrder, LeavesOnlyTheWayRoundToChoose) {
  const std::array sizes = {4, 4};
  Router router(grid({4, 4}), sizes);
  EXPECT_EQ(router.all_routes(0, 1 + 4 * 1, 100).size(), 1U);
  EXPECT_EQ(router.all_routes(0, 2 + 4 * 2, 100).size(), std::size_t{2 * 2});
}

TEST(DimensionOrder, RefusesWhatIsNoTorus) {
  const std::array sizes = {4, 4};
  EXPECT_THROW(Router(ring(15), sizes), Defect);
  EXPECT_THROW(Router(leaf_spine(4, 4, 1), sizes), Defect);
  Topology diagonal = grid({4, 4});
  diagonal.wires.push_back(wire(0, 5));
  EXPECT_THROW(Router(diagonal, sizes), Defect);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
