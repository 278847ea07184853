#include "titer/calibrate/figure_draws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "titer/estimate/estimate.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

double mean(const std::vector<double>& of) {
  return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
}

/// Standard deviation of the logarithm.
double spread(const std::vector<double>& of) {
  double sum = 0;
  for (const double ratio : of) {
    sum += std::log(ratio) * std::log(ratio);
  }
  return std::sqrt(sum / static_cast<double>(of.size()));
}

void expect_dearer_on_average(const std::vector<double>& ratios) {
  EXPECT_GT(mean(ratios), 1.0);
  EXPECT_GT(ratios[0] * ratios[1], 1.0);  // of opposite signs
  EXPECT_GT(spread(ratios), 0.02);
  EXPECT_LT(spread(ratios), 0.3);
}

TEST(FigureDraws, AreTheSameForAllPlansAndCostMoreThanTheyGain) {
  const ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
  const Scenario scenario = source.read();
  Plan no_overlap = scenario.plan;
  no_overlap.overlap_grad_reduce = !no_overlap.overlap_grad_reduce;
  const auto drawn =
      drawn_times(source, scenario, std::vector{scenario.plan, no_overlap, scenario.plan});
  ASSERT_EQ(drawn.size(), 3U);
  ASSERT_EQ(drawn[0].size(), kFigureDraws);
  EXPECT_EQ(drawn[0], drawn[2]);
  EXPECT_NE(drawn[0], drawn[1]);
  expect_dearer_on_average(drawn[0]);
  expect_dearer_on_average(drawn[1]);
}

/// Also where a figure lies near what fits were bounded by: of layers that live of memory traffic.
TEST(FigureDraws, CostMoreThanTheyGainNearABound) {
  ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
  for (const auto& [path, name] : {std::pair("model", "nemotron-h-8b"),
                                   std::pair("cluster", "mi300x-8"),
                                   std::pair("stack", "megatron-core")}) {
    source.assign({path, Value(name), "test"});
  }
  source.assign({"plan", Value::make_object(), "test"});
  source.assign({"plan.data", Value(64), "test"});
  const Scenario scenario = source.read();
  expect_dearer_on_average(drawn_times(source, scenario, std::vector{scenario.plan})[0]);
}

TEST(FigureDraws, AreWiderForWhatIsSentBetweenNodes) {
  ScenarioSource source = ScenarioSource::load("mixtral-8x7b-64xh100");
  source.assign({"plan.tensor", Value(1), "test"});
  source.assign({"plan.pipeline", Value(1), "test"});
  source.assign({"plan.virtual_stages", Value(1), "test"});
  source.assign({"plan.data", Value(64), "test"});
  const Scenario scenario = source.read();
  Plan inside = scenario.plan;
  inside.expert = 1;
  Plan across = scenario.plan;
  across.expert = 8;
  across.tensor = 8;
  across.sequence_parallel = true;
  across.data = 8;  // experts over nodes
  const auto drawn = drawn_times(source, scenario, std::vector{inside, across});
  EXPECT_GT(spread(drawn[1]), 1.2 * spread(drawn[0]));
}

/// As far as the linear spread of the posterior's own report leaves out what no figure explains, or
/// the error bar is narrower.
TEST(FigureDraws, SpreadAsTheDerivativesSay) {
  ScenarioSource wide = ScenarioSource::load("gpt3-175b-64xa100");
  for (const char* grade : {"fitted", "extrapolated", "datasheet"}) {
    wide.assign({std::string("stack.error_bars.") + grade + ".low", Value(0.2), "test"});
    wide.assign({std::string("stack.error_bars.") + grade + ".high", Value(5.0), "test"});
  }
  const auto source = std::make_shared<ScenarioSource>(wide);
  MeasuredRun run{.scenario = source->read(),
                  .iteration_time = estimate(source->read()).iteration_time,
                  .group = "family",
                  .name = "run",
                  .source = source};
  const Posterior posterior = learn(std::vector{run}, &run.scenario);
  const PredictedSpread linear = predicted_spread(posterior, run);
  const auto left = [](double all, double besides) { return std::sqrt(all * all - besides); };
  const std::vector plans = {run.scenario.plan};
  const auto before = drawn_times(*source, run.scenario, plans);
  EXPECT_NEAR(spread(before[0]) / left(linear.before, kRunScatter * kRunScatter), 1.0, 0.15);
  const auto after = drawn_times(*source, run.scenario, plans, &posterior);
  EXPECT_NEAR(spread(after[0]) / left(linear.after, posterior.left), 1.0, 0.15);
  EXPECT_LT(spread(after[0]), 0.9 * spread(before[0]));
}

TEST(FigureDraws, AreNoWiderThanTheErrorBar) {
  ScenarioSource narrow = ScenarioSource::load("gpt3-175b-64xa100");
  for (const char* grade : {"fitted", "extrapolated", "datasheet"}) {
    narrow.assign({std::string("stack.error_bars.") + grade + ".low", Value(0.95), "test"});
    narrow.assign({std::string("stack.error_bars.") + grade + ".high", Value(1.05), "test"});
  }
  const Scenario scenario = narrow.read();
  const ErrorBar bar = *estimate(scenario).error_bar;
  const auto drawn = drawn_times(narrow, scenario, std::vector{scenario.plan});
  EXPECT_NEAR(spread(drawn[0]), std::log(bar.high / bar.low) / 2.563, 0.005);
}

/// Of racks of 72 devices a plan on 64 leaves eight.
TEST(FigureDraws, KeepWhatIsUsedOfARack) {
  ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
  source.assign({"cluster", Value("gb200-nvl72"), "test"});
  source.assign({"plan.data", Value(8), "test"});
  source.assign({"plan.pipeline", Value(4), "test"});
  const Scenario scenario = source.read();
  ASSERT_EQ(scenario.plan.devices() % 64, 0);
  ASSERT_EQ(scenario.cluster.devices_per_node, 64);
  const MeasuredRun run{.scenario = scenario,
                        .iteration_time = estimate(scenario).iteration_time,
                        .group = "family",
                        .name = "run",
                        .source = std::make_shared<ScenarioSource>(source)};
  const Posterior posterior = learn(std::vector{run});
  EXPECT_NEAR(posterior.runs.at(0).before / run.iteration_time.si(), 1.0, 1e-9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
