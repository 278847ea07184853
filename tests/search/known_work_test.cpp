// What layers take on one number of devices, for searches on others.

#include "titer/search/known_work.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "titer/campaign/capacity.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/scenario/notes.hpp"
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

ModelWork work_of(const Scenario& scenario) {
  StepCosts costs;
  step_costs(scenario, costs);
  return model_work(costs);
}

/// On more devices kernels take longer, on fewer less: what is known stays below, and near.
TEST(KnownWork, IsNoMoreThanWhatTheSameLayersTakeOnOtherDevices) {
  const Scenario first = experts_on(16);
  KnownWork known;
  ModelWork found;
  EXPECT_FALSE(known.find(first, layer_places(first), true, found));
  known.add(first, layer_places(first), work_of(first));
  ASSERT_TRUE(known.find(first, layer_places(first), true, found));
  EXPECT_EQ(found.kinds[0].forward, work_of(first).kinds[0].forward);
  for (const std::int64_t replicas : {8, 32, 256}) {
    const Scenario other = experts_on(replicas);
    ASSERT_EQ(layer_places(other), layer_places(first)) << replicas;
    ASSERT_TRUE(known.find(other, layer_places(other), true, found)) << replicas;
    const ModelWork own = work_of(other);
    for (const auto part : {&BlockWork::forward,
                            &BlockWork::backward,
                            &BlockWork::parts,
                            &BlockWork::launched,
                            &BlockWork::transferred}) {
      EXPECT_LE(found.kinds[0].*part, own.kinds[0].*part) << replicas;
      EXPECT_GT(found.kinds[0].*part, 0.98 * (own.kinds[0].*part)) << replicas;
      EXPECT_LE(found.head.*part, own.head.*part) << replicas;
    }
  }
}

TEST(KnownWork, IsOfOneLayerInOnePlace) {
  const Scenario first = experts_on(16);
  KnownWork known;
  ModelWork found;
  known.add(first, layer_places(first), work_of(first));
  Scenario other = first;
  other.plan.micro_batch *= 2;
  EXPECT_FALSE(known.find(other, layer_places(other), false, found));
  other = first;
  LayerPlaces elsewhere = layer_places(other);
  elsewhere.strides.front() += 1;
  EXPECT_FALSE(known.find(other, elsewhere, false, found));
}

/// Where groups lie elsewhere, transfers take otherwise: kernels alone are known, whatever these
/// slow.
TEST(KnownWork, KnowsTheKernelsOfALayerInOtherPlaces) {
  Scenario near = experts_on(16);
  near.stack.overlap_slowdown = 1.2;
  near.plan.tensor_overlap = TensorOverlap::ring;
  Scenario far = near;  // tensor groups across nodes
  far.plan.rank_order = {
      Dimension::data, Dimension::pipeline, Dimension::context, Dimension::tensor};
  ASSERT_NE(layer_places(near), layer_places(far));
  for (const auto& [from, to] : {std::pair(near, far), std::pair(far, near)}) {
    KnownWork known;
    ModelWork found;
    EXPECT_FALSE(known.find_kernels(to, nullptr, layer_places(to).own_experts, found));
    known.add(from, layer_places(from), work_of(from));
    EXPECT_FALSE(known.find(to, layer_places(to), false, found));
    ASSERT_TRUE(known.find_kernels(to, nullptr, layer_places(to).own_experts, found));
    const ModelWork own = work_of(to);
    EXPECT_LE(found.kinds[0].launched, own.kinds[0].launched);
    EXPECT_GT(found.kinds[0].launched, 0.6 * own.kinds[0].launched);
    EXPECT_LE(found.kinds[0].parts, own.kinds[0].forward + own.kinds[0].parts);
    EXPECT_EQ(found.kinds[0].transferred, Seconds{});
    EXPECT_LE(place_bound(to, found), place_bound(to, own));
    Scenario other = to;
    other.plan.micro_batch *= 2;
    EXPECT_FALSE(known.find_kernels(other, nullptr, layer_places(other).own_experts, found));
  }
}

/// Beside what experts' exchanges are changes neither kernels nor what is transferred.
TEST(KnownWork, KnowsWhatTheSameExchangesTakeBesideNothing) {
  Scenario alone = experts_on(16);
  alone.stack.overlap_slowdown = 1.2;
  Scenario beside = alone;
  beside.plan.expert_overlap = true;
  for (const auto& [from, to] : {std::pair(alone, beside), std::pair(beside, alone)}) {
    const LayerPlaces place = layer_places(to);
    KnownWork known;
    ModelWork found;
    known.add(from, place, work_of(from));
    EXPECT_FALSE(known.find(to, place, false, found));
    ASSERT_TRUE(known.find_kernels(to, &place, place.own_experts, found));
    const ModelWork own = work_of(to);
    EXPECT_LE(found.kinds[0].launched, own.kinds[0].launched);
    EXPECT_LE(found.kinds[0].transferred, own.kinds[0].transferred);
    EXPECT_GT(found.kinds[0].transferred, 0.999 * own.kinds[0].transferred);
    EXPECT_LE(place_bound(to, found), place_bound(to, own));
    EXPECT_GT(place_bound(to, found), 0.8 * place_bound(to, own));
    Scenario gathered = to;
    gathered.plan.expert_dispatch = ExpertDispatch::all_gather;
    EXPECT_FALSE(known.find_kernels(gathered, &place, place.own_experts, found));
  }
}

/// Where nobody asks why plans were left out, those that take too long are left out sooner: the
/// best is the same, or there is none.
TEST(KnownWork, FindsTheSamePlanWithoutReasons) {
  for (const char* cluster : {"dgx-h100", "tpu-v5p-pod"}) {
    ScenarioSource source = ScenarioSource::load("mixtral-8x7b-64xh100");
    source.assign({"cluster", Value(cluster), "test"});
    source.assign({"training.global_batch", Value(std::int64_t{512}), "test"});
    Scenario scenario;
    source.read_unchecked(scenario);
    scenario.cluster.nodes.reset();
    // Other micro-batches are as many layers again.
    SearchSpace space = full_space(scenario, std::array{std::int64_t{64}});
    space.micro_batch = {1, 2};
    const auto best = [&](double least, bool tells_reasons, KnownWork& known) {
      Search search{.title = {},
                    .source = ScenarioSource(Document()),
                    .scenario = scenario,
                    .space = space,
                    .devices = {64},
                    .objectives = {Objective::time},
                    .top = 1};
      search.limits.least_tokens_per_s = least;
      return run_search(search,
                        {.threads = 2,
                         .counts_beyond = false,
                         .tells_reasons = tells_reasons,
                         .known_work = &known});
    };
    KnownWork known;
    const SearchAnswer any = best(1, true, known);
    ASSERT_EQ(any.plans.size(), 1u) << cluster;
    const double rate = any.plans[0].result.tokens_per_s;
    for (const double share : {0.9, 0.999, 1.001}) {
      const SearchAnswer quick = best(share * rate, false, known);
      const SearchAnswer told = best(share * rate, true, known);
      EXPECT_EQ(quick.plans.size(), share < 1 ? 1u : 0u) << cluster << share;
      ASSERT_EQ(quick.plans.size(), told.plans.size()) << cluster << share;
      EXPECT_GT(quick.counts.over_limit, 0u) << cluster << share;
      if (share < 1) {
        EXPECT_EQ(set_options(plan_assignments(quick.plans[0].plan)),
                  set_options(plan_assignments(any.plans[0].plan)));
      } else {
        EXPECT_LE(quick.counts.refused, told.counts.refused);
      }
    }
  }
}

/// Layers that recompute otherwise do the same besides.
TEST(KnownWork, IsOfEachWayToRecompute) {
  Scenario scenario = experts_on(16);
  KnownWork known;
  ModelWork found;
  std::map<Recompute, ModelWork> own;
  for (const Recompute recompute : {Recompute::full, Recompute::selective, Recompute::none}) {
    scenario.plan.recompute = recompute;
    own[recompute] = work_of(scenario);
    EXPECT_FALSE(known.find(scenario, layer_places(scenario), true, found));
    EXPECT_EQ(known.find(scenario, layer_places(scenario), false, found), own.size() > 1);
    known.add(scenario, layer_places(scenario), own[recompute]);
  }
  EXPECT_GT(own[Recompute::full].kinds[0].recompute.busy,
            own[Recompute::selective].kinds[0].recompute.busy);
  for (const auto& [recompute, work] : own) {
    scenario.plan.recompute = recompute;
    ASSERT_TRUE(known.find(scenario, layer_places(scenario), true, found));
    EXPECT_EQ(found.kinds[0].recompute.busy, work.kinds[0].recompute.busy);
    EXPECT_EQ(found.kinds[0].forward, work.kinds[0].forward);
    EXPECT_EQ(found.kinds[0].backward, work.kinds[0].backward);
    ASSERT_TRUE(known.find(scenario, layer_places(scenario), false, found));
    EXPECT_EQ(found.kinds[0].recompute.busy, Seconds{});
  }
}

/// What earlier searches found out changes no answer of later ones, whose numbers of devices go up
/// and down.
TEST(KnownWork, LeavesTheBestPlansAsTheyAre) {
  CapacityQuestion question;
  question.scenario = experts_on(16);
  question.scenario.training.global_batch = 512;
  question.abilities = software_abilities(ScenarioSource::load("mixtral-8x7b-64xh100"));
  const PlanFinder going_on = searched_plans(2);
  std::map<std::int64_t, PlannedStep> found_afresh;
  for (const std::int64_t devices : {64, 128, 64}) {
    const PlannedStep again = going_on(question, devices);
    if (!found_afresh.contains(devices)) {
      found_afresh.emplace(devices, searched_plans(2)(question, devices));
    }
    const PlannedStep& afresh = found_afresh.at(devices);
    ASSERT_TRUE(again.scenario && afresh.scenario) << devices;
    EXPECT_EQ(again.step.iteration_time, afresh.step.iteration_time) << devices;
    EXPECT_EQ(set_options(plan_assignments(again.scenario->plan)),
              set_options(plan_assignments(afresh.scenario->plan)))
        << devices;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
