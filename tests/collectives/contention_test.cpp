#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collectives/contract_groups.hpp"
#include "collectives/executions.hpp"
#include "collectives/graphs.hpp"
#include "titer/collectives/execution.hpp"
#include "titer/topology/families.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/torus.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using namespace executions;

// ---- Where they do not hold -------------------------------------------------------------------

TEST(Contention, ARingInRankOrderOnADgx1CrossesTheHostTwiceARound) {
  const int links[][3] = {{0, 1, 1},
                          {0, 2, 1},
                          {0, 3, 2},
                          {0, 4, 2},
                          {1, 2, 2},
                          {1, 3, 1},
                          {1, 5, 2},
                          {2, 3, 2},
                          {2, 6, 1},
                          {3, 7, 1},
                          {4, 5, 1},
                          {4, 6, 1},
                          {4, 7, 2},
                          {5, 6, 2},
                          {5, 7, 1},
                          {6, 7, 2}};
  Topology graph{.name = "dgx-1", .devices = 8, .switches = 0, .wires = {}};
  for (const auto& link : links) {
    graph.wires.push_back({.a = link[0], .b = link[1], .count = link[2], .bandwidth = 25_GBps});
  }
  const int host = add_switches(graph, 1, {.kind = SwitchKind::cpu});
  for (int device = 0; device < 8; ++device) {
    graph.wires.push_back({.a = device, .b = host, .bandwidth = 8_GBps});
  }
  const Run1 run{.algorithm = algorithm(Collective::all_reduce, "ring"),
                 .size = kSize,
                 .group = {.per_node = 8},
                 .fabric = switched_fabric({.latency = 2_us, .bandwidth = 25_GBps}, {}),
                 .ranks = numbers(8)};
  // 3 to 4 and 7 to 0 have no wire.
  expect_formula(run.on(graph), 2 * 7 * (kAlpha + kSize.si() / 8 / 8e9), "in rank order");
  Run1 along = run;
  along.ranks = {0, 1, 2, 3, 7, 6, 5, 4};  // every neighbour has a wire
  expect_formula(along.on(graph), run.formula(), "along the wires");
}

TEST(Contention, RecursiveDoublingOnARingLoadsALinkWithAllThatPassItAtThatDistance) {
  for (const int p : {4, 8, 16, 32}) {
    const Topology graph = RingNode{.devices = p, .bandwidth = 100_GBps}.build();
    const Run1 run{.algorithm = algorithm(Collective::all_reduce, "recursive-doubling"),
                   .size = kSize,
                   .group = {.per_node = p},
                   .fabric = flat_fabric(),
                   .ranks = numbers(p)};
    const Both both = run.on(graph);
    // At distance d < p/2, d messages pass the middle of a block of 2 d; at p/2, every message
    // passes half the ring, half of it each way: p (p/2) / 2 over p links.
    const double passes = (p / 2 - 1) + p / 4.0;
    const double doublings = std::log2(p);
    EXPECT_NEAR(run.formula(), doublings * (kAlpha + kOnce), 1e-12) << p;
    EXPECT_NEAR(both.rounds.time.si(), doublings * kAlpha + passes * kOnce, 1e-9) << p;
    // One way each, picked by a hash: p/4 where these balance, p/2 where all go the same way.
    EXPECT_GE(both.flows.time.si(), both.rounds.time.si() * (1 - 1e-9)) << p;
    EXPECT_LE(both.flows.time.si(), doublings * kAlpha + (passes + p / 4.0) * kOnce * (1 + 1e-9))
        << p;
  }
}

TEST(Contention, PairwiseAllToAllOnARingTakesAQuarterOfItsLengthInsteadOfOneLink) {
  for (const int p : {4, 8, 16}) {
    const Topology graph = RingNode{.devices = p, .bandwidth = 100_GBps}.build();
    const Run1 run{.algorithm = algorithm(Collective::all_to_all, "pairwise"),
                   .size = kSize,
                   .group = {.per_node = p},
                   .fabric = flat_fabric(),
                   .ranks = numbers(p)};
    const Both both = run.on(graph);
    // In step k every link one way is passed by min(k, p-k) messages; by p/4 each way at p/2.
    const double passes = (p / 2.0) * (p / 2.0 - 1) + p / 4.0;
    EXPECT_DOUBLE_EQ(passes / (p - 1), p / 4.0);
    EXPECT_NEAR(both.rounds.time.si(), (p - 1) * kAlpha + passes * kOnce / p, 1e-9) << p;
    EXPECT_GE(both.flows.time.si(), both.rounds.time.si() * (1 - 1e-9)) << p;
  }
}

TEST(Contention, PairwiseOnATorusIsBoundByItsLongestAxis) {
  const Torus torus{.dimensions = {4, 4}, .wrap = {true, true}, .bandwidth = 100_GBps};
  Router router(torus.build(), torus.dimensions);
  const Run1 run{.algorithm = algorithm(Collective::all_to_all, "pairwise"),
                 .size = kSize,
                 .group = {.per_node = 16},
                 .fabric = flat_fabric(),
                 .ranks = numbers(16)};
  const Execution rounds = run.on(router).rounds;
  EXPECT_GT(rounds.time.si(), run.formula());
  // No more than two messages of a step share a wire of an axis of four: those half-way round and
  // those next to them that carry over into the second axis.
  EXPECT_LE(rounds.time.si(), 15 * (kAlpha + 2 * kOnce / 16));
}

TEST(Contention, AnAllToAllOnAnOversubscribedTreeTakesThatMuchLonger) {
  const double leaving = 24.0 / 32;  // of what a device of 4 leaves of 8 sends
  for (const int oversubscription : {1, 2, 4, 8}) {
    const Router router(leaf_spine(8, 4, 8 / oversubscription, 100_GBps));
    const Execution found = execute_exchange(kSize, numbers(32), router, kLink);
    const double port = 31.0 / 32 * kOnce;
    EXPECT_NEAR(found.time.si(), kAlpha + std::max(port, oversubscription * leaving * kOnce), 1e-9)
        << oversubscription;
  }
}

/// Groups {i, per_node + i} on two nodes, each with a ring all-reduce.
struct DataGroups {
  Steps steps = algorithm(Collective::all_reduce, "ring")
                    .steps(kSize, Group{.per_node = 1, .nodes = 2}, flat_fabric());

  [[nodiscard]] std::vector<PlacedSteps> of(int count, int per_node) const {
    std::vector<PlacedSteps> placed;
    for (int i = 0; i < count; ++i) {
      placed.push_back(
          {.steps = &steps, .ranks = {i, per_node + i}, .helpers = {}, .host = std::nullopt});
    }
    return placed;
  }
};

TEST(Contention, DataParallelRingsThatShareANicShareItsBandwidth) {
  const DataGroups groups;
  Router shared(joined(2, 4, 1, 300_GBps, 100_GBps));
  Router own(joined(2, 4, 4, 300_GBps, 100_GBps));
  for (const int count : {1, 2, 3, 4}) {
    const auto placed = groups.of(count, 4);
    expect_formula(execute(placed, shared, flat_fabric()),
                   2 * (kAlpha + count * kOnce / 2),
                   std::to_string(count) + " on one NIC");
    expect_formula(execute(placed, own, flat_fabric()),
                   2 * (kAlpha + kOnce / 2),
                   std::to_string(count) + " on NICs of their own");
  }
}

TEST(Contention, HashedRoutesCollideWhereEvenSplittingWouldNot) {
  Router router(leaf_spine(8, 2, 8, 100_GBps));  // as many links up as down
  std::vector<std::pair<int, int>> pairs;
  std::map<Lane, int> on_lane;
  for (int i = 0; i < 8; ++i) {
    pairs.emplace_back(i, 8 + i);
    const Route route = router.route(i, 8 + i).value_or(Route{});
    for (const Lane lane : route) {
      ++on_lane[lane];
    }
  }
  int most = 0;
  for (const auto& [lane, count] : on_lane) {
    most = std::max(most, count);
  }
  ASSERT_GT(most, 1) << "eight hashes over eight spines do not collide once in 400 cases";
  const Steps steps = one_round(16, pairs);
  const PlacedSteps placed{
      .steps = &steps, .ranks = numbers(16), .helpers = {}, .host = std::nullopt};
  const Both both = execute(std::span(&placed, 1), router, flat_fabric());
  EXPECT_NEAR(both.rounds.time.si(), kAlpha + kOnce, 1e-11);
  EXPECT_NEAR(both.flows.time.si(), kAlpha + most * kOnce, 1e-11);
}

TEST(Contention, ABusTakesTwiceAsLongForBothDirections) {
  Topology graph{.name = "pair",
                 .devices = 2,
                 .switches = 0,
                 .wires = {{.a = 0, .b = 1, .bandwidth = 100_GBps}}};
  const Run1 run{.algorithm = algorithm(Collective::all_reduce, "ring"),
                 .size = kSize,
                 .group = {.per_node = 2},
                 .fabric = flat_fabric(),
                 .ranks = {0, 1}};
  expect_formula(run.on(graph), 2 * (kAlpha + kOnce / 2), "full duplex");
  graph.wires[0].duplex = Duplex::half;
  expect_formula(run.on(graph), 2 * (kAlpha + 2 * kOnce / 2), "half duplex");
}

TEST(Contention, LatenciesOfWiresAddUpAlongTheRoute) {
  const Topology graph =
      FatTree{.levels = {{.down = 2, .up = 1, .bandwidth = 100_GBps, .latency = 1_us},
                         {.down = 2, .up = 1, .bandwidth = 100_GBps, .latency = 5_us}}}
          .build();
  Run1 run{.algorithm = algorithm(Collective::all_reduce, "ring"),
           .size = kSize,
           .group = {.per_node = 2},
           .fabric = flat_fabric(),
           .ranks = {0, 1}};
  expect_formula(run.on(graph), 2 * (kAlpha + 2e-6 + kOnce / 2), "at one leaf");
  run.ranks = {0, 2};
  expect_formula(run.on(graph), 2 * (kAlpha + 2 * (1e-6 + 5e-6) + kOnce / 2), "at two leaves");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
