// Steps of models that are no transformers.
#include <gtest/gtest.h>

#include "plan/shipped.hpp"
#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Scenario scenario_of(std::string_view model, const Plan& plan) {
  Scenario scenario = plain::scenario(plan);
  scenario.model = shipped::any_model(model);
  scenario.training.sequence = 1;
  scenario.training.global_batch = 8 * 32;
  return scenario;
}

Plan plan_of(std::int64_t tensor, std::int64_t data, std::int64_t micro_batch) {
  Plan plan;
  plan.tensor = tensor;
  plan.data = data;
  plan.micro_batch = micro_batch;
  return plan;
}

StepCosts costs_of(const Scenario& scenario) {
  StepCosts costs;
  step_costs(scenario, costs);
  return costs;
}

TEST(CutImages, AreSynchronisedOverAllRanksThatHaveTheWeights) {
  const StepCosts whole = costs_of(scenario_of("resnet-50", plan_of(1, 8, 32)));
  const StepCosts cut = costs_of(scenario_of("resnet-50", plan_of(4, 2, 32)));
  EXPECT_EQ(cut.tails[0].gradient_sync, whole.tails[0].gradient_sync);
  EXPECT_EQ(cut.tails[0].optimizer, whole.tails[0].optimizer) << "every rank has all weights";
}

// Shards are of all ranks that have the weights, as if each had images of its own.
TEST(CutImages, ShareOutStatesAmongAllRanksThatHaveTheWeights) {
  for (const Sharding sharding : {Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
    Plan apart = plan_of(1, 8, 32);
    Plan together = plan_of(4, 2, 32);
    apart.sharding = together.sharding = sharding;
    const Scenario whole = scenario_of("resnet-50", apart);
    const Scenario cut = scenario_of("resnet-50", together);
    ASSERT_EQ(texts(cut), std::vector<std::string>{});
    EXPECT_EQ(costs_of(cut).tails[0].total(), costs_of(whole).tails[0].total());
    const StepResult expected = estimate(whole);
    const StepResult result = estimate(cut);
    EXPECT_EQ(result.memory[0].optimizer, expected.memory[0].optimizer);
    EXPECT_EQ(result.memory[0].weights, expected.memory[0].weights);
    EXPECT_EQ(result.memory[0].gradients, expected.memory[0].gradients);
    EXPECT_NEAR(simulate(cut).result.iteration_time / result.iteration_time, 1, 1e-9);
    EXPECT_NEAR(
        simulate(cut, {.network = true}).result.iteration_time / result.iteration_time, 1, 1e-6);
  }
}

TEST(CutImages, SendTheirEdgesToTheirNeighbours) {
  const Scenario scenario = scenario_of("resnet-50", plan_of(4, 2, 32));
  const StepCosts costs = costs_of(scenario);
  const BlockClock clock = block_clock(scenario);
  int halos = 0;
  for (const Block& kind : costs.blocks.kinds) {
    for (const Operation& op : kind.operations) {
      if (op.forward_transfer.exists() && op.forward_transfer.kind == Collective::send_recv) {
        ++halos;
        EXPECT_EQ(clock.transfer_time(op.forward_transfer),
                  plain::kInside.time(op.forward_transfer.size))
            << "one message, all ranks at once";
      }
    }
  }
  EXPECT_GT(halos, 3);
  EXPECT_GT(estimate(scenario).breakdown.tensor_comm, Seconds{});
}

TEST(CutImages, AskForPlansThatCutThem) {
  Scenario scenario = scenario_of("resnet-50", plan_of(4, 2, 32));
  scenario.plan.image_columns = 3;
  scenario.plan.sharding = Sharding::zero1;
  scenario.plan.shard = 2;
  EXPECT_EQ(
      texts(scenario),
      (std::vector<std::string>{
          "plan.image_columns: 3: expected a divisor of the tensor degree 4",
          "plan.shard: 2: expected none where images are cut over tensor-parallel ranks: with "
          "all of these gradients are added up"}));
  scenario.plan = plan_of(1, 8, 32);
  EXPECT_EQ(texts(scenario), std::vector<std::string>{});
}

TEST(LayeredModels, MayBeWrittenIntoTheScenario) {
  const Scenario scenario = ScenarioSource(parse_json(R"({
        "model": {"name": "two-layers", "title": "two layers", "source": "a test",
                  "input": {"channels": 64, "height": 1, "width": 1},
                  "blocks": [{"name": "all", "operations": [
                    {"op": "linear", "in": 64, "out": 32}, {"op": "linear", "out": 10},
                    {"op": "cross-entropy"}]}]},
        "cluster": "dgx-a100-80gb", "plan": {"data": 8}, "training": {"global_batch": 64}})",
                                                      "run"))
                                .read();
  EXPECT_EQ(scenario.model.name(), "two-layers");
  EXPECT_EQ(parameters(scenario.model), (64 + 1) * 32 + (32 + 1) * 10);
}

TEST(Tables, AreSharedOutOverTheRanksOfAnExpertGroup) {
  Plan plan = plan_of(1, 8, 32);
  const Scenario copied = scenario_of("dlrm-criteo-kaggle", plan);
  plan.expert = 8;
  const Scenario shared = scenario_of("dlrm-criteo-kaggle", plan);
  const StepResult whole = estimate(copied);
  const StepResult parts = estimate(shared);
  const DeviceParameters before = whole.memory[0].parameters;
  const DeviceParameters after = parts.memory[0].parameters;
  EXPECT_EQ(after.dense, before.dense);
  EXPECT_DOUBLE_EQ(after.experts, before.experts / 8);
  EXPECT_EQ(whole.breakdown.expert_comm, Seconds{});
  EXPECT_GT(parts.breakdown.expert_comm, Seconds{});
  EXPECT_LT(parts.breakdown.data_comm, whole.breakdown.data_comm) << "tables are synchronised less";
}

// Rows that are looked up are read and written by the backward pass; the optimizer goes over MLPs.
TEST(Tables, AreUpdatedInPlaceWhereNoOtherRankHasThem) {
  Plan plan = plan_of(1, 8, 32);
  plan.expert = 8;
  const StepResult alone = estimate(scenario_of("dlrm-criteo-kaggle", plan));
  plan.expert = 4;
  const StepResult copied = estimate(scenario_of("dlrm-criteo-kaggle", plan));
  EXPECT_LT(alone.memory[0].gradients, 0.01 * alone.memory[0].weights);
  EXPECT_GT(copied.memory[0].gradients, 0.9 * copied.memory[0].weights);
  EXPECT_LT(alone.breakdown.optimizer, 0.1 * copied.breakdown.optimizer);
}

TEST(Tables, AreNotSplit) {
  Plan plan = plan_of(2, 4, 32);
  plan.context = 1;
  EXPECT_EQ(texts(scenario_of("dlrm-criteo-kaggle", plan)),
            (std::vector<std::string>{"plan.tensor: 2: expected 1: tables are shared out over the "
                                      "ranks of plan.expert"}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
