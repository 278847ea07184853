#include "titer/collectives/execution.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collectives/contract_groups.hpp"
#include "collectives/executions.hpp"
#include "collectives/graphs.hpp"
#include "titer/topology/families.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/torus.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using namespace executions;

Fabric wire_fabric() { return {.wire = Channel(kLink)}; }

std::string name_of_entry(const AlgorithmEntry& entry) {
  return std::string(name_of(entry.collective)) + " by " + std::string(entry.name);
}

// ---- Where the assumptions of the formulas hold -----------------------------------------------

/// Groups on one switch: of one node, of nodes of one rank each, with and without servers.
std::vector<Group> flat_groups() {
  std::vector<Group> groups;
  for (const int n : {2, 3, 4, 6, 7, 8, 13}) {
    groups.push_back({.per_node = n});
    groups.push_back({.per_node = 1, .nodes = n});
    for (const int servers : {1, 2, n}) {
      groups.push_back({.per_node = n, .servers = servers});
    }
  }
  return groups;
}

TEST(Execution, IsTheFormulaOfEveryAlgorithmOnANonBlockingSwitch) {
  std::map<std::string, int> tried;
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    for (const Group& group : flat_groups()) {
      if (!entry.applies(group, flat_fabric())) {
        continue;
      }
      const int n = group.ranks();
      const Topology graph =
          SwitchedNode{.devices = n + group.servers, .bandwidth = 100_GBps}.build();
      // The servers are devices of their own, everything that adds is the switch.
      const bool on_servers = entry.name == "parameter-server";
      const Run1 run{
          .algorithm = entry,
          .size = kSize,
          .group = group,
          .fabric = flat_fabric(),
          .ranks = numbers(n),
          .helpers = on_servers ? numbers(group.servers, n) : std::vector<int>{graph.devices}};
      const Both both = run.on(graph);
      const std::string what = name_of_entry(entry) + " on " + text_of(group);
      if (entry.exact) {
        expect_formula(both, run.formula(), what);
      } else {
        for (const Execution& execution : {both.rounds, both.flows}) {
          EXPECT_LE(execution.time.si(), run.formula() + rounding(execution)) << what;
          EXPECT_GE(execution.time.si(), run.formula() / 2) << what;
        }
      }
      ++tried[name_of_entry(entry)];
    }
  }
  EXPECT_GE(tried.size(), 30U);
}

TEST(Execution, IsTheFormulaOfEveryTwoTierAlgorithmOnNodesWithANicPerDevice) {
  const Link inside{.latency = 3_us, .bandwidth = 300_GBps};
  const Link between{.latency = 11_us, .bandwidth = 25_GBps};
  int tried = 0;
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    for (const int nodes : {2, 3, 4}) {
      for (const int per_node : {2, 4, 8}) {
        const Group group{.per_node = per_node, .nodes = nodes};
        const Fabric fabric = switched_fabric(inside, between);
        Fabric without_node = fabric;
        without_node.node = without_node.exchange = without_node.pair =
            without_node.node_switch = {};
        if (!entry.applies(group, fabric) || entry.applies(group, without_node)) {
          continue;  // flat: through the network even between devices of a node
        }
        const Topology graph = joined(nodes, per_node, per_node, 300_GBps, 25_GBps);
        const bool in_nodes = entry.name == "hierarchical-in-switch";
        const Run1 run{.algorithm = entry,
                       .size = kSize,
                       .group = group,
                       .fabric = fabric,
                       .ranks = numbers(nodes * per_node),
                       .helpers = in_nodes ? numbers(nodes, graph.devices)
                                           : std::vector<int>{graph.vertices() - 1}};
        const Both both = run.on(graph);
        const std::string what = name_of_entry(entry) + " " + text_of(group);
        if (entry.exact) {
          expect_formula(both, run.formula(), what);
        } else {
          EXPECT_LE(both.flows.time.si(), run.formula() + rounding(both.flows)) << what;
          EXPECT_GE(both.flows.time.si(), 0.5 * run.formula()) << what;
        }
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 8 * 9);
}

TEST(Execution, IsTheFormulaOfTheRingOnARingOfWires) {
  for (const int n : {3, 4, 5, 8, 16}) {
    const Topology graph = RingNode{.devices = n, .bandwidth = 100_GBps}.build();
    for (const Collective collective :
         {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter}) {
      const Run1 run{.algorithm = algorithm(collective, "ring"),
                     .size = kSize,
                     .group = {.per_node = n},
                     .fabric = flat_fabric(),
                     .ranks = numbers(n)};
      expect_formula(run.on(graph), run.formula(), std::to_string(n));
    }
  }
}

TEST(Execution, IsTheFormulaOfEveryTorusAlgorithmOnTheTorus) {
  const std::vector<std::vector<int>> shapes = {
      {2}, {3}, {4}, {5}, {8}, {2, 2}, {2, 3}, {4, 4}, {3, 4, 5}, {3, 3, 3}, {4, 4, 4}};
  std::map<std::string, int> tried;
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    for (const auto& lengths : shapes) {
      for (const bool wrap : {true, false}) {
        const Group group = torus_group(lengths, wrap);
        if (!entry.applies(group, wire_fabric())) {
          continue;
        }
        const Torus torus{.dimensions = lengths,
                          .wrap = std::vector<bool>(lengths.size(), wrap),
                          .bandwidth = 100_GBps};
        Router router(torus.build(), torus.dimensions);
        const Run1 run{.algorithm = entry,
                       .size = kSize,
                       .group = group,
                       .fabric = wire_fabric(),
                       .ranks = numbers(group.ranks())};
        const Both both = run.on(router);
        const std::string what = name_of_entry(entry) + " on " + text_of(group);
        if (entry.exact) {
          expect_formula(both, run.formula(), what);
        } else {
          EXPECT_LE(both.flows.time.si(), run.formula() + rounding(both.flows)) << what;
        }
        ++tried[name_of_entry(entry)];
      }
    }
  }
  EXPECT_GE(tried.size(), 8U);
}

/// The island of four that dgx1_island() has rings and trees on.
Topology island_graph() {
  const auto wire = [](int a, int b, int count) {
    return Wire{.a = a, .b = b, .count = count, .bandwidth = 25_GBps};
  };
  return {.name = "island",
          .devices = 4,
          .switches = 0,
          .wires = {wire(0, 1, 1),
                    wire(0, 2, 1),
                    wire(0, 3, 2),
                    wire(1, 2, 2),
                    wire(1, 3, 1),
                    wire(2, 3, 2)}};
}

TEST(Execution, IsTheFormulaOfRingsAndTreesOnTheWiresTheyWerePackedOn) {
  const Fabric fabric{.wire = Channel({.latency = 2_us, .bandwidth = 25_GBps})};
  const Group group{.per_node = 4, .wiring = &dgx1_island()};
  int tried = 0;
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    if (entry.applies(group, fabric)) {
      const Run1 run{
          .algorithm = entry, .size = kSize, .group = group, .fabric = fabric, .ranks = numbers(4)};
      expect_formula(run.on(island_graph()), run.formula(), name_of_entry(entry));
      ++tried;
    }
  }
  EXPECT_EQ(tried, 4);  // disjoint rings for three collectives, packed trees
}

TEST(Execution, IsTheFormulaOfHybridRingsThroughTheHost) {
  Topology graph = SwitchedNode{.devices = 6, .bandwidth = 60_GBps}.build();
  graph.details.resize(1);
  const int ports = add_switches(graph, 6, {.kind = SwitchKind::pcie});
  const int host = add_switches(graph, 1, {.kind = SwitchKind::cpu});
  for (int device = 0; device < 6; ++device) {
    graph.wires.push_back({.a = device, .b = ports + device, .bandwidth = 10_GBps});
    graph.wires.push_back({.a = ports + device, .b = host, .bandwidth = 10_GBps});
  }
  Fabric fabric = switched_fabric({.latency = 2_us, .bandwidth = 60_GBps}, {});
  fabric.host = Channel({.latency = 2_us, .bandwidth = 10_GBps});
  const Run1 run{.algorithm = algorithm(Collective::all_reduce, "hybrid-rings"),
                 .size = kSize,
                 .group = {.per_node = 6},
                 .fabric = fabric,
                 .ranks = numbers(6),
                 .helpers = {},
                 .host = host};
  EXPECT_NEAR(run.formula(), 2 * 5 * (kAlpha + kSize.si() / 6 / 70e9), 1e-15);
  expect_formula(run.on(graph), run.formula(), "hybrid");
}

TEST(Execution, PaysTheStartUpOfATierOnceARow) {
  const Link inside{.latency = 3_us, .bandwidth = 300_GBps, .startup = 50_us};
  const Link between{.latency = 11_us, .bandwidth = 25_GBps, .startup = 20_us};
  const Topology graph = joined(2, 4, 4, 300_GBps, 25_GBps);
  // One after the other in a hierarchical all-reduce, at the same time in a two-tier all-to-all.
  for (const auto& [collective, name] : {std::pair{Collective::all_reduce, "hierarchical"},
                                         std::pair{Collective::all_to_all, "rail-direct"}}) {
    const Run1 run{.algorithm = algorithm(collective, name),
                   .size = kSize,
                   .group = {.per_node = 4, .nodes = 2},
                   .fabric = switched_fabric(inside, between),
                   .ranks = numbers(8)};
    expect_formula(run.on(graph), run.formula(), name);
  }
  const Run1 two_tier{.algorithm = algorithm(Collective::all_to_all, "two-tier-direct"),
                      .size = kSize,
                      .group = {.per_node = 4, .nodes = 2},
                      .fabric = switched_fabric(inside, between),
                      .ranks = numbers(8)};
  const double network = 20e-6 + 11e-6 + 4.0 / 8 * kSize.si() / 25e9;
  EXPECT_NEAR(two_tier.formula(), network, 1e-15);
  const Both both = two_tier.on(graph);
  EXPECT_NEAR(both.flows.time.si(), network, rounding(both.flows));
  // The round takes the larger start-up of both.
  EXPECT_NEAR(both.rounds.time.si(), network + (50e-6 + 3e-6) - (20e-6 + 11e-6), 1e-12);
}

TEST(Execution, OfADirectAllToAllIsOneExchangeWhateverTheGraph) {
  const Torus torus{.dimensions = {4, 3}, .wrap = {true, false}, .bandwidth = 100_GBps};
  std::vector<Router> routers;
  routers.emplace_back(SwitchedNode{.devices = 12, .bandwidth = 100_GBps}.build());
  routers.emplace_back(RingNode{.devices = 12, .bandwidth = 100_GBps}.build());
  routers.emplace_back(leaf_spine(4, 3, 2, 100_GBps));
  routers.emplace_back(torus.build(), torus.dimensions);
  for (Router& router : routers) {
    const Run1 run{.algorithm = algorithm(Collective::all_to_all, "direct"),
                   .size = kSize,
                   .group = {.per_node = 12},
                   .fabric = flat_fabric(),
                   .ranks = numbers(12)};
    const Execution rounds = run.on(router).rounds;
    const Execution exchange = execute_exchange(kSize, run.ranks, router, kLink);
    EXPECT_NEAR(exchange.time.si(), rounds.time.si(), 1e-9 * rounds.time.si());
    EXPECT_EQ(exchange.messages, 12U * 11);
    EXPECT_EQ(exchange.messages, rounds.messages);
    EXPECT_EQ(exchange.rounds, rounds.rounds);
    ASSERT_TRUE(exchange.busiest && rounds.busiest);
    EXPECT_NEAR(exchange.busiest->bytes.si(), rounds.busiest->bytes.si(), 1.0);
  }
  EXPECT_EQ(execute_exchange(kSize, {3}, routers[0], kLink).time, Seconds{});
}

// ---- What always holds ------------------------------------------------------------------------

TEST(ExecutionLaws, ABusiestLinkIsNoFasterThanTheFormulaOfItsPorts) {
  const std::vector<Topology> graphs = {leaf_spine(4, 3, 1, 100_GBps),
                                        leaf_spine(4, 3, 2, 100_GBps),
                                        leaf_spine(3, 4, 4, 100_GBps),
                                        leaf_spine(2, 6, 1, 40_GBps)};
  for (const Topology& graph : graphs) {
    Router router(graph);
    for (const AlgorithmEntry& entry : algorithm_catalogue()) {
      for (const int n : {4, 8, 12}) {
        const Run1 run{.algorithm = entry,
                       .size = kSize,
                       .group = {.per_node = n},
                       .fabric = flat_fabric(),
                       .ranks = numbers(n),
                       .helpers = {graph.vertices() - 1}};
        if (entry.exact && entry.applies(run.group, run.fabric)) {
          const Both both = run.on(router);
          EXPECT_GE(both.rounds.time.si(), run.formula() * (1 - 1e-9)) << name_of_entry(entry);
        }
      }
    }
  }
}

TEST(ExecutionLaws, FlowsOfOneRoundAreNoFasterThanTheirBusiestLink) {
  Router router(leaf_spine(4, 3, 1, 100_GBps));  // one route for every two devices
  unsigned state = 7;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < 30; ++i) {
      state = state * 1664525U + 1013904223U;
      const int from = static_cast<int>(state >> 24U) % 12;
      const int to = static_cast<int>(state >> 16U & 255U) % 12;
      if (from != to) {
        pairs.emplace_back(from, to);
      }
    }
    const Steps steps = one_round(12, pairs);
    const PlacedSteps placed{
        .steps = &steps, .ranks = numbers(12), .helpers = {}, .host = std::nullopt};
    const Both both = execute(std::span(&placed, 1), router, flat_fabric());
    EXPECT_LE(both.rounds.time.si(), both.flows.time.si() * (1 + 1e-9));
    EXPECT_EQ(both.rounds.rounds, 1U);
  }
}

TEST(ExecutionLaws, GroupsAtOnceAreNoFasterThanAloneAndDisjointOnesNoSlower) {
  const Steps steps =
      algorithm(Collective::all_reduce, "ring").steps(kSize, Group{.per_node = 4}, flat_fabric());
  const auto placed = [&](std::vector<int> ranks) {
    return PlacedSteps{
        .steps = &steps, .ranks = std::move(ranks), .helpers = {}, .host = std::nullopt};
  };
  Router router(leaf_spine(4, 2, 1, 100_GBps));
  const std::vector<PlacedSteps> apart = {placed({0, 1, 2, 3}), placed({4, 5, 6, 7})};
  const std::vector<PlacedSteps> across = {placed({0, 4, 1, 5}), placed({2, 6, 3, 7})};
  const double formula = 2 * 3 * (kAlpha + kOnce / 4);
  expect_formula(execute(apart, router, flat_fabric()), formula, "disjoint");
  const Both alone = execute(std::span(across).first(1), router, flat_fabric());
  const Both together = execute(across, router, flat_fabric());
  expect_formula(alone, 2 * 3 * (kAlpha + 2 * kOnce / 4), "two of a ring's hops share a link");
  expect_formula(together, 2 * 3 * (kAlpha + 4 * kOnce / 4), "four hops of two rings do");
  EXPECT_EQ(together.rounds.messages, 2 * alone.rounds.messages);
  EXPECT_EQ(together.rounds.rounds, alone.rounds.rounds);
}

TEST(ExecutionLaws, TheSameInputGivesTheSameResult) {
  const Run1 run{.algorithm = algorithm(Collective::all_to_all, "bruck"),
                 .size = kSize,
                 .group = {.per_node = 12},
                 .fabric = flat_fabric(),
                 .ranks = numbers(12)};
  const Topology graph = leaf_spine(4, 3, 2, 100_GBps);
  const Both one = run.on(graph);
  const Both other = run.on(graph);
  EXPECT_EQ(one.rounds.time, other.rounds.time);
  EXPECT_EQ(one.flows.time, other.flows.time);
  EXPECT_EQ(one.flows.busiest, other.flows.busiest);
}

TEST(ExecutionLaws, RanksWithoutAPlaceAreRefused) {
  const Steps steps = one_round(3, {{0, 1}});
  const PlacedSteps placed{.steps = &steps, .ranks = {0, 1}, .helpers = {}, .host = std::nullopt};
  Router router(SwitchedNode{.devices = 3, .bandwidth = 1_GBps}.build());
  EXPECT_THROW((void)execute_by_rounds(std::span(&placed, 1), router, flat_fabric()), Defect);
  EXPECT_THROW((void)execute_as_flows(std::span(&placed, 1), router, flat_fabric()), Defect);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
