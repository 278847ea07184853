// titer run with conditions and --samples, from the outside.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Arguments = std::vector<std::string>;

constexpr const char* kNoise =
    R"(conditions.compute_jitter={"distribution": "normal", "deviation": 0.05})";
constexpr const char* kSlow = R"(conditions.devices=[{"devices": "0-63", "speed": 0.5}])";

Arguments small_run(const Arguments& more) {
  Arguments all = {"run", "gpt3-175b-64xa100", "--set", "training.global_batch=8"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Document json_of(Arguments more) {
  more.insert(more.end(), {"--format", "json"});
  return parse_json(data_of(titer(small_run(more))), "out");
}

double number_at(const Document& json, std::string_view path) {
  const Value* value = json.at(path);
  EXPECT_NE(value, nullptr) << path;
  return value == nullptr ? 0 : value->number;
}

TEST(AppRun, FollowsConditions) {
  EXPECT_GT(number_at(json_of({"--set", kSlow}), "iteration_time_s"),
            1.5 * number_at(json_of({"--fidelity", "event"}), "iteration_time_s"));
}

TEST(AppRunSamples, NeedNoise) {
  EXPECT_TRUE(refusal_of(titer(small_run({"--samples", "4"})))
                  .starts_with("--samples 4: expected a scenario whose conditions have"));
  EXPECT_TRUE(contains(refusal_of(titer(small_run({"--seed", "4", "--set", kSlow}))),
                       "--seed 4: expected a scenario whose conditions have"));
}

TEST(AppRunSamples, RefuseCountsThatAreNone) {
  for (const char* wrong : {"0", "-1", "x", "1e99"}) {
    EXPECT_TRUE(
        contains(refusal_of(titer(small_run({"--set", kNoise, "--samples", wrong}))), "--samples"));
  }
}

TEST(AppCheck, AnswersForDevicesThatDiffer) {
  const std::string fits = data_of(titer({"check", "gpt3-175b-64xa100"}));
  EXPECT_EQ(data_of(titer({"check", "gpt3-175b-64xa100", "--set", kSlow})), fits);
  // The smallest memory counts.
  const testing::Outcome small =
      titer({"check",
             "gpt3-175b-64xa100",
             "--set",
             R"(conditions.devices=[{"devices": "0-7", "chip": "v100-sxm2-32gb"}])"});
  EXPECT_EQ(small.code, 1);
  EXPECT_TRUE(contains(small.out, "of 32 GiB"));
}

TEST(AppRunSamples, OfTheShippedNoisyRunLieAroundItsStepWithoutNoise) {
  const Document json = parse_json(
      data_of(titer({"run", "llama3-70b-64xh100-noisy", "--samples", "20", "--format", "json"})),
      "out");
  const double quiet = number_at(json, "samples.quiet_s");
  const double alike = number_at(
      parse_json(data_of(titer({"run", "llama3-70b-64xh100", "--format", "json"})), "out"),
      "iteration_time_s");
  EXPECT_GT(quiet, alike) << "a slow device and a slow node";
  EXPECT_GT(number_at(json, "samples.p50_s"), quiet);
  EXPECT_LT(number_at(json, "samples.p50_s"), 1.1 * quiet);
}

TEST(AppExplain, HasNoTermsOfDevicesThatDiffer) {
  EXPECT_TRUE(
      refusal_of(titer({"explain", "llama3-70b-64xh100-noisy"}))
          .starts_with("conditions: expected none: the terms are those of the closed form"));
  EXPECT_EQ(data_of(titer({"explain", "llama3-70b-64xh100-noisy", "--set", "conditions={}"})),
            data_of(titer({"explain", "llama3-70b-64xh100"})));
}

TEST(AppRun, RefusesConditionsInClosedForm) {
  EXPECT_EQ(refusal_of(titer(small_run({"--set", kSlow, "--fidelity", "closed"}))),
            "conditions: expected the fidelity event: in closed form all devices are alike "
            "and nothing is random");
}

TEST(AppRun, RefusesAWrongConditionWithItsPlace) {
  EXPECT_TRUE(contains(refusal_of(titer(small_run({"--set", "conditions.jitter=1"}))),
                       "conditions.jitter: unknown key"));
}

TEST(AppRunSamples, AreToldInEveryFormat) {
  const Arguments asked = {"--set", kNoise, "--samples", "5"};
  const Document json = json_of(asked);
  EXPECT_EQ(number_at(json, "samples.n"), 5.0);
  EXPECT_GE(number_at(json, "samples.p95_s"), number_at(json, "samples.p50_s"));
  EXPECT_TRUE(contains(data_of(titer(small_run(asked))), "iteration time of 5 samples"));
  Arguments csv = asked;
  csv.insert(csv.end(), {"--format", "csv"});
  auto cells = only_row(data_of(titer(small_run(csv))));
  EXPECT_EQ(cells["samples"], "5");
  EXPECT_EQ(std::stod(cells["samples_mean_s"]), number_at(json, "samples.mean_s"));
}

TEST(AppRunSamples, AreTheSameBytesForAnyNumberOfThreads) {
  const auto run = [](const char* jobs) {
    return data_of(titer(small_run({"--set", kNoise, "--samples", "9", "--jobs", jobs})));
  };
  EXPECT_EQ(run("1"), run("4"));
}

TEST(AppRunSamples, FollowTheSeed) {
  const auto mean = [](const char* seed) {
    return number_at(json_of({"--set", kNoise, "--samples", "3", "--seed", seed}),
                     "samples.mean_s");
  };
  EXPECT_EQ(mean("1"), mean("1"));
  EXPECT_NE(mean("1"), mean("2"));
  EXPECT_EQ(mean("1"), number_at(json_of({"--set", kNoise, "--samples", "3"}), "samples.mean_s"));
  EXPECT_EQ(mean("7"),
            number_at(json_of({"--set", kNoise, "--set", "conditions.seed=7", "--samples", "3"}),
                      "samples.mean_s"));
}

TEST(AppRunSamples, AreSlowerThanTheStepWithoutNoise) {
  const Document json = json_of({"--set", kNoise, "--samples", "40"});
  EXPECT_GT(number_at(json, "samples.mean_s"), number_at(json, "samples.quiet_s"));
  EXPECT_GT(number_at(json, "samples.max_s"), number_at(json, "samples.min_s"));
  EXPECT_GT(number_at(json, "samples.deviation_s"), 0.0);
  EXPECT_EQ(number_at(json, "samples.quiet_s"),
            number_at(json_of({"--fidelity", "event"}), "iteration_time_s"));
}

/// A slow node must not pass for a cluster as its file says.
TEST(AppRunConditions, AreInTheHead) {
  const std::string words =
      "device 13 speed 0.95, devices 40-47 network_bandwidth 0.5, compute_jitter 2 %, "
      "transfer_jitter 10 %, stragglers 0.1 % x 1.5";
  const std::string text = data_of(titer({"run", "llama3-70b-64xh100-noisy"}));
  EXPECT_NE(text.find("; stack megatron-lm; conditions: " + words + "\n"), std::string::npos)
      << text;
  const Document json =
      parse_json(data_of(titer({"run", "llama3-70b-64xh100-noisy", "--format", "json"})), "out");
  EXPECT_EQ(json.at("scenario.conditions")->text, words);
  const std::string chips = data_of(titer(
      {"run",
       "llama3-70b-64xh100",
       "--set",
       R"(conditions={"devices": [{"nodes": "4-7", "chip": "h200-sxm-141gb"}, {"nodes": "0,2,4,6", "speed": 0.9}]})"}));
  EXPECT_NE(
      chips.find("; conditions: devices 0-7 speed 0.9, devices 16-23 speed 0.9, devices 32-39 "
                 "NVIDIA H200 SXM 141 GB speed 0.9, devices 40-47 NVIDIA H200 SXM 141 GB, 2 "
                 "ranges more\n"),
      std::string::npos)
      << chips;
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
