// A run of Llama 3 70B on 64 H100: 8 nodes of 8, tensor 8, pipeline 4, the replicas left open.

#include "titer/scenario/run_size.hpp"

#include <gtest/gtest.h>

#include "titer/scenario/source.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

ScenarioSource changed_run(const std::vector<std::string>& sets) {
  ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
  for (const std::string& set : sets) {
    source.assign(parse_assignment(set));
  }
  return source;
}

std::int64_t devices_of(const std::vector<std::string>& sets) {
  return changed_run(sets).read().plan.devices();
}

Lines complaints_about(const std::vector<std::string>& sets) {
  try {
    static_cast<void>(changed_run(sets).read());
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(RunSize, IsKeptByAClusterInPlaceOfAnother) {
  EXPECT_EQ(devices_of({"cluster=dgx-b200"}), 64);
  EXPECT_EQ(devices_of({R"(cluster={"name": "dgx-b200"})"}), 64);
  EXPECT_EQ(devices_of({"cluster=dgx-b200", "cluster=dgx-a100-80gb"}), 64);
  // As many devices on other nodes: 4 of 16, and 16 of 4.
  EXPECT_EQ(*changed_run({"cluster=dgx2-v100", "training.precision=fp16"}).read().cluster.nodes,
            64 / 16);
  EXPECT_EQ(*changed_run({"cluster=polaris", "plan.tensor=4"}).read().cluster.nodes, 64 / 4);
  EXPECT_EQ(changed_run({"cluster=dgx-b200"}).document().at("cluster.nodes")->integer, 8);
}

TEST(RunSize, IsThatOfTheRunAsItWasChangedBefore) {
  EXPECT_EQ(devices_of({"cluster.nodes=16", "cluster=dgx-b200"}), 128);
  EXPECT_EQ(devices_of({"cluster=dgx-b200", "plan.tensor=4"}), 64);
  EXPECT_EQ(devices_of({"plan.tensor=4", "cluster=dgx-b200"}), 64);
}

TEST(RunSize, IsNotKeptWhereAnotherIsStated) {
  EXPECT_EQ(devices_of({"cluster=dgx-b200", "cluster.nodes=16"}), 128);
  EXPECT_EQ(devices_of({R"(cluster={"name": "dgx-b200", "nodes": 4})"}), 32);
  // As large as the plan needs.
  EXPECT_EQ(devices_of({R"(cluster={"name": "dgx-b200", "nodes": null})"}), 32);
  EXPECT_EQ(devices_of({"cluster=dgx-b200", "cluster.nodes=null"}), 32);
  // A plan that says how many replicas it has says how many devices there are, before or after.
  EXPECT_EQ(devices_of({"cluster=dgx-b200", "plan.data=4"}), 128);
  EXPECT_EQ(devices_of({"plan.data=4", "cluster=dgx-b200"}), 128);
  EXPECT_EQ(devices_of({"cluster=dgx-b200", "plan.data=4", "plan.data=null"}), 64);
}

TEST(RunSize, OfATorusIsTheTorus) {
  const std::vector<std::string> slice = {
      "cluster=tpu-v4-pod", "cluster.slice=[8, 8, 16]", "stack=maxtext"};
  EXPECT_EQ(changed_run(slice).read().plan.devices(), 8 * 8 * 16);
  // And back.
  std::vector<std::string> sets = {"cluster=tpu-v3-32", "cluster=dgx-b200"};
  EXPECT_EQ(devices_of(sets), 64) << "of the run, not of what stood in between";
}

TEST(RunSize, ThatFillsNoNodesIsRefused) {
  EXPECT_EQ(complaints_about({"cluster=gb200-nvl72"}),
            Lines{"--set cluster=gb200-nvl72: cluster: the 64 devices of the run do not fill nodes "
                  "of 72: expected their number in cluster.nodes, or the plan's replicas in "
                  "plan.data"});
  EXPECT_EQ(devices_of({"cluster=gb200-nvl72", "plan.data=2"}), 64);
  Scenario four_racks;
  changed_run({"cluster=gb200-nvl72", "cluster.nodes=4"}).read_unchecked(four_racks);
  EXPECT_EQ(four_racks.cluster.nodes, 4);
  EXPECT_EQ(devices_of({"cluster=gb200-nvl72", "cluster=dgx-b200"}), 64);
  // 64 devices are no whole number of replicas of 12.
  const Lines lines =
      complaints_about({"cluster=dgx-b200", "plan.pipeline=3", "plan.tensor=4", "model.layers=81"});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(
      lines.front().starts_with("--set cluster=dgx-b200: cluster.nodes: 8: expected "
                                "pipeline x tensor x data = 3 x 4 x 1 = 12"))
      << lines.front();
}

TEST(RunSize, FollowsTheNodesOfTheNewCluster) {
  const Scenario scenario =
      changed_run({"cluster=dgx-b200", "cluster.node.fabric.devices=16", "cluster.node.nics=16"})
          .read();
  EXPECT_EQ(scenario.plan.devices(), 64);
  EXPECT_EQ(*scenario.cluster.nodes, 4);
}

TEST(RunSize, LeavesARunWithoutNodesToItsPlan) {
  ScenarioSource source(parse_json(R"({"model": "llama3-70b", "cluster": "dgx-h100",
      "plan": {"tensor": 8, "pipeline": 4}, "training": {"global_batch": 8}})",
                                   "run.json"));
  source.assign(parse_assignment("cluster=gb200-nvl72"));
  EXPECT_EQ(source.read().plan.devices(), 32);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
