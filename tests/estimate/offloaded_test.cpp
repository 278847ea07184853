// What is offloaded needs room in its node.

#include <gtest/gtest.h>

#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr int kDevices = 8;  // of a node

Scenario with(const Offload& offload, int pipeline = 1) {
  Plan plan;
  plan.pipeline = pipeline;
  plan.data = kDevices / pipeline;
  plan.offload = offload;
  Scenario scenario = plain::scenario(plan);
  const HostTier tier{
      .capacity = 1000_GB, .bandwidth = 100_GBps, .per_device = 20_GBps, .processors = 200_GBps};
  scenario.cluster.host_memory = tier;
  scenario.cluster.nvme = tier;
  return scenario;
}

const StageMemory& first(const StepResult& result) { return result.memory.front(); }

TEST(Offloaded, IsWhatDevicesKeptBefore) {
  const StepResult here = estimate(with({}));
  EXPECT_TRUE(here.tiers.empty());
  const StepResult away =
      estimate(with({.weights = HostPlace::nvme, .optimizer = HostPlace::host}));
  ASSERT_EQ(away.tiers.size(), 2U);
  EXPECT_EQ(away.tiers[0].tier, "host memory");
  EXPECT_DOUBLE_EQ(away.tiers[0].needed.si(), kDevices * first(here).optimizer.si());
  EXPECT_EQ(away.tiers[1].tier, "NVMe");
  EXPECT_DOUBLE_EQ(away.tiers[1].needed.si(), kDevices * first(here).weights.si());
  EXPECT_EQ(first(away).optimizer, Bytes{});
}

TEST(Offloaded, ActivationsAreThoseOfAllPassesAlive) {
  for (const int pipeline : {1, 4}) {
    const StepResult here = estimate(with({}, pipeline));
    const StepResult away = estimate(with({.activations = HostPlace::host}, pipeline));
    ASSERT_EQ(away.tiers.size(), 1U);
    // Of the first stage, which has most alive; what the embedding keeps stays on the device.
    EXPECT_LE(away.tiers[0].needed, kDevices * first(here).activations);
    EXPECT_GT(away.tiers[0].needed, 0.9 * kDevices * first(here).activations);
  }
}

TEST(Offloaded, OfSomeLayersTakesTheirShareOfTheWay) {
  const auto away = [](std::optional<std::int64_t> layers) {
    return estimate(with({.activations = HostPlace::host, .layers = layers, .prefetch = false}));
  };
  const Seconds none = estimate(with({})).iteration_time;
  const StepResult all = away({});
  const auto layers = with({}).model.if_transformer()->layers;
  const StepResult half = away(layers / 2);
  EXPECT_NEAR(
      (half.iteration_time - none).si(), 0.5 * (all.iteration_time - none).si(), 1e-9 * none.si());
  EXPECT_DOUBLE_EQ(half.tiers[0].needed.si(), 0.5 * all.tiers[0].needed.si());
}

/// Gradients, states and master copies on the host, whose processors update them.
Scenario zero_offload(Sharding sharding, std::int64_t micro_batches = 2) {
  Scenario scenario = with({.optimizer = HostPlace::host, .update = UpdatePlace::host});
  scenario.plan.sharding = sharding;
  scenario.training.global_batch = micro_batches * scenario.plan.data;
  return scenario;
}

TEST(Offloaded, StepsOfTheHostsProcessorsTakeTheirMemorysTime) {
  const Scenario scenario = zero_offload(Sharding::zero1);
  StepCosts costs;
  step_costs(scenario, costs);
  const double parameters = costs.trained[0].total() / kDevices;
  // fp16 gradients down; Adam reads them, reads and writes three fp32 numbers, and writes weights;
  // these come back.
  const double link = 100e9 / kDevices;
  const double processors = 0.43 * 200e9 / kDevices;
  EXPECT_NEAR(costs.tails[0].host.si(),
              parameters * (2 / link + (2 + 2 * 12 + 2) / processors + 2 / link),
              1e-9);
  // On the device there is no more to do than to look at gradients for their norm, and to clear
  // them.
  EXPECT_NEAR(costs.tails[0].optimizer.si(), costs.trained[0].total() * 2 * 2 / 1e12, 1e-9);
  EXPECT_NEAR(
      simulate(scenario).result.iteration_time / estimate(scenario).iteration_time, 1, 1e-9);
}

TEST(Offloaded, GradientsLeaveTheDeviceAsTheyAreMade) {
  for (const Sharding sharding : {Sharding::zero2, Sharding::zero3}) {
    Scenario scenario = zero_offload(sharding, 4);
    const StepResult here = estimate(scenario);
    scenario.plan.offload.gradients = HostPlace::host;
    scenario.plan.offload.prefetch = false;
    const StepResult away = estimate(scenario);
    EXPECT_EQ(first(away).gradients, Bytes{});
    EXPECT_EQ(away.tiers[0].needed, here.tiers[0].needed) << "where the step needs them anyway";
    const double all = here.breakdown.host_comm.si();
    const double parameters = first(here).parameters.total() / kDevices;
    // Four times out, three times in before that, and no more at the step, of 2 bytes each.
    const double link = 100e9 / kDevices;
    EXPECT_NEAR(away.breakdown.host_comm.si(),
                all + parameters * 2 * (7 - 1) / link,
                1e-6 * away.breakdown.host_comm.si());
    EXPECT_NEAR(simulate(scenario).result.iteration_time / away.iteration_time, 1, 1e-9);
    scenario.plan.offload.prefetch = true;
    EXPECT_LT(estimate(scenario).iteration_time, away.iteration_time);
  }
}

TEST(Offloaded, UpdatesOnDevicesBringGradientsBack) {
  Scenario scenario = zero_offload(Sharding::zero2);
  scenario.plan.offload = {.optimizer = HostPlace::host, .gradients = HostPlace::host};
  StepCosts costs;
  step_costs(scenario, costs);
  const double parameters = costs.trained[0].total() / kDevices;
  EXPECT_NEAR(costs.tails[0].host.si(), parameters * (12 + 2) / (100e9 / kDevices), 1e-9);
}

TEST(Offloaded, IsRefusedWhereItCannotBeDone) {
  Scenario scenario = zero_offload(Sharding::zero1);
  EXPECT_EQ(texts(scenario), std::vector<std::string>{});
  scenario.plan.offload.gradients = HostPlace::host;
  EXPECT_EQ(texts(scenario),
            std::vector<std::string>{
                "plan.offload.gradients: host: expected the sharding zero2 or zero3 with "
                "reduce_every_pass and without shard, by which every pass adds up what leaves the "
                "device"});
  scenario.plan.offload = {.update = UpdatePlace::host};
  scenario.training.optimizer = kMuon;
  scenario.cluster.host_memory->processors.reset();
  EXPECT_EQ(
      texts(scenario),
      (std::vector<std::string>{
          "plan.offload.update: host: expected plan.offload.optimizer host, where processors reach "
          "it",
          "plan.offload.update: host: expected adam, sgd, sgd-plain or lion, got muon, which "
          "processors do not",
          "plan.offload.update: host: expected a cluster with "
          "node.host_memory.processor_bandwidth, which dgx-a100-80gb has not"}));
}

TEST(Offloaded, FitsWhereThereIsRoom) {
  Scenario scenario = with({.optimizer = HostPlace::host});
  StepResult result = estimate(scenario);
  ASSERT_TRUE(result.memory_peak <= result.memory_capacity);
  EXPECT_TRUE(result.fits());
  scenario.cluster.host_memory->capacity = 0.99 * result.tiers[0].needed;
  result = estimate(scenario);
  EXPECT_FALSE(result.fits());
  EXPECT_TRUE(memory_sentence(result).starts_with("does not fit: host memory of a node needs "));
  scenario.cluster.host_memory->capacity = result.tiers[0].needed;
  EXPECT_TRUE(estimate(scenario).fits());
}

TEST(Offloaded, OfADeviceOrTwoIsOfThese) {
  Scenario scenario = with({.optimizer = HostPlace::host});
  scenario.plan.data = 2;
  const StepResult two = estimate(scenario);
  EXPECT_DOUBLE_EQ(two.tiers[0].needed.si(), 2 * two.memory.front().offloaded.host.si());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
