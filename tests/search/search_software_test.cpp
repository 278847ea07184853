// A search stays inside what its software can do, counts what it leaves out, and says what that
// costs.

#include <gtest/gtest.h>

#include <set>

#include "searches.hpp"
#include "titer/report/study/search_report.hpp"
#include "titer/scenario/notes.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// Megatron-LM of 2021 to 2022 has 1F1B and zero1 of what the dense search varies.
Search inside(std::vector<std::string> changes = {}) {
  changes.emplace_back("any_software=false");
  return search_of(kDenseSearch, changes);
}

std::string text_of_plan(const Plan& plan) {
  std::string text = std::to_string(plan.data);
  for (const SearchKey& key : search_keys()) {
    text += ", " + std::string(key.name) + " " + to_json(key.value(plan), 0);
  }
  return text;
}

/// All plans of a tree that software of these abilities can run, by asking of each.
std::multiset<std::string> plans_of(const PlanTree& tree, Plan plan, const Abilities& abilities) {
  std::multiset<std::string> plans;
  for (const LayerChoice& layer : tree.layers()) {
    for (const PlanPlace& place : tree.layout(layer).places) {
      if (!tree.has_batch(layer, place)) {
        continue;
      }
      tree.put(layer, plan);
      tree.put(place, plan);
      for (const PipelineChoice& pipeline : tree.pipelines(layer, place)) {
        tree.put(pipeline, plan);
        for (const StateChoice& state : tree.states(layer, place)) {
          for (const StateChoice::Overlap& overlap : state.overlaps) {
            tree.put(state, overlap, plan);
            if (missing_abilities(abilities, plan).empty()) {
              plans.insert(text_of_plan(plan));
            }
          }
        }
      }
    }
  }
  return plans;
}

/// Some of all plans.
void expect_those_that_it_can_run(const Search& search) {
  const PlanTree all(search.scenario, search.space, search.devices);
  const PlanTree able(search.scenario, search.space, search.devices, search.abilities);
  const auto expected = plans_of(all, search.scenario.plan, search.abilities);
  EXPECT_EQ(plans_of(able, search.scenario.plan, Abilities()), expected);
  EXPECT_EQ(able.plans(), expected.size());
  EXPECT_LT(able.plans(), all.plans());
  EXPECT_GT(able.plans(), 0u);
}

TEST(SearchSoftware, HasThePlansThatItCanRunAndNoOthers) {
  for (const char* stack : {"megatron-lm", "megatron-core", "deepspeed", "fsdp", "torchtitan"}) {
    SCOPED_TRACE(stack);
    const Search search = inside({std::string("stack=") + stack,
                                  "devices=8",
                                  "space.virtual_stages=[1,2,3]",
                                  R"(space.sharding=["none","zero1","zero2","zero3"])",
                                  R"(space.schedule=["1f1b","zb-v","dualpipev"])",
                                  R"(space.tensor_overlap=["none","bulk","ring"])"});
    expect_those_that_it_can_run(search);
  }
}

/// Beside another micro-batch with stages where these are virtual, and without full recomputation.
TEST(SearchSoftware, SendsTokensToExpertsAsItCan) {
  for (const char* stack : {"megatron-core", "nemo", "torchtitan", "maxtext"}) {
    SCOPED_TRACE(stack);
    const std::vector<std::string> changes = {std::string("stack=") + stack,
                                              "any_software=false",
                                              "space.pipeline=[1,4]",
                                              "space.expert_dispatch=null",
                                              R"(space.recompute=["none","full"])"};
    const Search search = search_of(kExpertSearch, changes);
    expect_those_that_it_can_run(search);
    const PlanTree able(search.scenario, search.space, search.devices, search.abilities);
    bool overlaps = false;
    for (const LayerChoice& layer : able.layers()) {
      overlaps = overlaps || layer.exchange.overlap;
      EXPECT_TRUE(able.layout(layer).expert > 1 || layer.exchange == ExpertExchange());
      EXPECT_FALSE(layer.exchange.overlap && std::get<0>(layer.recompute) == Recompute::full);
    }
    EXPECT_EQ(overlaps, std::string_view(stack) == "megatron-core");
  }
}

TEST(SearchSoftware, FindsTheFastestWayToSendTokens) {
  const std::vector<std::string> changes = {
      "space.expert=8", "any_software=false", "top=1", "scenario.training.global_batch=128"};
  const auto best_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = changes;
    all.insert(all.end(), more.begin(), more.end());
    return run_search(search_of(kExpertSearch, all)).plans.front();
  };
  const FoundPlan best = best_of({});
  EXPECT_TRUE(best.plan.expert_overlap);
  for (const char* dispatch : {"all-to-all", "deduplicated"}) {
    for (const char* overlap : {"false", "true"}) {
      EXPECT_LE(best.result.iteration_time,
                best_of({std::string("space.expert_dispatch=") + dispatch,
                         std::string("space.expert_overlap=") + overlap})
                    .result.iteration_time);
    }
  }
}

TEST(SearchSoftware, LeavesOutAndCountsWhatItCannotRun) {
  const Search search = inside();
  const SearchAnswer answer = run_search(search);
  ASSERT_FALSE(answer.plans.empty());
  for (const FoundPlan& found : answer.plans) {
    EXPECT_EQ(name(found.plan.schedule), "1f1b");
    EXPECT_NE(found.plan.sharding, Sharding::zero3);
    EXPECT_EQ(found.plan.context, 1);
  }
  const SearchAnswer any = run_search(search_of(kDenseSearch));
  EXPECT_EQ(answer.counts.plans + answer.counts.beyond, any.counts.plans);
  EXPECT_EQ(any.counts.beyond, 0u);
}

TEST(SearchSoftware, SaysWhatStayingInsideCosts) {
  const Search search = inside();
  const SearchAnswer answer = run_search(search);
  const auto beyond = best_beyond_software(search, answer);
  ASSERT_EQ(beyond.size(), 1u);
  // It is the best of any software.
  const SearchAnswer any = run_search(search_of(kDenseSearch));
  const FoundPlan& best = beyond.front().best.plans.front();
  EXPECT_EQ(best.result.iteration_time, any.plans.front().result.iteration_time);
  EXPECT_LT(best.result.iteration_time, answer.plans.front().result.iteration_time);
  Scenario scenario = search.scenario;
  scenario.plan = best.plan;
  EXPECT_FALSE(beyond_software(search.abilities, scenario).empty());
  // Where nothing is left out, or nothing better is, there is nothing to say.
  EXPECT_TRUE(best_beyond_software(search_of(kDenseSearch), any).empty());
  const Search plain = inside({"space.schedule=1f1b",
                               "space.sharding=zero1",
                               "space.context=1",
                               "space.overlap_grad_reduce=false"});
  EXPECT_TRUE(best_beyond_software(plain, run_search(plain)).empty());
}

TEST(SearchSoftware, SaysWhatStayingInsideCostsAtTheEndsOfAFront) {
  const std::vector<std::string> front = {R"(pareto=["time","memory"])"};
  const Search search = inside(front);
  const SearchAnswer answer = run_search(search);
  const auto beyond = best_beyond_software(search, answer);
  ASSERT_FALSE(beyond.empty());
  const SearchAnswer any = run_search(search_of(kDenseSearch, front));
  for (const BeyondSoftware& one : beyond) {
    const FoundPlan& best = one.best.plans.front();
    const FoundPlan& known = *best_by(answer, one.objective);
    EXPECT_EQ(best.scores.front(), best_by(any, one.objective)->scores[one.objective]);
    EXPECT_LT(best.scores.front(), known.scores[one.objective]);
    Scenario scenario = search.scenario;
    scenario.plan = best.plan;
    EXPECT_FALSE(beyond_software(search.abilities, scenario).empty());
  }
  const FoundPlan& fastest = beyond.front().best.plans.front();
  ASSERT_EQ(search.objectives[beyond.front().objective], Objective::time);
  EXPECT_NE(search_view(search, answer, {}, beyond)
                .as_text()
                .find("\n  beyond megatron-lm (--any-software): time " +
                      format(fastest.result.iteration_time) + " instead of " +
                      format(best_by(answer, 0)->result.iteration_time) + " ("),
            std::string::npos);
  const Value json = search_view(search, answer, {}, beyond).as_json();
  ASSERT_EQ(json.find("beyond_software")->items.size(), beyond.size());
  EXPECT_EQ(json.find("beyond_software")->items[0].find("objective")->text, "time");
  EXPECT_TRUE(best_beyond_software(search_of(kDenseSearch, front), any).empty());
}

TEST(SearchSoftware, NamesDegreesThatDoNotWorkOut) {
  const std::vector<std::string> sixteen = {"space.pipeline=[16,64]", "space.tensor=[1,48]"};
  const Search search = search_of(R"({
    "scenario": {"model": "deepseek-v3", "cluster": "dgx-h100", "stack": "megatron-core",
                 "training": {"global_batch": 256, "sequence": 4096, "precision": "bf16"}},
    "devices": 256})",
                                  sixteen);
  const std::vector<std::string> lines = degrees_left_out(search);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "no plan with pipeline 64: 61 layers are not shared out by even");
  EXPECT_EQ(lines[1], "no plan with tensor 48: 256 devices are no multiple");
  const std::vector<std::string> micro_batches = {"space.micro_batch=[1,3,32]"};
  const std::vector<std::string> others = degrees_left_out(search_of(kDenseSearch, micro_batches));
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0], "no plan with micro_batch 3, 32: a batch of 16 is no multiple");
  EXPECT_TRUE(degrees_left_out(search_of(kDenseSearch)).empty());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
