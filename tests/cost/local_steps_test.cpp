// Islands of data-parallel ranks that train by themselves and meet after many steps.
#include "titer/plan/local_steps.hpp"

#include <gtest/gtest.h>

#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Two nodes of eight devices.
Scenario in_islands(const LocalSteps& local, Sharding sharding = Sharding::zero1) {
  Plan plan;
  plan.data = 16;
  plan.sharding = sharding;
  plan.overlap_grad_reduce = false;
  plan.overlap_param_gather = false;
  plan.local_steps = local;
  return plain::scenario(plan);
}

TEST(LocalSteps, TakeAsLongAsIslandsAloneAndTheirShareOfMeetings) {
  const StepResult often = estimate(in_islands({.islands = 2, .steps = 10}));
  const StepResult seldom = estimate(in_islands({.islands = 2, .steps = 1000}));
  Scenario alone = in_islands({});
  alone.plan.local_steps.reset();
  alone.plan.data = 8;
  alone.training.global_batch /= 2;
  const double island = estimate(alone).iteration_time.si();
  const double more = often.iteration_time.si() - island;
  EXPECT_GT(more, 0);
  EXPECT_NEAR((seldom.iteration_time.si() - island) / more, 0.01, 1e-4);
}

TEST(LocalSteps, TakeWhatTheLinksBetweenIslandsTake) {
  const LocalSteps slow{.islands = 2,
                        .steps = 100,
                        .bandwidth = BytesPerSecond::from_si(1.25e9),
                        .latency = Seconds::from_si(0.05)};
  LocalSteps fast = slow;
  fast.bandwidth = BytesPerSecond::from_si(1.25e15);
  fast.latency = {};
  for (const Sharding sharding : {Sharding::none, Sharding::zero1, Sharding::zero3}) {
    const Scenario scenario = in_islands(slow, sharding);
    ASSERT_EQ(texts(scenario), Lines());
    const Seconds more =
        estimate(scenario).iteration_time - estimate(in_islands(fast, sharding)).iteration_time;
    // Of two islands each sends all its weights once, in fp32, one message there and one back.
    const double weights = 4.0 * static_cast<double>(parameters(scenario.model));
    EXPECT_NEAR(100 * more.si() / (weights / 1.25e9 + 2 * 0.05), 1, 0.01) << name(sharding);
  }
}

TEST(LocalSteps, AreTheSameInEvents) {
  for (const Sharding sharding : {Sharding::none, Sharding::zero1, Sharding::zero3}) {
    for (const std::int64_t islands : {2, 4, 16}) {
      const Scenario scenario = in_islands({.islands = islands, .steps = 7}, sharding);
      ASSERT_EQ(texts(scenario), Lines());
      const double closed = estimate(scenario).iteration_time.si();
      EXPECT_NEAR(
          simulate(scenario, SimulationOptions{}).result.iteration_time.si() / closed, 1, 1e-9);
    }
  }
}

TEST(LocalSteps, KeepWhatTheyWereAndTheirMomentum) {
  const auto peak = [](const LocalSteps& local) {
    return estimate(in_islands(local)).peak_stage();
  };
  const StageMemory on_devices = peak({.islands = 2, .steps = 5});
  const StageMemory on_host = peak({.islands = 2, .steps = 5, .state = HostPlace::host});
  const Bytes kept = on_host.parameters.total() / 8 * kOuterState;  // a shard of eight ranks
  EXPECT_NEAR((on_devices.optimizer - on_host.optimizer) / kept, 1, 1e-9);
  EXPECT_NEAR(on_host.offloaded.host / kept, 1, 1e-9);
}

TEST(LocalSteps, AreRefusedWhatIslandsCannotHave) {
  const auto paths = [](const Scenario& scenario) {
    std::string text;
    for (const Violation& violation : validate(scenario)) {
      text += violation.path + "; ";
    }
    return text;
  };
  EXPECT_EQ(paths(in_islands({.islands = 3})), "plan.local_steps.islands; ");
  EXPECT_EQ(paths(in_islands({.islands = 2, .latency = Seconds::from_si(1)})),
            "plan.local_steps.latency; ");
  Scenario shard = in_islands({.islands = 2});
  shard.plan.shard = 4;
  EXPECT_EQ(paths(shard), "plan.shard; ");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
