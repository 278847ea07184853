#include "titer/estimate/model_state.hpp"

#include <gtest/gtest.h>

#include "scenario/scenarios.hpp"
#include "titer/estimate/estimate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using scenarios::shipped_run;

// Llama 3 8B: 8,030,261,248 parameters, the table of tokens not tied.
constexpr double kParameters = 8030261248.0;

Scenario llama(std::vector<std::string> changes) {
  changes.insert(changes.begin(),
                 {"model=llama3-8b",
                  "plan={}",
                  "cluster=dgx-h100",
                  "cluster.nodes=null",
                  "training.precision=bf16",
                  "training.global_batch=64"});
  return shipped_run(changes);
}

TEST(ModelState, IsWeightsAndTheStatesOfTheOptimizer) {
  const ModelState adam = model_state(llama({}));
  EXPECT_EQ(adam.weights.si(), 2 * kParameters);
  EXPECT_EQ(adam.optimizer.si(), (4 + 4 + 4) * kParameters);  // moments and the fp32 copy
  const ModelState plain =
      model_state(llama({"training.precision=fp32", "training.optimizer=sgd-plain"}));
  EXPECT_EQ(plain.weights.si(), 4 * kParameters);
  EXPECT_EQ(plain.optimizer.si(), 0);
}

TEST(ModelState, CountsEveryParameterOfAModelOnce) {
  for (const std::string name : {"mixtral-8x7b", "gemma2-9b", "resnet-50", "dlrm-criteo-kaggle"}) {
    const Scenario scenario = llama({"model=" + name, "training.sequence=null"});
    const auto count = static_cast<double>(parameters(scenario.model));
    EXPECT_EQ(model_state(scenario).weights.si(), 2 * count) << name;
  }
  // A tied table of 50,257 tokens counts once, padded to a multiple of 128.
  const Scenario tied = llama({"model=gpt2-1.5b", "training.sequence=null"});
  const auto count = static_cast<double>(parameters(tied.model) + (50304 - 50257) * 1600);
  EXPECT_EQ(model_state(tied).weights.si(), 2 * count);
}

TEST(ModelState, LeavesOutStatesOfFrozenLayersAndCopiesForProducts) {
  const ModelState all = model_state(llama({}));
  const ModelState frozen = model_state(llama({"training.frozen_layers=16"}));
  EXPECT_EQ(frozen.weights, all.weights);
  EXPECT_LT(frozen.optimizer, all.optimizer);
  EXPECT_EQ(model_state(llama({"training.precision=fp8"})).total(), all.total());
}

TEST(ModelState, IsWhatAllStagesHoldTogether) {
  const Scenario scenario = llama({"plan.pipeline=4", "plan.tensor=2"});
  const StepResult result = estimate(scenario);
  Bytes weights;
  Bytes optimizer;
  for (const StageMemory& stage : result.memory) {
    weights += 2 * stage.weights;
    optimizer += 2 * stage.optimizer;
  }
  // Norms are on both tensor-parallel ranks.
  const ModelState state = model_state(scenario);
  EXPECT_NEAR(weights / state.weights, 1, 1e-4);
  EXPECT_NEAR(optimizer / state.optimizer, 1, 1e-4);
}

TEST(NodeState, IsAllOfItWhereEveryDeviceHasAll) {
  const Scenario scenario = llama({"plan.data=16"});
  EXPECT_EQ(plan_nodes(scenario), 2);
  EXPECT_EQ(node_state(scenario, estimate(scenario)), model_state(scenario).total());
}

TEST(NodeState, IsTheShareOfItsStagesAndShards) {
  const Scenario stages = llama({"plan.pipeline=2", "plan.tensor=8"});
  const StepResult result = estimate(stages);
  const Bytes largest = 8 * (result.memory[1].weights + result.memory[1].optimizer);
  EXPECT_EQ(node_state(stages, result), largest);
  EXPECT_NEAR(largest / model_state(stages).total(), 0.5, 0.05);

  // All weights on every device, a sixteenth of the states on each.
  const Scenario shards = llama({"plan.data=16", "plan.sharding=zero1"});
  const ModelState state = model_state(shards);
  const Bytes expected = state.weights + 8.0 / 16 * state.optimizer;
  EXPECT_NEAR(node_state(shards, estimate(shards)) / expected, 1, 1e-9);
}

TEST(NodeState, IsAnEvenShareAtLeast) {
  const Scenario away = llama({"cluster=dgx2-v100",
                               "training.precision=fp16",
                               "plan.data=32",
                               R"(plan.offload={"optimizer": "host"})"});
  EXPECT_GE(node_state(away, estimate(away)), 0.5 * model_state(away).total());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
