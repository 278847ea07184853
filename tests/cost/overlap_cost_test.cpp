// Costs of what overlaps: tiles around a ring, transfers in bulk, pairs of passes, the two parts of
// a backward pass, and gradients in buckets.

#include <gtest/gtest.h>

#include "cost/blocks.hpp"
#include "plan/pipeline_graph.hpp"
#include "plan/plans.hpp"
#include "scenario/plain.hpp"
#include "titer/cost/cost.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using plain::kBetween;
using plain::kInside;
using plain::kMemory;
using plain::kPeak;

void expect_time(Seconds actual, Seconds expected) {
  EXPECT_NEAR(actual.si(), expected.si(), 1e-12 * expected.si() + 1e-15);
}

using plans::plan_of;

StepCosts costs_of(const Scenario& scenario) {
  for (const Violation& violation : validate(scenario)) {
    ADD_FAILURE() << violation.text();
  }
  StepCosts costs;
  step_costs(scenario, costs);
  return costs;
}

// One product with kernels of 3, 5 and 7 ms.
Operation product() {
  const auto kernel = [](double milliseconds) {
    return Kernel{KernelKind::matrix, milliseconds * (1_ms * kPeak), 0_B};
  };
  Operation op{.name = "product"};
  op.forward = kernel(3);
  op.input_gradient = kernel(5);
  op.weight_gradient = kernel(7);
  op.column_split = true;
  return op;
}

BlockClock clock_of(TensorOverlap overlap, int tensor = 2, double slowdown = 1) {
  BlockClock clock = block_clock(plain::scenario(plan_of(1, tensor, 1)));
  clock.overlap = overlap;
  clock.slowdown = slowdown;
  return clock;
}

BlockCost cost_of(const std::vector<Operation>& operations, const BlockClock& clock) {
  return block_cost(operations, {}, clock);
}

/// An all-gather that takes `time` on a ring of so many ranks.
Transfer gather(Seconds time, int ranks = 2) {
  return {.kind = Collective::all_gather,
          .size = ranks * ((time / (ranks - 1) - kInside.latency) * kInside.bandwidth)};
}
Transfer all_reduce(Seconds time, int ranks = 2) {
  Transfer transfer = gather(0.5 * time, ranks);
  transfer.kind = Collective::all_reduce;
  return transfer;
}

TEST(RingOverlap, ExposesWhatATilesProductDoesNotHide) {
  Operation op = product();
  op.forward_transfer = gather(6_ms, 4);  // 3 tiles of 2 ms beside tiles of 3/4 ms
  const BlockCost cost = cost_of({op}, clock_of(TensorOverlap::ring, 4));
  expect_time(cost.forward.compute, 3_ms);
  expect_time(cost.forward.comm(), (4 - 1) * (2_ms - 3_ms / 4));
  expect_time(cost.forward.comm_total(), 6_ms);
}

TEST(RingOverlap, HidesATransferThatIsShorterThanItsProduct) {
  Operation op = product();
  op.backward_transfer = gather(3_ms, 4);  // 1 ms a tile, its product 5/4 ms
  op.regather_transfer = gather(6_ms, 4);  // 2 ms a tile, the weight gradient's 7/4 ms
  const BlockCost cost = cost_of({op}, clock_of(TensorOverlap::ring, 4));
  expect_time(cost.backward.comm(), (4 - 1) * (2_ms - 7_ms / 4));
  expect_time(cost.backward.comm_total(), 3_ms + 6_ms);
}

TEST(RingOverlap, LeavesTheHalfOfAnAllReduceThatGathers) {
  Operation op = product();
  op.forward_transfer = all_reduce(6_ms, 4);  // 1 ms a tile beside 3/4 ms, and 3 ms behind
  const BlockCost cost = cost_of({op}, clock_of(TensorOverlap::ring, 4));
  expect_time(cost.forward.comm(), 3_ms + (4 - 1) * (1_ms - 3_ms / 4));
}

TEST(RingOverlap, TilesOnlyProducts) {
  Operation op = product();
  op.forward = Kernel{KernelKind::memory, Flops{}, 3_ms * kMemory};
  op.forward_transfer = gather(2_ms);
  expect_time(cost_of({op}, clock_of(TensorOverlap::ring)).forward.comm(), 2_ms);
}

TEST(RingOverlap, PaysForEveryTileWhatAKernelCosts) {
  Operation op = product();
  op.forward_transfer = gather(1_ms, 4);
  BlockClock clock = clock_of(TensorOverlap::ring, 4);
  clock.dispatch = 2_ms;  // four tiles, three messages
  const PassCost forward = cost_of({op}, clock).forward;
  expect_time(forward.compute + forward.comm(), (4 + 3) * 2_ms);
}

TEST(BulkOverlap, SlowsBothDownWhileTheyAreBesideOneAnother) {
  Operation op = product();
  op.regather_transfer = gather(6_ms);  // beside 5 ms: 6 + 0.1 x 5
  op.backward_transfer = gather(4_ms);  // beside 7 ms: 7 + 0.1 x 4
  const PassCost cost = cost_of({op}, clock_of(TensorOverlap::bulk, 2, 1.1)).backward;
  expect_time(cost.compute + cost.comm(), 6_ms + 0.1 * 5_ms + 7_ms + 0.1 * 4_ms);
  expect_time(cost.comm(), 6_ms - 5_ms);
}

TEST(BulkOverlap, SlowsNothingThatHasNoTransfer) {
  const PassCost cost = cost_of({product()}, clock_of(TensorOverlap::bulk, 2, 1.5)).backward;
  expect_time(cost.compute, 5_ms + 7_ms);
}

TEST(SplitBackward, HasTheKernelsOfTheWholeAndItsTransfers) {
  Operation op = product();
  op.regather_transfer = gather(2_ms);
  op.backward_transfer = gather(4_ms);
  for (const TensorOverlap overlap : {TensorOverlap::none, TensorOverlap::bulk}) {
    const BlockCost cost = cost_of({op, op}, clock_of(overlap));
    expect_time(cost.input_gradient.compute, 2 * 5_ms);
    expect_time(cost.weight_gradient.compute, 2 * 7_ms);
    expect_time(cost.input_gradient.comm_total(), 2 * 4_ms);
    expect_time(cost.weight_gradient.comm_total(), 2 * 2_ms);
    expect_time(cost.input_gradient.comm(), 2 * 4_ms);
  }
}

TEST(SplitBackward, RegathersInBulkBesideTheWeightGradientBefore) {
  Operation op = product();
  op.regather_transfer = gather(9_ms);
  Operation norm{.name = "norm"};
  norm.input_gradient = op.input_gradient;
  // The first one of the pass has nothing beside it, the second one 7 ms; what has no weights
  // between them takes no part.
  const BlockCost cost = cost_of({op, norm, op}, clock_of(TensorOverlap::bulk));
  expect_time(cost.weight_gradient.comm(), 9_ms + (9_ms - 7_ms));
}

TEST(SplitBackward, GathersForWeightsAloneInTheirPart) {
  Operation op = product();
  op.input_gradient = {};
  op.backward_transfer = gather(4_ms);
  const BlockCost cost = cost_of({op}, clock_of(TensorOverlap::none));
  EXPECT_EQ(cost.input_gradient.comm_total(), Seconds{});
  expect_time(cost.weight_gradient.comm(), 4_ms);
}

TEST(SplitBackward, OfAModelAddsUpToTheWhole) {
  for (const bool sequence_parallel : {false, true}) {
    Plan plan = plan_of(2, 4, 1);
    plan.sequence_parallel = sequence_parallel;
    const StepCosts costs = costs_of(plain::scenario(plan));
    for (const int stage : {0, 1}) {
      const BlockCost cost = costs.chunk(stage);
      expect_time(cost.input_gradient.compute + cost.weight_gradient.compute,
                  cost.backward.compute);
      expect_time(cost.input_gradient.comm_total() + cost.weight_gradient.comm_total(),
                  cost.backward.comm_total());
    }
  }
}

TEST(Pair, HidesTheTransfersOfEachRunBesideTheOther) {
  Plan plan;
  plan.pipeline = 2;
  StepCosts costs;
  costs.stages = 2;
  costs.blocks.kinds.resize(1);
  costs.blocks.order = {{.kind = 0, .count = 2}};
  costs.contents.fill(plan, costs.blocks);
  costs.kinds = {{.forward = pass_cost(3_ms, 2_ms, 2_ms),
                  .backward = pass_cost(6_ms, 1_ms, 4_ms),
                  .recompute = pass_cost(1_ms, 1_ms, 1_ms),
                  .input_gradient = {},
                  .weight_gradient = {}}};
  expect_time(costs.pair(0).compute, 3_ms + 6_ms + 1_ms);
  EXPECT_EQ(costs.pair(0).comm(), Seconds{}) << "7 ms beside 10 ms";
  costs.slowdown = 1.2;
  // 4 ms come beside compute in addition; 3 ms were beside it before.
  expect_time(costs.pair(0).compute, 10_ms + 0.2 * 4_ms);
  costs.slowdown = 1;
  set_transfers(costs.kinds.front().forward, 2_ms, 9_ms);
  expect_time(costs.pair(0).comm(), 9_ms + 4_ms + 1_ms - 10_ms);
}

/// d = 4 on nodes of 8 with t = 8: every data-parallel group goes through the network.
Scenario bucketed(double bucket, Plan plan = plan_of(1, 8, 4)) {
  plan.overlap_grad_reduce = true;
  Scenario scenario = plain::scenario(plan);
  scenario.stack.bucket_parameters = bucket;
  scenario.stack.bucket_parameters_per_rank = 0;
  return scenario;
}

Seconds ring(Bytes size, int n, Link link) { return (n - 1) * link.time(size / n); }

double layer_count(const Scenario& scenario) {
  const ParameterCount layer = layer_parameters(scenario.model.transformer(), {});
  return static_cast<double>(layer.split) / static_cast<double>(scenario.plan.tensor) +
         static_cast<double>(layer.replicated);
}

TEST(Buckets, OfOneSizeTakeWhatTheTailTakes) {
  const StepCosts whole = costs_of(bucketed(1e15));
  ASSERT_EQ(whole.buckets.size(), 1U);
  ASSERT_EQ(whole.buckets[0].size(), 1U);
  EXPECT_EQ(whole.buckets[0][0].ready, 1.0);
  const Scenario plain = plain::scenario(plan_of(1, 8, 4));
  expect_time(whole.buckets[0][0].sync, costs_of(plain).tails[0].gradient_sync);
  EXPECT_EQ(whole.tails[0].gradient_sync, Seconds{});
  EXPECT_GT(whole.tails[0].optimizer, Seconds{});
}

TEST(Buckets, HoldWholeLayersUntilTheyAreFull) {
  Scenario scenario = bucketed(1, plan_of(4, 8, 4));
  scenario.stack.bucket_parameters = 1.5 * layer_count(scenario);
  const StepCosts costs = costs_of(scenario);
  ASSERT_EQ(costs.buckets.size(), 4U);
  // 24 layers on four stages: three buckets of two layers each between the ends.
  const auto& middle = costs.buckets[1];
  ASSERT_EQ(middle.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(middle[i].ready, static_cast<double>(i + 1) / 3, 1e-12);
    expect_time(middle[i].sync, 2.0 * ring(2 * layer_count(scenario) * 2_B, 4, kBetween));
    EXPECT_EQ(middle[i].gather, Seconds{});
  }
  EXPECT_EQ(costs.buckets[2].size(), middle.size());
}

TEST(Buckets, AreReadyInOrderAndHoldEverything) {
  for (const std::int64_t v : {1, 2}) {
    Plan plan = plan_of(2, 8, 4);
    plan.virtual_stages = v;
    plan.sharding = Sharding::zero1;
    plan.overlap_param_gather = true;
    const Scenario scenario = bucketed(30e6, plan);
    const StepCosts costs = costs_of(scenario);
    double counted = 0;
    int buckets = 0;
    for (const auto& stage : costs.buckets) {
      double before = 0;
      for (const GradientBucket& bucket : stage) {
        EXPECT_GT(bucket.ready, before);
        before = bucket.ready;
        EXPECT_EQ(bucket.sync, bucket.gather) << "16 bits either way";
        // (n - 1) (a + S / (n B)), solved for S
        counted += 4 * (((bucket.sync / 3.0) - kBetween.latency) * kBetween.bandwidth).si() / 2;
        ++buckets;
      }
      EXPECT_EQ(before, 1.0);
    }
    double held = 0;
    for (const int rank : {0, 1}) {
      held += rank_parameters(scenario.model, scenario.plan, rank);
      EXPECT_EQ(costs.tails[static_cast<std::size_t>(rank)].parameter_sync, Seconds{});
    }
    EXPECT_NEAR(counted, held, 1e-6 * held);
    EXPECT_GT(buckets, 2 * v);
  }
}

TEST(Buckets, AreNotThereForOneRankOrWithoutOverlap) {
  EXPECT_TRUE(costs_of(bucketed(1e6, plan_of(1, 8, 1))).buckets.empty());
  EXPECT_TRUE(costs_of(plain::scenario(plan_of(1, 8, 4))).buckets.empty());
}

TEST(Buckets, GrowWithTheRanksIfTheStackSaysSo) {
  Stack stack;
  stack.bucket_parameters = 40e6;
  stack.bucket_parameters_per_rank = 1e6;
  EXPECT_EQ(stack.bucket(8), 40e6);
  EXPECT_EQ(stack.bucket(64), 64e6);
}

/// Two copies of the model: twice the parameters, summed over twice the ranks.
TEST(TwoWays, SynchroniseOverBothCopies) {
  int tried = 0;
  for (const Schedule& schedule : testing::all_schedules()) {
    if (placement(schedule) != Placement::two_ways) {
      continue;
    }
    Plan plan = plan_of(4, 8, 2);
    plan.schedule = schedule;
    plan.virtual_stages = usual_chunks(schedule);
    Scenario scenario = plain::scenario(plan);
    const StepCosts costs = costs_of(scenario);
    const double ends = rank_parameters(scenario.model, scenario.plan, 0);
    EXPECT_EQ(ends, rank_parameters(scenario.model, scenario.plan, 3)) << "each has both ends";
    EXPECT_EQ(rank_parameters(scenario.model, scenario.plan, 1), 2 * 6 * layer_count(scenario));
    // A node for each stage of each replica: 2 x 2 ranks through the network.
    expect_time(costs.tails[1].gradient_sync,
                2.0 * ring(12 * layer_count(scenario) * 2_B, 4, kBetween));
    EXPECT_EQ(costs.embedding_sync, Seconds{}) << "one rank has both tables";
    // Copies on the same node: ranks 0 to 3 of a pipeline beside one another.
    scenario.plan.tensor = 2;
    scenario.plan.data = 1;
    const StepCosts inside = costs_of(scenario);
    expect_time(inside.tails[1].gradient_sync,
                2.0 * ring(12 * layer_count(scenario) * 2_B, 2, kInside));
    ++tried;
  }
  if (tried == 0) {
    GTEST_SKIP() << "no schedule runs two copies of the model";
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
