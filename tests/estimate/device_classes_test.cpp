#include "titer/estimate/device_classes.hpp"

#include <gtest/gtest.h>

#include "scenario/scenarios.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// GPT-3 on A100, with devices of other chips.
Scenario mixed(const std::string& devices) {
  return scenarios::shipped_run({"conditions={\"devices\": " + devices + "}"});
}

TEST(DeviceClasses, AreOneWhereAllChipsAreAlike) {
  const Scenario scenario = scenarios::shipped_run();
  EXPECT_EQ(class_count(scenario), 1U);
  EXPECT_EQ(class_costs(scenario).size(), 1U);
  EXPECT_EQ(least_memory(scenario), scenario.cluster.chip.memory.capacity);
}

TEST(DeviceClasses, NumberTheChipsInTheOrderTheyAreNamed) {
  const Scenario scenario = mixed(R"([{"devices": "8-15", "chip": "v100-sxm2-32gb"},
                                      {"nodes": 3, "chip": "h100-sxm5-80gb"},
                                      {"devices": 63, "chip": "v100-sxm2-32gb", "speed": 0.5}])");
  ASSERT_EQ(class_count(scenario), 3U);
  EXPECT_EQ(class_scenario(scenario, 0).cluster.chip.name, scenario.cluster.chip.name);
  EXPECT_EQ(class_scenario(scenario, 1).cluster.chip.name, "v100-sxm2-32gb");
  EXPECT_EQ(class_scenario(scenario, 2).cluster.chip.name, "h100-sxm5-80gb");
  EXPECT_EQ(scenario.conditions.chip_class(7), 0U);
  EXPECT_EQ(scenario.conditions.chip_class(8), 1U);
  EXPECT_EQ(scenario.conditions.chip_class(24), 2U);
  EXPECT_EQ(scenario.conditions.chip_class(63), 1U);
  EXPECT_EQ(scenario.conditions.compute_factor(63, 0, 0), 1 / 0.5);
}

TEST(DeviceClasses, TakeTheTimesOfTheirChips) {
  const Scenario scenario = mixed(R"([{"devices": "0-7", "chip": "v100-sxm2-32gb"}])");
  const std::vector<StepCosts> costs = class_costs(scenario);
  Scenario alone = scenarios::shipped_run();
  alone.cluster.chip = scenario.conditions.chips.at(0);
  StepCosts expected;
  step_costs(alone, expected);
  EXPECT_EQ(costs[1].kinds.front().forward.compute, expected.kinds.front().forward.compute);
  EXPECT_GT(costs[1].kinds.front().forward.compute, costs[0].kinds.front().forward.compute);
  EXPECT_EQ(costs[1].send, costs[0].send);  // over the cluster's links
}

TEST(DeviceClasses, HaveTheMemoryOfTheSmallestChipInUse) {
  EXPECT_EQ(least_memory(mixed(R"([{"devices": 5, "chip": "v100-sxm2-16gb"}])")), 16_GiB);
  const Scenario all = mixed(R"([{"devices": "0-63", "chip": "h200-sxm-141gb"}])");
  EXPECT_EQ(least_memory(all), all.conditions.chips.at(0).memory.capacity);
}

TEST(DeviceClasses, MayChangeAFigureOfAChip) {
  const Scenario scenario =
      mixed(R"([{"devices": 5, "chip": {"name": "a100-sxm4-80gb", "launch_floor": "9 us"}}])");
  EXPECT_EQ(scenario.conditions.chips.at(0).launch_floor, 9_us);
}

TEST(DeviceClasses, MustComputeInTheTypeOfTheTraining) {
  Scenario scenario = mixed(R"([{"devices": "0-7", "chip": "v100-sxm2-32gb"}])");
  scenario.training.precision = DataType::bf16;
  const std::vector<Violation> violations = validate(scenario);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].text(),
            "conditions.devices: v100-sxm2-32gb: expected chips that compute in bf16");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
