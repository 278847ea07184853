// Exchanges of experts beside another micro-batch's pass, where there is one.
#include <gtest/gtest.h>

#include "scenario/moe.hpp"
#include "simulate/simulations.hpp"
#include "titer/estimate/estimate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using simulations::ticks;

Scenario with_overlap(const moe::Degrees& degrees, std::int64_t micro_batches, bool overlap) {
  Scenario scenario = moe::scenario(degrees);
  scenario.training.global_batch = micro_batches * scenario.plan.micro_batch * scenario.plan.data;
  scenario.plan.expert_overlap = overlap;
  EXPECT_TRUE(validate(scenario).empty()) << moe::text_of(degrees);
  return scenario;
}

Seconds time_of(const Scenario& scenario) { return estimate(scenario).iteration_time; }

BlockCost chunk_of(const Scenario& scenario, int stage) {
  StepCosts costs;
  step_costs(scenario, costs);
  return costs.chunk(stage);
}

// Megatron-Core, combined_1f1b_schedule_for_no_pipelining: one forward pass, m - 1 pairs, one
// backward pass.
TEST(ExpertOverlap, LeavesTheFirstForwardAndTheLastBackwardPassOfOneStageAlone) {
  const moe::Degrees degrees{.data = 4, .expert = 4};
  EXPECT_EQ(time_of(with_overlap(degrees, 1, true)), time_of(with_overlap(degrees, 1, false)));
  for (const double slowdown : {1.0, 1.3}) {
    Scenario alone = with_overlap(degrees, 6, false);
    Scenario beside = with_overlap(degrees, 6, true);
    alone.stack.overlap_slowdown = slowdown;
    beside.stack.overlap_slowdown = slowdown;
    const BlockCost cost = chunk_of(beside, 0);
    const Seconds exchange = cost.forward.transfers[PassComm::expert];
    ASSERT_GT(exchange, Seconds{});
    EXPECT_LT(exchange, cost.forward.compute) << "all of it can be hidden";
    const double pairs = 5;
    const Seconds saved = pairs * 2 * (2.0 - slowdown) * exchange;  // there and back
    EXPECT_NEAR((time_of(alone) - time_of(beside)).si(), saved.si(), 1e-9);
  }
}

TEST(ExpertOverlap, ExposesWhatWarmUpAndCoolDownPassesExchange) {
  // Forward passes of the ranks before their first backward one: 2 (p - 1 - r) + (v - 1) p + 1 of
  // chunks, p - r of 1F1B.
  for (const std::int64_t v : {1, 2}) {
    Scenario scenario = with_overlap({.pipeline = 2, .data = 4, .expert = 4}, 8, true);
    scenario.plan.virtual_stages = v;
    ASSERT_TRUE(validate(scenario).empty());
    const StepResult result = estimate(scenario);
    const int behind = 1 - result.reference_stage;
    const std::int64_t alone = v == 1 ? behind + 1 : 2 * behind + 2 * (v - 1) + 1;
    // Of a layer with experts, one in a chunk of v = 2, two in one of v = 1.
    const Seconds exchange = chunk_of(scenario, 0).forward.transfers[PassComm::expert];
    const Seconds expected = static_cast<double>(2 * alone) * exchange;
    EXPECT_NEAR(result.breakdown.expert_comm.si(), expected.si(), 1e-9) << v;
  }
}

TEST(ExpertOverlap, TakesTheSameInEvents) {
  for (const moe::Degrees& degrees : moe::kDegrees) {
    for (const std::int64_t micro_batches : {2, 4, 12}) {
      for (const bool buckets : {false, true}) {
        Scenario scenario = with_overlap(degrees, micro_batches, true);
        scenario.plan.sharding = buckets ? Sharding::zero1 : Sharding::none;
        scenario.stack.overlap_slowdown = degrees.pipeline > 1 || buckets ? 1.0 : 1.25;
        EXPECT_EQ(ticks(simulate(scenario).result.iteration_time), ticks(time_of(scenario)))
            << moe::text_of(degrees) << ", m = " << micro_batches << ", buckets " << buckets;
      }
    }
  }
}

TEST(ExpertOverlap, KeepsNoMoreThanWithoutButWorksOnBothPasses) {
  for (const std::int64_t pipeline : {1, 4}) {
    const moe::Degrees degrees{.pipeline = pipeline, .data = 4, .expert = 4};
    const StageMemory alone = estimate(with_overlap(degrees, 12, false)).memory.front();
    const StageMemory beside = estimate(with_overlap(degrees, 12, true)).memory.front();
    EXPECT_EQ(beside.activations, alone.activations) << "layers come as layers go";
    EXPECT_GT(beside.working, 1.2 * alone.working);
  }
}

TEST(ExpertOverlap, NeedsTheSameMemoryInEvents) {
  for (const moe::Degrees& degrees : moe::kDegrees) {
    for (const char* schedule : {"1f1b", "zb-h1", "zb-v"}) {
      Scenario scenario = with_overlap(degrees, 12, true);
      scenario.plan.schedule = named_schedule(schedule);
      scenario.plan.virtual_stages = usual_chunks(scenario.plan.schedule);
      if (!validate(scenario).empty()) {
        continue;  // stages of no layers
      }
      const StepResult closed = estimate(scenario);
      const StepResult events = simulate(scenario).result;
      for (std::size_t rank = 0; rank < closed.memory.size(); ++rank) {
        const double bytes = closed.memory[rank].total().si();
        EXPECT_NEAR(events.ranks[rank].memory.in_use.si(), bytes, 1e-12 * bytes)
            << moe::text_of(degrees) << ", " << schedule << ", rank " << rank;
      }
    }
  }
}

TEST(ExpertOverlap, IsNoneOfSchedulesThatDoNotGoBothWays) {
  for (const char* schedule : {"gpipe", "sequential"}) {
    Scenario alone = with_overlap({.pipeline = 2, .data = 4, .expert = 4}, 8, false);
    alone.plan.schedule = named_schedule(schedule);
    Scenario beside = alone;
    beside.plan.expert_overlap = true;
    EXPECT_EQ(time_of(beside), time_of(alone)) << schedule;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
