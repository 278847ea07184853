// A worker reads again only what differs from the point before. That must not show.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "repetitions.hpp"
#include "sweeps.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/sweep/scenario_fields.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// Computes the points in the order given with one worker; each must be as from scratch.
void expect_fresh(const Sweep& sweep, const std::vector<std::size_t>& order) {
  SweepWorker worker(sweep, std::nullopt);
  SweepPoint point;
  for (const std::size_t i : order) {
    worker.compute(i, point);
    EXPECT_EQ(row_of(point), row_of(fresh_point(sweep, i))) << "point " << i;
  }
}

std::vector<std::size_t> forwards(const Sweep& sweep) {
  std::vector<std::size_t> order(sweep.points());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  return order;
}

/// Both ways: a value that stays is put in again only when something replaced it.
void expect_fresh_both_ways(const Sweep& sweep) {
  std::vector<std::size_t> order = forwards(sweep);
  expect_fresh(sweep, order);
  std::reverse(order.begin(), order.end());
  expect_fresh(sweep, order);
}

const std::string kNodes =
    R"(["dgx-a100-80gb", "dgx-h100", {"name": "dgx-a100-80gb", "nodes": 2}])";
const std::string kNics = R"(["100 Gbps", "400 Gbps"])";

TEST(SweepWorkerAxes, PutAnInnerValueBackAfterTheOuterOneChanged) {
  const Sweep sweep = sweep_of(kSmallScenario,
                               {axis("cluster", kNodes),
                                axis("cluster.node.nic_bandwidth", kNics),
                                axis("plan.data", "[8, 16]")});
  expect_fresh_both_ways(sweep);
  // Which it does: 4 times the NICs make the gradients' all-reduce between nodes faster.
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint slow;
  SweepPoint fast;
  worker.compute(4 + 1, slow);
  worker.compute(4 + 3, fast);
  EXPECT_LT(fast.result.breakdown.data_comm, slow.result.breakdown.data_comm);
}

TEST(SweepWorkerAxes, LetALaterOuterValueReplaceAnInnerOne) {
  const Sweep sweep = sweep_of(kSmallScenario,
                               {axis("cluster.node.nic_bandwidth", kNics),
                                axis("cluster", kNodes),
                                axis("plan.data", "[8, 16]")});
  expect_fresh_both_ways(sweep);
}

TEST(SweepWorkerAxes, PutBackEveryLevelOfThree) {
  expect_fresh_both_ways(
      sweep_of(kSmallScenario,
               {axis("cluster", R"(["dgx-a100-80gb", "dgx-h100"])"),
                axis("cluster.chip", R"(["a100-sxm4-40gb", "h100-sxm5-80gb"])"),
                axis("cluster.chip.memory.bandwidth", R"(["1 TB/s", "5 TB/s"])")}));
}

TEST(SweepWorkerAxes, LetTheSequenceFollowTheModel) {
  Sweep sweep = sweep_of(kSmallScenario, {axis("model", R"(["megatron-1.7b", "llama3.2-1b"])")});
  sweep.base.assign({"training.sequence", Value(), "as a program may leave it"});
  expect_fresh_both_ways(sweep);
  EXPECT_EQ(scenario_of(sweep, 0).training.sequence,
            scenario_of(sweep, 0).model.transformer().max_sequence);
  EXPECT_NE(scenario_of(sweep, 0).training.sequence, scenario_of(sweep, 1).training.sequence);
}

TEST(SweepWorkerAxes, LetTheDataDegreeFollowTheCluster) {
  expect_fresh_both_ways(sweep_of(
      kSmallScenario, {axis("plan.tensor", "[1, 2]"), axis("cluster.nodes", "[1, 2, null]")}));
}

/// The small scenario on two nodes, which clusters that replace them keep the 16 devices of.
std::string two_nodes() {
  std::string scenario(kSmallScenario);
  const std::string name = R"("dgx-a100-80gb")";
  return scenario.replace(
      scenario.find(name), name.size(), R"({"name": "dgx-a100-80gb", "nodes": 2})");
}

TEST(SweepWorkerAxes, KeepTheNumberOfDevicesOfTheBase) {
  const Axis clusters = axis(
      "cluster",
      R"(["dgx-h100", "gb200-nvl72", {"name": "dgx-h100", "nodes": 4}, "tpu-v3-32", "polaris"])");
  const Sweep names = sweep_of(two_nodes(), {clusters, axis("plan.tensor", "[1, 2]")});
  expect_fresh_both_ways(names);
  SweepWorker worker(names, Fidelity::closed);
  SweepPoint point;
  for (const std::size_t i : {9UL, 0UL, 1UL, 4UL, 9UL, 8UL}) {
    worker.compute(i, point);
    EXPECT_EQ(point.result.devices, i == 4 ? 32 : 16) << "point " << i;
  }
  worker.compute(2, point);
  EXPECT_NE(point.reason.find("the 16 devices of the run do not fill nodes of 72"),
            std::string::npos)
      << point.reason;
  expect_fresh_both_ways(sweep_of(two_nodes(), {clusters, axis("plan.data", "[1, null, 8]")}));
  expect_fresh_both_ways(sweep_of(
      two_nodes(), {clusters, axis("plan", R"([{"tensor": 2}, {"tensor": 4, "data": 2}, {}])")}));
}

TEST(SweepWorkerAxes, GoOnAfterInvalidPoints) {
  expect_fresh_both_ways(sweep_of(kSmallScenario,
                                  {axis("cluster", R"(["dgx-a100-80gb", "dgx-b300", "dgx-h100"])"),
                                   axis("plan.tensor", R"([1, "two", 8])"),
                                   axis("training.global_batch", "[32, 0]")}));
}

// Two parts are wrong at once: the reason names both, also when only one of them just changed.
TEST(SweepWorkerReason, DoesNotDependOnThePointBefore) {
  const Sweep sweep = sweep_of(
      kSmallScenario,
      {axis("plan.tensor", R"([1, "x"])"), axis("training.precision", R"(["bf16", "fp15"])")});
  expect_fresh(sweep, {0, 3, 0, 1, 3, 2, 3, 0, 2, 1});
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  worker.compute(0, point);
  worker.compute(3, point);
  EXPECT_NE(point.reason.find("plan.tensor"), std::string::npos) << point.reason;
  EXPECT_NE(point.reason.find("training.precision"), std::string::npos) << point.reason;
}

// A plan whose devices differ is for the event engine, the one beside it for the closed form.
TEST(SweepWorkerFidelity, IsWhatARunOfThePointTakes) {
  const Sweep sweep = sweep_of(
      R"({"model": "megatron-1.7b", "cluster": "dgx-a100-80gb", "plan": {"data": 2},
          "training": {"global_batch": 32, "precision": "bf16"}})",
      {axis("plan.batch_shares", "[[1, 1], [1, 3], null]"),
       axis("conditions", R"([null, {"devices": [{"devices": "0", "speed": 0.5}]}])"),
       axis("training.sequence", "[1024, 2048]"),
       axis("plan.micro_batch", "[2, 4]")});
  expect_fresh_both_ways(sweep);
  SweepPoint even;
  SweepPoint uneven;
  SweepWorker worker(sweep, std::nullopt);
  worker.compute(0, even);
  worker.compute(8, uneven);
  EXPECT_EQ(uneven.status, PointStatus::ok) << uneven.reason;
  EXPECT_GT(uneven.result.iteration_time, even.result.iteration_time);
  SweepWorker closed(sweep, Fidelity::closed);
  closed.compute(8, uneven);
  EXPECT_TRUE(uneven.reason.starts_with("plan.batch_shares: expected the fidelity event"))
      << uneven.reason;
}

TEST(SweepWorkerResult, DoesNotKeepPartsOfAnotherFormula) {
  expect_fresh_both_ways(
      sweep_of(kSmallScenario,
               {axis("formula", R"(["titer", {"name": "e7", "utilization": 0.4}, "e7"])"),
                axis("plan.pipeline", "[1, 2, 4]")}));
}

TEST(SweepWorkerResult, StaysRightAfterAThousandNames) {
  const Sweep sweep =
      sweep_of(kSmallScenario, {axis("cluster.chip", R"(["a100-sxm4-40gb", "a100-sxm4-80gb"])")});
  SweepWorker worker(sweep, Fidelity::closed);
  const std::array<std::string, 2> expected = {row_of(fresh_point(sweep, 0)),
                                               row_of(fresh_point(sweep, 1))};
  SweepPoint point;
  for (std::size_t i = 0; i < 1000; ++i) {
    worker.compute(i % 2, point);
    ASSERT_EQ(row_of(point), expected[i % 2]) << "after " << i;
  }
}

/// Axes that random sweeps are made of: names, inner values, open ones (null) and wrong ones.
std::vector<Axis> axis_pool() {
  return {
      axis("cluster", R"(["dgx-a100-80gb", {"name": "dgx-h100", "nodes": 2}, "dgx-x", 7])"),
      axis("cluster.nodes", "[1, 2, null]"),
      axis("cluster.node.nic_bandwidth", R"(["100 Gbps", "400 Gbps", 25])"),
      axis("cluster.chip", R"(["h100-sxm5-80gb", "a100-sxm4-40gb", "h100"])"),
      axis("cluster.chip.memory.bandwidth", R"(["1 TB/s", "3 TB/s"])"),
      axis("model", R"(["megatron-1.7b", "llama3.2-1b", "megatron-3.6b"])"),
      axis("model.layers", "[24, 48, 0]"),
      axis("plan", R"([{"tensor": 2}, {"tensor": 4, "pipeline": 2, "data": 2}, {"tenser": 1}])"),
      axis("plan.tensor", "[1, 2, 3]"),
      axis("plan.pipeline", "[1, 2, 4]"),
      axis("plan.data", "[1, 4, null]"),
      axis("plan.virtual_stages", "[1, 2, null]"),
      axis("plan.schedule", R"(["1f1b", "gpipe", "zb-v", "dualpipe"])"),
      axis("plan.expert", "[1, 2]"),
      axis("plan.rank_order", R"(["tp-dp-pp", "dp-tp-ep-pp", "pp-dp"])"),
      axis("plan.shard", "[2, null]"),
      axis("plan.batch_shares", "[[1, 1], [1, 3], [1]]"),
      axis("plan.recompute", R"(["full", ["mlp"], ["mpl"], null])"),
      axis("plan.sharding", R"(["none", "zero1", "hsdp", "zero9"])"),
      axis("training.global_batch", "[8, 16, 7]"),
      axis("training.sequence", R"([1024, null, "long"])"),
      axis("training.precision", R"(["bf16", "mxfp8", "fp8", "int3"])"),
      axis("training.narrow_scaling", R"(["tensor", null, "block"])"),
      axis("training.optimizer", R"(["adam", "adafactor", "sdg"])"),
      axis("conditions", R"([{"seed": 3}, null, {"sead": 1}, {"compute_jitter": 0.1}])"),
      axis("stack.dispatch", R"(["0 us", "75 us"])"),
      axis("formula", R"(["titer", {"name": "e7", "utilization": 0.5}, "e8"])"),
      axis("formula.utilization", "[0.3, 3]"),
  };
}

/// Values that are taken over by themselves, each with one that is wrong.
std::vector<Axis> lone_fields() {
  return {
      axis("plan.pipeline", "[1, 2, 0]"),
      axis("plan.tensor", "[1, 2, 0]"),
      axis("plan.data", "[2, 1, null, 0]"),
      axis("plan.context", "[1, 2, 0]"),
      axis("plan.expert", "[1, 2, 0]"),
      axis("plan.expert_tensor", "[1, 2, 0.5]"),
      axis("plan.context_inner", "[1, 2, {}]"),
      axis("plan.image_columns", "[1, 2, null, 0]"),
      axis("plan.virtual_stages", "[1, 2, null, 0]"),
      axis("plan.recompute", R"(["full", ["mlp"], ["mpl"], null])"),
      axis("plan.recompute_every", "[1, 2, \"2\"]"),
      axis("plan.distribute_saved_activations", "[true, false, 1]"),
      axis("plan.recompute_layers", "[0, 12, 2, -1]"),
      axis("plan.micro_batch", "[1, 2.0, {\"value\": 4, \"source\": \"me\"}, 2000000]"),
      axis("plan.context_method", R"(["ring", "ulysses", "rings"])"),
      axis("plan.expert_dispatch", R"(["deduplicated", "all-to-all", null, "twice"])"),
      axis("plan.expert_overlap", "[true, false, 1]"),
      axis("plan.shared_expert_overlap", "[true, false, 1]"),
      axis("plan.fused_experts", "[true, false, 1]"),
      axis("plan.context_balanced", R"([true, false, "true"])"),
      axis("plan.sequence_parallel", "[true, false, 1]"),
      axis("plan.sharding", R"(["none", "zero1", "hsdp", "zero9"])"),
      axis("plan.gradient_collective", R"(["all-reduce", "reduce", "none"])"),
      axis("plan.reshard_after_forward", "[true, false, 1]"),
      axis("plan.reduce_every_pass", "[true, false, 1]"),
      axis("plan.prefetch", "[true, false, 1]"),
      axis("plan.servers", "[2, null, 0]"),
      axis("plan.offload",
           R"([{"optimizer": "host"}, null, {"optimizer": "disk"}, {"wights": 1}])"),
      axis("plan.local_steps",
           R"([{"islands": 2, "steps": 9}, null, {"islands": 3, "steps": 1}, {"islands": 2}])"),
      axis("plan.rank_order", R"(["tp-dp-pp", "pp-dp-tp", "pp-dp"])"),
      axis("plan.attention", R"(["flash", "materialised", "fast"])"),
      axis("plan.micro_batch_group", "[1, 4, null, 0]"),
      axis("plan.tensor_overlap", R"(["none", "bulk", "ring", null, "all"])"),
      axis("plan.pipeline_send", R"(["blocking", "overlapped", "batched", "x"])"),
      axis("plan.overlap_grad_reduce", "[true, false, null, 1]"),
      axis("plan.overlap_param_gather", "[true, false, null, 1]"),
      axis("training.global_batch", "[64, 32, 0]"),
      axis("training.sequence", R"([1024, 2048, null, "long"])"),
      axis("training.attended_length", "[512, null, 0]"),
      axis("training.narrow_weights", R"(["beside", "instead", null, "x"])"),
      axis("training.weight_precision", R"(["fp32", null, "x"])"),
      axis("training.gradient_precision", R"(["fp32", "bf16", "x"])"),
      axis("training.state_precision", R"(["bf16", null, "x"])"),
      axis("training.master_precision", R"(["bf16", null, "x"])"),
      axis("training.gradient_messages", R"(["fp8", null, "x"])"),
      axis("training.weight_messages", R"(["fp8", null, "x"])"),
      axis("training.fp8_attention", "[true, false, 0]"),
      axis("training.fp8_activation_inputs", "[true, false, 0]"),
      axis("training.transposes_narrow_weights", "[true, false, 0]"),
      axis("training.narrow_logits", "[true, false, 0]"),
      axis("training.fused_optimizer", "[true, false, 0]"),
      axis("training.frozen_layers", "[2, [0, 3], null, [0.5]]"),
      axis("training.input_rate", "[100, null, 0]"),
      axis("training.images", "[0, 2, null, -1]"),
      axis("training.image_size", "[448, null, 0]"),
      axis("training.frozen_tower", "[true, false, 1]"),
      axis("training.adapters", R"([{"rank": 8}, {"rank": 8, "targets": ["query"]}, null, 8])"),
  };
}

/// Those of a table, each with its path.
template <class T>
void expect_lone(std::span<const Field<T>> table, const std::string& part) {
  for (const Field<T>& field : table) {
    const std::string path = part + "." + std::string(field.key);
    const std::vector<Axis> tried = lone_fields();
    const bool is_tried =
        std::any_of(tried.begin(), tried.end(), [&](const Axis& a) { return a.path == path; });
    EXPECT_EQ(is_tried, field.alone) << path;
    EXPECT_EQ(ScenarioField::at(path).has_value(), field.alone) << path;
  }
}

TEST(SweepWorkerFields, AreAllThatStandAlone) {
  expect_lone(plan_fields(), "plan");
  expect_lone(training_fields(), "training");
  for (const std::string_view other : {"plan", "plan.", "plan.offload.weights", "model.layers"}) {
    EXPECT_FALSE(ScenarioField::at(other).has_value()) << other;
  }
}

TEST(SweepWorkerFields, AreThoseOfReadingTheirPart) {
  for (const Axis& field : lone_fields()) {
    SCOPED_TRACE(field.path);
    std::vector<Axis> axes = {
        axis("plan.pipeline", "[1, 4]"), field, axis("training.global_batch", "[64, 32]")};
    if (field.path == axes.front().path) {
      axes.erase(axes.begin());
    } else if (field.path == axes.back().path) {
      axes.pop_back();
    }
    const Sweep sweep = sweep_of(kSmallScenario, std::move(axes));
    expect_fresh(sweep, forwards(sweep));
  }
}

class SweepWorkerRandom : public ::testing::TestWithParam<unsigned> {};

TEST_P(SweepWorkerRandom, AgreesWithReadingFromScratch) {
  std::mt19937 random(GetParam());
  const auto draw = [&](std::size_t below) { return std::size_t(random()) % below; };
  std::vector<Axis> pool = axis_pool();
  std::vector<Axis> axes;
  const std::size_t count = 2 + draw(5);
  while (axes.size() < count) {
    const auto chosen = pool.begin() + static_cast<std::ptrdiff_t>(draw(pool.size()));
    axes.push_back(*chosen);
    pool.erase(chosen);
  }
  const std::string base = GetParam() % 2 == 0 ? two_nodes() : std::string(kSmallScenario);
  const Sweep sweep = sweep_of(base, std::move(axes));
  std::vector<std::size_t> order;
  for (int i = 0; i < 60; ++i) {
    order.push_back(draw(sweep.points()));
  }
  expect_fresh(sweep, order);
}

INSTANTIATE_TEST_SUITE_P(Seeds,
                         SweepWorkerRandom,
                         ::testing::Range(1U,
                                          1U + static_cast<unsigned>(testing::repetitions(60))));

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
