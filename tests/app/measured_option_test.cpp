// --measured, from the outside: what the user's own runs make of an answer.

#include <gtest/gtest.h>

#include <fstream>

#include "app/program.hpp"
#include "paths.hpp"
#include "titer/input/document.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kRun = "gpt3-175b-64xa100";
constexpr const char* kSlower = "run,iter_time_s\ngpt3-175b-64xa100,16.5\n";  // predicted: 14.2 s

double number_in(const std::string& json, std::string_view path) {
  const Document document = parse_json(json, "out");
  const Value* value = document.at(path);
  EXPECT_NE(value, nullptr) << path;
  return value == nullptr ? 0 : value->number;
}

class AppMeasuredOption : public ::testing::Test {
 protected:
  /// The path of a file with this text.
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  std::string table(const std::string& text) { return file("runs.csv", text); }

 private:
  TemporaryFolder folder_;
};

TEST_F(AppMeasuredOption, BringsARunNearerToWhatWasMeasured) {
  const std::string runs = table(kSlower);
  const std::string before = data_of(titer({"run", kRun, "--format", "json"}));
  const std::string after = data_of(titer({"run", kRun, "--measured", runs, "--format", "json"}));
  const double first = number_in(before, "iteration_time_s");
  const double second = number_in(after, "iteration_time_s");
  EXPECT_GT(second, first);
  EXPECT_LT(second, 16.5);
  EXPECT_TRUE(contains(after, "1 run of runs.csv"));
  EXPECT_TRUE(contains(after, "memory_traffic of stack megatron-lm: "));
  EXPECT_TRUE(
      contains(data_of(titer({"run", kRun, "--measured", runs})), "note: 1 run of runs.csv"));
}

TEST_F(AppMeasuredOption, HoldsForSearchesCapacityAndSweepsAlike) {
  const std::string runs = table(kSlower);
  const auto best = [&](bool learned) {
    std::vector<std::string> arguments = {"search", kRun, "--top", "1", "--format", "json"};
    if (learned) {
      arguments.insert(arguments.end(), {"--measured", runs});
    }
    return number_in(data_of(titer(arguments)), "plans.0.iteration_time_s");
  };
  EXPECT_GT(best(true), best(false));
  const std::string capacity = data_of(titer({"capacity",
                                              kRun,
                                              "--tokens",
                                              "10B",
                                              "--devices",
                                              "64",
                                              "--measured",
                                              runs,
                                              "--format",
                                              "json"}));
  EXPECT_TRUE(contains(capacity, "1 run of runs.csv"));
  const std::string sweep = file(
      "sweep.json", R"({"scenario": "gpt3-175b-64xa100", "axes": {"plan.micro_batch": [1, 2]}})");
  const Outcome swept = titer({"sweep", sweep, "--measured", runs});
  EXPECT_EQ(swept.code, 0) << swept.err;
  EXPECT_TRUE(contains(swept.err, "1 run of runs.csv"));
  EXPECT_NE(swept.out, titer({"sweep", sweep}).out);
}

TEST_F(AppMeasuredOption, RefusesAnAxisThatWouldReplaceWhatItTells) {
  const std::string runs = table(kSlower);
  const std::string sweep =
      file("sweep.json",
           R"({"scenario": "gpt3-175b-64xa100", "axes": {"stack": ["megatron-lm", "nemo"]}})");
  const Outcome outcome = titer({"sweep", sweep, "--measured", runs});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "which the axis stack replaces")) << outcome.err;
}

TEST_F(AppMeasuredOption, RefusesRunsOfOtherMachinesAndSoftware) {
  const Outcome outcome =
      titer({"run", "llama3-70b-64xh100", "--set", "stack=nemo", "--measured", table(kSlower)});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "its runs have neither nemo nor h100-sxm5-80gb nor dgx-h100"))
      << outcome.err;
}

TEST_F(AppMeasuredOption, KeepsWhatSetSays) {
  const std::string json = data_of(titer({"run",
                                          kRun,
                                          "--set",
                                          "stack.memory_traffic=1.4",
                                          "--measured",
                                          table(kSlower),
                                          "--format",
                                          "json"}));
  EXPECT_FALSE(contains(json, "memory_traffic of stack megatron-lm: 1"));
}

// What is found is written with the figures that were learned: they are not learned once more.
TEST_F(AppMeasuredOption, CountsNoRunsTwice) {
  const std::string runs = table(kSlower);
  const std::string best = file("best.json", "");
  const Outcome found =
      titer({"search", kRun, "--top", "1", "--measured", runs, "--out", best, "--format", "json"});
  ASSERT_EQ(found.code, 0) << found.err;
  const std::string run = data_of(titer({"run", best, "--format", "json"}));
  EXPECT_DOUBLE_EQ(number_in(run, "iteration_time_s"),
                   number_in(found.out, "plans.0.iteration_time_s"));
  for (const std::string command : {"run", "search"}) {
    const Outcome again = titer({command, best, "--measured", runs});
    EXPECT_EQ(again.code, 2) << command;
    EXPECT_TRUE(contains(again.err, "measured by 1 run of runs.csv")) << again.err;
    EXPECT_TRUE(contains(again.err, "so that none counts twice")) << again.err;
  }
}

TEST_F(AppMeasuredOption, IsTriedOnFamilies) {
  const std::string data = (root() / "tests/data/measured/training.csv").string();
  const std::string json = data_of(titer({"validate",
                                          data,
                                          "--given",
                                          "3",
                                          "--family",
                                          "internevo",
                                          "--family",
                                          "simumax_b200",
                                          "--format",
                                          "json"}));
  EXPECT_EQ(number_in(json, "given"), 3);
  EXPECT_EQ(number_in(json, "families.0.others"), 54 - 3);
  EXPECT_EQ(number_in(json, "families.1.others"), 22 - 3);
  EXPECT_LE(number_in(json, "mean.mape_pct"), 8.0);
}

constexpr const char* kOnH100 = "llama3-70b-64xh100";
constexpr const char* kProducts =
    "dtype,m,n,k,time_us\nbf16,8192,1024,8192,300\nbf16,8192,8192,1024,300\n";

TEST_F(AppMeasuredOption, TakesProductsAsTheyWereMeasured) {
  const std::string products = file("h100_sxm_gemm.csv", kProducts);
  const auto time = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", kOnH100, "--format", "json"});
    return number_in(data_of(titer(arguments)), "iteration_time_s");
  };
  EXPECT_GT(time({"--measured", products}), time({}));
  const std::string told = data_of(titer({"run", kOnH100, "--measured", products}));
  EXPECT_TRUE(contains(told, "note: 2 products measured on NVIDIA H100 SXM5 80 GB")) << told;
  const std::string terms = data_of(titer({"explain", kOnH100, "--measured", products}));
  EXPECT_TRUE(contains(terms, ": measured)"));
  EXPECT_TRUE(contains(terms, " by the nearest that were measured, "));
}

TEST_F(AppMeasuredOption, TakesProductsBesideRuns) {
  const std::string products = file("a100_sxm_gemm.csv", kProducts);
  const Outcome both = titer({"run", kRun, "--measured", table(kSlower), "--measured", products});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_TRUE(contains(both.out, "note: 2 products measured on"));
  EXPECT_TRUE(contains(both.out, "note: 1 run of runs.csv"));
}

TEST_F(AppMeasuredOption, RefusesProductsOfAnotherChipAndTablesWithoutAny) {
  const Outcome other = titer({"run", kOnH100, "--measured", file("a100_sxm_gemm.csv", kProducts)});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "products of a100-sxm4-80gb: expected some of h100-sxm5-80gb"))
      << other.err;
  const Outcome none = titer({"run",
                              kOnH100,
                              "--measured",
                              file("h100_sxm_gemm.csv", "dtype,m,n,k,time_us\nfp8,8,8,8,3\n")});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "expected products (m, n, k) in bf16")) << none.err;
}

TEST_F(AppMeasuredOption, ValidatesKernelsByProductsMeasuredBefore) {
  const std::string products = file("h100_sxm_gemm.csv", kProducts);
  const std::string own =
      data_of(titer({"validate", products, "--measured", products, "--format", "json"}));
  EXPECT_NEAR(number_in(own, "rows.0.error_pct"), 0.0, 1e-6);
  const std::string plain = data_of(titer({"validate", products, "--format", "json"}));
  EXPECT_LT(number_in(plain, "rows.0.error_pct"), -1.0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
