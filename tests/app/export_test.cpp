#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "app/program.hpp"
#include "report/chakra_traces.hpp"
#include "report/goal_schedules.hpp"
#include "titer/report/file/chakra_export.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

const std::vector<std::string> kSmall = {"--set",
                                         "cluster=dgx-a100-80gb",
                                         "--set",
                                         "model=megatron-1.7b",
                                         "--set",
                                         "plan.pipeline=2",
                                         "--set",
                                         "plan.tensor=2",
                                         "--set",
                                         "plan.data=2",
                                         "--set",
                                         "plan.virtual_stages=1",
                                         "--set",
                                         "training.global_batch=8",
                                         "--set",
                                         "training.sequence=1024"};

std::vector<std::string> export_of(std::vector<std::string> more) {
  std::vector<std::string> arguments = {"export", "gpt3-175b-64xa100"};
  arguments.insert(arguments.end(), kSmall.begin(), kSmall.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

/// Each device has all of the tables: their rows go to nobody.
TEST(ExportCommand, WritesReplicasOfTables) {
  const TemporaryFolder folder;
  const std::string run = folder.file("run.json", R"({
    "model": "dlrm-criteo-kaggle", "cluster": "dgx-h100", "plan": {"data": 8},
    "training": {"global_batch": 64, "precision": "bf16"}})");
  const std::string text = data_of(titer({"export", run, "--format", "goal"}));
  EXPECT_EQ(goal::read(text).size(), 8u);
}

TEST(ExportCommand, WritesAGoalScheduleToAFileOrToStandardOutput) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "step.goal").string();
  const Outcome outcome = titer(export_of({"--format", "goal", "--out", path}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  const std::string text = file_text(path);
  EXPECT_TRUE(text.starts_with("num_ranks 8\n"));
  EXPECT_EQ(goal::read(text).size(), 8u);
  EXPECT_EQ(data_of(titer(export_of({"--format", "goal"}))), text);
  const std::string by_pass = data_of(titer(export_of({"--format", "goal", "--detail", "pass"})));
  EXPECT_LT(by_pass.size(), text.size() / 4);
}

TEST(ExportCommand, WritesAFolderOfChakraTraces) {
  if (!can_write_chakra()) {
    GTEST_SKIP() << "built without protobuf";
  }
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "traces";
  EXPECT_EQ(titer(export_of({"--format", "chakra", "--out", out.string()})).code, 0);
  std::set<std::string> wanted = {"comm_group.json"};
  for (int rank = 0; rank < 8; ++rank) {
    wanted.insert("step." + std::to_string(rank) + ".et");
    const auto trace =
        chakra_traces::read(file_text(out / ("step." + std::to_string(rank) + ".et")));
    EXPECT_GT(trace.nodes.size(), 100u);
  }
  EXPECT_EQ(names_in(out), wanted);
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"traces"});
}

TEST(ExportCommand, WritesTheTracesOfTheRanksAskedFor) {
  if (!can_write_chakra()) {
    GTEST_SKIP() << "built without protobuf";
  }
  const TemporaryFolder folder;
  const std::string out = folder.path().string();  // an empty folder will do
  EXPECT_EQ(titer(export_of({"--format", "chakra", "--ranks", "1,5-6", "--out", out})).code, 0);
  EXPECT_EQ(names_in(folder.path()),
            (std::set<std::string>{"comm_group.json", "step.1.et", "step.5.et", "step.6.et"}));
}

TEST(ExportCommand, SaysThatItWasBuiltWithoutProtobuf) {
  if (can_write_chakra()) {
    GTEST_SKIP() << "built with protobuf";
  }
  EXPECT_TRUE(contains(refusal_of(titer(export_of({"--format", "chakra", "--out", "traces"}))),
                       "built without protobuf"));
}

TEST(ExportCommand, RefusesAFormatDetailOrRankThatIsNone) {
  EXPECT_EQ(refusal_of(titer(export_of({"--format", "gaol"}))),
            "--format: gaol: expected goal, chakra, megatron, slurm, nemo, megatron-bridge, "
            "torchtitan, deepspeed; did you mean \"goal\"?");
  EXPECT_EQ(refusal_of(titer(export_of({"--format", "goal", "--detail", "kernel"}))),
            "--detail: kernel: expected pass, layer, operation");
  EXPECT_TRUE(contains(refusal_of(titer(export_of({"--format", "goal", "--ranks", "0"}))),
                       "every send needs its receiver"));
  EXPECT_TRUE(contains(refusal_of(titer(export_of({}))), "--format"));
  if (!can_write_chakra()) {
    GTEST_SKIP() << "built without protobuf";
  }
  for (const std::string ranks : {"8", "-1", "3-2", "1,", "one", "1;2"}) {
    EXPECT_EQ(refusal_of(
                  titer(export_of({"--format", "chakra", "--ranks=" + ranks, "--out", "nowhere"}))),
              "--ranks: " + ranks + ": expected ranks of 0 to 7, such as 0,8-15");
  }
  EXPECT_EQ(refusal_of(titer(export_of({"--format", "chakra"}))),
            "--out: missing: expected a folder for the files of --format chakra");
}

/// A name that tells of another format than what is written would be opened by the wrong program.
TEST(ExportCommand, RefusesANameOfAnotherFormat) {
  const TemporaryFolder folder;
  for (const auto& [format, name, expected] :
       {std::tuple("goal", "step.svg", ".goal or .txt"),
        std::tuple("megatron", "pretrain.png", ".sh or .txt"),
        std::tuple("slurm", "pretrain.json", ".sh or .txt"),
        std::tuple("nemo", "run.toml", ".yaml or .yml or .txt"),
        std::tuple("torchtitan", "run.yaml", ".toml or .txt"),
        std::tuple("deepspeed", "run.html", ".json or .txt")}) {
    const std::string path = (folder.path() / name).string();
    EXPECT_EQ(refusal_of(titer({"export", "gpt3-175b-64xa100", "--format", format, "--out", path})),
              "--out: " + path + ": expected a name that ends in " + expected +
                  ", as what is written is that");
  }
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
  const std::string script = (folder.path() / "pretrain.sh").string();
  EXPECT_EQ(titer({"export", "gpt3-175b-64xa100", "--format", "megatron", "--out", script}).code,
            0);
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"pretrain.sh"});
}

TEST(ExportCommand, RefusesWhatCannotBeWrittenAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::string missing = (folder.path() / "missing" / "step").string();
  EXPECT_TRUE(contains(refusal_of(titer(export_of({"--format", "goal", "--out", missing}))),
                       "expected a path in a folder that exists"));
  if (!can_write_chakra()) {
    GTEST_SKIP() << "built without protobuf";
  }
  EXPECT_TRUE(contains(refusal_of(titer(export_of({"--format", "chakra", "--out", missing}))),
                       "expected a path in a folder that exists"));
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
  const std::string file = folder.file("notes", "mine");
  for (const std::string& taken : {file, folder.path().string()}) {
    EXPECT_EQ(refusal_of(titer(export_of({"--format", "chakra", "--out", taken}))),
              taken + ": expected a folder that is new or empty");
  }
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"notes"});
  EXPECT_EQ(file_text(file), "mine");
}

TEST(ExportCommand, RefusesAStepThatWouldFillTheDisk) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "step.goal").string();
  const std::string line = refusal_of(titer({"export",
                                             "gpt3-175b-64xa100",
                                             "--format",
                                             "goal",
                                             "--detail",
                                             "operation",
                                             "--set",
                                             "cluster.nodes=64",
                                             "--set",
                                             "plan.data=8",
                                             "--set",
                                             "training.global_batch=4096",
                                             "--out",
                                             path}));
  EXPECT_TRUE(contains(line, "export: 512 ranks of up to"));
  EXPECT_TRUE(contains(line, "--detail pass"));
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
}

TEST(ExportCommand, RefusesNoise) {
  const std::string noise = R"(conditions.stragglers={"probability": 0.1, "slowdown": 2})";
  EXPECT_TRUE(contains(refusal_of(titer(export_of({"--format", "goal", "--set", noise}))),
                       "conditions: random: expected no jitter and no stragglers in an export"));
}

TEST(ExportCommand, RefusesTheFormulaWithoutKernels) {
  EXPECT_TRUE(contains(
      refusal_of(titer(
          export_of({"--format", "goal", "--formula", "e7", "--set", "formula.utilization=0.4"}))),
      "formula.name: e7: expected titer"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
