// What layers take on one number of devices, for searches on others.

#include "titer/search/known_work.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "titer/campaign/capacity.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/scenario/source.hpp"
#include "titer/search/search.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Scenario experts_on(std::int64_t replicas) {
  Scenario scenario = ScenarioSource::load("mixtral-8x7b-64xh100").read();
  scenario.cluster.nodes.reset();
  scenario.plan.data = replicas;
  scenario.stack.kernels.straggling = 0.02;  // so that more devices are slower
  return scenario;
}

BlockWork work_of(const Scenario& scenario) {
  StepCosts costs;
  step_costs(scenario, costs);
  return block_work(scenario.plan, costs);
}

/// On more devices kernels take longer, on fewer less: what is known stays below, and near.
TEST(KnownWork, IsNoMoreThanWhatTheSameLayersTakeOnOtherDevices) {
  const Scenario first = experts_on(16);
  KnownWork known;
  EXPECT_FALSE(known.find(first, layers_place(first)));
  known.add(first, layers_place(first), work_of(first));
  EXPECT_EQ(known.find(first, layers_place(first))->busy, work_of(first).busy);
  for (const std::int64_t replicas : {8, 32, 256}) {
    const Scenario other = experts_on(replicas);
    ASSERT_EQ(layers_place(other), layers_place(first)) << replicas;
    const auto found = known.find(other, layers_place(other));
    ASSERT_TRUE(found) << replicas;
    const BlockWork own = work_of(other);
    for (const auto part : {&BlockWork::launched, &BlockWork::busy, &BlockWork::transferred}) {
      EXPECT_LE((*found).*part, own.*part) << replicas;
      EXPECT_GT((*found).*part, 0.98 * (own.*part)) << replicas;
    }
  }
}

TEST(KnownWork, IsOfOneLayerInOnePlace) {
  const Scenario first = experts_on(16);
  KnownWork known;
  known.add(first, layers_place(first), work_of(first));
  Scenario other = first;
  other.plan.micro_batch *= 2;
  EXPECT_FALSE(known.find(other, layers_place(other)));
  other = first;
  other.plan.recompute =
      first.plan.recompute == Recompute::full ? Recompute::none : Recompute::full;
  EXPECT_FALSE(known.find(other, layers_place(other)));
  other = first;
  LayersPlace elsewhere = layers_place(other);
  ASSERT_FALSE(elsewhere.groups.empty());
  elsewhere.groups.front().second += 1;
  EXPECT_FALSE(known.find(other, elsewhere));
}

/// What earlier searches found out changes no answer of later ones, whose numbers of devices go up
/// and down.
TEST(KnownWork, LeavesTheBestPlansAsTheyAre) {
  CapacityQuestion question;
  question.scenario = experts_on(16);
  question.scenario.training.global_batch = 512;
  const PlanFinder going_on = searched_plans(2);
  for (const std::int64_t devices : {64, 32, 128, 64}) {
    const PlannedStep again = going_on(question, devices);
    const PlannedStep afresh = searched_plans(2)(question, devices);
    ASSERT_TRUE(again.scenario && afresh.scenario) << devices;
    EXPECT_EQ(again.step.iteration_time, afresh.step.iteration_time) << devices;
    EXPECT_EQ(set_options(plan_assignments(again.scenario->plan)),
              set_options(plan_assignments(afresh.scenario->plan)))
        << devices;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
