// What rows of titer sweep say beside figures: what the software lacks, which algorithms were
// taken.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Arguments = std::vector<std::string>;

constexpr const char* kNote =
    "note: 1 of 4 rows are beyond what their software can do; --columns beyond_software says of "
    "each what it lacks\n";

class AppSweepColumns : public ::testing::Test {
 protected:
  /// Megatron-LM of 2021 to 2022 has no zero3; Megatron Core has it without a pipeline.
  [[nodiscard]] std::string sweep(const std::string& more = "") const {
    return folder_.file("sweep.json",
                        R"({
      "scenario": {"model": "megatron-1.7b", "cluster": "dgx-a100-80gb", "plan": {"data": 8},
                   "training": {"global_batch": 16, "sequence": 2048, "precision": "bf16"}},
      "axes": {"stack": ["megatron-lm", "megatron-core"], "plan.sharding": ["zero1", "zero3"]})" +
                            more + "}");
  }
  [[nodiscard]] std::string path(std::string_view name) const {
    return (folder_.path() / name).string();
  }

  TemporaryFolder folder_;
};

TEST_F(AppSweepColumns, AreThereWhereTheyAreAskedFor) {
  const std::string file = sweep();
  const Outcome plain = titer({"sweep", file});
  EXPECT_EQ(plain.code, 0);
  EXPECT_EQ(plain.err, kNote);
  const auto without = parse_csv(plain.out);
  const std::string csv = data_of(titer({"sweep", file, "--columns", "beyond_software"}));
  const auto rows = parse_csv(csv);
  ASSERT_EQ(rows.size(), 1u + 4u);
  const Arguments column = {"beyond_software", "", "sharding zero3", "", ""};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(Arguments(rows[i].begin(), rows[i].end() - 1), without[i]);
    EXPECT_EQ(rows[i].back(), column[i]);
  }
  EXPECT_EQ(data_of(titer({"sweep", sweep(R"(, "columns": ["beyond_software"])")})), csv);
  const std::string json =
      data_of(titer({"sweep", file, "--columns", "beyond_software", "--format", "jsonl"}));
  EXPECT_TRUE(contains(json, R"("reason":null,"beyond_software":"sharding zero3"})"));
  EXPECT_TRUE(contains(json, R"("reason":null,"beyond_software":null})"));
}

TEST_F(AppSweepColumns, AreCountedOverResumedAndSharedTables) {
  const std::string rows = path("rows.csv");
  const std::string file = sweep();
  EXPECT_EQ(titer({"sweep", file, "--out", rows}).err, kNote);
  std::filesystem::remove(rows);
  std::size_t said = 0;
  for (const char* shard : {"1/2", "2/2"}) {
    const Outcome part = titer({"sweep", file, "--out", rows, "--shard", shard});
    EXPECT_EQ(part.code, 0);
    said += contains(part.err, "note: 1 of ") ? 1 : 0;
  }
  EXPECT_EQ(said, 1u);
  const Outcome merged = titer({"merge", rows});
  EXPECT_EQ(merged.code, 0);
  EXPECT_EQ(merged.err, "note: " + rows + ": 1 of 4 rows are beyond what their software can do\n");
}

TEST_F(AppSweepColumns, NameTheAlgorithmsThatRunDoes) {
  const std::string rails =
      R"({"family": "rails", "nodes": 8, "rails": 8, "nodes_per_group": 8, "spines": 2,
          "oversubscription": 8, "bandwidth": "400 Gbps"})";
  const std::string file = folder_.file("network.json",
                                        R"({
    "scenario": "mixtral-8x7b-64xh100", "axes": {"cluster.network.topology": [)" +
                                            rails + "]}}");
  const auto row = only_row(data_of(
      titer({"sweep", file, "--fidelity", "network", "--columns", "algorithms,beyond_software"})));
  auto run = only_row(data_of(titer({"run",
                                     "mixtral-8x7b-64xh100",
                                     "--set",
                                     "cluster.network.topology=" + rails,
                                     "--fidelity",
                                     "network",
                                     "--format",
                                     "csv"})));
  EXPECT_TRUE(contains(run["algorithms"], "taken: "));
  EXPECT_EQ(row.at("algorithms"), run["algorithms"]);
  EXPECT_EQ(row.at("beyond_software"), "");
}

TEST_F(AppSweepColumns, AreRefusedWhereTheySayNothing) {
  EXPECT_EQ(refusal_of(titer({"sweep", sweep(), "--columns", "algorithms"})),
            "columns: algorithms: expected --fidelity network beside it: elsewhere no links choose "
            "among them");
  EXPECT_EQ(refusal_of(titer({"sweep", sweep(), "--columns", "algorithm"})),
            "--columns: algorithm: expected algorithms, beyond_software; did you mean "
            "\"algorithms\"?");
  EXPECT_TRUE(contains(refusal_of(titer({"sweep", sweep(R"(, "columns": ["grades"])")})),
                       "columns: [\"grades\"]: expected algorithms and beyond_software, each once "
                       "or not at all"));
}

TEST_F(AppSweepColumns, KeepTablesApartThatDoNotHaveThem) {
  const std::string rows = path("rows.jsonl");
  const Arguments resume = {
      "sweep", sweep(), "--out", rows, "--format", "jsonl", "--shard", "1/2", "--resume"};
  EXPECT_EQ(titer(resume).code, 0);
  Arguments other = resume;
  other.insert(other.end(), {"--columns", "beyond_software"});
  EXPECT_TRUE(
      contains(refusal_of(titer(other)), ": is of another sweep, or its files have changed"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
