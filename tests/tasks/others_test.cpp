// What whoever runs a training, builds networks or studies systems asks.

#include <cmath>
#include <filesystem>

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

/// What a script takes from outside is said to be open, until it is told.
TEST(EngineerTasks, ALaunchersFileWithADegreeFromOutside) {
  const std::string script = kImported + "/scripts/open_degree.sh";
  const Outcome open = titer({"import", script});
  EXPECT_EQ(open.code, 0) << open.err;
  EXPECT_TRUE(contains(open.err, "left open: " + script + ":4:3: --tensor-model-parallel-size"));
  const Outcome told = titer({"import", script, "--define=TP_OF_THE_JOB=4"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_FALSE(contains(told.err, "tensor-model-parallel-size: ${")) << told.err;
  EXPECT_TRUE(contains(told.out, "tensor 4")) << told.out;
}

/// As a model wherever one is asked for; what it lacks of a run comes from elsewhere.
TEST(EngineerTasks, AHuggingFaceModel) {
  const std::string config = kImported + "/config.json";
  const Outcome read = titer({"import", config});
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_TRUE(contains(read.out, "8 layers, hidden 1024, 16 heads")) << read.out;
  const Document made = answer({"compare",
                                "--model=" + config,
                                "--cluster=dgx-h100",
                                "--tokens=10B",
                                "--devices=8",
                                "--batch=64"});
  EXPECT_EQ(number(made, "rows.0.sequence"), 4096) << "the model's longest";
}

/// Time, speed and memory, each measured and predicted.
TEST(EngineerTasks, ALogBesideThePrediction) {
  const std::string folder = (root() / "tests/data/doctor").string();
  const Document log =
      answer({"trace", folder + "/train.log", "--scenario=" + folder + "/run.json"});
  for (const char* figure : {"iteration_time_s", "model_flops_per_device", "memory_peak_bytes"}) {
    const std::string path = "figures." + std::string(figure);
    EXPECT_NEAR(number(log, path + ".predicted") / number(log, path + ".mean"), 1, 0.25) << figure;
  }
}

TEST(EngineerTasks, WhereAMeasuredStepWent) {
  const Document trace = answer({"trace", kTraces + "/kineto.json"});
  double sum = 0;
  for (const Value& term : trace.at("terms")->items) {
    sum += term.find("measured")->find("exposed_s")->number;
  }
  EXPECT_NEAR(sum, number(trace, "measured_s"), 1e-9);
}

/// Of several ranks at once, and how many of how many they are; who waits for whom.
TEST(EngineerTasks, TracesOfRanksBesideThePrediction) {
  const std::string folder = (root() / "tests/data/doctor").string();
  const Document trace = answer({"trace",
                                 folder + "/rank0.json",
                                 folder + "/rank1.json",
                                 "--scenario=" + folder + "/run.json"});
  EXPECT_EQ(trace.at("ranks")->items.size(), 2u);
  EXPECT_EQ(number(trace, "world_size"), 8);
  EXPECT_GT(number(trace, "measured_s"), number(trace, "predicted_s"));
  EXPECT_GT(number(trace, "waiting_for_late_ranks_s"), 0);
}

/// Of two ranks of eight, which is said; what the run lost to what, and why.
TEST(EngineerTasks, TracesLogAndTopologyAgainstThePrediction) {
  const std::string folder = (root() / "tests/data/doctor").string();
  const Document page = answer({"doctor",
                                folder + "/run.json",
                                folder + "/train.log",
                                folder + "/rank0.json",
                                folder + "/rank1.json",
                                folder + "/all_reduce.txt",
                                folder + "/topo.txt"});
  EXPECT_EQ(text(page, "scenario.model"), "llama3-8b");
  EXPECT_FALSE(page.at("causes")->items.empty());
}

/// What was measured moves the network's figures, each with its evidence; noise does not.
TEST(EngineerTasks, ANetworkFittedToALog) {
  const std::string log = "/tests/data/measured/collectives/allreduce_2n_p5_h100_efa_d.csv";
  const Outcome fit = titer({"calibrate",
                             "network",
                             root().string() + log,
                             "--base=efa-32x100g",
                             "--cluster=dgx-h100",
                             "--format=json"});
  ASSERT_EQ(fit.code, 0) << fit.err;
  const Document network = parse_json(fit.out, "network");
  EXPECT_EQ(text(network, "protocols.0.latency.source"), "measured_calibration");
}

/// What nvidia-smi tells of a node, and how fast its links are, stands in place of its fabric.
TEST(EngineerTasks, ANodesOwnTopology) {
  const std::string folder = (root() / "tests/data/doctor").string();
  const auto time = [&](const std::string& bandwidth) {
    return number(answer({"run",
                          folder + "/run.json",
                          "--set=cluster.node.fabric=" + folder + "/topo.txt",
                          "--set=cluster.node.fabric.link_bandwidth=" + bandwidth}),
                  "iteration_time_s");
  };
  EXPECT_GT(time("12.5 GB/s"), time("25 GB/s"));
}

/// A table of one's own runs, as `calibrate stack` takes it, too.
TEST(EngineerTasks, RunsOfOnesOwnAgainstPredictions) {
  const TemporaryFolder folder;
  const std::string runs =
      folder.file("runs.csv", "run,iter_time_s,family\ngpt3-175b-64xa100,13.75,mine\n");
  const Outcome validated = titer({"validate", runs});
  EXPECT_EQ(validated.code, 0) << validated.err;
  EXPECT_TRUE(contains(validated.out, "1 row: 1 compared, 0 skipped")) << validated.out;
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

/// At the sizes that were measured, by closed forms as by the rules of a library.
TEST(EngineerTasks, ACollectiveBesideWhatWasMeasured) {
  const std::string measured = (root() / "tests/data/doctor/all_reduce.txt").string();
  std::vector<std::string> asked = {"collective",
                                    "--cluster=dgx-h100",
                                    "--op=all_reduce",
                                    "--ranks=0-7",
                                    "--measured=" + measured};
  for (int way = 0; way < 2; ++way) {
    const Document table = answer(asked);
    const std::vector<Value>& rows = table.at("results")->items;
    ASSERT_EQ(rows.size(), 12u);
    for (const Value& row : rows) {
      const double off = row.find("measured_time_s")->number / row.find("time_s")->number;
      EXPECT_GT(off, 0.5);
      EXPECT_LT(off, 2);
    }
    asked.emplace_back("--library=nccl");
  }
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

/// A dense model on four networks in one table: none of them costs it much.
TEST(ArchitectTasks, ADenseModelOnAnyNetwork) {
  const Document table = answer({"compare",
                                 "llama3-70b-64xh100",
                                 "--topology=fat-tree-2-level-1024,fat-tree-3-level-8192,"
                                 "dragonfly-1056"});
  const std::vector<Value>& networks = table.at("networks")->items;
  ASSERT_EQ(networks.size(), 3u);
  for (const Value& network : networks) {
    EXPECT_NEAR(network.find("slower")->number, 0, 0.1);
  }
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

/// Fat tree, dragonfly and torus at several oversubscriptions, with and without failed links, and
/// what each of them costs: by port, bisection and token/s.
TEST(ArchitectTasks, NetworksByStepAndCost) {
  const TemporaryFolder folder;
  const std::string torus =
      folder.file("torus.json", R"({"name": "torus-64", "family": "torus", "dimensions": [4, 4, 4],
                                    "bandwidth": "400 Gbps", "latency": "1 us"})");
  const Document table = answer({"compare",
                                 "mixtral-8x7b-64xh100",
                                 "--topology=fat-tree-2-level-1024,dragonfly-1056," + torus,
                                 "--oversubscription=1,2,4",
                                 "--failed-links=0,10",
                                 "--prices=owned-assumed"});
  const std::vector<Value>& networks = table.at("networks")->items;
  ASSERT_EQ(networks.size(), 3u * 2 + 2 + 2);
  for (const Value& network : networks) {
    for (const char* figure : {"network_dollars",
                               "network_power_w",
                               "dollars_per_bisection_GBps",
                               "dollars_per_token_per_s"}) {
      ASSERT_NE(network.find(figure), nullptr) << figure;
      EXPECT_GT(network.find(figure)->number, 0) << figure;
    }
  }
  // Fewer links up are cheaper by port and dearer by bisection.
  EXPECT_LT(number(table, "networks.4.dollars_per_port"),
            number(table, "networks.0.dollars_per_port"));
  EXPECT_GT(number(table, "networks.4.dollars_per_bisection_GBps"),
            number(table, "networks.0.dollars_per_bisection_GBps"));
}

/// Its ports are slower than the NICs, which is said, and so is how it is routed.
TEST(ArchitectTasks, ADragonfly) {
  const std::vector<std::string> asked = {"run",
                                          "mixtral-8x7b-64xh100",
                                          "--fidelity=network",
                                          "--set=cluster.network.topology=dragonfly-1056"};
  const Document run = answer(asked);
  EXPECT_GT(number(run, "iteration_time_s"),
            number(answer({"run", "mixtral-8x7b-64xh100"}), "iteration_time_s"));
  EXPECT_NE(run.at("limited_by"), nullptr);
  const std::string words = titer(asked).out;
  EXPECT_TRUE(contains(words, "routing: adaptive")) << words;
  EXPECT_TRUE(contains(words, "NICs of 400 Gbps: limited by port 200 Gbps")) << words;
}

/// NICs joined without switches: slower links make the step longer, and are what is busy.
TEST(ArchitectTasks, ATorus) {
  const TemporaryFolder folder;
  const auto torus = [&](const std::string& bandwidth) {
    return folder.file(bandwidth + ".json",
                       R"({"name": "torus-64", "family": "torus", "dimensions": [4, 4, 4],
                           "bandwidth": ")" +
                           bandwidth + R"( Gbps", "latency": "1 us"})");
  };
  const Document table =
      answer({"compare", "mixtral-8x7b-64xh100", "--topology=" + torus("400") + "," + torus("10")});
  EXPECT_GT(number(table, "networks.1.slower"), 0);
  for (const char* network : {"networks.0", "networks.1"}) {
    EXPECT_EQ(text(table, network + std::string(".hottest_tier")), "NIC - NIC");
    EXPECT_GT(number(table, network + std::string(".hottest_busy")), 0);
  }
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

TEST(ResearcherTasks, AllSchedulesSideBySide) {
  const Outcome drawn = titer({"timeline",
                               "--schedule=sequential,gpipe,1f1b,interleaved,breadth-first,zb-h1,"
                               "zb-h2,zb-v,v-half,v-min,dualpipe,dualpipev,chimera,hanayo",
                               "--pipeline=4",
                               "--micro-batches=8",
                               "--format=svg"});
  ASSERT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_TRUE(contains(drawn.out, ">sequential: 4 stages"));
  EXPECT_TRUE(contains(drawn.out, ">hanayo: 4 stages"));
}

TEST(ResearcherTasks, AStepForOtherSimulators) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "step.goal").string();
  const Outcome goal =
      titer({"export", "gpt3-175b-64xa100", "--format=goal", "--detail=pass", "--out=" + file});
  EXPECT_EQ(goal.code, 0) << goal.err;
  EXPECT_TRUE(file_text(file).starts_with("num_ranks 64\n"));
  const std::string chakra = (folder.path() / "chakra").string();
  const Outcome traces =
      titer({"export", "gpt3-175b-64xa100", "--format=chakra", "--detail=pass", "--out=" + chakra});
  EXPECT_EQ(traces.code, 0) << traces.err;
  for (const int rank : {0, 63}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "chakra" /
                                        ("step." + std::to_string(rank) + ".et")));
  }
}

TEST(ResearcherTasks, WhatIsThere) {
  EXPECT_TRUE(contains(titer({"list", "models", "--format=csv"}).out, "llama3-70b"));
  EXPECT_TRUE(
      contains(titer({"show", "dgx-h100", "--kind=cluster"}).out, "\"name\": \"dgx-h100\""));
  EXPECT_EQ(titer({"schema", "run"}).code, 0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
