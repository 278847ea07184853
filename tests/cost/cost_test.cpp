#include "titer/cost/cost.hpp"
#include "cost/blocks.hpp"

#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "scenario/plain.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using plain::kBetween;
using plain::kInside;
using plain::kMemory;
using plain::kPeak;

void expect_time(Seconds actual, Seconds expected) {
  EXPECT_NEAR(actual.si(), expected.si(), 1e-12 * expected.si());
}

StepCosts costs_of(const Scenario& scenario) {
  EXPECT_TRUE(validate(scenario).empty());
  StepCosts costs;
  step_costs(scenario, costs);
  return costs;
}

using plans::plan_of;

/// 2 (n-1) (alpha + S / (n B)), or half of it.
Seconds ring_all_reduce(Bytes size, int n, Link link) {
  return 2.0 * (n - 1) * link.time(size / n);
}

// One operation with kernels of 3, 5 and 7 ms.
Operation operation() {
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

BlockClock clock_of(TensorOverlap overlap = TensorOverlap::none, Seconds dispatch = {}) {
  const Scenario scenario = plain::scenario(plan_of(1, 2, 1));
  BlockClock clock = block_clock(scenario);
  clock.overlap = overlap;
  clock.dispatch = dispatch;
  clock.awaits_tensor_groups = false;
  return clock;
}

BlockCost cost_of(const Operation& op, const BlockClock& clock, const Repeats& repeats = {}) {
  return block_cost({op}, repeats, clock);
}

/// A transfer that takes `time` between the two ranks of clock_of().
Transfer transfer(Seconds time) {
  return {.kind = Collective::all_gather,
          .size = 2.0 * ((time - kInside.latency) * kInside.bandwidth)};
}

TEST(BlockCost, IsTheSumOfItsKernels) {
  const BlockCost cost = cost_of(operation(), clock_of());
  expect_time(cost.forward.compute, 3_ms);
  expect_time(cost.backward.compute, 5_ms + 7_ms);
  EXPECT_EQ(cost.recompute.compute, Seconds{});
  EXPECT_EQ(cost.forward.comm_total(), Seconds{});
}

TEST(BlockCost, IsNoShorterThanItsLaunches) {
  const BlockCost cost = cost_of(operation(), clock_of(TensorOverlap::none, 4_ms));
  expect_time(cost.forward.compute, 1 * 4_ms);
  expect_time(cost.backward.compute, 5_ms + 7_ms);
  const BlockCost slow_host = cost_of(operation(), clock_of(TensorOverlap::none, 8_ms));
  expect_time(slow_host.backward.compute, 2 * 8_ms);
}

TEST(BlockCost, WaitsForTheHostToBringAMicroBatch) {
  BlockClock clock = clock_of(TensorOverlap::none, 1_ms);
  clock.batch_dispatch = 9_ms;
  Operation op = operation();
  expect_time(cost_of(op, clock).forward.compute, 3_ms);
  op.begins_batch = true;
  const BlockCost cost = cost_of(op, clock, {.all = true});
  expect_time(cost.forward.compute, 9_ms + 1_ms);
  expect_time(cost.recompute.compute, 3_ms);
  expect_time(cost.backward.compute, 5_ms + 7_ms);
}

TEST(BlockCost, LaunchesItsTransfersToo) {
  Operation op = operation();
  op.forward_transfer = transfer(1_ms);
  const BlockCost cost = cost_of(op, clock_of(TensorOverlap::none, 4_ms));
  expect_time(cost.forward.comm(), 1_ms);
  expect_time(cost.forward.busy(),
              2 * 4_ms);  // the second launch is over while the first kernel runs
}

TEST(BlockCost, HasNoLeadBehindATransferOfATensorGroupWhereItsHostAwaitsThese) {
  // A long product, whose result ranks exchange, and a short one.
  Operation first = operation();
  first.column_split = false;
  first.forward_transfer = transfer(1_ms);
  Operation second = operation();
  second.forward = Kernel{KernelKind::matrix, 0.5 * (1_ms * kPeak), 0_B};
  BlockClock clock = clock_of(TensorOverlap::none, 1_ms);
  const auto busy = [&] { return block_cost({first, second}, {}, clock).forward.busy(); };
  expect_time(busy(), 3_ms + 1_ms + 0.5 * 1_ms);  // the host is 3 of 4.5 ms at work
  clock.awaits_tensor_groups = true;
  expect_time(busy(), 3_ms + 1_ms + 2 * 1_ms);  // both kernels are launched behind the transfer
  first.forward_transfer = {};
  expect_time(busy(), 3_ms + 0.5 * 1_ms);
}

TEST(BlockCost, LaunchesTheKernelsOfALoopOneByOne) {
  // Behind a wait, so that the host has no lead; 4 ms in four kernels.
  Operation op = operation();
  op.forward = Kernel{KernelKind::matrix, 4 * (1_ms * kPeak), 0_B};
  op.loops = 4;
  op.awaited = true;
  BlockClock clock = clock_of(TensorOverlap::none, 1_ms);
  clock.awaits_counts = true;
  clock.loop_dispatch = 0.5 * 1_ms;
  expect_time(cost_of(op, clock).forward.compute, 1_ms + 4_ms);  // each is launched in time
  clock.loop_dispatch = 2_ms;
  expect_time(cost_of(op, clock).forward.compute, 1_ms + 3 * 2_ms + 1_ms);  // none but the first is
}

TEST(BlockCost, WaitsWhereTheHostSendsAnOffsetAlong) {
  Operation second = operation();
  second.brings_offset = true;
  BlockClock clock = clock_of(TensorOverlap::none, 1_ms);
  const auto compute = [&] { return block_cost({operation(), second}, {}, clock).forward.compute; };
  expect_time(compute(), 3_ms + 3_ms);
  clock.awaits_offsets = true;
  expect_time(compute(), 3_ms + 1_ms + 3_ms);  // the first is launched while the one before runs
  clock.graphs = bit(second.part);
  expect_time(compute(), 3_ms + 3_ms);  // a graph has it inside
}

TEST(BlockCost, WaitsForEveryTransferWithoutOverlap) {
  Operation op = operation();
  op.forward_transfer = transfer(1_ms);
  op.regather_transfer = transfer(2_ms);
  op.backward_transfer = transfer(4_ms);
  const BlockCost cost = cost_of(op, clock_of());
  expect_time(cost.forward.comm(), 1_ms);
  expect_time(cost.backward.comm(), 2_ms + 4_ms);
  expect_time(cost.backward.comm_total(), 2_ms + 4_ms);
}

TEST(BlockCost, HidesBackwardTransfersBesideTheGradientKernels) {
  Operation op = operation();
  op.regather_transfer = transfer(6_ms);  // beside the input gradient, 5 ms
  op.backward_transfer = transfer(4_ms);  // beside the weight gradient, 7 ms
  const BlockCost cost = cost_of(op, clock_of(TensorOverlap::bulk));
  EXPECT_NEAR(cost.backward.comm().si(), (1_ms).si(), 1e-12);
  expect_time(cost.backward.comm_total(), 6_ms + 4_ms);
  expect_time(cost.backward.compute, 5_ms + 7_ms);
}

TEST(BlockCost, HidesNothingOfARowSplitProduct) {
  Operation op = operation();
  op.column_split = false;
  op.backward_transfer = transfer(4_ms);
  expect_time(cost_of(op, clock_of(TensorOverlap::bulk)).backward.comm(), 4_ms);
}

TEST(BlockCost, LetsTransfersBesideComputeGoOnWhileTheDeviceWaitsForTheHost) {
  Operation op = operation();
  op.backward_transfer = transfer(9_ms);  // 2 ms more than the weight gradient
  const BlockCost cost = cost_of(op, clock_of(TensorOverlap::bulk, 5_ms));
  EXPECT_NEAR(cost.backward.comm().si(), (2_ms).si(), 1e-12);
  // Three launches: 15 ms, in which 12 ms of kernels and the 2 ms fit.
  expect_time(cost.backward.compute + cost.backward.comm(), 3 * 5_ms);
}

TEST(BlockCost, RepeatsForwardsAsRecomputationSays) {
  const Repeats core{.all = false, .modules = bit(Module::core_attention)};
  Operation op = operation();
  op.forward_transfer = transfer(1_ms);
  EXPECT_EQ(cost_of(op, clock_of(), core).recompute.compute, Seconds{});
  const BlockCost full = cost_of(op, clock_of(), {.all = true});
  EXPECT_EQ(full.recompute.compute, full.forward.compute);
  EXPECT_EQ(full.recompute.comm(), full.forward.comm());
  op.modules = bit(Module::core_attention);
  EXPECT_EQ(cost_of(op, clock_of(), core).recompute.compute, full.forward.compute);
  EXPECT_EQ(cost_of(op, clock_of()).recompute.compute, Seconds{});
}

TEST(BlockCost, AddsAndScales) {
  const PassCost one = pass_cost(1_ms, 2_ms, 3_ms);
  BlockCost sum{.forward = one,
                .backward = 2.0 * one,
                .recompute = 3.0 * one,
                .input_gradient = {},
                .weight_gradient = {}};
  sum += sum;
  EXPECT_EQ(sum.forward.compute, 2 * 1_ms);
  EXPECT_EQ(sum.backward.comm(), 2 * 2 * 2_ms);
  EXPECT_EQ(sum.recompute.comm_total(), 2 * 3 * 3_ms);
}

TEST(StepCosts, DivideTheLayersOverStagesAndChunks) {
  Plan plan = plan_of(4, 1, 1);
  plan.virtual_stages = 2;
  const StepCosts costs = costs_of(plain::scenario(plan));
  for (int stage = 0; stage < 4 * 2; ++stage) {
    EXPECT_EQ(costs.contents.layers(stage), 24.0 / (4 * 2));
  }
  const Seconds layers = costs.contents.layers(0) * costs.kinds.front().forward.compute;
  expect_time(costs.chunk(3).forward.compute, layers);
  expect_time(costs.chunk(0).forward.compute, layers + costs.embedding.forward.compute);
  expect_time(costs.chunk(7).forward.compute, layers + costs.head.forward.compute);
}

TEST(StepCosts, FollowTheLayersOfEachStage) {
  Plan plan = plan_of(4, 1, 1);
  plan.layers = std::vector<std::int64_t>{0, 11, 13, 0};
  const StepCosts costs = costs_of(plain::scenario(plan));
  EXPECT_EQ(costs.contents.layers(0), 0);
  EXPECT_EQ(costs.contents.layers(2), 13);
  EXPECT_EQ(costs.chunk(0).forward.compute, costs.embedding.forward.compute);
  expect_time(costs.chunk(1).backward.compute, 11 * costs.kinds.front().backward.compute);
  expect_time(costs.chunk(2).backward.compute, 13 * costs.kinds.front().backward.compute);
  EXPECT_EQ(costs.chunk(3).backward.compute, costs.head.backward.compute);
  plan.layers = LayerRule::even;
  const StepCosts even = costs_of(plain::scenario(plan));
  EXPECT_GT(costs.tails[2].optimizer, even.tails[2].optimizer) << "13 layers against 6";
}

TEST(StepCosts, OfOneStageHoldBothEnds) {
  const StepCosts costs = costs_of(plain::scenario(plan_of(1, 1, 1)));
  expect_time(costs.chunk(0).backward.compute,
              24 * costs.kinds.front().backward.compute + costs.embedding.backward.compute +
                  costs.head.backward.compute);
  EXPECT_EQ(costs.embedding_sync, Seconds{}) << "one stage holds the only copy";
}

// E7b: one 16-bit activation is 2 b s h bytes.
TEST(BoundaryBytes, AreTwoBSH) {
  Plan plan;
  plan.micro_batch = 3;
  const Scenario scenario = plain::scenario(plan);
  const double h = static_cast<double>(scenario.model.transformer().hidden);
  EXPECT_DOUBLE_EQ(boundary_bytes(scenario).si(), 2 * 3 * 1024 * h);
}

TEST(StepCosts, SendAcrossNodesThroughTheNetwork) {
  const Scenario scenario = plain::scenario(plan_of(2, 8, 1));
  const StepCosts costs = costs_of(scenario);
  expect_time(costs.send[0], kBetween.time(boundary_bytes(scenario)));
  EXPECT_EQ(costs.send_after({0, 0}, Pass::forward), costs.send[0]);
  EXPECT_EQ(costs.send_after({1, 0}, Pass::backward), costs.send[0]);
  EXPECT_EQ(costs.send_after({1, 0}, Pass::forward), Seconds{})
      << "the last stage sends nothing on";
  EXPECT_EQ(costs.send_after({0, 0}, Pass::backward), Seconds{}) << "nor the first stage back";
}

TEST(StepCosts, SendInsideANodeOverItsWires) {
  const Scenario scenario = plain::scenario(plan_of(4, 2, 1));
  for (const Seconds send : costs_of(scenario).send) {
    expect_time(send, kInside.time(boundary_bytes(scenario)));
  }
}

TEST(StepCosts, InterleavedChunksAlsoCrossFromTheLastStageToTheFirst) {
  Plan plan = plan_of(4, 4, 1);
  plan.virtual_stages = 2;
  const StepCosts costs = costs_of(plain::scenario(plan));
  EXPECT_LT(costs.send[0], costs.send[1]) << "two stages per node";
  EXPECT_EQ(costs.send_after({3, 0}, Pass::forward), costs.send[3]);
  EXPECT_EQ(costs.send_after({0, 1}, Pass::backward), costs.send[3]);
  EXPECT_EQ(costs.send_after({3, 1}, Pass::forward), Seconds{});
}

TEST(StepCosts, SendAShareOfTheActivationUnderSequenceParallelism) {
  Plan plan = plan_of(2, 8, 1);
  plan.sequence_parallel = true;
  const Scenario scenario = plain::scenario(plan);
  expect_time(costs_of(scenario).send[0], kBetween.time(boundary_bytes(scenario) / 8));
}

TEST(StepCosts, ScatterAndGatherAcrossStagesIfTheStackDoes) {
  Scenario scenario = plain::scenario(plan_of(2, 8, 1));
  scenario.stack.pipeline_scatter_gather = true;
  const Bytes size = boundary_bytes(scenario);
  expect_time(costs_of(scenario).send[0],
              kBetween.time(size / 8) + 0.5 * ring_all_reduce(size, 8, kInside));
}

TEST(StepCosts, TakeTheSlowestPairBetweenTwoStages) {
  Scenario scenario = plain::scenario(plan_of(2, 4, 1));
  const Bytes size = boundary_bytes(scenario);
  scenario.cluster.pair_bandwidths[static_cast<std::size_t>(2 * 8 + 6)] = 25_GBps;
  expect_time(costs_of(scenario).send[0], kInside.latency + size / 25_GBps);
}

TEST(StepCosts, TakeTheSlowestPairOfAnyPipelineOfTheNode) {
  Plan plan = plan_of(2, 1, 4);
  plan.rank_order = {Dimension::pipeline, Dimension::tensor, Dimension::context, Dimension::data};
  Scenario scenario = plain::scenario(plan);
  const Bytes size = boundary_bytes(scenario);
  scenario.cluster.pair_bandwidths[static_cast<std::size_t>(4 * 8 + 5)] = 25_GBps;
  expect_time(costs_of(scenario).send[0], kInside.latency + size / 25_GBps);
}

TEST(StepCosts, GoThroughTheHostBetweenUnwiredDevices) {
  Scenario scenario = plain::scenario(plan_of(2, 1, 3));
  scenario.cluster = shipped::cluster("dgx1-v100");
  // Stages three devices apart: of 0-3, 1-4 and 2-5 only the first pair is wired.
  expect_time(costs_of(scenario).send[0], 3.8_us + boundary_bytes(scenario) / 7.2_GBps);
}

TEST(StageTails, AllReduceTheGradientsAndUpdateEverything) {
  const Scenario scenario = plain::scenario(plan_of(1, 8, 4));
  const StageTail tail = costs_of(scenario).tails.front();
  const double n = rank_parameters(scenario.model, scenario.plan, 0);
  expect_time(tail.gradient_sync, ring_all_reduce(n * 2_B, 4, kBetween));
  EXPECT_EQ(tail.parameter_sync, Seconds{});
  const OptimizerTraffic traffic = optimizer_traffic(scenario);
  expect_time(tail.optimizer, n * (traffic.per_updated + traffic.per_gradient) / kMemory);
}

TEST(StageTails, ScatterGradientsAndGatherParametersWithZero1) {
  Plan plan = plan_of(1, 8, 4);
  plan.sharding = Sharding::zero1;
  const Scenario scenario = plain::scenario(plan);
  const StageTail tail = costs_of(scenario).tails.front();
  const double n = rank_parameters(scenario.model, scenario.plan, 0);
  expect_time(tail.gradient_sync, 0.5 * ring_all_reduce(n * 2_B, 4, kBetween));
  expect_time(tail.parameter_sync, 0.5 * ring_all_reduce(n * 2_B, 4, kBetween));
  const OptimizerTraffic traffic = optimizer_traffic(scenario);
  expect_time(tail.optimizer, n * (traffic.per_updated / 4 + traffic.per_gradient) / kMemory);
}

TEST(StageTails, SynchroniseNothingAlone) {
  Plan plan;
  plan.sharding = Sharding::zero1;
  const StageTail tail = costs_of(plain::scenario(plan)).tails.front();
  EXPECT_EQ(tail.gradient_sync, Seconds{});
  EXPECT_EQ(tail.parameter_sync, Seconds{});
  EXPECT_GT(tail.optimizer, Seconds{});
}

TEST(StageTails, AreLongestAtTheEndsWithTheirTables) {
  const StepCosts costs = costs_of(plain::scenario(plan_of(4, 2, 2)));
  EXPECT_GT(costs.tails[0].optimizer, costs.tails[1].optimizer);
  EXPECT_EQ(costs.tails[1].optimizer, costs.tails[2].optimizer);
  EXPECT_GT(costs.tails[3].optimizer, costs.tails[2].optimizer);
}

TEST(EmbeddingSync, AllReducesTheTiedTableBetweenTheEnds) {
  const Scenario scenario = plain::scenario(plan_of(2, 8, 1));
  const double table = 51200.0 * static_cast<double>(scenario.model.transformer().hidden) / 8;
  expect_time(costs_of(scenario).embedding_sync, ring_all_reduce(table * 2_B, 2, kBetween));
}

TEST(EmbeddingSync, StaysInsideANodeThatHoldsBothEnds) {
  const Scenario scenario = plain::scenario(plan_of(4, 2, 1));
  const double table = 51200.0 * static_cast<double>(scenario.model.transformer().hidden) / 2;
  expect_time(costs_of(scenario).embedding_sync, ring_all_reduce(table * 2_B, 2, kInside));
}

TEST(EmbeddingSync, IsNotNeededForUntiedTables) {
  Scenario scenario = plain::scenario(plan_of(2, 8, 1));
  scenario.model.transformer().tied_embeddings = false;
  EXPECT_EQ(costs_of(scenario).embedding_sync, Seconds{});
}

TEST(OptimizerTraffic, ReadsAndWritesWhatItsRuleKeeps) {
  Scenario scenario = plain::scenario({});
  scenario.training.precision = DataType::bf16;
  scenario.training.gradient_precision = DataType::fp32;
  // Gradient; fp32 weights and two moments, there and back; the 16-bit copy.
  EXPECT_EQ(optimizer_traffic(scenario).per_updated, 4_B + 2.0 * (4_B + 8_B) + 2_B);
  EXPECT_EQ(optimizer_traffic(scenario).per_gradient, 2.0 * 4_B) << "its norm, and set to zero";
  scenario.training.optimizer = kMomentumSgd;
  EXPECT_EQ(optimizer_traffic(scenario).per_updated, 4_B + 2.0 * (4_B + 4_B) + 2_B);
  scenario.training.precision = DataType::fp32;
  EXPECT_EQ(optimizer_traffic(scenario).per_updated, 4_B + 2.0 * (4_B + 4_B)) << "no copy";
}

Kernel kernel_of(KernelKind kind, KernelMaker maker = KernelMaker::kind) {
  Kernel kernel;
  kernel.kind = kind;
  kernel.maker = maker;
  return kernel;
}

TEST(KernelPace, IsThatOfTheGenerationThatAttentionIsWrittenFor) {
  Scenario scenario = scenarios::shipped_run();
  scenario.stack.kernels.attention_slowdown = 1.2;
  scenario.stack.kernels.straggling = 0;
  scenario.cluster.chip.flash_2 = 0.5;
  scenario.stack.kernels.attention = AttentionGeneration::own;
  EXPECT_DOUBLE_EQ(kernel_pace(scenario).attention, 1.2);
  scenario.stack.kernels.attention = AttentionGeneration::flash_2;
  EXPECT_DOUBLE_EQ(kernel_pace(scenario).attention, 2.4);
  EXPECT_DOUBLE_EQ(kernel_pace(scenario).of(kernel_of(KernelKind::matrix)), 1.0);
}

TEST(KernelPace, IsThatOfThoseWhoMadeTheKernel) {
  Scenario scenario = scenarios::shipped_run();
  StackKernels& kernels = scenario.stack.kernels;
  kernels.memory_traffic = 1.5;
  kernels.attention_slowdown = 1.2;
  kernels.straggling = 0;
  const Kernel loss = kernel_of(KernelKind::memory, KernelMaker::loss);
  EXPECT_DOUBLE_EQ(kernel_pace(scenario).of(loss), 1.5) << "as the others";
  const Kernel clamp = kernel_of(KernelKind::memory, KernelMaker::operators);
  EXPECT_DOUBLE_EQ(kernel_pace(scenario).of(clamp), 1.5) << "as the others";
  kernels.loss_traffic = 0.5;
  kernels.operator_traffic = 3;
  kernels.mixer_slowdown = 2;
  const KernelPace pace = kernel_pace(scenario);
  EXPECT_DOUBLE_EQ(pace.of(loss), 0.5);
  EXPECT_DOUBLE_EQ(pace.of(clamp), 3.0);
  EXPECT_DOUBLE_EQ(pace.of(kernel_of(KernelKind::memory, KernelMaker::mixer)), 2 * 1.5);
  EXPECT_DOUBLE_EQ(pace.of(kernel_of(KernelKind::memory)), 1.5);
  const Kernel chunks = kernel_of(KernelKind::attention, KernelMaker::mixer);
  EXPECT_DOUBLE_EQ(pace.of(chunks), 2 * kernel_pace(scenario).attention);
  EXPECT_EQ(chunks.part(0.5).maker, KernelMaker::mixer);
}

TEST(Repeats, LeaveOutTheEndOfALayerWhereOnlyWhatIsNeededIsComputedAgain) {
  Operation last = operation();
  last.ends_layer = true;
  Repeats repeats{.all = true};
  EXPECT_EQ(repeats.of(last), 1.0);
  repeats.what_is_needed = true;
  EXPECT_EQ(repeats.of(last), 0.0);
  EXPECT_EQ(repeats.of(operation()), 1.0);

  Scenario scenario = plain::scenario(plan_of(1, 2, 1));
  scenario.plan.recompute = Recompute::full;
  const StepCosts whole = costs_of(scenario);
  scenario.stack.kernels.recomputes_what_is_needed = true;
  const StepCosts needed = costs_of(scenario);
  EXPECT_LT(needed.kinds.front().recompute.busy(), whole.kinds.front().recompute.busy());
  EXPECT_EQ(needed.kinds.front().forward.busy(), whole.kinds.front().forward.busy());
}

TEST(Repeats, BeginWithTheGatherOfAnInputOfWhichEachRankKeepsAPart) {
  Scenario scenario = plain::scenario(plan_of(1, 4, 1));
  scenario.plan.recompute = Recompute::full;
  const StepCosts whole = costs_of(scenario);
  scenario.plan.distribute_saved_activations = true;
  const StepCosts parts = costs_of(scenario);
  const Block& layer = parts.blocks.kinds.front();
  const Transfer gather = repeats_of(scenario, layer).input;
  EXPECT_EQ(gather.kind, Collective::all_gather);
  EXPECT_EQ(gather.size, layer.input);
  const Seconds time = block_clock(scenario).transfer_time(gather);
  EXPECT_GT(time, Seconds{});
  const auto tensor = [](const PassCost& pass) { return pass.transfers[PassComm::tensor].si(); };
  EXPECT_NEAR(tensor(parts.kinds.front().recompute),
              tensor(whole.kinds.front().recompute) + time.si(),
              1e-15);
  EXPECT_EQ(tensor(parts.kinds.front().backward), tensor(whole.kinds.front().backward));
  scenario.plan.recompute_every = 4;
  EXPECT_EQ(repeats_of(scenario, layer).input.size, layer.input / 4.0);
  scenario.plan.distribute_saved_activations = false;
  EXPECT_FALSE(repeats_of(scenario, layer).input.exists());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
