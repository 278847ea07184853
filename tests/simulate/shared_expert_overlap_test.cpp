// The experts of all tokens on a stream of their own, beside the tokens' way to the others.
#include <gtest/gtest.h>

#include "cost/blocks.hpp"
#include "export/exported_graphs.hpp"
#include "scenario/moe.hpp"
#include "simulate/simulations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/export/exported_step.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using simulations::ticks;

/// A shared expert of so many times the others' width.
Scenario with_shared(const moe::Degrees& degrees, std::int64_t times, bool beside) {
  Scenario scenario = moe::scenario(degrees);
  Transformer model = moe::model();
  model.experts->shared_ffn = times * model.experts->ffn;
  scenario.model = model;
  scenario.plan.shared_expert_overlap = beside;
  EXPECT_TRUE(validate(scenario).empty()) << moe::text_of(degrees);
  return scenario;
}

PassCost forward_of(const Scenario& scenario) {
  StepCosts costs;
  step_costs(scenario, costs);
  return costs.kinds.back().forward;
}

TEST(SharedExpertOverlap, HidesNoMoreOfAnExchangeThanTheProductsBesideIt) {
  const moe::Degrees degrees{.data = 4, .expert = 4};
  for (const std::int64_t times : {1, 8, 64}) {
    const Scenario apart = with_shared(degrees, times, false);
    const Scenario beside = with_shared(degrees, times, true);
    const PassCost one = forward_of(apart);
    const PassCost other = forward_of(beside);
    EXPECT_NEAR(other.compute.si(), one.compute.si(), 1e-12 * one.compute.si());
    EXPECT_EQ(other.transfers[PassComm::expert], one.transfers[PassComm::expert]);
    // Two exchanges, each as long; beside them the first product with its activation, and the
    // second.
    const BlockClock clock = block_clock(beside);
    ModelBlocks blocks;
    scenario_blocks(beside, blocks);
    Seconds first;
    Seconds second;
    Seconds exchange;
    for (const Operation& op : blocks.kinds.back().operations) {
      if (op.aside) {
        (op.name == "shared down" ? second : first) += clock.time(op.forward);
      }
      if (op.name == "permutation") {
        exchange = clock.transfer_time(op.forward_transfer);
      }
    }
    ASSERT_GT(exchange, Seconds{});
    ASSERT_GT(second, Seconds{});
    const Seconds left =
        std::max(Seconds{}, exchange - first) + std::max(Seconds{}, exchange - second);
    EXPECT_NEAR(other.exposed[PassComm::expert].si(), left.si(), 1e-12) << times;
    EXPECT_LT(other.exposed[PassComm::expert], one.exposed[PassComm::expert]) << times;
  }
  EXPECT_EQ(forward_of(with_shared(degrees, 64, true)).exposed[PassComm::expert], Seconds{});
}

TEST(SharedExpertOverlap, SlowsBothWhereTheStackSaysSo) {
  Scenario scenario = with_shared({.data = 4, .expert = 4}, 64, true);
  const PassCost without = forward_of(scenario);
  scenario.stack.overlap_slowdown = 1.5;
  const PassCost with = forward_of(scenario);
  // Both exchanges are whole beside products.
  EXPECT_NEAR(
      (with.compute - without.compute).si(), 0.5 * without.transfers[PassComm::expert].si(), 1e-12);
}

TEST(SharedExpertOverlap, TakesTheSameInEventsAndAboutTheSameInExports) {
  for (const moe::Degrees& degrees : moe::kDegrees) {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      Scenario scenario = with_shared(degrees, 2, true);
      scenario.plan.recompute = recompute;
      scenario.plan.sharding = Sharding::zero1;
      const Seconds closed = estimate(scenario).iteration_time;
      EXPECT_EQ(ticks(simulate(scenario).result.iteration_time), ticks(closed))
          << moe::text_of(degrees);
      for (const ExportDetail detail :
           {ExportDetail::operation, ExportDetail::layer, ExportDetail::pass}) {
        const ExportedStep step(scenario, detail);
        const auto taken = exported::time(step);
        ASSERT_TRUE(taken.has_value()) << moe::text_of(degrees);
        const auto whole = static_cast<double>(to_ticks(closed));
        // Of a whole pass, rings and exchanges are beside all of its kernels.
        const bool mixes = detail == ExportDetail::pass && degrees.context > 1;
        const double rounding =
            static_cast<double>(step.graph(0).size()) * static_cast<double>(degrees.pipeline);
        EXPECT_NEAR(static_cast<double>(*taken), whole, mixes ? 0.2 * whole : 2 * rounding)
            << moe::text_of(degrees);
      }
    }
  }
}

TEST(SharedExpertOverlap, IsOfModelsThatHaveThemAndNotBesideAnotherMicroBatch) {
  Scenario scenario = with_shared({.data = 4, .expert = 4}, 1, true);
  scenario.plan.expert_overlap = true;
  ASSERT_EQ(validate(scenario).size(), 1U);
  EXPECT_NE(validate(scenario).front().text().find("expected false beside plan.expert_overlap"),
            std::string::npos);
  Scenario without = moe::scenario({.data = 4, .expert = 4});
  without.plan.shared_expert_overlap = true;
  ASSERT_EQ(validate(without).size(), 1U);
  EXPECT_NE(validate(without).front().text().find("expected a model with experts of all tokens"),
            std::string::npos);
}

TEST(SharedExpertOverlap, ChangesNothingWhereNoTokenIsSent) {
  const moe::Degrees degrees{.data = 4};
  EXPECT_EQ(estimate(with_shared(degrees, 1, true)).iteration_time,
            estimate(with_shared(degrees, 1, false)).iteration_time);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
