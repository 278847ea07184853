// What searches do not vary, and would gain.

#include <gtest/gtest.h>

#include "searches.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/search/unsearched.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

ScenarioSource source_of_mixture(const std::vector<std::string>& changes = {}) {
  const std::string_view text = R"({"model": "mixtral-8x7b", "cluster": "dgx-h100",
      "stack": "megatron-core", "plan": {"pipeline": 5, "data": 16, "expert": 8, "sharding": "zero1"},
      "training": {"global_batch": 240, "sequence": 4096, "precision": "bf16"}})";
  Document document = parse_json(text, "run.json");
  for (const Assignment& change : parse_assignments(changes)) {
    assign(document, change);
  }
  return ScenarioSource(std::move(document));
}

StepResult step_of(const Scenario& scenario) {
  Estimator estimator;
  StepResult result;
  estimator.estimate(scenario, result);
  return result;
}

TEST(Unsearched, GainsWhatItsChangeGains) {
  const Scenario scenario = source_of_mixture({"plan.layers=lighter-ends"}).read();
  const StepResult step = step_of(scenario);
  const auto gain = unsearched_gain(scenario, step, {}, 0);
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->change.path, "plan.layers");
  EXPECT_EQ(gain->change.value.text, "even");
  const Scenario even = source_of_mixture({"plan.layers=even"}).read();
  const StepResult changed = step_of(even);
  EXPECT_EQ(gain->time, changed.iteration_time);
  EXPECT_NEAR(gain->gain, 1 - changed.iteration_time / step.iteration_time, 1e-12);
  EXPECT_FALSE(unsearched_gain(even, changed, {}, 0));
}

TEST(Unsearched, KeepsToTheSoftwareAndTheMemory) {
  const Scenario scenario = source_of_mixture({"plan.layers=lighter-ends"}).read();
  const StepResult step = step_of(scenario);
  Abilities abilities;
  abilities.sharding = {Sharding::none};
  EXPECT_FALSE(unsearched_gain(scenario, step, abilities, 0));
  EXPECT_FALSE(unsearched_gain(scenario, step, {}, 0.999));
}

TEST(Unsearched, IsSaidOfWhatASearchFound) {
  const UnsearchedGain gain{
      .change = parse_assignments(std::vector<std::string>{"plan.layers=lighter-ends"}).front(),
      .time = Seconds::from_si(8.01),
      .gain = 0.115};
  EXPECT_EQ(unsearched_words(gain),
            "searches do not vary layers: where the software can, with --set "
            "plan.layers=lighter-ends the plan takes 8.01 s, 11.5 % less, and a search may find a "
            "faster one");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
