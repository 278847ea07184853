// What whoever builds networks or studies schedules asks, over several of them at once.

#include "tasks/task.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr std::string_view kRails = R"({
  "name": "rails-64", "family": "rails", "nodes": 64, "rails": 8, "nodes_per_group": 8, "spines": 8,
  "oversubscription": 1, "bandwidth": "400 Gbps", "latency": "1 us"})";

/// Within a group of rails tokens need no spine: few links up cost them next to nothing, a fat tree
/// some.
TEST(ArchitectTasks, RailsBesideAFatTree) {
  const TemporaryFolder folder;
  const std::string rails = folder.file("rails.json", kRails);
  const Document table = answer({"compare",
                                 "mixtral-8x7b-64xh100",
                                 "--topology=" + rails + ",fat-tree-2-level-1024",
                                 "--oversubscription=1,4"});
  ASSERT_EQ(table.at("networks")->items.size(), 4u);
  for (const char* network : {"networks.0", "networks.2"}) {
    EXPECT_EQ(number(table, network + std::string(".oversubscription")), 1);
  }
  const double rails_lose =
      number(table, "networks.1.iteration_time_s") / number(table, "networks.0.iteration_time_s");
  const double tree_loses =
      number(table, "networks.3.iteration_time_s") / number(table, "networks.2.iteration_time_s");
  EXPECT_NEAR(rails_lose, 1, 1e-3);
  EXPECT_GT(tree_loses, rails_lose);
}

/// Every tier says how busy its links are, the hottest first.
TEST(ArchitectTasks, HotLinksByTier) {
  const Document table =
      answer({"compare", "mixtral-8x7b-64xh100", "--topology=fat-tree-2-level-1024"});
  const std::vector<Value>& tiers = table.at("networks.0.tiers")->items;
  ASSERT_EQ(tiers.size(), 2u);
  EXPECT_GE(tiers[0].find("busy_most")->number, tiers[1].find("busy_most")->number);
  for (const Value& tier : tiers) {
    EXPECT_LE(tier.find("busy_mean")->number, tier.find("busy_most")->number * (1 + 1e-9));
  }
}

/// Faster NICs help until the ports of the fabric bind.
TEST(ArchitectTasks, SpeedsOfNicsOnFabrics) {
  const TemporaryFolder folder;
  const std::string sweep = folder.file("nics.json", R"({
    "scenario": "mixtral-8x7b-64xh100",
    "axes": {"cluster.network.topology": ["fat-tree-2-level-1024", "dragonfly-1056"],
             "cluster.node.nic_bandwidth": ["200 Gbps", "400 Gbps"]}})");
  const Outcome rows = titer({"sweep", sweep, "--fidelity=network", "--format=jsonl"});
  ASSERT_EQ(rows.code, 0) << rows.err;
  std::vector<double> times;
  for (std::size_t begin = 0; begin < rows.out.size();) {
    const std::size_t end = rows.out.find('\n', begin);
    times.push_back(
        number(parse_json(rows.out.substr(begin, end - begin), "row"), "iteration_time_s"));
    begin = end + 1;
  }
  ASSERT_EQ(times.size(), 4u);
  EXPECT_GT(times[0], times[1]);
  EXPECT_GE(times[2], times[3]);
  EXPECT_LT(times[1], times[3]);  // the dragonfly has ports of 200 Gbps
}

/// Schedules of one plan in one table: without bubbles faster than with, for memory.
TEST(ResearcherTasks, SchedulesInOneTable) {
  const TemporaryFolder folder;
  const std::string sweep = folder.file("schedules.json", R"({
    "scenario": {"model": "gpt3-175b", "cluster": "dgx-a100-80gb",
                 "plan": {"pipeline": 8, "tensor": 8, "sequence_parallel": true,
                          "recompute": "selective"},
                 "training": {"global_batch": 32, "sequence": 2048, "precision": "bf16"}},
    "axes": {"plan.schedule": ["gpipe", "1f1b", "zb-h1", "zb-h2", "zb-v", "dualpipe"]}})");
  const Outcome rows = titer({"sweep", sweep, "--format=jsonl"});
  ASSERT_EQ(rows.code, 0) << rows.err;
  std::vector<Document> schedules;
  for (std::size_t begin = 0; begin < rows.out.size();) {
    const std::size_t end = rows.out.find('\n', begin);
    schedules.push_back(parse_json(rows.out.substr(begin, end - begin), "row"));
    begin = end + 1;
  }
  ASSERT_EQ(schedules.size(), 6u);
  const auto of = [&](std::size_t row, const char* figure) {
    return number(schedules[row], figure);
  };
  EXPECT_EQ(of(0, "iteration_time_s"), of(1, "iteration_time_s"));
  EXPECT_GT(of(0, "memory_peak_bytes"), of(1, "memory_peak_bytes"));
  for (std::size_t row = 2; row < 6; ++row) {
    EXPECT_LT(of(row, "iteration_time_s"), of(1, "iteration_time_s"));
    EXPECT_LT(of(row, "bubble_ratio"), of(1, "bubble_ratio"));
  }
}

TEST(ResearcherTasks, ATraceForPerfetto) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "step.json").string();
  const Outcome trace = titer({"timeline", "gpt3-175b-64xa100", "--format=trace", "--out=" + file});
  ASSERT_EQ(trace.code, 0) << trace.err;
  EXPECT_GT(parse_json(file_text(file), "trace").at("traceEvents")->items.size(), 1000u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
