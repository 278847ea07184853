// nn.DataParallel: one process, and all through the first device.  [seed 004, F55]

#include <gtest/gtest.h>

#include "plan/blocks.hpp"
#include "plan/shipped.hpp"
#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/cost/data_volume.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/simulate/simulate.hpp"
#include "titer/topology/family/node_families.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr int kMicroBatches = 2;

Scenario scenario_of(std::int64_t data, Sharding sharding = Sharding::data_parallel_root) {
  Plan plan;
  plan.data = data;
  plan.micro_batch = 2;
  plan.sharding = sharding;
  plan.overlap_grad_reduce = false;
  Scenario scenario = plain::scenario(plan);
  scenario.training.global_batch = kMicroBatches * plan.micro_batch * data;
  scenario.training.gradient_precision = DataType::fp16;
  SwitchedNode node = *scenario.cluster.topology.as<SwitchedNode>();
  node.bandwidth = plain::kInside.bandwidth;
  scenario.cluster.topology = node;
  return scenario;
}

/// To each of the others in turn.
Seconds from_root(std::int64_t data, Bytes size) {
  return static_cast<double>(data - 1) * (plain::kInside.latency + size / plain::kInside.bandwidth);
}

TEST(F55, TheRootsPortCarriesEveryReplicasWeightsAndGradients) {
  for (const std::int64_t n : {2, 4, 8}) {
    const Scenario scenario = scenario_of(n);
    ASSERT_EQ(texts(scenario), Lines());
    StepCosts costs;
    step_costs(scenario, costs);
    const Bytes all = rank_parameters(costs.blocks, scenario.plan, 0).total() * 2_B;
    const Bytes tokens = 2.0 * 1024 * 8_B;
    const Bytes losses = 2 * 4_B;
    const Seconds pass =
        from_root(n, tokens) + from_root(n, all) + 2.0 * from_root(n, losses) + from_root(n, all);
    const StepResult result = estimate(scenario);
    EXPECT_NEAR(result.breakdown.data_comm.si(), kMicroBatches * pass.si(), 1e-9) << n;
    Bytes port;
    for (const DataMove& move : data_moves(scenario, costs, 0)) {
      port += move.moved;
    }
    const auto others = static_cast<double>(n - 1);
    EXPECT_DOUBLE_EQ(port.si(), (kMicroBatches * others * (tokens + 2 * all + losses)).si());
  }
}

TEST(F55, DistributedReplicasAreFasterAndScaleBetter) {
  double before = 1;
  for (const std::int64_t n : {2, 4, 8}) {
    const Seconds root = estimate(scenario_of(n)).iteration_time;
    const Seconds distributed = estimate(scenario_of(n, Sharding::none)).iteration_time;
    EXPECT_GT(root / distributed, before) << n;
    before = root / distributed;
  }
}

TEST(DataParallelRoot, IsPlainTrainingOnOneDevice) {
  EXPECT_EQ(estimate(scenario_of(1)).iteration_time,
            estimate(scenario_of(1, Sharding::none)).iteration_time);
}

TEST(DataParallelRoot, HasTheStatesOfPlainTrainingOnTheRoot) {
  const StageMemory root = estimate(scenario_of(4)).memory.front();
  const StageMemory plain = estimate(scenario_of(4, Sharding::none)).memory.front();
  EXPECT_EQ(root.optimizer, plain.optimizer);
  EXPECT_EQ(root.total(), plain.total());
  EXPECT_EQ(estimate(scenario_of(4)).breakdown.optimizer,
            estimate(scenario_of(4, Sharding::none)).breakdown.optimizer);
}

TEST(DataParallelRoot, LaunchesTheKernelsOfAllReplicasOneAfterTheOther) {
  const auto forward = [](std::int64_t n, Sharding sharding) {
    Scenario scenario = scenario_of(n, sharding);
    scenario.stack.dispatch = 1_s;  // far above all kernels
    return estimate(scenario).breakdown.forward;
  };
  EXPECT_EQ(forward(4, Sharding::data_parallel_root), 4.0 * forward(4, Sharding::none));
  EXPECT_EQ(forward(8, Sharding::data_parallel_root), 8.0 * forward(1, Sharding::none));
}

TEST(DataParallelRoot, TakesAsLongInEventsAsInClosedForm) {
  for (const std::int64_t n : {1, 2, 8}) {
    for (const bool every_rank : {false, true}) {
      for (const Recompute recompute : {Recompute::none, Recompute::full}) {
        Scenario scenario = scenario_of(n);
        scenario.plan.recompute = recompute;
        scenario.training.frozen.first = n == 8 ? 3 : 0;
        const StepResult closed = estimate(scenario);
        const StepResult events = simulate(scenario, {.every_rank = every_rank}).result;
        EXPECT_EQ(to_ticks(closed.iteration_time), to_ticks(events.iteration_time)) << n;
        EXPECT_NEAR(closed.breakdown.data_comm.si(), events.breakdown.data_comm.si(), 1e-9);
      }
    }
  }
}

TEST(DataParallelRoot, NeedsNoWayBetweenEveryTwoDevices) {
  const auto moved = [](std::int64_t data) {
    Scenario scenario = scenario_of(data);
    scenario.cluster = shipped::cluster("dgx1-v100");
    return estimate(scenario).breakdown.data_comm;
  };
  EXPECT_GT(moved(8), moved(4));
}

TEST(DataParallelRoot, HandsOutImages) {
  Scenario scenario = scenario_of(8);
  scenario.model = shipped::any_model("resnet-50");
  scenario.training.sequence = 1;
  ASSERT_EQ(texts(scenario), Lines());
  StepCosts costs;
  step_costs(scenario, costs);
  const std::vector<DataMove> moves = data_moves(scenario, costs, 0);
  ASSERT_EQ(moves.size(), 4U);
  const Bytes image = 3.0 * 224 * 224 * 2_B;
  EXPECT_DOUBLE_EQ(moves[0].moved.si(), (7.0 * kMicroBatches * 2.0 * image).si());
}

TEST(DataParallelRoot, IsOneProcessOnOneNode) {
  EXPECT_EQ(texts(scenario_of(16)),
            Lines{"plan.sharding: data-parallel-root: expected at most the 8 devices of a node, "
                  "which one process drives, got 16"});
  Scenario scenario = scenario_of(2);
  scenario.plan.tensor = 2;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.sharding: data-parallel-root: expected data parallelism alone: every "
                  "device has the whole model"});
  scenario.plan.tensor = 1;
  scenario.plan.gradient_collective = GradientCollective::all_reduce;
  scenario.plan.offload.activations = HostPlace::host;
  scenario.cluster.host_memory =
      HostTier{.capacity = 1000_GB, .bandwidth = 48_GBps, .per_device = 12_GBps};
  EXPECT_EQ(texts(scenario),
            (Lines{"plan.gradient_collective: all-reduce: expected the sharding none or zero1, "
                   "whose ranks may have all gradients",
                   "plan.sharding: data-parallel-root: expected nothing in plan.offload: the root "
                   "has all states"}));
}

TEST(DataParallelRoot, IsFollowedOnLinks) {
  EXPECT_NO_THROW(check_fidelity(scenario_of(4), Fidelity::network));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
