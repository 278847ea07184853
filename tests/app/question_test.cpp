// Questions with options, asked on the command line and as documents: the answers are the same.

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "paths.hpp"
#include "titer/ask/option.hpp"
#include "titer/ask/question.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Arguments = std::vector<std::string>;

std::string measured(const std::string& file) {
  return (root() / "tests/data/measured" / file).string();
}

class AppQuestion : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  Outcome asked(const std::string& question, const Arguments& more = {}) {
    Arguments arguments = {"ask", file("question.json", question)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return titer(arguments);
  }
  /// The figures of an answer as the program's subcommand prints them.
  void expect_same(Arguments command, const std::string& question) {
    command.insert(command.end(), {"--format", "json"});
    const Document printed = parse_json(data_of(titer(command)), "printed");
    const Document answer = parse_json(data_of(asked(question)), "answer");
    ASSERT_NE(answer.at("figures"), nullptr) << question;
    EXPECT_EQ(to_json(*answer.at("figures")), to_json(printed.root)) << question;
    EXPECT_TRUE(answer.at("good")->boolean) << question;
    EXPECT_FALSE(answer.at("html")->text.empty()) << question;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(AppQuestion, OfNetworksAreAnsweredAlike) {
  expect_same({"collective",
               "--cluster=dgx-a100-80gb",
               "--op=all_reduce",
               "--bytes=1MiB",
               "--to=4MiB",
               "--ranks=0-7",
               "--ranks=8-15",
               "--set",
               "cluster.node.nic_bandwidth=400 Gbps"},
              R"({"question": "collective", "cluster": "dgx-a100-80gb", "op": "all_reduce",
                  "bytes": "1MiB", "to": "4MiB", "factor": 2, "ranks": ["0-7", "8-15"],
                  "set": {"cluster.node.nic_bandwidth": "400 Gbps"}})");
  expect_same({"topology", "dgx1-v100", "--set", "bandwidth=20 GB/s"},
              R"({"question": "topology", "topology": "dgx1-v100",
                  "set": ["bandwidth=20 GB/s"]})");
  expect_same({"topology", "dgx1-v100", "--from", "0", "--to", "5"},
              R"({"question": "topology", "topology": "dgx1-v100", "from": 0, "to": 5})");
  expect_same({"topology", "fat-tree-2-level-1024", "--all-to-all", "1GiB"},
              R"({"question": "topology", "topology": "fat-tree-2-level-1024",
                  "all_to_all": "1GiB"})");
  expect_same({"traffic", "gpt3-175b-64xa100", "--kind", "tensor", "--set", "plan.micro_batch=2"},
              R"({"question": "traffic", "scenario": "gpt3-175b-64xa100", "kind": "tensor",
                  "set": {"plan.micro_batch": 2}})");
  expect_same({"traffic", "mixtral-8x7b-64xh100", "--iterations", "3", "--seed", "7"},
              R"({"question": "traffic", "scenario": "mixtral-8x7b-64xh100", "iterations": 3,
                  "seed": 7})");
}

TEST_F(AppQuestion, AboutAScenarioAreAnsweredAlike) {
  expect_same({"check", "gpt3-175b-64xa100", "--set", "plan.micro_batch=2"},
              R"({"question": "check", "scenario": "gpt3-175b-64xa100",
                  "set": {"plan.micro_batch": 2}})");
  expect_same(
      {"explain", "gpt3-175b-64xa100", "--formula", "e7", "--set", "formula.utilization=0.4"},
      R"({"question": "explain", "scenario": "gpt3-175b-64xa100", "formula": "e7",
                  "set": ["formula.utilization=0.4"]})");
  expect_same({"sensitivity", "gpt3-175b-64xa100", "--of", "mfu", "--by", "2%"},
              R"({"question": "sensitivity", "scenario": "gpt3-175b-64xa100", "of": "mfu",
                  "by": "2%"})");
  expect_same({"diff",
               "gpt3-175b-64xa100",
               "gpt3-175b-64xa100",
               "--set",
               "training.global_batch=128",
               "--set-b",
               "plan.recompute=full"},
              R"({"question": "diff", "a": "gpt3-175b-64xa100", "b": "gpt3-175b-64xa100",
                  "set": {"training.global_batch": 128}, "set_b": ["plan.recompute=full"]})");
  expect_same({"tune", "gpt3-175b-64xa100", "--measured", "16.5s", "--fidelity", "closed"},
              R"({"question": "tune", "scenario": "gpt3-175b-64xa100", "measured": "16.5s",
                  "fidelity": "closed"})");
}

TEST_F(AppQuestion, OfARunAreAnsweredAlike) {
  expect_same({"run", "gpt3-175b-64xa100", "--set", "plan.micro_batch=2", "--fidelity", "event"},
              R"({"question": "run", "scenario": "gpt3-175b-64xa100",
                  "set": {"plan.micro_batch": 2}, "fidelity": "event"})");
  expect_same({"run", "gpt3-175b-64xa100", "--formula", "e7", "--set", "formula.utilization=0.45"},
              R"({"question": "run", "scenario": "gpt3-175b-64xa100", "formula": "e7",
          "set": ["formula.utilization=0.45"]})");
  const std::string noise =
      "conditions.compute_jitter={\"distribution\":\"normal\",\"deviation\":0.05}";
  expect_same(
      {"run", "llama3-70b-64xh100", "--set", noise, "--samples", "3", "--seed", "7"},
      R"({"question": "run", "scenario": "llama3-70b-64xh100", "samples": 3, "seed": 7, "set":
          {"conditions.compute_jitter": {"distribution": "normal", "deviation": 0.05}}})");
  const std::string table = file("runs.csv", "run,iter_time_s\ngpt3-175b-64xa100,16\n");
  expect_same(
      {"run", "gpt3-175b-64xa100", "--measured", table},
      R"({"question": "run", "scenario": "gpt3-175b-64xa100", "measured": ")" + table + "\"}");
  expect_same({"run", "llama3-70b-64xh100", "--every-rank", "--set", "plan.micro_batch=2"},
              R"({"question": "run", "scenario": "llama3-70b-64xh100", "every_rank": true,
                  "set": {"plan.micro_batch": 2}})");
}

TEST_F(AppQuestion, OfASearchAreAnsweredAlike) {
  expect_same({"search",
               "--model=megatron-1.7b",
               "--cluster=dgx-a100-80gb",
               "--devices=4",
               "--batch=8",
               "--sequence=2048",
               "--precision=bf16",
               "--objective=mfu",
               "--top=2",
               "--best-of=plan",
               "--any-software",
               "--exhaustive",
               "--refine=event",
               "--set=space.schedule=1f1b"},
              R"({"question": "search", "model": "megatron-1.7b", "cluster": "dgx-a100-80gb",
                  "devices": 4, "batch": 8, "sequence": 2048, "precision": "bf16",
                  "objective": "mfu", "top": 2, "best_of": "plan", "any_software": true,
                  "exhaustive": true, "refine": "event", "set": {"space.schedule": "1f1b"}})");
  expect_same({"search", "llama3-70b-64xh100", "--stack", "megatron-core", "--top", "1"},
              R"({"question": "search", "search": "llama3-70b-64xh100",
                  "stack": "megatron-core", "top": 1})");
  const Outcome both =
      asked(R"({"question": "search", "search": "llama3-70b-64xh100", "model": "llama3-8b"})");
  EXPECT_TRUE(contains(both.out, "expected either a SEARCH or --model")) << both.out;
  const Outcome half = asked(R"({"question": "search", "model": "llama3-8b", "batch": 8})");
  EXPECT_TRUE(contains(half.out, "expected either a SEARCH or --model")) << half.out;
}

TEST_F(AppQuestion, OfANewRunHasItsFile) {
  const Document answer =
      parse_json(data_of(asked(R"({"question": "new", "model": "llama3-8b", "cluster": "dgx-h100",
                        "devices": 16, "batch": 64, "sequence": 4096})")),
                 "answer");
  Document written = parse_json(titer({"new",
                                       "--model=llama3-8b",
                                       "--cluster=dgx-h100",
                                       "--devices=16",
                                       "--batch=64",
                                       "--sequence=4096"})
                                    .out,
                                "written");
  written.root.erase("$schema");
  ASSERT_NE(answer.at("figures.run"), nullptr) << to_json(answer.root);
  EXPECT_EQ(to_json(*answer.at("figures.run")), to_json(written.root));
  EXPECT_TRUE(contains(asked(R"({"question": "new", "model": "llama3-8b"})").out,
                       "expected --model, --cluster and --devices"));
}

TEST_F(AppQuestion, AboutTrainingOverTimeAreAnsweredAlike) {
  expect_same({"capacity",
               "gpt3-175b-64xa100",
               "--tokens",
               "300B",
               "--devices",
               "64,128",
               "--watts",
               "450",
               "--prices",
               "gpu-clouds-2026"},
              R"({"question": "capacity", "capacity": "gpt3-175b-64xa100", "tokens": "300B",
                  "devices": "64,128", "watts": 450, "prices": "gpu-clouds-2026"})");
  expect_same({"compare",
               "--model",
               "llama3-8b",
               "--cluster",
               "dgx-h100,dgx-h200",
               "--tokens",
               "1T",
               "--devices",
               "64",
               "--batch",
               "512",
               "--sort",
               "days"},
              R"({"question": "compare", "model": "llama3-8b", "cluster": "dgx-h100,dgx-h200",
                  "tokens": "1T", "devices": "64", "batch": "512", "sort": "days"})");
  expect_same({"compare",
               "llama3-70b-64xh100",
               "--topology",
               "fat-tree-2-level-1024",
               "--oversubscription",
               "1,4",
               "--failed-links",
               "0,2"},
              R"({"question": "compare", "run": "llama3-70b-64xh100",
                  "topology": ["fat-tree-2-level-1024"], "oversubscription": "1,4",
                  "failed_links": "0,2"})");
  expect_same({"course", "federated", "--set", "rounds.local_steps=1"},
              R"({"question": "course", "course": "federated",
                  "set": ["rounds.local_steps=1"]})");
}

// What a file would hold may stand in its place.
TEST_F(AppQuestion, TakesObjectsForNames) {
  const std::string ring = R"({"family": "ring", "devices": 4, "bandwidth": "1 GB/s"})";
  expect_same({"topology", file("ring.json", ring)},
              R"({"question": "topology", "topology": )" + ring + "}");
}

TEST_F(AppQuestion, OfMeasurementsAreAnsweredAlike) {
  const std::string table = measured("training_vtrain_single.csv");
  expect_same({"validate", table, "--by", "chip"},
              R"({"question": "validate", "datasets": [")" + table + R"("], "by": "chip"})");
  const std::string log = file("train.log", "");
  EXPECT_EQ(asked(R"({"question": "trace", "files": [")" + log + "\"]}").code,
            titer({"trace", log}).code);
}

TEST_F(AppQuestion, OfWhatWasMeasuredOfAStepIsTheSameBesideTables) {
  const std::string trace = (root() / "tests/data/traces/kineto.json").string();
  expect_same(
      {"validate", "--trace", trace, "--scenario", "llama3-70b-64xh100"},
      R"({"question": "validate", "trace": ")" + trace + R"(", "scenario": "llama3-70b-64xh100"})");
  EXPECT_EQ(titer({"validate", "--trace", trace}).out, titer({"trace", trace}).out);
  const Document alone =
      parse_json(asked(R"({"question": "validate", "scenario": "llama3-70b-64xh100"})").out, "out");
  EXPECT_TRUE(contains(alone.at("errors")->items.front().text, ": expected only beside trace"));
}

TEST_F(AppQuestion, OfWhatWasMeasuredElsewhereAreAnsweredAlike) {
  expect_same({"support", "--scenario", "llama3-70b-64xh100"},
              R"({"question": "support", "scenario": "llama3-70b-64xh100"})");
  const std::string workload = (root() / "tests/data/workloads/pipeline.goal").string();
  expect_same({"replay",
               workload,
               "--cluster",
               "dgx-a100-80gb",
               "--set",
               "cluster.nodes=2",
               "--compute-scale",
               "0.5"},
              R"({"question": "replay", "files": [")" + workload +
                  R"("], "cluster": "dgx-a100-80gb", "set": {"cluster.nodes": 2},
                  "compute_scale": 0.5})");
}

TEST_F(AppQuestion, CallOptionsByTheirNamesInFiles) {
  const Document wrong = parse_json(
      asked(R"({"question": "run", "scenario": "gpt3-175b-64xa100", "fidelity": "evnt"})").out,
      "out");
  EXPECT_TRUE(contains(wrong.at("errors")->items.front().text, "fidelity: evnt: expected closed"));
  EXPECT_TRUE(contains(refusal_of(titer({"run", "gpt3-175b-64xa100", "--fidelity", "evnt"})),
                       "--fidelity: evnt: expected closed"));
}

TEST_F(AppQuestion, OfADoctorAreAnsweredAlike) {
  const std::string log = file("steps.log",
                               "iteration 1/ 9 | elapsed time per iteration (ms): 1000\n"
                               "iteration 2/ 9 | elapsed time per iteration (ms): 1000\n");
  EXPECT_EQ(asked(R"({"question": "doctor", "files": [")" + log + R"("]})").code,
            titer({"doctor", log}).code);
  expect_same({"doctor", "--run", "gpt3-175b-64xa100", "--set", "plan.micro_batch=2"},
              R"({"question": "doctor", "run": "gpt3-175b-64xa100",
                  "set": {"plan.micro_batch": 2}})");
}

TEST_F(AppQuestion, OfASweepHasItsRows) {
  const std::string sweep =
      R"({"scenario": "llama3-70b-64xh100", "axes": {"plan.micro_batch": [1, 2, 3]}})";
  const Document answer =
      parse_json(data_of(asked(R"({"question": "sweep", "sweep": )" + sweep + "}")), "answer");
  const std::string lines =
      data_of(titer({"sweep", file("sweep.json", sweep), "--format", "jsonl"}));
  ASSERT_NE(answer.at("figures.points"), nullptr) << to_json(answer.root);
  std::string points;
  for (const Value& point : answer.at("figures.points")->items) {
    points += to_json(point, 0) + "\n";
  }
  std::string printed;
  for (std::size_t begin = 0; begin < lines.size(); begin = lines.find('\n', begin) + 1) {
    printed +=
        to_json(parse_json(lines.substr(begin, lines.find('\n', begin) - begin), "row").root, 0) +
        "\n";
  }
  EXPECT_EQ(points, printed);
  const std::string with_columns = R"(, "columns": "beyond_software"})";
  EXPECT_TRUE(contains(asked(R"({"question": "sweep", "sweep": )" + sweep + with_columns).out,
                       "beyond_software"));
  EXPECT_TRUE(contains(asked(R"({"question": "sweep", "limit": 2, "sweep": )" + sweep + "}").out,
                       "errors"));
}

TEST_F(AppQuestion, SaysWhatIsWrongWithOptions) {
  const auto error = [&](const std::string& rest) {
    const Outcome outcome = asked(R"({"question": "collective", "op": "all_reduce")" + rest + "}");
    EXPECT_EQ(outcome.code, 2);
    return outcome.out;
  };
  const std::string cluster = R"(, "cluster": "dgx-h100")";
  EXPECT_TRUE(contains(error(cluster), "ranks: missing; expected devices, numbered node by node"));
  EXPECT_TRUE(contains(error(cluster + R"(, "ranks": 8)"),
                       "ranks: 8: expected a text, or a list of texts"));
  EXPECT_TRUE(contains(error(cluster + R"(, "ranks": "0-7", "servers": 5000)"), "servers: "));
  EXPECT_TRUE(contains(error(cluster + R"(, "ranks": "0-7", "byte": "1MiB")"), "bytes"));
  EXPECT_TRUE(contains(error(R"(, "ranks": "0-7", "cluster": 3)"),
                       "cluster: 3: expected a name, or an object as its file holds it"));
}

// Whoever reaches a server reads no file by it, whatever the option.
TEST_F(AppQuestion, NamesNoFilesWhereNoneMayBeRead) {
  std::size_t tried = 0;
  for (const Question& question : questions()) {
    for (const OptionWords& option : question.options()) {
      if (!option.is_file) {
        continue;
      }
      const std::string named = file("named.txt", "{}");
      const std::string value =
          option.kind == OptionKind::texts ? "[\"" + named + "\"]" : "\"named.txt\"";
      const Outcome outcome = asked(R"({"question": ")" + std::string(question.name) + R"(", ")" +
                                        std::string(option.key) + "\": " + value + "}",
                                    {"--no-files"});
      EXPECT_EQ(outcome.code, 2) << question.name << "." << option.key;
      EXPECT_TRUE(contains(outcome.out, "no file is read here"))
          << question.name << "." << option.key << ": " << outcome.out;
      ++tried;
    }
  }
  EXPECT_GE(tried, 10u);
}

// The command line has them all, and help says the same of them.
TEST_F(AppQuestion, HaveTheirOptionsOnTheCommandLine) {
  for (const Question& question : questions()) {
    const std::string help = titer({std::string(question.name), "--help"}).out;
    std::set<std::string_view> keys;
    for (const OptionWords& option : question.options()) {
      EXPECT_TRUE(keys.insert(option.key).second) << question.name << "." << option.key;
      EXPECT_FALSE(option.about.empty() || option.about.ends_with('.')) << option.key;
      std::string name(option.key);
      std::ranges::replace(name, '_', '-');
      EXPECT_TRUE(contains(help, option.is_first ? name : "--" + name))
          << question.name << "." << option.key;
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
