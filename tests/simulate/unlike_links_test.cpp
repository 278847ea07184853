// Devices that are not alike, on the links of the network: each takes its part of what all of its
// pipeline rank do together.

#include <gtest/gtest.h>

#include "plan/shipped.hpp"
#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "simulate/random_scenarios.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/simulate/network_loads.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Seconds time_of(const Scenario& scenario, const SimulationOptions& options) {
  return simulate(scenario, options).result.iteration_time;
}

/// Two stages of two nodes each, over whose interfaces sends and gradients go at the same time.
Scenario crowded() {
  Plan plan;
  plan.pipeline = 2;
  plan.tensor = 2;
  plan.data = 8;
  plan.pipeline_send = PipelineSend::overlapped;
  plan.overlap_grad_reduce = true;
  Scenario scenario = plain::scenario(plan);
  scenario.stack.bucket_parameters = 40e6;
  return scenario;
}

TEST(UnlikeLinks, TakeAsLongOneByOneAsTogetherWhereAllAreAlike) {
  scenarios::Numbered numbered;
  Scenario scenario;
  int compared = 0;
  int slower = 0;
  for (std::uint64_t number = 0; number < 6000 && compared < 40; ++number) {
    try {
      static_cast<void>(numbered.question(number, scenario));
      scenario.conditions = {};
      if (scenario.plan.devices() < 2 || scenario.plan.devices() > 64 || scenario.unlike() ||
          scenario.micro_batches() > 16 || !validate(scenario).empty()) {
        continue;
      }
      check_fidelity(scenario, Fidelity::network);
      const Seconds together = time_of(scenario, {.network = true});
      const Seconds one_by_one = time_of(scenario, {.every_rank = true, .network = true});
      EXPECT_NEAR(one_by_one / together, 1.0, 1e-6) << number;
      slower += together / time_of(scenario, {}) > 1 + 1e-6 ? 1 : 0;
      ++compared;
    } catch (const InputError&) {
      // Refused, as it is read or for what it is.
    }
  }
  EXPECT_EQ(compared, 40);
  EXPECT_GT(slower, 2) << "links that nobody shares prove nothing";
}

TEST(UnlikeLinks, MakeASlowDeviceNoFaster) {
  Scenario scenario = crowded();
  ASSERT_EQ(texts(scenario), Lines());
  const Seconds alike = time_of(scenario, {.network = true});
  EXPECT_GT(alike / time_of(scenario, {}), 1.001) << "the interfaces are shared";
  scenario.conditions.devices = {{.first = 0, .last = 0, .compute = 1.25}};
  const Seconds events = time_of(scenario, {});
  const Seconds links = time_of(scenario, {.network = true});
  EXPECT_GE(links / events, 1 - 1e-9);
  EXPECT_GE(links / alike, 1 - 1e-9);
}

TEST(UnlikeLinks, SlowTheTransfersOfASlowInterface) {
  Scenario scenario = crowded();
  const Seconds alike = time_of(scenario, {.network = true});
  scenario.conditions.devices = {{.first = 0, .last = 7, .network = 2}};
  EXPECT_GT(time_of(scenario, {.network = true}) / alike, 1.001);
}

TEST(UnlikeLinks, SpreadWithNoise) {
  Scenario scenario = crowded();
  const Seconds quiet = time_of(scenario, {.network = true});
  scenario.conditions.compute_jitter = Jitter{.deviation = 0.05};
  const Seconds first = time_of(scenario, {.network = true, .sample = 0});
  EXPECT_EQ(first, time_of(scenario, {.network = true, .sample = 0}));
  EXPECT_NE(first, time_of(scenario, {.network = true, .sample = 1}));
  EXPECT_NEAR(first / quiet, 1.0, 0.3);
}

TEST(UnlikeLinks, HaveTheSharesOfUnequalBatches) {
  Scenario scenario = crowded();
  scenario.plan.micro_batch = 2;
  scenario.training.global_batch *= 2;
  ASSERT_EQ(texts(scenario), Lines());
  const Seconds even = time_of(scenario, {.network = true});
  scenario.plan.batch_shares.weights = {1, 1, 1, 1, 3, 3, 3, 3};
  ASSERT_EQ(texts(scenario), Lines());
  const Seconds uneven = time_of(scenario, {.network = true});
  EXPECT_GE(uneven / time_of(scenario, {}), 1 - 1e-9);
  EXPECT_GT(uneven, even) << "of equal devices those with more take longer";
}

TEST(UnlikeLinks, AreFollowedForSoManyDevicesOnly) {
  Scenario scenario = crowded();
  scenario.plan.data = kMostUnlikeOnLinks;
  check_fidelity(scenario, Fidelity::network);
  scenario.conditions.devices = {{.first = 0, .last = 0, .compute = 2}};
  try {
    check_fidelity(scenario, Fidelity::network);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("at most 4096 that conditions makes unlike"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
