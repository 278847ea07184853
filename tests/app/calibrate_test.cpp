// titer calibrate, from the outside.

#include <gtest/gtest.h>

#include <filesystem>

#include "app/program.hpp"
#include "titer/input/document.hpp"

namespace titer {
namespace {

using testing::contains;
using testing::data_of;
using testing::refusal_of;
using testing::TemporaryFolder;
using testing::titer;

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
  EXPECT_EQ(again, testing::file_text(out));
  (void)data_of(titer({"run", "llama3-70b-64xh100", "--set", "cluster.chip=" + out}));
}

TEST(AppCalibrate, FitsAStackToRuns) {
  const TemporaryFolder folder;
  const std::string data = folder.file("runs.csv",
                                       "run,iter_time_s,family\n"
                                       "gpt3-175b-64xa100,4000,one\n"
                                       "llama3-70b-64xh100,4000,two\n");
  const std::string text = data_of(
      titer({"calibrate", "stack", data, "--base", "megatron-lm", "--fit", "dispatch=70us:1s"}));
  EXPECT_TRUE(contains(text, "2 rows of training runs"));
  EXPECT_TRUE(contains(text, "dispatch"));
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
  EXPECT_TRUE(contains(of({"stack", data, "--base", "fsdp"}), "no column \"run\""));
  EXPECT_TRUE(contains(
      of({"stack", folder.file("r.csv", "run,iter_time_s\nnone-such,1\n"), "--base", "fsdp"}),
      "r.csv:2: run: "));
}

}  // namespace
}  // namespace titer
