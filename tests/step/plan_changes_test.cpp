// Estimating one plan after the other, where all but the plan stays.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "step/moe.hpp"
#include "step/same_result.hpp"
#include "step/scenarios.hpp"
#include "titer/step/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Walks through plans by changing some keys at a time, as a search or a sweep does.
class PlanWalk {
 public:
  PlanWalk(Scenario scenario, unsigned seed) : scenario_(std::move(scenario)), random_(seed) {}

  const Scenario& scenario() const { return scenario_; }

  /// To the next valid plan.
  void next() {
    const Plan before = scenario_.plan;
    while (true) {
      for (std::size_t changes = 1 + random_() % 3; changes > 0; --changes) {
        change(random_() % 26);
      }
      if (validate(scenario_).empty() && !refused()) {
        return;
      }
      scenario_.plan = before;
    }
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  [[nodiscard]] bool refused() const {
    try {
      check_fidelity(scenario_, Fidelity::closed);
      return false;
    } catch (const InputError&) {
      return true;
    }
  }

  void change(std::size_t key) {
    Plan& plan = scenario_.plan;
    switch (key) {
      case 0:
        plan.pipeline = one_of<std::int64_t>({1, 2, 4, 8});
        break;
      case 1:
        plan.tensor = one_of<std::int64_t>({1, 2, 4, 8});
        break;
      case 2:
        plan.data = one_of<std::int64_t>({1, 2, 4, 16});
        break;
      case 3:
        plan.context = one_of<std::int64_t>({1, 1, 2});
        break;
      case 4:
        plan.expert = one_of<std::int64_t>({1, 2, 4});
        break;
      case 5:
        plan.micro_batch = one_of<std::int64_t>({1, 2, 4});
        break;
      case 6:
        plan.virtual_stages = one_of<std::int64_t>({1, 2, 3});
        break;
      case 7:
        plan.schedule = one_of<Schedule>(
            {OneForwardOneBackward{}, GPipe{}, ZeroBubbleH1{}, Chimera{}, DualPipeV{}});
        plan.virtual_stages = usual_chunks(plan.schedule);
        break;
      case 8:
        plan.recompute = one_of({Recompute::none, Recompute::selective, Recompute::full});
        break;
      case 9:
        plan.sharding = one_of({Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3});
        break;
      case 10:
        std::shuffle(plan.rank_order.begin(), plan.rank_order.end(), random_);
        break;
      case 11:
        plan.overlap_grad_reduce = one_of({true, false});
        plan.overlap_param_gather = *plan.overlap_grad_reduce && one_of({true, false});
        break;
      case 12:
        plan.tensor_overlap =
            one_of({TensorOverlap::none, TensorOverlap::bulk, TensorOverlap::ring});
        break;
      case 13:
        plan.pipeline_send = one_of({PipelineSend::blocking, PipelineSend::overlapped});
        break;
      case 14:
        plan.sequence_parallel = one_of({true, false});
        break;
      case 15:
        plan.offload.optimizer = one_of<std::optional<HostPlace>>({std::nullopt, HostPlace::host});
        break;
      case 16:
        plan.offload.activations =
            one_of<std::optional<HostPlace>>({std::nullopt, HostPlace::host});
        break;
      case 17:
        plan.offload.weights = one_of<std::optional<HostPlace>>({std::nullopt, HostPlace::host});
        break;
      case 18:
        plan.offload.prefetch = one_of({true, false});
        break;
      case 19:
        plan.reshard_after_forward = one_of({true, false});
        break;
      case 20:
        plan.reduce_every_pass = one_of({true, false});
        break;
      case 21:
        plan.prefetch = one_of({true, false});
        break;
      case 22:
        plan.recompute_every = one_of<std::optional<std::int64_t>>({std::nullopt, 2});
        break;
      case 23:
        plan.recompute_layers = one_of<std::optional<std::int64_t>>({std::nullopt, 1, 2});
        break;
      case 24:
        plan.layers = one_of<LayerSplit>({LayerRule::even, LayerRule::lighter_ends});
        break;
      default:
        plan.shard = one_of<std::optional<std::int64_t>>({std::nullopt, 2});
        break;
    }
  }

  Scenario scenario_;
  std::mt19937 random_;
};

/// All steps of a walk by one estimator, and each by one of its own.
void expect_same_along(PlanWalk walk, int steps) {
  Estimator estimator;
  StepResult result;
  estimator.estimate(walk.scenario(), result);
  for (int i = 0; i < steps; ++i) {
    walk.next();
    estimator.estimate(walk.scenario(), Changed::plan, result);
    expect_same(result, estimate(walk.scenario()), scenarios::text_of(walk.scenario()));
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST(PlanChanges, GiveTheSameAsEstimatesOfTheirOwn) {
  expect_same_along(PlanWalk(scenarios::shipped_run({"plan.sharding=zero1"}), 31), 400);
}

TEST(PlanChanges, DoSoWithExpertsAndFrozenLayers) {
  Scenario scenario = scenarios::shipped_run(
      {"plan.virtual_stages=1", "training.frozen_layers=2", "cluster=dgx2-v100"});
  scenario.model = moe::model(8);
  scenario.training.global_batch = 64;
  expect_same_along(PlanWalk(scenario, 32), 400);
}

TEST(PlanChanges, DoSoBetweenSchedulesThatPairOrSplitAndOthersOfTheirPlacement) {
  Scenario scenario = scenarios::shipped_run({"plan.virtual_stages=1"});
  Estimator estimator;
  StepResult result;
  auto changed = Changed::anything;
  for (const Schedule& schedule : std::initializer_list<Schedule>{OneForwardOneBackward{},
                                                                  ZeroBubbleH1{},
                                                                  GPipe{},
                                                                  ZeroBubbleH2{},
                                                                  Hanayo{},
                                                                  ZeroBubbleV{},
                                                                  DualPipeV{},
                                                                  VHalf{},
                                                                  DualPipeV{},
                                                                  Chimera{},
                                                                  DualPipe{},
                                                                  Chimera{}}) {
    scenario.plan.schedule = schedule;
    scenario.plan.virtual_stages = usual_chunks(schedule);
    ASSERT_TRUE(validate(scenario).empty()) << name(schedule);
    estimator.estimate(scenario, changed, result);
    changed = Changed::plan;
    expect_same(result, estimate(scenario), scenarios::text_of(scenario));
  }
}

TEST(PlanChanges, DoSoOnATorus) {
  const Scenario scenario = scenarios::shipped_run({"cluster=tpu-v3-32",
                                                    "plan.pipeline=1",
                                                    "plan.virtual_stages=1",
                                                    "plan.tensor=4",
                                                    "plan.data=4",
                                                    "training.precision=bf16"});
  expect_same_along(PlanWalk(scenario, 33), 150);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
