// titer doctor, from the outside.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "app/program.hpp"
#include "paths.hpp"
#include "titer/input/document.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::string doctor_data(const std::string& file) {
  return (root() / "tests/data/doctor" / file).string();
}

Document json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "doctor");
  arguments.insert(arguments.end(), {"--format", "json"});
  return parse_json(data_of(titer(arguments)), "output");
}

const Value* cause_named(const Document& answer, const std::string& name) {
  for (const Value& cause : answer.at("causes")->items) {
    if (cause.find("cause")->text == name) {
      return &cause;
    }
  }
  return nullptr;
}

double sum_of_causes(const Document& answer) {
  double sum = 0;
  for (const Value& cause : answer.at("causes")->items) {
    sum += cause.find("time_s")->number;
  }
  return sum;
}

/// What is no file of this run is said, and does not go for one.
TEST(AppDoctor, TellsFilesOfOtherThings) {
  const TemporaryFolder folder;
  const std::string drawing = folder.file("a.svg", "<svg><rect/></svg>\n");
  EXPECT_TRUE(contains(refusal_of(titer({"doctor", drawing})), "XML, but not NCCL's topology"));
  const std::string text =
      data_of(titer({"doctor", doctor_data("rank0.json"), "--run", "llama3-70b-64xh100"}));
  EXPECT_TRUE(contains(text, "is of 8 ranks, the run has 64 devices: another run"));
  EXPECT_FALSE(
      contains(data_of(titer({"doctor", doctor_data("rank0.json"), doctor_data("run.json")})),
               "another run"));
}

TEST(AppDoctor, CausesAddUpToTheDifference) {
  const Document answer = json_of({doctor_data("train.log"),
                                   doctor_data("rank0.json"),
                                   doctor_data("rank1.json"),
                                   doctor_data("all_reduce.txt"),
                                   doctor_data("topo.txt"),
                                   doctor_data("run.json")});
  const double measured = answer.at("measured_s")->number;
  const double predicted = answer.at("predicted_s")->number;
  EXPECT_EQ(measured, 4.4);  // the median of the log
  EXPECT_NEAR(sum_of_causes(answer), measured - predicted, 1e-9 * measured);
  ASSERT_NE(cause_named(answer, "links"), nullptr);
  ASSERT_NE(cause_named(answer, "compute"), nullptr);
  ASSERT_NE(cause_named(answer, "beyond the traced steps"), nullptr);
  EXPECT_NEAR(
      cause_named(answer, "beyond the traced steps")->find("time_s")->number, 4.4 - 4.3, 1e-9);
  const std::vector<std::string> kinds = {
      "training log", "trace", "trace", "nccl-tests", "topology", "run"};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(answer.at("files")->items[i].find("kind")->text, kinds[i]);
  }
  EXPECT_TRUE(answer.at("missing")->items.empty());
  bool tells_late = false;
  for (const Value& finding : answer.at("findings")->items) {
    tells_late = tells_late || contains(finding.text, "rank 1");
  }
  EXPECT_TRUE(tells_late);
}

TEST(AppDoctor, SaysWhatIsMissing) {
  const Document answer = json_of({doctor_data("train.log")});
  EXPECT_EQ(answer.at("measured_s")->number, 4.4);
  EXPECT_EQ(answer.at("predicted_s")->kind, Value::Kind::null);
  EXPECT_EQ(answer.at("missing")->items.size(), 4U);
  EXPECT_TRUE(contains(answer.at("missing")->items[0].text, "--run RUN"));
}

TEST(AppDoctor, SaysWhatMeasuredLinksAreWorthWithoutARun) {
  const std::string links = doctor_data("all_reduce.txt");
  const std::string text = titer({"doctor", links}).out;
  EXPECT_TRUE(text.starts_with("no iteration was measured, and none predicted")) << text;
  EXPECT_TRUE(contains(text, "`titer calibrate network " + links + " --base CLUSTER` fits"));
}

TEST(AppDoctor, SaysFirstThatALogIsOfAnotherBatch) {
  const TemporaryFolder folder;
  const std::string log = (folder.path() / "other.log").string();
  std::ofstream(log)
      << "iteration 1/ 9 | elapsed time per iteration (ms): 14100.0 | global batch size: 128 |\n";
  const Outcome outcome = titer({"doctor", log, "--run", "gpt3-175b-64xa100"});
  EXPECT_TRUE(outcome.out.starts_with("note: " + log +
                                      ": its lines name a batch of 128, the run "
                                      "has 64"))
      << outcome.out;
}

TEST(AppDoctor, WithoutATraceTheRestIsNotToldApart) {
  const Document answer = json_of({doctor_data("train.log"), "--run", doctor_data("run.json")});
  ASSERT_EQ(answer.at("causes")->items.size(), 1U);
  EXPECT_EQ(answer.at("causes")->items[0].find("cause")->text, "not told apart");
  EXPECT_NEAR(sum_of_causes(answer),
              answer.at("measured_s")->number - answer.at("predicted_s")->number,
              1e-9);
}

/// What all_reduce_perf prints on a DGX H100 where it takes so many times as long as is predicted.
std::string nccl_output(double slower) {
  const Document predicted = parse_json(data_of(titer({"collective",
                                                       "--cluster=dgx-h100",
                                                       "--op=all_reduce",
                                                       "--bytes=1MiB",
                                                       "--to=4GiB",
                                                       "--factor=2",
                                                       "--ranks=0-7",
                                                       "--format=json"})),
                                        "out");
  std::string text = "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 4294967296\n";
  for (int rank = 0; rank < 8; ++rank) {
    text += fmt::format(
        "#  Rank  {0} Group  0 Pid  1 on host device  {0} [0x0{0}] NVIDIA H100 80GB HBM3\n", rank);
  }
  text += "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
  for (const Value& row : predicted.at("results")->items) {
    const double bytes = row.find("bytes")->number;
    const double microseconds = slower * 1e6 * row.find("time_s")->number;
    const double rate = bytes / microseconds / 1e3;
    text += fmt::format("{0:.0f} {1:.0f} float sum -1 {2:.2f} {3:.2f} {4:.2f} 0\n",
                        bytes,
                        bytes / 4,
                        microseconds,
                        rate,
                        2 * 7.0 / 8 * rate);
  }
  return text;
}

/// All links of the nodes at half their rate, of which no figure by itself tells: the switch's
/// would have rings take its place.
TEST(AppDoctor, FindsLinksThatAreAllSlower) {
  const TemporaryFolder folder;
  const std::string file = folder.file("nccl.txt", nccl_output(2));
  const Document answer =
      json_of({"llama3-70b-64xh100",
               file,
               folder.file("train.log",
                           "iteration 1/ 9 | elapsed time per iteration (ms): 24000.0 | global "
                           "batch size: 128 |\n")});
  const Value* links = cause_named(answer, "links");
  ASSERT_NE(links, nullptr) << to_json(answer.root);
  EXPECT_TRUE(contains(links->find("evidence")->text, "with all rates inside nodes times 0."))
      << links->find("evidence")->text;
  const Document halved = parse_json(data_of(titer({"run",
                                                    "llama3-70b-64xh100",
                                                    "--set",
                                                    "cluster.node.fabric.bandwidth=\"225 GB/s\"",
                                                    "--format=json"})),
                                     "out");
  const Document whole =
      parse_json(data_of(titer({"run", "llama3-70b-64xh100", "--format=json"})), "out");
  const double expected =
      halved.at("iteration_time_s")->number - whole.at("iteration_time_s")->number;
  EXPECT_NEAR(links->find("time_s")->number / expected, 1, 0.2);
}

TEST(AppDoctor, AScriptNeedsItsCluster) {
  const std::string script = (root() / "tests/data/import/pretrain.sh").string();
  const Document without = json_of({script, doctor_data("train.log")});
  EXPECT_TRUE(contains(without.at("missing")->items[0].text, "--cluster NAME"));
  const Document with =
      json_of({script, doctor_data("train.log"), "--cluster", "dgx-a100-80gb", "--devices", "64"});
  EXPECT_GT(with.at("predicted_s")->number, 0);
  EXPECT_EQ(with.at("scenario.devices")->integer, 64);
}

TEST(AppDoctor, TextAndCsvTellTheSame) {
  const std::vector<std::string> files = {
      "doctor", doctor_data("train.log"), doctor_data("rank0.json"), doctor_data("run.json")};
  const std::string text = data_of(titer(files));
  EXPECT_TRUE(contains(text, "measured 4.4 s ("));
  EXPECT_TRUE(contains(text, "where the difference is"));
  EXPECT_TRUE(contains(text, "what to try first"));
  std::vector<std::string> arguments = files;
  arguments.insert(arguments.end(), {"--format", "csv"});
  EXPECT_TRUE(contains(data_of(titer(arguments)), "cause,time_s,share_of_gap,evidence,notes\n"));
}

TEST(AppDoctor, TakesARunByItsNameAmongItsFiles) {
  const std::string log = doctor_data("train.log");
  EXPECT_EQ(json_of({"gpt3-175b-64xa100", log}).at("predicted_s")->number,
            json_of({log, "--run", "gpt3-175b-64xa100"}).at("predicted_s")->number);
  EXPECT_TRUE(contains(refusal_of(titer({"doctor", "gpt3-175b-64xa100", "llama3-70b-64xh100"})),
                       "a second run, beside gpt3-175b-64xa100"));
}

TEST(AppDoctor, RefusesWhatContradicts) {
  const std::string log = doctor_data("train.log");
  EXPECT_TRUE(contains(refusal_of(titer({"doctor", log, log})), "a second training log"));
  EXPECT_TRUE(contains(refusal_of(titer({"doctor"})), "expected files of a run"));
  EXPECT_TRUE(contains(refusal_of(titer({"doctor", "/nowhere/train.log"})), "expected a file"));
  EXPECT_TRUE(contains(refusal_of(titer({"doctor", log, "--set", "plan.tensor=4"})),
                       "expected a run to change"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
