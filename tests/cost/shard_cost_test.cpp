// What zero2, zero3 and HSDP move with every pass, and what of it is exposed.

#include <gtest/gtest.h>

#include "scenario/plain.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Plan plan_of(std::int64_t pipeline, std::int64_t tensor, std::int64_t data, Sharding sharding) {
  Plan plan;
  plan.pipeline = pipeline;
  plan.tensor = tensor;
  plan.data = data;
  plan.sharding = sharding;
  plan.overlap_grad_reduce = true;
  return plan;
}

Scenario scenario_of(const Plan& plan) {
  Scenario scenario = plain::scenario(plan);
  scenario.stack.overlap_slowdown = 1;
  return scenario;
}

StepCosts costs_of(const Scenario& scenario) {
  EXPECT_TRUE(validate(scenario).empty());
  StepCosts costs;
  step_costs(scenario, costs);
  return costs;
}

void expect_time(Seconds time, Seconds expected) {
  EXPECT_NEAR(time.si(), expected.si(), 1e-9 * expected.si());
}

Seconds left_of(Seconds time, Seconds room) { return std::max(Seconds{}, time - room); }

/// A model on one stage: what its blocks move, and what they compute.
struct Parts {
  explicit Parts(const Scenario& with) : scenario(with) {
    Scenario plain = scenario;
    plain.plan.sharding = Sharding::none;
    plain.plan.shard.reset();
    plain.plan.reduce_every_pass = true;
    plain.plan.prefetch = true;
    plain.plan.reshard_after_forward = true;
    own = costs_of(plain);
    layers = static_cast<double>(scenario.model.layers());
  }
  [[nodiscard]] Seconds moved(const DeviceParameters& count, Collective kind) const {
    const GroupPlace shard = place(scenario.plan, PlanGroup::shard, 8);
    return collective_time(kind,
                           count.dense * size_of(DataType::fp16),
                           shard.group,
                           shard.fabric(scenario.cluster))
        .time;
  }
  [[nodiscard]] DeviceParameters of(const Block& block) const {
    return on_device(block.parameters, scenario.plan);
  }
  [[nodiscard]] Seconds gather(const Block& block) const {
    return moved(of(block), Collective::all_gather);
  }
  [[nodiscard]] Seconds gather_head() const {
    DeviceParameters count = of(own.blocks.head);
    count += on_device({.split = own.blocks.tied_table}, scenario.plan);
    return moved(count, Collective::all_gather);
  }
  [[nodiscard]] Seconds reduce(const Block& block) const {
    return moved(of(block), Collective::reduce_scatter);
  }

  Scenario scenario;
  StepCosts own;
  double layers = 0;
};

TEST(ShardedPasses, GatherTheNextBlockBesideThisOne) {
  const Parts parts(scenario_of(plan_of(1, 8, 4, Sharding::zero3)));
  const StepCosts costs = costs_of(parts.scenario);
  const Block& layer = parts.own.blocks.kinds.front();
  const Seconds computed = parts.own.kinds.front().forward.compute;
  const Seconds gather = parts.gather(layer);
  const PassCost& forward = costs.kinds.front().forward;
  const double inner = (parts.layers - 1) / parts.layers;
  expect_time(forward.transfers[PassComm::data],
              inner * gather + 1 / parts.layers * parts.gather_head());
  expect_time(forward.exposed[PassComm::data],
              inner * left_of(gather, computed) +
                  1 / parts.layers * left_of(parts.gather_head(), computed));
  EXPECT_EQ(forward.compute, computed);
  const Seconds first = parts.gather(parts.own.blocks.embedding);
  expect_time(costs.embedding.forward.exposed[PassComm::data],
              first + left_of(gather, parts.own.embedding.forward.compute));
  EXPECT_EQ(costs.head.forward.transfers[PassComm::data], Seconds{});
}

TEST(ShardedPasses, GatherAgainAndReduceBesideTheBackwardPass) {
  const Parts parts(scenario_of(plan_of(1, 8, 4, Sharding::zero3)));
  const StepCosts costs = costs_of(parts.scenario);
  const Block& layer = parts.own.blocks.kinds.front();
  const Seconds again = parts.gather(layer);
  const Seconds reduce = parts.reduce(layer);
  const Seconds head = parts.reduce(parts.own.blocks.head);
  const Seconds computed = parts.own.kinds.front().backward.compute;
  const double l = parts.layers;
  // The first layer has the embedding before it, which needs no parameters.
  const Seconds all = (l - 1) / l * (again + reduce) + 1 / l * head;
  expect_time(costs.kinds.front().backward.transfers[PassComm::data], all);
  const Seconds exposed = (l - 2) / l * left_of(again + reduce, computed) +
                          1 / l * left_of(reduce, computed) +
                          1 / l * left_of(again + head, computed);
  EXPECT_NEAR(costs.kinds.front().backward.exposed[PassComm::data].si(), exposed.si(), 1e-15);
  const Seconds last = parts.reduce(parts.own.blocks.embedding);
  expect_time(costs.embedding.backward.exposed[PassComm::data],
              last + left_of(reduce, parts.own.embedding.backward.compute));
  EXPECT_EQ(costs.tails.front().gradient_sync, Seconds{});
  EXPECT_EQ(costs.tails.front().parameter_sync, Seconds{});
}

TEST(ShardedPasses, MoveUpToHalfAsMuchAgainWithZero3) {
  // Of a micro-batch: two all-gathers and a reduce-scatter instead of one of each, 1.5 times as
  // much; but the head's and the embedding's parameters are needed in the forward pass only, and
  // the table that both use is gathered for each.
  Plan plan = plan_of(1, 8, 4, Sharding::zero3);
  Scenario scenario = scenario_of(plan);
  scenario.training.global_batch = 4;
  const Seconds zero3 = estimate(scenario).comm_total.data;
  scenario.plan.sharding = Sharding::zero2;
  const Seconds zero2 = estimate(scenario).comm_total.data;
  EXPECT_GT(zero3 / zero2, 1.3);
  EXPECT_LT(zero3 / zero2, 1.52);
  scenario.plan.sharding = Sharding::zero1;
  EXPECT_NEAR(estimate(scenario).comm_total.data / zero2, 1.0, 0.05);
}

TEST(ShardedPasses, HideBehindTheRecomputationFirst) {
  Plan plan = plan_of(1, 8, 4, Sharding::zero3);
  plan.recompute = Recompute::full;
  const Parts parts(scenario_of(plan));
  const StepCosts costs = costs_of(parts.scenario);
  const Seconds again = parts.gather(parts.own.blocks.kinds.front());
  const double inner = (parts.layers - 1) / parts.layers;
  const BlockCost& layer = costs.kinds.front();
  expect_time(layer.recompute.transfers[PassComm::data],
              inner * std::min(again, parts.own.kinds.front().recompute.compute));
  EXPECT_EQ(layer.recompute.exposed[PassComm::data], Seconds{});
}

TEST(ShardedPasses, WaitForThemselvesWithoutPrefetchAndOverlap) {
  Plan plan = plan_of(1, 8, 4, Sharding::zero3);
  plan.prefetch = false;
  plan.overlap_grad_reduce = false;
  const Parts parts(scenario_of(plan));
  const StepCosts costs = costs_of(parts.scenario);
  const Block& layer = parts.own.blocks.kinds.front();
  const BlockCost& cost = costs.kinds.front();
  expect_time(cost.forward.exposed[PassComm::data], parts.gather(layer));
  expect_time(cost.backward.exposed[PassComm::data], parts.gather(layer) + parts.reduce(layer));
  expect_time(cost.input_gradient.exposed[PassComm::data], parts.gather(layer));
  expect_time(cost.weight_gradient.exposed[PassComm::data], parts.reduce(layer));
  plan.reshard_after_forward = false;
  const StepCosts kept = costs_of(scenario_of(plan));
  expect_time(kept.kinds.front().backward.exposed[PassComm::data], parts.reduce(layer));
}

// Each all-gather's result is read and written once, and so is what a reduce-scatter gets.
TEST(ShardedPasses, CopyTogetherWhatIsGatheredWhereTheSoftwareDoes) {
  Scenario scenario = scenario_of(plan_of(1, 8, 4, Sharding::zero3));
  const StepCosts plain = costs_of(scenario);
  scenario.stack.kernels.concatenates_shards = true;
  const StepCosts costs = costs_of(scenario);
  const Block& layer = costs.blocks.kinds.front();
  const double parameters = on_device(layer.parameters, scenario.plan).total();
  const MemoryClock memory(scenario.cluster.chip);
  const Seconds copy = memory.time(2.0 * parameters * size_of(DataType::fp16));
  const BlockCost& cost = costs.kinds.front();
  const BlockCost& before = plain.kinds.front();
  expect_time(cost.forward.compute - before.forward.compute, copy);
  expect_time(cost.backward.compute - before.backward.compute, 2.0 * copy);
  expect_time(cost.input_gradient.compute - before.input_gradient.compute, copy);
  expect_time(cost.weight_gradient.compute - before.weight_gradient.compute, copy);
  EXPECT_EQ(simulate(scenario).result.iteration_time, estimate(scenario).iteration_time);
  scenario.plan.sharding = Sharding::zero1;
  Scenario other = scenario;
  other.stack.kernels.concatenates_shards = false;
  EXPECT_EQ(estimate(scenario).iteration_time, estimate(other).iteration_time);
}

TEST(ShardedPasses, ReduceOnlyWithZero2AndGatherOnceAfterTheUpdate) {
  const Parts parts(scenario_of(plan_of(1, 8, 4, Sharding::zero2)));
  const StepCosts costs = costs_of(parts.scenario);
  EXPECT_EQ(costs.kinds.front().forward.transfers[PassComm::data], Seconds{});
  EXPECT_GT(costs.kinds.front().backward.transfers[PassComm::data], Seconds{});
  const StageTail& tail = costs.tails.front();
  const DeviceParameters all = rank_parameters(costs.blocks, parts.scenario.plan, 0);
  EXPECT_EQ(tail.gradient_sync, Seconds{});
  expect_time(tail.parameter_sync, parts.moved(all, Collective::all_gather));
  const OptimizerTraffic traffic = optimizer_traffic(parts.scenario);
  expect_time(tail.optimizer,
              all.dense * (traffic.per_updated / 4 + traffic.per_gradient) / plain::kMemory);
  EXPECT_TRUE(costs.buckets.empty());
}

TEST(ShardedPasses, KeepGradientsWholeWhereTheyAreReducedOnce) {
  Plan plan = plan_of(1, 8, 4, Sharding::zero3);
  plan.reduce_every_pass = false;
  plan.overlap_grad_reduce = false;
  const Parts parts(scenario_of(plan));
  const StepCosts costs = costs_of(parts.scenario);
  const Seconds gather = parts.gather(parts.own.blocks.kinds.front());
  const double inner = (parts.layers - 1) / parts.layers;
  expect_time(costs.kinds.front().backward.transfers[PassComm::data], inner * gather);
  const DeviceParameters all = rank_parameters(costs.blocks, plan, 0);
  expect_time(costs.tails.front().gradient_sync, parts.moved(all, Collective::reduce_scatter));
  EXPECT_EQ(costs.tails.front().parameter_sync, Seconds{});
  plan.overlap_grad_reduce = true;
  EXPECT_FALSE(costs_of(scenario_of(plan)).buckets.empty());
  const StageMemory memory = estimate(parts.scenario).memory.front();
  EXPECT_EQ(memory.gradients, all.dense * 2_B);
}

TEST(ShardedPasses, StayInTheirShardAndAddUpItsCopiesAtTheEnd) {
  // 4 of 8 ranks of a stage, which lie in one node, share the parameters; 2 nodes have a copy each.
  Plan plan = plan_of(1, 2, 8, Sharding::zero3);
  plan.shard = 4;
  EXPECT_FALSE(costs_of(scenario_of(plan)).buckets.empty()) << "beside the last backward pass";
  plan.overlap_grad_reduce = false;
  const Parts parts(scenario_of(plan));
  const StepCosts costs = costs_of(parts.scenario);
  const Block& layer = parts.own.blocks.kinds.front();
  const double n = parts.of(layer).dense;
  // Over the switch of a node: 3 steps of a quarter.
  expect_time(parts.gather(layer),
              3 * (plain::kInside.latency + n * 2_B / 4 / plain::kInside.bandwidth));
  const DeviceParameters all = rank_parameters(costs.blocks, plan, 0);
  expect_time(costs.tails.front().gradient_sync,
              2 * (plain::kBetween.latency + all.dense / 4 * 2_B / 2 / plain::kBetween.bandwidth));
  plan.shard.reset();
  EXPECT_LT(estimate(parts.scenario).breakdown.data_comm,
            estimate(scenario_of(plan)).breakdown.data_comm);
}

TEST(ShardedPasses, TakeQuantisedMessages) {
  Scenario scenario = scenario_of(plan_of(1, 8, 4, Sharding::zero2));
  scenario.training.gradient_messages = DataType::int8;
  // A byte, and a scale of four for every 128 numbers.
  EXPECT_EQ(scenario.gradient_message(), 1_B + 4_B / 128);
  const StepCosts narrow = costs_of(scenario);
  scenario.training.gradient_messages.reset();
  const StepCosts wide = costs_of(scenario);
  EXPECT_LT(narrow.kinds.front().backward.transfers[PassComm::data],
            0.6 * wide.kinds.front().backward.transfers[PassComm::data]);
  EXPECT_EQ(narrow.tails.front().parameter_sync, wide.tails.front().parameter_sync);
}

/// Plans of every kind that moves something with its passes.
std::vector<Scenario> moving_scenarios() {
  std::vector<Scenario> scenarios;
  for (const Sharding sharding : {Sharding::zero2, Sharding::zero3}) {
    for (const std::int64_t pipeline : {1, 3, 4}) {
      Plan plan = plan_of(pipeline, 2, 4, sharding);
      scenarios.push_back(scenario_of(plan));
      plan.overlap_grad_reduce = false;
      plan.prefetch = sharding == Sharding::zero2;
      plan.recompute = Recompute::full;
      scenarios.push_back(plain::scenario(plan));
      if (pipeline == 4) {
        plan.schedule = named_schedule("zb-h1");
        plan.recompute = Recompute::none;
        plan.overlap_grad_reduce = true;
        scenarios.push_back(plain::scenario(plan));
        plan.reduce_every_pass = false;
        plan.overlap_grad_reduce = false;
        scenarios.push_back(plain::scenario(plan));
      }
    }
    Plan plan = plan_of(2, 1, 8, sharding);
    plan.shard = 2;
    scenarios.push_back(scenario_of(plan));
    plan.overlap_grad_reduce = false;
    plan.offload = {.optimizer = HostPlace::nvme, .activations = HostPlace::host};
    scenarios.push_back(plain::scenario(plan));
    plan.offload.prefetch = false;
    plan.virtual_stages = 2;
    scenarios.push_back(plain::scenario(plan));
  }
  Plan plan = plan_of(2, 4, 2, Sharding::none);
  plan.overlap_grad_reduce = false;  // else gradients are beside copies
  plan.offload.weights = HostPlace::host;
  scenarios.push_back(plain::scenario(plan));
  for (Scenario& scenario : scenarios) {
    scenario.cluster.host_memory =
        HostTier{.capacity = 1000_GB, .bandwidth = 48_GBps, .per_device = 12_GBps};
    scenario.cluster.nvme =
        HostTier{.capacity = 28000_GB, .bandwidth = 26_GBps, .per_device = 12_GBps};
    scenario.training.frozen.first = scenario.plan.pipeline == 3 ? 9 : 0;
  }
  return scenarios;
}

TEST(ShardedPasses, TakeAsLongInEventsAsInClosedForm) {
  for (const Scenario& scenario : moving_scenarios()) {
    ASSERT_TRUE(validate(scenario).empty()) << validate(scenario).front().text();
    const std::string text = scenarios::text_of(scenario);
    const StepResult closed = estimate(scenario);
    const StepResult events = simulate(scenario).result;
    EXPECT_EQ(to_ticks(closed.iteration_time), to_ticks(events.iteration_time)) << text;
    if (scenario.plan.shard && scenario.overlap_grad_reduce()) {
      continue;  // what the passes move is beside the sums of the shards: counted once in events
    }
    for (const CommunicationPart& part : kCommunicationParts) {
      EXPECT_NEAR((closed.comm_total.*part.value).si(), (events.comm_total.*part.value).si(), 1e-8)
          << text << " " << part.name;
    }
    EXPECT_NEAR(closed.breakdown.host_comm.si(), events.breakdown.host_comm.si(), 1e-9) << text;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
