#include "titer/scenario/slow_memory.hpp"

#include <gtest/gtest.h>

#include "plan/blocks.hpp"
#include "scenario/plain.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/scenario/parameter_server.hpp"

namespace titer {
namespace TITER_TEST_FILE {

StepCosts costs_of(const Scenario& scenario) {
  EXPECT_TRUE(validate(scenario).empty());
  StepCosts costs;
  step_costs(scenario, costs);
  return costs;
}

void expect_time(Seconds time, Seconds expected) {
  EXPECT_NEAR(time.si(), expected.si(), 1e-9 * expected.si());
}

/// With 48 GB/s of the host and 24 GB/s of NVMe for the eight devices of a node.
Scenario offloading(const Plan& plan) {
  Scenario scenario = plain::scenario(plan);
  scenario.stack.overlap_slowdown = 1;
  scenario.cluster.host_memory =
      HostTier{.capacity = 1000_GB, .bandwidth = 48_GBps, .per_device = 12_GBps};
  scenario.cluster.nvme =
      HostTier{.capacity = 28000_GB, .bandwidth = 24_GBps, .per_device = 12_GBps};
  return scenario;
}

Plan plan_of(std::int64_t data) {
  Plan plan;
  plan.tensor = 8;
  plan.data = data;
  return plan;
}

TEST(E2, IsTheShareOfTimeThatComputes) {
  constexpr Flops work = Flops::from_si(6e12);
  constexpr Bytes moved = Bytes::from_si(3e9);
  const Seconds computing = work / 70_TFLOPps;
  const Seconds moving = moved / 12_GBps;
  EXPECT_DOUBLE_EQ(slow_memory_efficiency(intensity(work, moved), 12_GBps, 70_TFLOPps),
                   computing / (computing + moving));
}

TEST(E2, GivesTheBandwidthsOfTable5) {
  // 70 GB/s between devices for parameters and gradients, sequences of 1024 one by one: half.
  const double ait = 1024 * 1;
  const double half = 1024 * 70e9 / (1024 * 70e9 + 70e12);
  EXPECT_DOUBLE_EQ(slow_memory_efficiency(intensity_of_parameters(ait), 70_GBps, 70_TFLOPps), half);
  EXPECT_NEAR(half, 0.506, 0.0005);
  // 1.5 TB/s in all for states of the optimizer, two sequences: nine tenths.
  const double states = slow_memory_efficiency(intensity_of_states(2 * 1024), 1.5_TBps, 70_TFLOPps);
  EXPECT_DOUBLE_EQ(states, 512 * 1.5e12 / (512 * 1.5e12 + 70e12));
  EXPECT_NEAR(states, 0.916, 0.0005);
  // Ten and a hundred times the compute need as many times the bandwidth.
  for (const double factor : {1.0, 10.0, 100.0}) {
    const FlopsPerSecond peak = factor * 70_TFLOPps;
    const BytesPerSecond need = BytesPerSecond::from_si(
        half / (1 - half) * peak.si() / intensity_of_parameters(ait).flops_per_byte);
    EXPECT_NEAR(need.si(), factor * 70e9, 1.0);
    EXPECT_NEAR(512 * factor * 3e9, factor * 1.5e12, 0.03 * factor * 1.5e12);
  }
}

TEST(HostTier, SharesItsNodesBandwidthAsTable1Says) {
  const Cluster dgx2 = shipped::cluster("dgx2-v100");
  ASSERT_TRUE(dgx2.host_memory && dgx2.nvme);
  EXPECT_EQ(dgx2.host_memory->share(1), 12_GBps);
  EXPECT_DOUBLE_EQ(dgx2.host_memory->share(16).si(), 3.0e9);
  EXPECT_EQ(dgx2.nvme->share(1), 12_GBps);
  EXPECT_DOUBLE_EQ(dgx2.nvme->share(16).si(), 1.6e9);
  for (const int nodes : {1, 4, 16, 64, 96}) {
    EXPECT_NEAR(nodes * dgx2.host_memory->capacity.si(), nodes * 1.5e12, 1);
    EXPECT_NEAR(nodes * dgx2.nvme->capacity.si(), nodes * 28e12, 1);
  }
}

TEST(HostPath, IsTheSlowerOfBothWaysOrTheirSum) {
  const HostPath ahead{.host = 6_GBps, .nvme = 3_GBps};
  EXPECT_EQ(ahead.time(6_GB), 6_GB / 3_GBps);
  const HostPath serial{.host = 6_GBps, .nvme = 3_GBps, .pipelined = false};
  EXPECT_EQ(serial.time(6_GB), 6_GB / 6_GBps + 6_GB / 3_GBps);
  EXPECT_EQ(HostPath{.host = 6_GBps}.time(6_GB), 1_s);
}

TEST(Offloading, FetchesWeightsInPartsOfEveryDevice) {
  Plan plan = plan_of(4);
  plan.sharding = Sharding::zero3;
  plan.offload = {.weights = HostPlace::host, .prefetch = false};
  const Scenario scenario = offloading(plan);
  const StepCosts costs = costs_of(scenario);
  const Block& layer = costs.blocks.kinds.front();
  const Bytes part = on_device(layer.parameters, plan).dense / 4 * 2_B;
  expect_time(costs.kinds.front().forward.exposed[PassComm::host], part / 6_GBps);
  expect_time(costs.kinds.front().backward.exposed[PassComm::host], part / 6_GBps);
  // Whole without zero3: the bandwidth that a model sees is linear in d.  [seeds F16]
  plan.sharding = Sharding::none;
  const StepCosts whole = costs_of(offloading(plan));
  expect_time(whole.kinds.front().forward.exposed[PassComm::host], 4.0 * part / 6_GBps);
}

TEST(Offloading, PrefetchesBesideTheBlockBefore) {
  Plan plan = plan_of(4);
  plan.offload = {.weights = HostPlace::nvme};
  const StepCosts costs = costs_of(offloading(plan));
  const Block& layer = costs.blocks.kinds.front();
  const Seconds fetch = on_device(layer.parameters, plan).dense * 2_B / 3_GBps;
  plan.offload = {};
  const Seconds computed = costs_of(offloading(plan)).kinds.front().forward.compute;
  const PassCost& forward = costs.kinds.front().forward;
  const double layers = 24;
  DeviceParameters table = on_device({.split = costs.blocks.tied_table}, plan);
  table += on_device(costs.blocks.head.parameters, plan);
  const Seconds head = table.dense * 2_B / 3_GBps;
  expect_time(forward.exposed[PassComm::host],
              (layers - 1) / layers * std::max(Seconds{}, fetch - computed) +
                  1 / layers * std::max(Seconds{}, head - computed));
}

TEST(Offloading, CopiesActivationsOutAndIn) {
  Plan plan = plan_of(1);
  plan.offload = {.activations = HostPlace::host, .prefetch = false};
  const Scenario scenario = offloading(plan);
  const StepCosts costs = costs_of(scenario);
  const Seconds copy = saved_bytes(costs.blocks.kinds.front().operations) / 6_GBps;
  expect_time(costs.kinds.front().forward.exposed[PassComm::host], copy);
  expect_time(costs.kinds.front().backward.exposed[PassComm::host], copy);
  const StepResult result = estimate(scenario);
  Scenario kept = scenario;
  kept.plan.offload = {};
  const StepResult usual = estimate(kept);
  EXPECT_LT(result.memory.front().activations, usual.memory.front().activations);
  EXPECT_LT(result.memory.front().total(), usual.memory.front().total());
  expect_time(result.breakdown.host_comm,
              static_cast<double>(2 * 24 * scenario.micro_batches()) * copy);
}

TEST(Offloading, StreamsTheOptimizersStateThroughTheDevice) {
  Plan plan = plan_of(4);
  plan.sharding = Sharding::zero1;
  plan.offload = {.optimizer = HostPlace::nvme, .prefetch = false};
  const StepCosts costs = costs_of(offloading(plan));
  const double n = rank_parameters(costs.blocks, plan, 0).dense / 4;
  // Two fp32 moments and the fp32 weights, there and back.
  const Bytes state = n * 12_B;
  expect_time(costs.tails.front().host, 2 * (state / 3_GBps + state / 6_GBps));
  plan.offload.prefetch = true;
  expect_time(costs_of(offloading(plan)).tails.front().host, state / 3_GBps);
  EXPECT_EQ(estimate(offloading(plan)).memory.front().optimizer, Bytes{});
}

TEST(E13, PushesToAndPullsFromTheServers) {
  const ParameterServers servers{.workers = 8, .servers = 2, .bandwidth = 10_GBps};
  EXPECT_EQ(servers.push(3_GB), 8 * 3_GB / (2 * 10_GBps));
  EXPECT_EQ(servers.pull(5_GB), 8 * 5_GB / (2 * 10_GBps));
  EXPECT_EQ(servers.time(3_GB, 5_GB), servers.push(3_GB) + servers.pull(5_GB));
  // As many servers as workers take all the sharing away.
  const ParameterServers many{.workers = 8, .servers = 8, .bandwidth = 10_GBps};
  EXPECT_EQ(many.push(3_GB), 3_GB / 10_GBps);
}

TEST(E13, IsTheTailOfAStepWithParameterServers) {
  Plan plan;
  plan.data = 16;
  plan.sharding = Sharding::parameter_server;
  plan.servers = 4;
  const Scenario scenario = offloading(plan);
  const StepCosts costs = costs_of(scenario);
  const double n = rank_parameters(costs.blocks, plan, 0).dense;
  const BytesPerSecond node = scenario.cluster.nics * scenario.cluster.nic_bandwidth;
  expect_time(costs.tails.front().gradient_sync, 16 * n * 2_B / (4 * node));
  expect_time(costs.tails.front().parameter_sync, 16 * n * 2_B / (4 * node));
  EXPECT_EQ(costs.tails.front().optimizer, Seconds{});
  EXPECT_EQ(estimate(scenario).memory.front().optimizer, Bytes{});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
