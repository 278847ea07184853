// Algorithms on the links of a step: rails against a tree with the same ports.

#include <gtest/gtest.h>

#include "scenario/moe.hpp"
#include "simulate/simulations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/explain/explain.hpp"
#include "titer/report/step/explain_report.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr SimulationOptions kNetwork{.network = true};

/// Eight nodes of eight devices on round figures, experts over four of them.
Scenario experts_on(NodeTopology network) {
  Scenario scenario = moe::scenario({.data = 64, .expert = 32});
  scenario.model.transformer().experts->count = 32;
  scenario.cluster.network_topology = NamedTopology{.family = std::move(network)};
  return scenario;
}

/// Two groups of four nodes.
NodeTopology rails(double oversubscription) {
  return Rails{.nodes = 8,
               .rails = 8,
               .nodes_per_group = 4,
               .spines = 4,
               .oversubscription = oversubscription,
               .bandwidth = plain::kBetween.bandwidth};
}

/// As many ports as the rails have: leaves of 16 ports down.
NodeTopology tree(int spines) {
  const BytesPerSecond port = plain::kBetween.bandwidth;
  return FatTree{
      .levels = {{.down = 16, .bandwidth = port}, {.down = 4, .up = spines, .bandwidth = port}}};
}

TEST(NetworkAlgorithms, OfExpertsOnRailsDoNotNoticeNarrowSpines) {
  const StepResult wide = simulate(experts_on(rails(1)), kNetwork).result;
  const StepResult narrow = simulate(experts_on(rails(16)), kNetwork).result;
  ASSERT_FALSE(narrow.algorithms.empty());
  const TakenAlgorithm& at = narrow.algorithms.back();
  EXPECT_EQ(at.group, "expert");
  EXPECT_EQ(at.taken, "rail-direct");
  EXPECT_EQ(at.by_closed_form, "two-tier-direct");
  EXPECT_GT(at.closed_form_time, 2 * at.time);
  // What the inside of the nodes adds; 16 times narrower is the way between rails.
  EXPECT_LT(narrow.comm_total.expert, 1.2 * wide.comm_total.expert);
}

TEST(NetworkAlgorithms, MakeNarrowRailsFasterThanANarrowTree) {
  const auto expert_time = [](NodeTopology network) {
    return simulate(experts_on(std::move(network)), kNetwork).result.comm_total.expert;
  };
  EXPECT_LT(expert_time(rails(16)), expert_time(tree(2)) / 2);
}

TEST(NetworkAlgorithms, AreToldByExplain) {
  const StepResult narrow = simulate(experts_on(rails(16)), kNetwork).result;
  const std::string text = explain_view({algorithms_section(narrow)}).as_text();
  EXPECT_NE(text.find("taken: rail-direct"), std::string::npos) << text;
  EXPECT_NE(text.find("the closed form would take two-tier-direct"), std::string::npos) << text;
}

TEST(NetworkAlgorithms, AreToldBesideTheResult) {
  const Scenario scenario = experts_on(rails(16));
  const StepResult narrow = simulate(scenario, kNetwork).result;
  const std::string all = simulations::all_of(scenario, narrow);
  for (const char* part : {"taken: rail-direct, ",
                           "; the closed form would take two-tier-direct, ",
                           "\"by_closed_form\": \"two-tier-direct\"",
                           ",algorithms\n"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  }
}

TEST(NetworkAlgorithms, AreToldWithTheRoutingAndThePortsThatLimitNics) {
  Scenario scenario = experts_on(rails(1));
  const auto text_of = [&] {
    return step_view(scenario, simulate(scenario, kNetwork).result).as_text();
  };
  EXPECT_NE(text_of().find("routing: minimal"), std::string::npos);
  EXPECT_EQ(text_of().find("limited by"), std::string::npos);
  scenario.cluster.nic_bandwidth = 2 * scenario.cluster.nic_bandwidth;
  EXPECT_NE(text_of().find("NICs of 160 Gbps: limited by port 80 Gbps"), std::string::npos)
      << text_of();
  EXPECT_EQ(simulations::all_of(scenario, estimate(scenario)).find("limited by"),
            std::string::npos);
}

TEST(NetworkAlgorithms, OfTheStackComeBeforeThoseOfTheCluster) {
  const auto run = [](const std::vector<std::string>& assignments) {
    return explain_view(explain(scenarios::shipped_run(assignments))).as_text();
  };
  const std::string by_cluster = run({"cluster.node.collectives.all_reduce=two-shot"});
  EXPECT_NE(by_cluster.find("all-reduce, two-shot"), std::string::npos);
  const std::string by_stack = run({"cluster.node.collectives.all_reduce=two-shot",
                                    "stack.collectives.all_reduce=halving-doubling"});
  EXPECT_EQ(by_stack.find("all-reduce, two-shot"), std::string::npos);
  EXPECT_NE(by_stack.find("all-reduce, halving-doubling"), std::string::npos);
  const std::string in_vain = run({"stack.collectives.all_reduce=torus-bucket"});
  EXPECT_NE(
      in_vain.find("(torus-bucket, which is named, needs ranks that are a torus, or a box of one)"),
      std::string::npos);
}

/// The study of 512 H100: 64 nodes, rails of 32 nodes and eight spines, or leaves of 32 ports.
Seconds study(const std::vector<std::string>& network) {
  std::vector<std::string> changes = {
      "model=qwen3-235b-a22b",
      "cluster={\"name\": \"dgx-h100\"}",
      "stack=megatron-core",
      "plan={\"pipeline\": 2, \"data\": 256, \"expert\": 64, \"sharding\": \"zero1\"}",
      "training={\"global_batch\": 2048, \"sequence\": 4096, \"precision\": \"bf16\"}"};
  changes.insert(changes.end(), network.begin(), network.end());
  return simulate(scenarios::shipped_run(changes), kNetwork).result.iteration_time;
}
Seconds study_on_rails(int oversubscription) {
  return study(
      {"cluster.network.topology={\"family\": \"rails\", \"nodes\": 64, \"rails\": 8, "
       "\"nodes_per_group\": 32, \"spines\": 8, \"bandwidth\": \"400 Gbps\", "
       "\"oversubscription\": " +
       std::to_string(oversubscription) + "}"});
}
Seconds study_on_tree(int up) {
  return study(
      {"cluster.network.topology={\"family\": \"fat-tree\", \"down\": [32, 16], \"up\": [1, " +
       std::to_string(up) + "], \"parallel\": [1, 2], \"bandwidth\": \"400 Gbps\"}"});
}

TEST(NetworkAlgorithms, TurnTheVerdictOverRailsAndTrees) {
  const Seconds wide = study_on_rails(1);
  EXPECT_LT(study_on_rails(4), 1.12 * wide);
  EXPECT_GT(study_on_tree(4), 1.5 * wide);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
