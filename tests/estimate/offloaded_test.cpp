// What is offloaded needs room in its node.

#include <gtest/gtest.h>

#include "scenario/plain.hpp"
#include "titer/estimate/estimate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr int kDevices = 8;  // of a node

Scenario with(const Offload& offload, int pipeline = 1) {
  Plan plan;
  plan.pipeline = pipeline;
  plan.data = kDevices / pipeline;
  plan.offload = offload;
  Scenario scenario = plain::scenario(plan);
  const HostTier tier{.capacity = 1000_GB, .bandwidth = 100_GBps, .per_device = 20_GBps};
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
