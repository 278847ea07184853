// titer calibrate, from the outside.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "app/program.hpp"
#include "paths.hpp"
#include "titer/input/document.hpp"
#include "titer/input/file.hpp"
#include "titer/scenario/source.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// Products that take 5 us, and their operations at 0.5 of an H100's 989 TFLOP/s.
std::string table() {
  std::string csv = "dtype,m,n,k,time_us\n";
  for (int k = 1024; k <= 65536; k *= 2) {
    const double flops = 2.0 * 4096 * 4096 * k;
    csv += "bf16,4096,4096," + std::to_string(k) + "," +
           std::to_string(5.0 + 1e6 * flops / (0.5 * 989e12)) + "\n";
  }
  return csv;
}

TEST(AppCalibrate, WritesAChipThatIsReadAgain) {
  const TemporaryFolder folder;
  const std::string data = folder.file("gemm.csv", table());
  const std::string out = (folder.path() / "chip.json").string();
  const std::vector<std::string> arguments = {"calibrate",
                                              "chip",
                                              data,
                                              "--base",
                                              "h100-sxm5-80gb",
                                              "--fit",
                                              "matrix.bf16.plateau,matrix.fp16.plateau=0.1:1",
                                              "--fit",
                                              "launch_floor",
                                              "--date",
                                              "2026-11-21",
                                              "--name",
                                              "my-h100",
                                              "--out",
                                              out};
  const std::string text = data_of(titer(arguments));
  EXPECT_TRUE(contains(text, "7 rows of kernels"));
  EXPECT_TRUE(contains(text, "matrix.bf16.plateau, matrix.fp16.plateau"));
  EXPECT_TRUE(contains(text, "data sheet only"));
  const Document chip = load_json(out);
  EXPECT_EQ(chip.at("name")->text, "my-h100");
  // Half of the peak is what is left where the clock has fallen during such long products.
  EXPECT_GT(chip.at("matrix.fp16.plateau.value")->number, 0.5);
  EXPECT_LT(chip.at("matrix.fp16.plateau.value")->number, 0.7);
  EXPECT_EQ(chip.at("matrix.fp16.plateau.source")->text, "measured_calibration");
  EXPECT_EQ(chip.at("calibration.date")->text, "2026-11-21");
  // As a base, and in a run: the member with the evidence is no unknown key.
  const std::string again = data_of(titer({"calibrate",
                                           "chip",
                                           data,
                                           "--base",
                                           out,
                                           "--fit",
                                           "matrix.bf16.plateau,matrix.fp16.plateau=0.1:1",
                                           "--fit",
                                           "launch_floor",
                                           "--date",
                                           "2026-11-21",
                                           "--format",
                                           "json"}));
  EXPECT_EQ(again, file_text(out));
  (void)data_of(titer({"run", "llama3-70b-64xh100", "--set", "cluster.chip=" + out}));
}

TEST(AppCalibrate, WritesWhatFiguresFollowRatherThanTheirNumbers) {
  const TemporaryFolder folder;
  const std::string base = folder.file("base.json", R"({"name": "mine", "base": "h100-sxm5-80gb",
    "sources": {"guess": "no measurement of this type"}, "matrix": {"fp32": {"plateau":
    {"figure": "matrix.bf16.plateau", "source": "guess"}}}})");
  const Document chip = parse_json(data_of(titer({"calibrate",
                                                  "chip",
                                                  folder.file("gemm.csv", table()),
                                                  "--base",
                                                  base,
                                                  "--fit",
                                                  "matrix.bf16.plateau=0.1:1",
                                                  "--format",
                                                  "json"})),
                                   "chip");
  EXPECT_EQ(chip.at("matrix.fp32.plateau.figure")->text, "matrix.bf16.plateau");
  EXPECT_EQ(chip.at("matrix.fp32.plateau.value"), nullptr);
  EXPECT_EQ(chip.at("matrix.bf16.plateau.source")->text, "measured_calibration");
}

TEST(AppCalibrate, FitsAStackToRuns) {
  const TemporaryFolder folder;
  // So few tokens that the host is slower than the device.
  for (const std::string name : {"gpt3-175b-64xa100", "llama3-70b-64xh100"}) {
    ScenarioSource source = ScenarioSource::load(name);
    source.assign({"training.sequence", Value(128), "test"});
    static_cast<void>(folder.file(name + "-short.json", to_json(source.document().root)));
  }
  const std::string data = folder.file("runs.csv",
                                       "run,iter_time_s,family\n"
                                       "gpt3-175b-64xa100-short.json,4000,one\n"
                                       "llama3-70b-64xh100-short.json,4000,two\n");
  const std::string text = data_of(
      titer({"calibrate", "stack", data, "--base", "megatron-lm", "--fit", "dispatch=70us:1s"}));
  EXPECT_TRUE(contains(text, "2 rows of training runs"));
  EXPECT_TRUE(contains(text, "dispatch"));
}

/// Output of nccl-tests on two p5 nodes with a factor of its own on every time.
std::string scattered_log() {
  std::mt19937 random(7);
  std::string text = "# nccl-tests version 2.13.8\n";
  for (int rank = 0; rank < 16; ++rank) {
    text += fmt::format("#  Rank {:2} Group  0 Pid  1 on node{} device  {} [0x53] NVIDIA H100\n",
                        rank,
                        rank / 8,
                        rank % 8);
  }
  text += "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
  for (int power = 3; power <= 31; ++power) {
    const double size = std::ldexp(1.0, power);
    const double share = static_cast<double>(random()) / 4294967296.0;
    const double time = (70.0 + size / 240e3) * std::pow(10.0, 2.0 * share - 1.0);
    text += fmt::format("{:12.0f} {:10.0f} float sum -1 {:.2f} {:.2f} {:.2f} 0\n",
                        size,
                        size / 4,
                        time,
                        size / time / 1e3,
                        1.875 * size / time / 1e3);
  }
  return text;
}

TEST(AppCalibrate, PromotesNoNonsense) {
  const TemporaryFolder folder;
  const std::string log = folder.file("all_reduce_perf.txt", scattered_log());
  const std::string out = (folder.path() / "net.json").string();
  std::vector<std::string> arguments = {
      "calibrate", "network", log, "--base", "efa-32x100g", "--cluster", "dgx-h100", "--out", out};
  const testing::Outcome rejected = titer(arguments);
  EXPECT_EQ(rejected.code, 1);
  EXPECT_TRUE(contains(rejected.err, "the fit is rejected: "));
  EXPECT_TRUE(contains(rejected.err, "expected at most 30 %"));
  EXPECT_TRUE(contains(rejected.out, "before the fit"));
  EXPECT_FALSE(std::filesystem::exists(out));
  std::vector<std::string> json = arguments;
  json.insert(json.end(), {"--format", "json"});
  EXPECT_EQ(titer(json).out, "");  // nothing that could be taken for a file
  arguments.emplace_back("--accept");
  const testing::Outcome accepted = titer(arguments);
  EXPECT_EQ(accepted.code, 0);
  EXPECT_TRUE(contains(accepted.err, "its figures are written as assumed"));
  // What is predicted with it counts as extrapolated, with a bar of at least the residuals.
  const auto answer = [&](const std::string& network) {
    return parse_json(data_of(titer({"run",
                                     "llama3-70b-64xh100",
                                     "--set",
                                     "cluster.network=" + network,
                                     "--format",
                                     "json"})),
                      "run");
  };
  const Document before = answer("efa-32x100g");
  const Document after = answer(out);
  EXPECT_EQ(before.at("grade")->text, "fitted");
  EXPECT_EQ(after.at("grade")->text, "extrapolated");
  const auto width = [](const Document& run) {
    return run.at("error_bar.high_s")->number / run.at("error_bar.low_s")->number;
  };
  EXPECT_GT(width(after), 1.5 * width(before));
  const std::string text =
      data_of(titer({"run", "llama3-70b-64xh100", "--set", "cluster.network=" + out}));
  EXPECT_TRUE(contains(text, "four of five between"));
  EXPECT_TRUE(contains(text, "extrapolated"));
}

TEST(AppCalibrate, LeavesOutByNameWhatLargeSizesDoNotTell) {
  const TemporaryFolder folder;
  const std::string table =
      root().string() + "/tests/data/measured/collectives/allreduce_2n_p5_h100_efa_d.csv";
  const testing::Outcome outcome = titer({"calibrate",
                                          "network",
                                          table,
                                          "--base",
                                          "efa-32x100g",
                                          "--cluster",
                                          "dgx-h100",
                                          "--from",
                                          "1MiB"});
  EXPECT_LE(outcome.code, 1) << outcome.err;
  EXPECT_TRUE(
      contains(outcome.out, "protocols.0.efficiency stays 0.0673: the data do not determine"));
}

TEST(AppCalibrate, RefusesInOneLine) {
  const TemporaryFolder folder;
  const std::string data = folder.file("gemm.csv", table());
  const auto of = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"calibrate"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return refusal_of(titer(arguments));
  };
  const std::string base = "h100-sxm5-80gb";
  EXPECT_TRUE(contains(of({"chip", "nowhere.csv", "--base", base}), "nowhere.csv"));
  EXPECT_TRUE(contains(of({"chop", data, "--base", base}), "did you mean \"chip\"?"));
  EXPECT_TRUE(contains(of({"chip", data, "--base", base, "--fit", "launch_flor"}),
                       "did you mean \"launch_floor\"?"));
  EXPECT_TRUE(contains(of({"chip", data, "--base", base, "--fit", "launch_floor=1s:2s"}),
                       "outside the bounds"));
  EXPECT_TRUE(contains(of({"chip", data, "--base", base, "--date", "yesterday"}),
                       "expected a date, such as"));
  EXPECT_TRUE(contains(of({"chip", data, "--base", base, "--cluster", "dgx-h100"}), "--cluster: "));
  EXPECT_TRUE(contains(of({"network", data, "--base", "rocev2-400g"}), "expected its name"));
  EXPECT_TRUE(contains(of({"network", data, "--base", "infiniband-ndr-8x400g"}),
                       "--base infiniband-ndr-8x400g: no shipped network or cluster has this name; "
                       "did you mean \"infiniband-"));
  EXPECT_TRUE(contains(of({"stack", data, "--base", "fsdp"}), "no column \"run\""));
  EXPECT_TRUE(contains(
      of({"stack", folder.file("r.csv", "run,iter_time_s\nnone-such,1\n"), "--base", "fsdp"}),
      "r.csv:2: run: "));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
