// What whoever runs a training, builds networks or studies systems asks.

#include <cmath>

#include "paths.hpp"
#include "tasks/task.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

const std::string kImported = (root() / "tests/data/import").string();
const std::string kTraces = (root() / "tests/data/traces").string();

TEST(EngineerTasks, ALaunchersFileAsARun) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "run.json").string();
  for (const char* launcher : {"pretrain.sh", "nemo.yaml", "titan.toml", "neox.yml"}) {
    const Outcome outcome =
        titer({"import", kImported + "/" + launcher, "--accept-unknown", "--out=" + file});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Document run = parse_json(file_text(file), launcher);
    EXPECT_NE(run.at("model"), nullptr) << launcher;
    EXPECT_NE(run.at("training.global_batch"), nullptr) << launcher;
  }
}

TEST(EngineerTasks, ALogBesideThePrediction) {
  const Outcome log = titer({"trace", kTraces + "/megatron.log"});
  EXPECT_EQ(log.code, 0) << log.err;
  EXPECT_TRUE(contains(log.out, "iteration"));
}

TEST(EngineerTasks, WhereAMeasuredStepWent) {
  const Outcome trace = titer({"trace", kTraces + "/kineto.json"});
  EXPECT_EQ(trace.code, 0) << trace.err;
  EXPECT_TRUE(contains(trace.out, "%"));
}

/// From latency to bandwidth: longer messages take longer, and use the network better.
TEST(EngineerTasks, ACollectiveOverSizes) {
  const Document rows = answer({"collective",
                                "--cluster=dgx-h100",
                                "--op=all_reduce",
                                "--bytes=1KiB",
                                "--to=8GiB",
                                "--factor=8",
                                "--ranks=0-15"});
  const std::string text = to_json(rows.root, 0);
  EXPECT_TRUE(contains(text, "bus_bandwidth_Bps"));
}

TEST(EngineerTasks, WhichKnobsToTurn) {
  const Document tuned = answer({"tune", "llama3-70b-64xh100"});
  EXPECT_LT(number(tuned, "best.iteration_time_s"), number(tuned, "run.iteration_time_s"));
  EXPECT_EQ(number(tuned, "scenario.devices"), 64);
  EXPECT_FALSE(tuned.at("best.flags")->items.empty());
}

TEST(EngineerTasks, TheBestPlanAsArguments) {
  const Outcome script = titer({"export", "gpt3-175b-64xa100", "--format=megatron"});
  EXPECT_EQ(script.code, 0) << script.err;
  EXPECT_TRUE(contains(script.out, "--tensor-model-parallel-size 8"));
}

TEST(EngineerTasks, ARunToBeginWith) {
  const Outcome made = titer({"new", "--model=llama3-70b", "--cluster=dgx-h100", "--devices=64"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(text(parse_json(made.out, "run"), "model"), "llama3-70b");
}

/// The plan of DeepSeek-V3's report fits, and the search among what that software can do finds one
/// that is at least as fast.
TEST(EngineerTasks, APublishedPlanOfHundredsOfExperts) {
  const Document run = answer({"run", "deepseek-v3-2048xh800"});
  EXPECT_TRUE(run.at("memory.fits")->boolean);
  const Document search = answer({"search",
                                  "deepseek-v3-2048xh800",
                                  "--set=constraints.memory_margin=0",
                                  "--set=space.pipeline=[8,16]",
                                  "--set=space.expert=[32,64]",
                                  "--set=space.schedule=[\"1f1b\",\"dualpipe\"]",
                                  "--jobs=2"});
  EXPECT_LE(number(search, "plans.0.iteration_time_s"), number(run, "iteration_time_s"));
}

/// On a fat tree a dense model hardly feels fewer links up, one with experts does.
TEST(ArchitectTasks, OversubscriptionOfAFatTree) {
  const auto slower = [](const char* run) {
    const Document table =
        answer({"compare", run, "--topology=fat-tree-2-level-1024", "--oversubscription=1,2,4"});
    EXPECT_EQ(table.at("networks")->items.size(), 3u);
    EXPECT_LE(number(table, "networks.0.iteration_time_s"),
              number(table, "networks.1.iteration_time_s"));
    return number(table, "networks.2.slower");
  };
  EXPECT_LT(slower("llama3-70b-64xh100"), 0.05);
  EXPECT_GE(slower("mixtral-8x7b-64xh100"), 0);
}

TEST(ArchitectTasks, LinksThatFail) {
  const Document table = answer({"compare",
                                 "mixtral-8x7b-64xh100",
                                 "--topology=fat-tree-2-level-1024",
                                 "--failed-links=0,10"});
  EXPECT_EQ(number(table, "networks.1.failed_links"), 10);
  EXPECT_LE(number(table, "networks.0.iteration_time_s"),
            number(table, "networks.1.iteration_time_s"));
}

TEST(ArchitectTasks, ADragonfly) {
  const Document run = answer({"run",
                               "mixtral-8x7b-64xh100",
                               "--fidelity=network",
                               "--set=cluster.network.topology=dragonfly-1056"});
  EXPECT_GT(number(run, "iteration_time_s"), 0);
  EXPECT_NE(run.at("limited_by"), nullptr);
}

TEST(ResearcherTasks, SchedulesAsTextAndPictures) {
  for (const char* schedule : {"1f1b", "zb-h1", "dualpipe", "interleaved"}) {
    const std::vector<std::string> drawn = {
        "timeline", std::string("--schedule=") + schedule, "--pipeline=4", "--micro-batches=8"};
    std::vector<std::string> narrow = drawn;
    narrow.emplace_back("--width=60");
    EXPECT_EQ(titer(narrow).code, 0) << schedule;
    std::vector<std::string> svg = drawn;
    svg.emplace_back("--format=svg");
    EXPECT_TRUE(contains(titer(svg).out, "</svg>")) << schedule;
  }
}

TEST(ResearcherTasks, AStepForOtherSimulators) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "step.goal").string();
  const Outcome goal =
      titer({"export", "gpt3-175b-64xa100", "--format=goal", "--detail=pass", "--out=" + file});
  EXPECT_EQ(goal.code, 0) << goal.err;
  EXPECT_TRUE(file_text(file).starts_with("num_ranks 64\n"));
}

TEST(ResearcherTasks, WhatIsThere) {
  EXPECT_TRUE(contains(titer({"list", "models", "--format=csv"}).out, "llama3-70b"));
  EXPECT_TRUE(
      contains(titer({"show", "dgx-h100", "--kind=cluster"}).out, "\"name\": \"dgx-h100\""));
  EXPECT_EQ(titer({"schema", "run"}).code, 0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
