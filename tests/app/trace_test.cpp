// titer trace, from the outside.

#include <gtest/gtest.h>

#include <filesystem>

#include "paths.hpp"
#include "titer/input/document.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::string data(const std::string& file) { return (root() / "tests/data/traces" / file).string(); }

TEST(AppTrace, PrintsTheMeasuredBreakdown) {
  const std::string text = data_of(titer({"trace", data("kineto.json")}));
  EXPECT_TRUE(
      contains(text, "PyTorch profiler, 1 device (Test Accelerator), 3 streams, rank 3 of 8"));
  EXPECT_TRUE(contains(text, "steps     2, mean 99.75 us"));
  EXPECT_TRUE(contains(text, "all-reduce      8      1   1.907 MiB  30 us"));
  EXPECT_FALSE(contains(text, "predicted"));
}

TEST(AppTrace, SetsThePredictionBesideIt) {
  const std::string text = data_of(titer({"trace",
                                          data("kineto.json"),
                                          "--scenario",
                                          "gpt3-175b-64xa100",
                                          "--set",
                                          "plan.schedule=gpipe",
                                          "--set",
                                          "plan.virtual_stages=1"}));
  EXPECT_TRUE(contains(text, "64 x NVIDIA A100 SXM4 80 GB: gpipe"));
  EXPECT_TRUE(contains(text, "difference"));
  EXPECT_TRUE(contains(text, "the trace is of 8 ranks, the scenario of 64"));
  EXPECT_TRUE(contains(text, "compute: measured "));
}

TEST(AppTrace, JsonAndCsvHaveTheSameTerms) {
  const std::string csv = data_of(titer({"trace", data("kineto.json"), "--format", "csv"}));
  const Document json =
      parse_json(data_of(titer({"trace", data("kineto.json"), "--format", "json"})), "output");
  const Value* const terms = json.at("terms");
  ASSERT_EQ(terms->items.size(), 4U);  // compute, all-reduce, copy to device, idle
  double sum = 0;
  for (const Value& term : terms->items) {
    const double seconds = term.find("measured")->find("counted_s")->number;
    EXPECT_TRUE(contains(csv, "," + term.find("name")->text + "," + to_json(Value(seconds), 0)));
    sum += seconds;
  }
  EXPECT_NEAR(sum, json.at("measured_s")->number, 1e-12);
  EXPECT_NEAR(sum, (100 + 99.5) / 2 * 1e-6, 1e-12);
}

TEST(AppTrace, ALogIsSetBesideTheIterationTime) {
  const Document json = parse_json(data_of(titer({"trace",
                                                  data("megatron.log"),
                                                  "--scenario",
                                                  "gpt3-175b-64xa100",
                                                  "--warm-up",
                                                  "1",
                                                  "--format",
                                                  "json"})),
                                   "output");
  EXPECT_EQ(json.at("warm_up")->integer, 1);
  EXPECT_NEAR(json.at("figures.iteration_time_s.median")->number, (2.01 + 2.04) / 2, 1e-12);
  const double predicted = json.at("figures.iteration_time_s.predicted")->number;
  EXPECT_NEAR(json.at("figures.iteration_time_s.relative_error")->number,
              predicted / ((2.01 + 2.04) / 2) - 1,
              1e-12);
}

TEST(AppTrace, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(refusal_of(titer({"trace", folder.file("a.log", "nothing\n")})),
                       "no line tells how long an iteration took"));
  EXPECT_TRUE(contains(refusal_of(titer({"trace", folder.file("a.json", "{\"a\": 1}")})),
                       "expected a trace of PyTorch's profiler"));
  const std::string own = (folder.path() / "own.json").string();
  ASSERT_EQ(titer({"run", "resnet-50-8xa100", "--trace", own}).code, 0);
  EXPECT_TRUE(contains(refusal_of(titer({"trace", own})), "predicted by this program"));
  EXPECT_TRUE(contains(refusal_of(titer({"trace", "no-such-file"})), "cannot be read"));
  EXPECT_TRUE(contains(refusal_of(titer({"trace", "/dev/zero"})), "/dev/zero: is a device"));
  EXPECT_TRUE(contains(refusal_of(titer({"trace", data("kineto.json"), "llama3-70b-64xh100"})),
                       "expected --scenario llama3-70b-64xh100"));
  EXPECT_TRUE(contains(refusal_of(titer({"trace", data("kineto.json"), "--warm-up", "3"})),
                       "only with a training log"));
  EXPECT_TRUE(contains(refusal_of(titer({"trace", data("kineto.json"), "--set", "plan.data=2"})),
                       "given with --scenario"));
}

TEST(AppTrace, RealTracesAreRead) {
  const std::filesystem::path samples = root() / "../shared/samples";
  if (!std::filesystem::exists(samples)) {
    GTEST_SKIP() << samples << " is not here";
  }
  for (const std::string file : {"kineto/nccl_data_2xA100.json.gz",
                                 "kineto/alexnet_A100.json.gz",
                                 "kineto/triton_example.json.gz",
                                 "xprof/profile_demo.op_profile.json",
                                 "chakra/custom_ring_allreduce.0.et",
                                 "train_logs/bigscience_gpt2_v100_lines.txt",
                                 "train_logs/maxtext_lines.txt",
                                 "train_logs/megatron_bridge_line.txt",
                                 "train_logs/torchtitan_line.txt"}) {
    const Outcome outcome = titer({"trace", (samples / file).string(), "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << file << ": " << outcome.err;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
