// Searches for plans on devices that differ, with shares of a batch or lists of layers: what of
// them holds for a plan is in what it takes, and no bound leaves the best of them out.

#include <gtest/gtest.h>

#include <algorithm>

#include "searches.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// A small model on a node, with what makes plans differ.
std::string search_text(std::string_view more_plan, std::string_view conditions) {
  return R"({"scenario": {"model": {"name": "llama3.2-1b", "layers": 8}, "cluster": "dgx-h100",
      "stack": "megatron-core", "plan": {)" +
         std::string(more_plan) + R"(},
      "training": {"global_batch": 32, "sequence": 1024, "precision": "bf16"})" +
         std::string(conditions) + R"(},
    "devices": 8, "any_software": true, "constraints": {"memory_margin": 0},
    "space": {"tensor": [1, 2], "pipeline": [1, 2, 4], "context": 1, "micro_batch": [1, 2],
              "recompute": ["none", "full"], "sequence_parallel": true, "tensor_overlap": "none",
              "schedule": ["1f1b", "gpipe"], "virtual_stages": 1, "sharding": ["none", "zero1"],
              "overlap_param_gather": false},
    "top": 5, "best_of": "plan"})";
}

void expect_exhaustive(const Search& search) {
  const SearchAnswer all = run_search(search, {.exhaustive = true});
  const SearchAnswer pruned = run_search(search);
  ASSERT_FALSE(all.plans.empty());
  EXPECT_EQ(lines_of(pruned), lines_of(all));
  EXPECT_EQ(pruned.counts.plans, all.counts.plans);
  EXPECT_EQ(all.counts.bounded, 0u);
}

/// What a found plan takes is what a run of it says.
void expect_as_run(const Search& search, const FoundPlan& found) {
  const Scenario scenario = source_with(search, found.plan).read();
  StepResult result;
  Estimator estimator;
  evaluate(scenario, usual_fidelity(scenario), estimator, result);
  EXPECT_EQ(result.iteration_time, found.result.iteration_time);
}

constexpr std::string_view kSlow =
    R"(, "conditions": {"devices": [{"devices": "0-1", "speed": 0.4},
                                    {"devices": "6", "node_bandwidth": 0.1}]})";
constexpr std::string_view kFast =
    R"(, "conditions": {"devices": [{"devices": "2-3", "speed": 2.5}]})";
constexpr std::string_view kChips =
    R"(, "conditions": {"devices": [{"devices": "0-3", "chip": "b200-sxm"},
                                    {"devices": "4", "chip": "a100-sxm4-80gb"}]})";

TEST(UnlikeSearch, FindsTheSamePlansAsWithoutBounds) {
  for (const std::string_view conditions : {kSlow, kFast, kChips}) {
    const Search search = search_of(search_text("", conditions));
    expect_exhaustive(search);
    const SearchAnswer answer = run_search(search);
    expect_as_run(search, answer.plans.front());
    // Where some device may be faster than the bounds have it, these say little.
    EXPECT_GE(answer.counts.bounded, conditions == kFast ? 0u : 1u) << conditions;
  }
}

TEST(UnlikeSearch, TakesSlowDevicesIntoAccount) {
  const SearchAnswer slow = run_search(search_of(search_text("", kSlow)));
  const SearchAnswer alike = run_search(search_of(search_text("", "")));
  EXPECT_GT(slow.plans.front().result.iteration_time, alike.plans.front().result.iteration_time);
}

TEST(UnlikeSearch, GivesSharesOfABatchToPlansWithAsManyRanks) {
  const Search search =
      search_of(search_text(R"("batch_shares": [1, 1, 2, 2, 3, 3, 2, 2])", kSlow),
                std::vector<std::string>{"space.tensor=1", "space.pipeline=[1,2]", "top=100"});
  expect_exhaustive(search);
  const SearchAnswer answer = run_search(search);
  bool any = false;
  for (const FoundPlan& found : run_search(search, {.exhaustive = true}).plans) {
    EXPECT_EQ(found.plan.batch_shares.weights.size(), found.plan.data == 8 ? 8u : 0u);
    any = any || found.plan.data == 8;
    expect_as_run(search, found);
  }
  EXPECT_TRUE(any);
  EXPECT_EQ(carried_notes(search.scenario).size(), 1u);
}

TEST(UnlikeSearch, GivesAListOfLayersToPlansWithAsManyStages) {
  const Search search = search_of(search_text(R"("layers": [1, 3, 3, 1])", ""),
                                  std::vector<std::string>{"space.pipeline=[2,4]"});
  expect_exhaustive(search);
  const SearchAnswer answer = run_search(search, {.exhaustive = true});
  bool listed = false;
  for (const FoundPlan& found : answer.plans) {
    EXPECT_EQ(is_listed(found.plan.layers), found.plan.pipeline == 4);
    listed = listed || found.plan.pipeline == 4;
    expect_as_run(search, found);
  }
  EXPECT_FALSE(answer.plans.empty());
  ASSERT_EQ(carried_notes(search.scenario).size(), 1u);
  EXPECT_NE(carried_notes(search.scenario).front().find("lists 4 stages"), std::string::npos);
  const Search four = search_of(search_text(R"("layers": [1, 3, 3, 1])", ""),
                                std::vector<std::string>{"space.pipeline=4"});
  for (const FoundPlan& found : run_search(four).plans) {
    EXPECT_TRUE(is_listed(found.plan.layers));
  }
}

TEST(UnlikeSearch, GivesServersToPlansThatHaveThem) {
  const Search search =
      search_of(search_text(R"("servers": 2)", ""),
                std::vector<std::string>{R"(space.sharding=["none","parameter-server"])"});
  expect_exhaustive(search);
  for (const FoundPlan& found : run_search(search).plans) {
    EXPECT_EQ(found.plan.servers.has_value(), found.plan.sharding == Sharding::parameter_server);
    expect_as_run(search, found);
  }
  const Search servers = search_of(search_text(R"("servers": 2)", ""),
                                   std::vector<std::string>{R"(space.sharding=parameter-server)"});
  for (const FoundPlan& found : run_search(servers).plans) {
    EXPECT_EQ(found.plan.servers, 2);
    expect_as_run(servers, found);
  }
  EXPECT_FALSE(run_search(servers).plans.empty());
}

/// Islands have as many ranks each: plans whose ranks cannot be shared out so are none.
TEST(UnlikeSearch, GivesIslandsToPlansWhoseRanksTheyShareOut) {
  const Search search = search_of(search_text(R"("local_steps": {"islands": 2, "steps": 50})", ""));
  expect_exhaustive(search);
  for (const FoundPlan& found : run_search(search).plans) {
    EXPECT_EQ(found.plan.data % 2, 0);
    expect_as_run(search, found);
  }
}

TEST(UnlikeSearch, ComparesPlansWithoutNoise) {
  const Search noisy = search_of(search_text(
      "", R"(, "conditions": {"compute_jitter": {"distribution": "normal", "deviation": 0.1}})"));
  const Search quiet = search_of(search_text("", ""));
  EXPECT_EQ(lines_of(run_search(noisy)), lines_of(run_search(quiet)));
  ASSERT_EQ(carried_notes(noisy.scenario).size(), 1u);
  EXPECT_NE(carried_notes(noisy.scenario).front().find("without noise"), std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
