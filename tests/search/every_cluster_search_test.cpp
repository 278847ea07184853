// Every shipped cluster can be searched, and asked how many of its devices a training needs.

#include <gtest/gtest.h>

#include <string>

#include "plan/shipped.hpp"
#include "search/searches.hpp"
#include "titer/campaign/capacity.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Devices of two nodes, or of a slice or all of a torus.
std::int64_t few_devices(const Cluster& cluster) {
  if (const Torus* torus = cluster.torus()) {
    return cluster.torus_of(16) != nullptr ? 16 : torus->devices();
  }
  return 2 * cluster.devices_per_node;
}

std::string_view precision_of(const Chip& chip) {
  return name(chip.rate(DataType::bf16) ? DataType::bf16 : DataType::fp16);
}

/// A small model whose batch any number of devices can share.
std::string scenario_text(const Cluster& cluster) {
  return R"({"model": "megatron-1.7b", "cluster": ")" + cluster.name +
         R"(", "training": {"global_batch": )" + std::to_string(few_devices(cluster)) +
         R"(, "sequence": 1024, "precision": ")" + std::string(precision_of(cluster.chip)) +
         R"("}})";
}

TEST(EveryCluster, CanBeSearched) {
  for (const std::string& name : shipped_names(kClusterData)) {
    SCOPED_TRACE(name);
    const Cluster cluster = shipped::cluster(name);
    const Search search =
        testing::search_of(R"({"scenario": )" + scenario_text(cluster) + R"(, "devices": )" +
                           std::to_string(few_devices(cluster)) +
                           R"(, "any_software": true,
            "space": {"tensor": [1, 2], "pipeline": 1, "context": 1, "micro_batch": 1,
                      "recompute": "full", "sequence_parallel": false, "tensor_overlap": "none",
                      "rank_order": "tp-cp-dp-pp", "schedule": "1f1b", "virtual_stages": 1,
                      "sharding": ["none", "zero3"], "overlap_param_gather": false}})");
    EXPECT_FALSE(run_search(search, {.threads = 1}).plans.empty());
  }
}

TEST(EveryCluster, CanBeAskedHowManyOfItsDevicesATrainingNeeds) {
  for (const std::string& name : shipped_names(kClusterData)) {
    SCOPED_TRACE(name);
    const Cluster cluster = shipped::cluster(name);
    CapacityQuestion question;
    const Document run = parse_json(scenario_text(cluster), "run.json");
    ScenarioSource(run).read_unchecked(question.scenario);
    question.scenario.plan.recompute = Recompute::full;
    question.scenario.plan.sharding = Sharding::zero3;
    question.tokens = 1e9;
    question.devices = {few_devices(cluster)};
    const CapacityResult result = find_capacity(question, scaled_plan);
    ASSERT_EQ(result.points.size(), 1U);
    EXPECT_TRUE(result.points.front().has_plan()) << result.points.front().planned.problem;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
