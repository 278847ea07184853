// Whole steps on a torus: data, tensor, expert and pipeline groups on its wires, cut images and
// sharded updates of weights.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenario/violations.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/cost/cost.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kA = 1e-6;        // of configs/clusters/tpu-v3-*.json
constexpr double kB = 0.9 * 82e9;  // the share of a wire that messages reach
constexpr std::string_view kRun = R"({
  "model": "megatron-1.7b", "cluster": "tpu-v3-pod", "plan": {"micro_batch": 1}, "stack": "megatron-lm",
  "training": {"global_batch": 1024, "sequence": 512, "precision": "bf16", "optimizer": "adam"}})";

/// The run above with changes; it need not be valid.
Scenario torus_run(const std::vector<std::string>& assignments) {
  ScenarioSource source(parse_json(kRun, "run"));
  for (const std::string& assignment : assignments) {
    source.assign(parse_assignment(assignment));
  }
  Scenario scenario;
  source.read_unchecked(scenario);
  return scenario;
}

StepCosts costs_of_run(const Scenario& scenario) {
  EXPECT_EQ(texts(scenario), Lines{});
  StepCosts costs;
  step_costs(scenario, costs);
  return costs;
}

StepResult result_of(const Scenario& scenario, Fidelity fidelity = Fidelity::closed) {
  EXPECT_EQ(texts(scenario), Lines{});
  Estimator memory;
  StepResult result;
  evaluate(scenario, fidelity, memory, result);
  return result;
}

/// Of the only stage.
Bytes gradients(const Scenario& scenario, const StepCosts& costs) {
  return trained_parameters(costs.blocks, costs.contents, scenario.plan, 0).total() *
         scenario.gradient_message();
}

TEST(TorusPlans, SynchroniseGradientsAsACollectiveOnAllChipsDoes) {
  const Scenario scenario = torus_run({});
  EXPECT_EQ(scenario.plan.data, 32 * 32) << "it follows from the size of the torus";
  std::vector<int> chips(32 * 32);
  std::generate(chips.begin(), chips.end(), [next = 0]() mutable { return next++; });
  const std::vector<std::vector<int>> groups(1, chips);
  CollectiveDesk desk(scenario.cluster, groups);
  const StepCosts costs = costs_of_run(scenario);
  const CollectiveAnswer asked = desk.answer({.collective = Collective::all_reduce,
                                              .size = gradients(scenario, costs),
                                              .algorithm = {},
                                              .fidelity = NetworkFidelity::closed});
  EXPECT_DOUBLE_EQ(costs.tails[0].gradient_sync.si(), asked.time.si());
  EXPECT_EQ(asked.algorithm->name, "torus-all-links");
}

TEST(TorusPlans, PutTensorGroupsOnLinesAndDataGroupsAcrossThem) {
  const Scenario scenario = torus_run({"plan.tensor=4"});
  EXPECT_EQ(scenario.plan.data, 256);
  const StepCosts costs = costs_of_run(scenario);
  const BlockClock clock = block_clock(scenario);
  const TorusShape& line = clock.group(LayerGroup::tensor).torus;
  EXPECT_EQ(line.axes, 1U);
  EXPECT_FALSE(is_two_way(line, 0));
  // Columns of 32 first, then every fourth of a row of 32, four groups to a wire.
  const double s = gradients(scenario, costs).si();
  EXPECT_NEAR(costs.tails[0].gradient_sync.si(),
              2 * (31 * (kA + s / 32 / (2 * kB)) + 7 * (4 * kA + 4 * s / 32 / 8 / (2 * kB))),
              1e-9);
}

TEST(TorusPlans, SendToNeighbouringChips) {
  // 8 x 8 chips: a stage for every row, next to one another.
  const std::vector<std::string> rows = {"cluster=tpu-v3-128", "plan.pipeline=8"};
  const Scenario near = torus_run(rows);
  const StepCosts costs = costs_of_run(near);
  const double s = boundary_bytes(costs.blocks).si();
  EXPECT_NEAR(costs.send[0].si(), kA + s / kB, 1e-15);
  EXPECT_NEAR(costs.send[7].si(), 7 * kA + s / kB, 1e-15) << "from the last row to the first";
  // Stages of two rows: two hops, which the two chips of a column share.
  std::vector<std::string> pairs = rows;
  pairs[1] = "plan.pipeline=4";
  EXPECT_NEAR(costs_of_run(torus_run(pairs)).send[0].si(), 2 * kA + 2 * s / kB, 1e-15);
  // Pipelines along the first axis.
  std::vector<std::string> columns = rows;
  columns.emplace_back("plan.rank_order=pp-tp-dp");
  EXPECT_NEAR(costs_of_run(torus_run(columns)).send[0].si(), kA + s / kB, 1e-15);
}

TEST(TorusPlans, SendExpertsTheirTokensAlongTheWires) {
  const StepResult result = result_of(torus_run({"model=mixtral-8x7b",
                                                 "cluster=tpu-v3-128",
                                                 "plan.expert=8",
                                                 "plan.pipeline=4",
                                                 "stack=maxtext"}));
  EXPECT_GT(result.breakdown.expert_comm, Seconds{});
  EXPECT_GT(result.breakdown.data_comm, Seconds{});
}

TEST(TorusPlans, TakeTheSameByEventsToThePicosecond) {
  const std::vector<std::vector<std::string>> plans = {
      {},
      {"plan.tensor=4", "plan.sequence_parallel=true"},
      {"plan.tensor=8", "plan.pipeline=4", "plan.sharding=zero1"},
      {"plan.pipeline=8", "plan.rank_order=pp-tp-dp", "cluster=tpu-v3-64"},
      {"plan.pipeline=4", "plan.virtual_stages=3", "cluster=tpu-v3-128"},
      {"plan.context=4", "cluster=tpu-v3-32"},
      {"plan.tensor=2", "cluster=tpu-v3-multipod", "training.global_batch=4096"},
      {"plan.tensor=8", "cluster=tpu-v4-pod", "training.global_batch=4096"},
      {"plan.tensor=4", "cluster=tpu-v3-pod", "cluster.slice=[8,32]"}};
  for (const std::vector<std::string>& plan : plans) {
    const Scenario scenario = torus_run(plan);
    EXPECT_EQ(to_ticks(result_of(scenario).iteration_time),
              to_ticks(result_of(scenario, Fidelity::event).iteration_time))
        << ::testing::PrintToString(plan);
  }
}

TEST(TorusPlans, OfSmallerSlicesSynchroniseOnOpenLines) {
  // 4 x 4 open against 32 x 32 closed: half the wires at work.
  const Scenario slice = torus_run({"cluster=tpu-v3-32"});
  const StepCosts costs = costs_of_run(slice);
  const double s = gradients(slice, costs).si();
  EXPECT_NEAR(
      costs.tails[0].gradient_sync.si(), 2 * (2 * 3 * kA + (15.0 / 16) * s / (2 * kB)), 1e-12);
}

TEST(TorusPlans, RefuseWhatIsNoBox) {
  EXPECT_EQ(texts(torus_run({"cluster.slice=[32,32]", "plan.tensor=4", "plan.data=64"})),
            Lines{"cluster.slice: 32 x 32: expected a torus of the plan's 256 chips, not of 1024: "
                  "pipeline x tensor x context x data = 1 x 4 x 1 x 64"});
  const Lines misfit =
      texts(torus_run({"cluster.slice=[6,8]", "plan.tensor=4", "training.global_batch=48"}));
  ASSERT_EQ(misfit.size(), 1U);
  EXPECT_TRUE(misfit[0].starts_with("plan.tensor: 4: expected the chips of a tensor group"))
      << misfit[0];
  EXPECT_TRUE(misfit[0].ends_with("with the rank order dp-tp-pp")) << misfit[0];
  EXPECT_EQ(texts(torus_run({"cluster.slice=[6,8]",
                             "plan.tensor=4",
                             "plan.rank_order=dp-tp-pp",
                             "training.global_batch=48"})),
            Lines{});
  const Lines copies = texts(torus_run({"cluster=tpu-v3-32",
                                        "plan.pipeline=4",
                                        "plan.schedule=chimera",
                                        "training.global_batch=32"}));
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_TRUE(copies[0].starts_with("plan.schedule: chimera: expected a schedule with one copy"));
}

TEST(TorusPlans, HaveNoRootAndNoChainsOfReduces) {
  EXPECT_EQ(
      texts(torus_run({"plan.sharding=zero2", "plan.gradient_collective=reduce"})),
      Lines{"plan.gradient_collective: reduce: expected nodes on a network: chains of reduces on "
            "a torus are not modelled"});
  EXPECT_EQ(texts(torus_run({"plan.sharding=data-parallel-root"})),
            Lines{"plan.sharding: data-parallel-root: expected a node whose devices one process "
                  "drives, not a torus"});
}

TEST(TorusPlans, CutImagesToLessThanOnePerChip) {
  const auto at = [](const std::string& tensor) {
    return result_of(
        torus_run({"model=resnet-50",
                   R"(training={"global_batch": 512, "precision": "bf16", "optimizer": "sgd"})",
                   "cluster.slice=[32,16]",
                   "stack=paxml",
                   "plan.tensor=" + tensor}));
  };
  const StepResult cut = at("4");  // 128 images at a time on 512 chips: 4 micro-batches
  EXPECT_GT(cut.breakdown.tensor_comm, Seconds{}) << "halos between neighbours";
  EXPECT_EQ(at("1").breakdown.tensor_comm, Seconds{});
}

TEST(TorusPlans, ShardTheUpdateOfWeightsWhateverTheOptimizer) {
  // Xu et al. 2020: alone a chip's update is read and written whole; of 1024 shards it is nothing.
  const auto time = [](const std::string& optimizer, const std::string& sharding) {
    return result_of(torus_run({"training.optimizer=" + optimizer, "plan.sharding=" + sharding}))
        .iteration_time;
  };
  const Seconds sgd = time("sgd", "none");
  const Seconds adam = time("adam", "none");
  EXPECT_GT(adam / sgd, 1.02);
  const Seconds sharded = time("sgd", "weight-update");
  EXPECT_LT(sharded, sgd);
  for (const char* optimizer : {"adam", "adafactor"}) {
    EXPECT_NEAR(time(optimizer, "weight-update") / sharded, 1.0, 0.005) << optimizer;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
