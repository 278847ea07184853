#include "titer/search/fit_advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "scenario/scenarios.hpp"
#include "titer/estimate/estimate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using scenarios::shipped_source;

// 39.1 billion parameters over t = 4, of at least 16 bytes each: 156 GB.
const std::vector<std::string> kTooLarge = {"model=megatron-39.1b",
                                            "cluster.nodes=2",
                                            "plan={}",
                                            "plan.tensor=4",
                                            "plan.data=4",
                                            "plan.micro_batch=2",
                                            "training.global_batch=64"};

/// What one advice says is what its changes come to.
StepResult expect_true(const FitAdvice& one, ScenarioSource source) {
  for (const PlanChange& change : one.changes) {
    source.assign({change.path, change.value, "test"});
  }
  StepResult result = estimate(source.read());
  EXPECT_TRUE(result.fits());
  EXPECT_EQ(result.memory_peak, one.peak);
  EXPECT_EQ(result.iteration_time, one.iteration_time);
  return result;
}

TEST(FitAdvice, NamesChangesThatMakeThePlanFit) {
  const ScenarioSource source = shipped_source(kTooLarge);
  const Scenario scenario = source.read();
  ASSERT_FALSE(estimate(scenario).fits());
  const std::vector<FitAdvice> advice = fit_advice(scenario);
  ASSERT_FALSE(advice.empty());
  EXPECT_LE(advice.size(), 5U);
  for (const FitAdvice& one : advice) {
    SCOPED_TRACE(one.text());
    EXPECT_EQ(expect_true(one, source).devices, scenario.plan.devices());
  }
}

TEST(FitAdvice, ComesFastestFirst) {
  const std::vector<FitAdvice> advice = fit_advice(shipped_source(kTooLarge).read(), 50);
  EXPECT_TRUE(std::is_sorted(advice.begin(), advice.end(), [](const auto& a, const auto& b) {
    return a.iteration_time < b.iteration_time;
  }));
  ASSERT_GT(advice.size(), 5U);
  const auto five = fit_advice(shipped_source(kTooLarge).read());
  EXPECT_EQ(five.size(), 5U);
  EXPECT_EQ(five.back().text(), advice[4].text());
}

TEST(FitAdvice, IsEmptyWhereNothingHelps) {
  // A trillion parameters on one device.
  const Scenario scenario =
      shipped_source(
          {"model=megatron-1t", "cluster.nodes=null", "plan={}", "training.global_batch=1"})
          .read();
  EXPECT_TRUE(fit_advice(scenario).empty());
}

// 8 billion parameters of 18 bytes each on one card of 24 GB.
const std::vector<std::string> kOneCard = {"model=llama3-8b",
                                           "cluster=rtx-4090-8",
                                           "cluster.nodes=null",
                                           "plan={}",
                                           "training.global_batch=16",
                                           "training.sequence=2048"};

TEST(FitAdvice, IsOffloadingAndAdaptersWhereNoPlanFits) {
  const ScenarioSource source = shipped_source(kOneCard);
  const std::vector<FitAdvice> advice = fit_advice(source.read());
  ASSERT_EQ(advice.size(), 4U);
  const auto has = [&](std::string_view path) {
    return std::ranges::count_if(
        advice, [&](const FitAdvice& one) { return one.changes.front().path == path; });
  };
  EXPECT_EQ(has("training.adapters"), 2);
  EXPECT_EQ(has("plan.offload"), 2);
  for (const FitAdvice& one : advice) {
    SCOPED_TRACE(one.text());
    static_cast<void>(expect_true(one, source));
  }
}

TEST(FitAdvice, LeavesAShareOfTheMemoryFree) {
  const Scenario scenario = shipped_source(kOneCard).read();
  EXPECT_EQ(last_resorts(scenario).size(), 4U);
  for (const FitAdvice& one : last_resorts(scenario, 0.5)) {
    EXPECT_LE(one.peak, 0.5 * 24_GiB) << one.text();
  }
  EXPECT_TRUE(last_resorts(scenario, 1).empty());
}

TEST(FitAdvice, IsTextWithoutThePlansName) {
  const FitAdvice advice{.changes = {{"plan.recompute", Value("full")}, {"plan.data", Value(2)}},
                         .iteration_time = 1_s,
                         .peak = 1_GiB};
  EXPECT_EQ(advice.text(), "recompute full, data 2");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
