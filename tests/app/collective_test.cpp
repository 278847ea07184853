// titer collective, from the outside.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Arguments = std::vector<std::string>;

/// titer collective for an all-reduce of 64 MiB on two nodes, with changes and additions.
struct Asked {
  std::string cluster = "dgx-a100-80gb";
  std::string op = "all_reduce";
  std::string bytes = "64MiB";
  std::string ranks = "0-15";

  [[nodiscard]] testing::Outcome run(const Arguments& more = {}) const {
    Arguments arguments = {
        "collective", "--cluster", cluster, "--op", op, "--bytes", bytes, "--ranks", ranks};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return titer(arguments);
  }
};

TEST(AppCollective, SaysTheTimeAndWhy) {
  const std::string text = data_of(Asked{}.run());
  EXPECT_TRUE(
      text.starts_with("all-reduce of 64 MiB, 16 ranks (8 on each of 2 nodes) of dgx-a100-80gb\n"));
  EXPECT_TRUE(contains(text, "multi-rail-rings: 2 (N a_net + (n-N) a_node"));
  EXPECT_TRUE(contains(text, "node middle, network simple"));
  EXPECT_TRUE(contains(text, "bus bandwidth"));
  EXPECT_TRUE(contains(text, "taken"));
  EXPECT_TRUE(contains(text, "needs a switch") || contains(text, "needs ranks"));
}

/// By public timings on that chip: of what a library takes by itself, at the closed form.
TEST(AppCollective, SaysBetweenWhatMeasuredTimesAre) {
  const std::string text = data_of(Asked{}.run());
  EXPECT_TRUE(contains(text, "basis                fitted figures; "));
  EXPECT_TRUE(
      contains(text, "four of five of 48 public timings across nodes from 1 MiB on with a100"));
  EXPECT_FALSE(contains(data_of(Asked{}.run({"--algorithm", "ring"})), "public timings"));
  EXPECT_FALSE(contains(data_of(Asked{}.run({"--fidelity", "flow"})), "public timings"));
  const Document json = parse_json(data_of(Asked{}.run({"--format", "json"})), "out");
  const Value& result = json.at("results")->items[0];
  EXPECT_EQ(result.find("grade")->text, "fitted");
  const Value* bar = result.find("error_bar");
  ASSERT_NE(bar, nullptr);
  const double time = result.find("time_s")->number;
  EXPECT_LT(bar->find("low_s")->number, time);
  EXPECT_GT(bar->find("high_s")->number, time);
  EXPECT_EQ(bar->find("timings")->integer, 48);
  const std::string sizes =
      data_of(Asked{.bytes = "64KiB"}.run({"--to", "16MiB", "--factor", "4"}));
  EXPECT_TRUE(contains(sizes, "basis: fitted figures"));
  EXPECT_TRUE(contains(sizes, "below 1 MiB"));
  EXPECT_TRUE(contains(sizes, "from 1 MiB on"));
}

TEST(AppCollective, SaysWhatTheGraphAddsToTheFormula) {
  const std::string text =
      data_of(Asked{.ranks = "0-7"}.run({"--algorithm", "ring", "--fidelity", "flow"}));
  EXPECT_TRUE(contains(text, "contention: x 1.000"));
  EXPECT_TRUE(contains(text, "112 messages in 14 rounds"));  // 8 x 2 x 7
  EXPECT_TRUE(contains(text, "busiest link"));
}

TEST(AppCollective, SaysTheSameInJsonAndCsv) {
  const Arguments flow = {"--fidelity", "busiest", "--format"};
  const auto in = [&](const char* format) {
    Arguments more = flow;
    more.emplace_back(format);
    return data_of(Asked{.ranks = "0-15:8"}.run(more));
  };
  const Document json = parse_json(in("json"), "out");
  EXPECT_EQ(json.at("format_version")->integer, 1);
  EXPECT_EQ(json.at("ranks")->integer, 2);
  EXPECT_EQ(json.at("nodes")->integer, 2);
  const auto rows = parse_csv(in("csv"));
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows[0].size(), rows[1].size());
  const auto cell = [&](const std::string& name) {
    for (std::size_t i = 0; i < rows[0].size(); ++i) {
      if (rows[0][i] == name) {
        return rows[1][i];
      }
    }
    return "no column " + name;
  };
  EXPECT_EQ(cell("op"), "all-reduce");
  EXPECT_EQ(cell("busiest_link"), "device 0 to NIC 0");
  const double time = std::stod(cell("time_s"));
  EXPECT_NEAR(std::stod(cell("algorithm_bandwidth_Bps")), 64.0 * 1024 * 1024 / time, 1.0);
  EXPECT_NEAR(std::stod(cell("bus_bandwidth_Bps")), 64.0 * 1024 * 1024 / time, 1.0);  // 2 (n-1)/n
  const Document list = parse_json(in("json"), "out");
  const Value* results = list.at("results");
  ASSERT_NE(results, nullptr);
  ASSERT_EQ(results->items.size(), 1U);
  EXPECT_DOUBLE_EQ(results->items[0].find("time_s")->number, time);
  EXPECT_EQ(results->items[0].find("busiest")->find("link")->text, "device 0 to NIC 0");
  EXPECT_GT(results->items[0].find("candidates")->items.size(), 10U);
}

TEST(AppCollective, SweepsOverSizesInTheColumnsOfNcclTests) {
  const Arguments sweep = {"--to", "1GiB", "--factor", "4"};
  const std::string text = data_of(Asked{.bytes = "1MiB"}.run(sweep));
  for (const char* column : {"size (B)", "time (us)", "algbw (GB/s)", "busbw (GB/s)"}) {
    EXPECT_TRUE(contains(text, column));
  }
  EXPECT_TRUE(contains(text, "1048576"));
  EXPECT_TRUE(contains(text, "1073741824"));  // the last size is met
  Arguments csv = sweep;
  csv.insert(csv.end(), {"--format", "csv"});
  const auto rows = parse_csv(data_of(Asked{.bytes = "1MiB"}.run(csv)));
  ASSERT_EQ(rows.size(), 1U + 6);  // 1, 4, 16, 64, 256, 1024 MiB
  const auto time = std::ranges::find(rows[0], "time_s") - rows[0].begin();
  double before = 0.0;
  for (std::size_t row = 1; row < rows.size(); ++row) {
    EXPECT_GT(std::stod(rows[row].at(static_cast<std::size_t>(time))), before);
    before = std::stod(rows[row].at(static_cast<std::size_t>(time)));
  }
}

TEST(AppCollective, RunsSeveralGroupsAtOnce) {
  const std::string text = data_of(Asked{.ranks = "0-15:8"}.run({"--ranks",
                                                                 "1-15:8",
                                                                 "--algorithm",
                                                                 "ring",
                                                                 "--fidelity",
                                                                 "flow",
                                                                 "--set",
                                                                 "cluster.node.nics=1"}));
  EXPECT_TRUE(contains(text, "2 groups at once, each 2 ranks"));
}

TEST(AppCollective, TakesTheNamesOfNcclTestsAndOurs) {
  EXPECT_EQ(data_of(Asked{.op = "all-reduce"}.run()), data_of(Asked{.op = "all_reduce"}.run()));
}

TEST(AppCollective, HasNothingToSendForOneRank) {
  EXPECT_TRUE(contains(data_of(Asked{.ranks = "3"}.run()), "nothing to send: there is one rank"));
}

TEST(AppCollective, SaysWhatItAssumesOfUnevenNodes) {
  const std::string text = data_of(Asked{.ranks = "0-2,8"}.run({"--fidelity", "busiest"}));
  EXPECT_TRUE(contains(text, "note: the nodes hold different numbers of ranks (1 to 3)"));
}

TEST(AppCollective, RefusesInOneSentence) {
  const auto said = [](const Asked& asked, const Arguments& more = {}) {
    return refusal_of(asked.run(more));
  };
  EXPECT_TRUE(contains(said({.cluster = "dgx-a100-80g"}), "did you mean \"dgx-a100-80gb\""));
  EXPECT_TRUE(contains(said({.op = "all_reduc"}), "all-reduce, all-gather"));
  EXPECT_TRUE(contains(said({}, {"--algorithm", "rng"}), "did you mean \"ring\"?"));
  EXPECT_TRUE(
      contains(said({.op = "reduce_scatter", .ranks = "0-5"}, {"--algorithm", "recursive-halving"}),
               "algorithm recursive-halving: reduce-scatter by it needs"));
  EXPECT_TRUE(contains(said({}, {"--set", "cluster.nodes=1"}), "device 15 is not in"));
  EXPECT_TRUE(contains(said({.ranks = "0-"}), "expected device numbers such as 0-7"));
  EXPECT_TRUE(contains(said({.ranks = "5-2"}), "a range goes up"));
  EXPECT_TRUE(contains(said({.ranks = "1,0,1"}), "device 1 is listed twice"));
  EXPECT_TRUE(contains(said({}, {"--ranks", "15-16"}), "device 15 is in two groups"));
  EXPECT_TRUE(
      contains(said({}, {"--set", "cluster.node.nic_bandwidth=\"0 Gbps\""}), "nic_bandwidth"));
  EXPECT_TRUE(contains(said({.bytes = "64"}), "--bytes: 64: expected"));
  EXPECT_TRUE(contains(said({.bytes = "64 bananas"}), "--bytes: 64 bananas: expected"));
  EXPECT_TRUE(contains(said({.bytes = "-64MiB"}), "--bytes"));
  EXPECT_TRUE(contains(said({}, {"--to", "1MiB"}), "a sweep over sizes goes up"));
  EXPECT_TRUE(contains(said({}, {"--to", "1GiB", "--factor", "1"}), "--factor above 1"));
  EXPECT_TRUE(contains(said({}, {"--fidelity", "fast"}), "closed, busiest, flow"));
}

constexpr const char* kPod = R"({
  "name": "pod", "chip": "tpu-v4",
  "node": {
    "fabric": {"family": "torus", "dimensions": [4, 4], "wrap": true, "bandwidth": "45 GB/s"},
    "protocols": [{"name": "ici", "latency": "1 us", "efficiency": 1.0}]
  }
})";

TEST(AppCollective, OfATorusTakesBoxesOnly) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "pod.json").string();
  std::ofstream(path) << kPod;
  const std::string text =
      data_of(Asked{.cluster = path, .ranks = "0-15"}.run({"--fidelity", "flow"}));
  EXPECT_TRUE(contains(text, "16 ranks (4 x 4) of pod"));
  EXPECT_TRUE(contains(text, "torus-bucket"));
  EXPECT_TRUE(contains(text, "contention: x 1.000"));
  EXPECT_TRUE(contains(refusal_of(Asked{.cluster = path, .ranks = "0,5"}.run()),
                       "these 2 devices are no sub-torus of pod (4 x 4)"));
  EXPECT_TRUE(contains(refusal_of(Asked{.cluster = path, .ranks = "12-16"}.run()),
                       "device 16 is not in pod"));
}

constexpr const char* kSplit = R"({
  "name": "split", "chip": "v100-sxm2-16gb",
  "node": {
    "fabric": {"family": "edges", "devices": 4, "bandwidth": "25 GB/s",
               "edges": [[0, 1, 1], [2, 3, 1]]},
    "protocols": [{"name": "nvlink", "latency": "1 us", "efficiency": 1.0}],
    "nics": 4, "nic_bandwidth": "100 Gbps"
  },
  "network": {"protocols": [{"name": "roce", "latency": "10 us", "efficiency": 0.9}]}
})";

TEST(AppCollective, SaysWhatADisconnectedNodeLacks) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "split.json").string();
  std::ofstream(path) << kSplit;
  EXPECT_TRUE(contains(refusal_of(Asked{.cluster = path, .ranks = "0-3"}.run()),
                       "its fabric cannot join every group of devices; expected a \"host_path\""));
}

TEST(AppCollective, GivesTheSameBytesEveryTime) {
  for (const char* format : {"text", "csv", "json"}) {
    const Arguments more = {"--fidelity", "flow", "--format", format};
    EXPECT_EQ(data_of(Asked{}.run(more)), data_of(Asked{}.run(more)));
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
