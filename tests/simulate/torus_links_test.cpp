// Steps on the wires of a torus: what runs by itself takes what its formula says, what runs beside
// something else shares the wires with it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "export/exported_graphs.hpp"
#include "scenario/violations.hpp"
#include "titer/plan/place/torus_place.hpp"
#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::string_view kRun = R"({
  "model": "megatron-1.7b", "cluster": "tpu-v3-pod", "plan": {"micro_batch": 1}, "stack": "megatron-lm",
  "training": {"global_batch": 1024, "sequence": 512, "precision": "bf16", "optimizer": "adam"}})";

using Assignments = std::vector<std::string>;

Scenario torus_run(const Assignments& assignments) {
  ScenarioSource source(parse_json(kRun, "run"));
  for (const std::string& assignment : assignments) {
    source.assign(parse_assignment(assignment));
  }
  Scenario scenario;
  source.read_unchecked(scenario);
  scenario.stack.overlap_slowdown = 1;  // which graphs do not know
  EXPECT_EQ(texts(scenario), Lines{});
  return scenario;
}

StepResult result_of(const Scenario& scenario, Fidelity fidelity) {
  Estimator memory;
  StepResult result;
  evaluate(scenario, fidelity, memory, result);
  return result;
}

double network_over_event(const Scenario& scenario) {
  return result_of(scenario, Fidelity::network).iteration_time /
         result_of(scenario, Fidelity::event).iteration_time;
}

TEST(TorusLinks, TakeWhatTheFormulasSayWhereNothingSharesThem) {
  const std::vector<Assignments> plans = {
      {"cluster=tpu-v3-32"},
      {"cluster=tpu-v3-128", "plan.tensor=4", "plan.sequence_parallel=true"},
      {"cluster=tpu-v3-pod", "cluster.slice=[8,32]", "plan.tensor=4"},
      {"cluster=tpu-v3-128", "plan.tensor=8", "plan.sharding=zero1"},
      {"cluster=tpu-v3-64", "plan.context=4"},
      {"cluster=tpu-v4-pod", "plan.tensor=4", "plan.data=16"},
      {"cluster=tpu-v3-128", "model=mixtral-8x7b", "plan.expert=8"}};
  for (const Assignments& plan : plans) {
    EXPECT_NEAR(network_over_event(torus_run(plan)), 1.0, 1e-9) << ::testing::PrintToString(plan);
  }
}

TEST(TorusLinks, SlowPipelinesDownWhereTheirSendsMeetWithOthers) {
  const std::vector<Assignments> plans = {
      {"cluster=tpu-v3-64", "plan.pipeline=8", "plan.rank_order=pp-tp-dp"},
      {"cluster=tpu-v3-128", "plan.pipeline=4", "plan.virtual_stages=3"},
      {"cluster=tpu-v5e-pod", "plan.tensor=2", "plan.pipeline=2", "plan.data=4"}};
  for (const Assignments& plan : plans) {
    const double ratio = network_over_event(torus_run(plan));
    EXPECT_GT(ratio, 1.0) << ::testing::PrintToString(plan);
    EXPECT_LT(ratio, 1.01) << ::testing::PrintToString(plan);
  }
}

TEST(TorusLinks, AreSharedByGradientsBesideTensorCollectives) {
  // Tensor groups are lines of four along the first axis, on whose wires the data groups' rings,
  // every fourth chip of it, are on their way too.
  const Assignments line = {"cluster=tpu-v3-pod",
                            "cluster.slice=[32,8]",
                            "plan.tensor=4",
                            "plan.sequence_parallel=true",
                            "plan.overlap_grad_reduce=true",
                            "stack.softmax_heads=1",  // its 6 heads of a rank
                            "training.global_batch=64"};
  EXPECT_GT(network_over_event(torus_run(line)), 1.001);
  // With tensor groups all along the first axis gradients have the second one to themselves.
  Assignments apart = line;
  apart[1] = "cluster.slice=[4,32]";
  EXPECT_NEAR(network_over_event(torus_run(apart)), 1.0, 1e-9);
}

TEST(TorusLinks, AreThoseOfTheSliceThatThePlanHas) {
  const Scenario scenario =
      torus_run({"cluster=tpu-v5p-pod", "plan.tensor=4", "plan.data=16", "plan.pipeline=1"});
  EXPECT_EQ(on_slice(scenario.cluster, 64).torus()->dimensions, (std::vector{4, 4, 4}));
  EXPECT_NEAR(network_over_event(scenario), 1.0, 1e-9);
}

/// As an exported graph takes it, over the closed form.
double exported_over_closed(const Scenario& scenario, ExportDetail detail) {
  const ExportedStep step(scenario, detail);
  const auto taken = exported::time(step);
  EXPECT_TRUE(taken.has_value());
  return static_cast<double>(taken.value_or(0)) /
         static_cast<double>(to_ticks(result_of(scenario, Fidelity::closed).iteration_time));
}

TEST(TorusLinks, AreExportedAsTheClosedFormHasThem) {
  const std::vector<Assignments> plans = {
      {"cluster=tpu-v3-32", "plan.tensor=4", "plan.sharding=zero1"},
      {"cluster=tpu-v3-32", "plan.pipeline=4"},
      {"cluster=tpu-v4-pod", "plan.data=8", "plan.sharding=zero3"},
      {"cluster=tpu-v5e-pod", "model=mixtral-8x7b", "plan.data=8", "plan.expert=8"}};
  for (Assignments plan : plans) {
    plan.emplace_back("plan.tensor_overlap=none");
    plan.emplace_back("training.global_batch=64");
    EXPECT_NEAR(exported_over_closed(torus_run(plan), ExportDetail::layer), 1.0, 1e-6)
        << ::testing::PrintToString(plan);
  }
}

TEST(HostCopies, AreExportedAsTheClosedFormHasThem) {
  const Assignments run = {"cluster=dgx-a100-80gb", "training.global_batch=16"};
  const std::vector<Assignments> plans = {
      {"plan.data=2", R"(plan.offload={"optimizer": "host"})"},
      {"plan.data=2", R"(plan.offload={"optimizer": "host", "prefetch": false})"},
      {"plan.data=1", "plan.pipeline=2", R"(plan.offload={"activations": "host"})"},
      {"plan.data=1",
       "plan.pipeline=2",
       R"(plan.offload={"activations": "host", "prefetch": false})"},
      {"plan.data=2", R"(plan.offload={"weights": "host", "prefetch": false})"},
      {"plan.data=2", "plan.sharding=zero3", R"(plan.offload={"weights": "host"})"},
      {"plan.data=1",
       "plan.tensor=2",
       "plan.recompute=full",
       R"(plan.offload={"activations": "host"})"}};
  for (const Assignments& plan : plans) {
    Assignments all = run;
    all.insert(all.end(), plan.begin(), plan.end());
    const Scenario scenario = torus_run(all);
    EXPECT_GT(result_of(scenario, Fidelity::closed).comm_total.host, Seconds{});
    for (const ExportDetail detail : {ExportDetail::layer, ExportDetail::pass}) {
      EXPECT_NEAR(exported_over_closed(scenario, detail), 1.0, 0.02)
          << ::testing::PrintToString(plan) << (detail == ExportDetail::pass ? " by pass" : "");
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
