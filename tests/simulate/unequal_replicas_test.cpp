// Data-parallel replicas with micro-batches of different sizes.  [seed 004, F53]

#include <gtest/gtest.h>

#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/estimate/device_classes.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr int kMicroBatches = 4;

/// Two replicas of `tensor` devices and `pipeline` stages; micro-batches of six sequences on
/// average.
Scenario replicas(std::vector<std::int64_t> weights,
                  std::int64_t tensor = 1,
                  std::int64_t pipeline = 1) {
  Plan plan;
  plan.data = 2;
  plan.tensor = tensor;
  plan.pipeline = pipeline;
  plan.micro_batch = 6;
  plan.batch_shares.weights = std::move(weights);
  Scenario scenario = plain::scenario(plan);
  scenario.training.global_batch = kMicroBatches * plan.micro_batch * plan.data;
  return scenario;
}

/// The same with the first replica on devices of half the speed. REQUIRES tensor groups first in
/// the rank order, then replicas.
Scenario with_slow_replica(Scenario scenario) {
  const std::int64_t devices = scenario.plan.tensor;
  scenario.conditions.devices.clear();
  for (std::int64_t stage = 0; stage < scenario.plan.pipeline; ++stage) {
    const std::int64_t first = 2 * stage * devices;
    scenario.conditions.devices.push_back(
        {.first = first, .last = first + devices - 1, .compute = 1 / 0.5});
  }
  return scenario;
}

/// When each device begins to synchronise its gradients or stops computing.
std::vector<Seconds> passes_end(const Scenario& scenario) {
  const StepTimeline timeline = simulate(scenario, {.every_rank = true, .record = true}).timeline;
  std::vector<Ticks> ends(timeline.ranks.size(), 0);
  for (const LaneSpan& span : timeline.spans) {
    if (span.lane == DeviceLane::compute && span.part != TaskPart::optimizer) {
      Ticks& end = ends[static_cast<std::size_t>(span.rank)];
      end = std::max(end, span.end);
    }
  }
  std::vector<Seconds> seconds;
  for (const Ticks end : ends) {
    seconds.push_back(to_seconds(end));
  }
  return seconds;
}

TEST(F53, AThirdOfTheBatchOnTheSlowDeviceEqualisesFinishTimes) {
  const auto ends = passes_end(with_slow_replica(replicas({1, 2})));
  // Not to the last bit: weights are read as often for a small micro-batch as for a large one.
  EXPECT_NEAR(ends[0] / ends[1], 1, 0.03);
  const auto halves = passes_end(with_slow_replica(replicas({1, 1})));
  EXPECT_DOUBLE_EQ(halves[0] / halves[1], 2) << "the slow one is a straggler";
  const Seconds balanced = simulate(with_slow_replica(replicas({1, 2}))).result.iteration_time;
  const Seconds even = simulate(with_slow_replica(replicas({}))).result.iteration_time;
  // Half of the batch at half speed against two thirds at full speed: 1 to 2/3.
  EXPECT_NEAR(even / balanced, 1.5, 0.06);
}

TEST(UnequalReplicas, TakeThePassesOfTheirOwnMicroBatch) {
  const Scenario scenario = replicas({1, 2});
  ASSERT_EQ(texts(scenario), Lines());
  ASSERT_EQ(class_count(scenario), 2U);
  const std::vector<StepCosts> costs = class_costs(scenario);
  for (const auto& [of_class, sequences] : {std::pair{0U, 8}, std::pair{1U, 4}}) {
    Scenario alone = replicas({});
    alone.plan.micro_batch = sequences;
    alone.training.global_batch = kMicroBatches * sequences * 2;
    StepCosts expected;
    step_costs(alone, expected);
    EXPECT_EQ(costs[of_class].kinds.front().forward.compute,
              expected.kinds.front().forward.compute);
    EXPECT_EQ(costs[of_class].head.backward.compute, expected.head.backward.compute);
    EXPECT_EQ(costs[of_class].shape.micro_batches, kMicroBatches);
    EXPECT_EQ(costs[of_class].tails.front().gradient_sync, expected.tails.front().gradient_sync);
  }
}

TEST(UnequalReplicas, MakeTheStepAsLongAsTheLargestMicroBatchDoes) {
  for (const auto& [tensor, pipeline] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{2, 3}}) {
    const StepResult result = simulate(replicas({1, 2}, tensor, pipeline)).result;
    Scenario large = replicas({}, tensor, pipeline);
    large.plan.micro_batch = 8;
    large.training.global_batch = kMicroBatches * 8 * 2;
    const StepResult expected = simulate(large).result;
    EXPECT_EQ(result.iteration_time, expected.iteration_time) << tensor << " " << pipeline;
    EXPECT_EQ(result.memory_peak, expected.memory_peak);
    // Of as much time, six sequences for eight.
    EXPECT_NEAR(result.tokens_per_s / expected.tokens_per_s, 6.0 / 8, 1e-12);
  }
}

TEST(UnequalReplicas, MayHaveEqualShares) {
  const StepResult even = estimate(replicas({}));
  EXPECT_EQ(estimate(replicas({3, 3})).iteration_time, even.iteration_time);
  EXPECT_EQ(class_count(replicas({3, 3})), 1U);
  EXPECT_EQ(replicas({3, 3}).unlike(), std::nullopt);
}

TEST(UnequalReplicas, MayHaveOtherChipsToo) {
  Scenario scenario = replicas({1, 2}, 2);
  Chip slow = scenario.cluster.chip;
  for (auto& rate : slow.matrix) {
    if (rate) {
      rate->peak = 0.5 * rate->peak;
    }
  }
  slow.memory.bandwidth = 0.5 * slow.memory.bandwidth;
  scenario.conditions.chips = {slow};
  scenario.conditions.devices = {{.first = 0, .last = 1, .chip = 0}};
  EXPECT_EQ(class_count(scenario), 4U);
  const Scenario last = class_scenario(scenario, 3);
  EXPECT_EQ(last.plan.micro_batch, 4);
  EXPECT_EQ(last.cluster.chip.memory.bandwidth, slow.memory.bandwidth);
  EXPECT_EQ(last.micro_batches(), kMicroBatches);
  const auto ends = passes_end(scenario);
  EXPECT_NEAR(ends[0] / ends[2], 1, 0.03);
  EXPECT_EQ(ends[0], ends[1]);
  const auto by_speed = passes_end(with_slow_replica(replicas({1, 2}, 2)));
  EXPECT_NEAR(ends[0] / by_speed[0], 1, 1e-6);
}

TEST(UnequalReplicas, WorkWithBucketsAndShardsOfTheOptimizer) {
  for (const bool beside : {false, true}) {
    Scenario scenario = replicas({1, 2}, 1, 2);
    scenario.plan.sharding = Sharding::zero1;
    scenario.plan.overlap_grad_reduce = beside;
    scenario.plan.overlap_param_gather = beside;
    ASSERT_EQ(texts(scenario), Lines());
    Scenario even = scenario;
    even.plan.batch_shares = {};
    EXPECT_GT(simulate(scenario).result.iteration_time, simulate(even).result.iteration_time);
  }
}

// Ranks that exchange tokens have one micro-batch; others' may differ.
TEST(UnequalReplicas, MayHaveExpertsWhereAGroupOfThemSharesAlike) {
  const auto with_experts = [](std::vector<std::int64_t> weights, std::int64_t micro_batch) {
    Plan plan;
    plan.data = 8;
    plan.expert = 4;
    plan.micro_batch = micro_batch;
    plan.batch_shares.weights = std::move(weights);
    Scenario scenario = plain::scenario(plan);
    scenario.model = shipped::any_model("mixtral-8x7b");
    scenario.training.global_batch = kMicroBatches * plan.micro_batch * plan.data;
    return scenario;
  };
  const Scenario scenario = with_experts({1, 1, 1, 1, 2, 2, 2, 2}, 3);
  ASSERT_EQ(texts(scenario), Lines());
  for (const bool network : {false, true}) {
    const SimulationOptions links{.network = network};
    EXPECT_NEAR(simulate(scenario, links).result.iteration_time /
                    simulate(with_experts({}, 4), links).result.iteration_time,
                1,
                1e-9);
  }
  EXPECT_EQ(
      texts(with_experts({1, 2, 1, 2, 1, 2, 1, 2}, 3)),
      Lines{"plan.batch_shares: [1, 2, 1, 2, 1, 2, 1, 2]: expected equal shares of ranks that "
            "have all experts or tables between them, which exchange tokens in every pass"});
}

TEST(UnequalReplicas, NeedEvents) {
  const Scenario scenario = replicas({1, 2});
  EXPECT_EQ(scenario.unlike(), "plan.batch_shares");
  try {
    check_fidelity(scenario, Fidelity::closed);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines,
              Lines{"plan.batch_shares: expected the fidelity event: in closed form all devices "
                    "are alike and nothing is random"});
  }
  check_fidelity(scenario, Fidelity::network);
  check_fidelity(scenario, Fidelity::event);
}

TEST(UnequalReplicas, MustNotMeetInEveryPass) {
  EXPECT_EQ(texts(replicas({1, 4})),
            Lines{"plan.batch_shares: [1, 4]: expected micro-batches of whole sequences: "
                  "micro_batch x data = 6 x 2 cannot be shared out by these of 5"});
  Scenario scenario = replicas({1, 2});
  scenario.plan.sharding = Sharding::zero3;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.batch_shares: [1, 2]: expected equal shares with the sharding zero3, "
                  "whose ranks meet in every pass"});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
