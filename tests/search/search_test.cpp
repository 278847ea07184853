// The best plans: what bounds leave out is never among them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "searches.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/report/study/search_report.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::vector<std::string> with(std::string change) { return {std::move(change)}; }

/// Bounds and memory first leave the answer as it is, and account for every plan.
SearchCounts expect_exhaustive(const Search& search) {
  const SearchAnswer all = run_search(search, {.exhaustive = true});
  const SearchAnswer pruned = run_search(search);
  EXPECT_FALSE(all.plans.empty());
  EXPECT_EQ(lines_of(pruned), lines_of(all));
  EXPECT_EQ(pruned.counts.plans, all.counts.plans);
  for (const SearchCounts& counts : {all.counts, pruned.counts}) {
    EXPECT_EQ(counts.plans,
              counts.refused + counts.over_memory + counts.over_limit + counts.bounded +
                  counts.evaluated);
  }
  EXPECT_EQ(all.counts.bounded, 0u);
  EXPECT_LT(pruned.counts.evaluated, all.counts.evaluated);
  return pruned.counts;
}

TEST(SearchExhaustive, FindsTheSamePlansOfADenseModel) {
  const SearchCounts counts = expect_exhaustive(search_of(kDenseSearch));
  EXPECT_GT(counts.bounded, counts.plans / 4);
  EXPECT_GT(counts.over_memory, 0u);
}

TEST(SearchExhaustive, FindsTheSamePlansWithExpertsAndEverySchedule) {
  expect_exhaustive(search_of(kExpertSearch));
}

TEST(SearchExhaustive, FindsTheSamePlansByOtherObjectives) {
  for (const char* objective : {"mfu", "energy", "tokens_per_dollar", "memory"}) {
    const std::vector<std::string> changes = {std::string("objective=") + objective,
                                              "economy=gpu-clouds-2026",
                                              "devices=[4,16]",
                                              "space.rank_order=tp-cp-dp-pp",
                                              "space.recompute=full",
                                              "space.sharding=zero1"};
    expect_exhaustive(search_of(kDenseSearch, changes));
  }
}

/// Also where plans that do not fit come before.
TEST(SearchExhaustive, FindsTheLeastMemory) {
  const std::vector<std::string> changes = {"objective=memory", "space.rank_order=tp-cp-dp-pp"};
  expect_exhaustive(search_of(kDenseSearch, changes));
  expect_exhaustive(search_of(kExpertSearch, changes));
}

/// Of 68,000 plans those few that may be among the ten that need least, one each of their shapes.
TEST(Search, EvaluatesFewPlansForTheLeastMemory) {
  const std::vector<std::string> changes = {"objective=memory"};
  const Search search = load_search("gpt3-175b-4096xa100", parse_assignments(changes));
  const SearchCounts counts = run_search(search, {.threads = 2}).counts;
  EXPECT_GT(counts.plans, 60'000u);
  EXPECT_LT(counts.evaluated, counts.plans / 100);
}

TEST(SearchExhaustive, FindsTheSameGoodput) {
  const std::vector<std::string> changes = {
      "objective=goodput", "reliability=assumed", "space.rank_order=tp-cp-dp-pp"};
  expect_exhaustive(search_of(kDenseSearch, changes));
}

TEST(SearchExhaustive, FindsTheSameFront) {
  const std::vector<std::string> changes = {R"(pareto=["time","memory"])",
                                            "space.rank_order=tp-cp-dp-pp"};
  const Search search = search_of(kDenseSearch, changes);
  expect_exhaustive(search);
  const SearchAnswer front = run_search(search);
  for (std::size_t i = 1; i < front.plans.size(); ++i) {
    EXPECT_GT(front.plans[i].scores[0], front.plans[i - 1].scores[0]);
    EXPECT_LT(front.plans[i].scores[1], front.plans[i - 1].scores[1]);
  }
}

TEST(SearchExhaustive, FindsTheSameBestPlanOfEachShape) {
  for (const std::string_view text : {kDenseSearch, kExpertSearch}) {
    expect_exhaustive(search_of(text, with("best_of=shape")));
  }
}

/// The first of its shape of all plans there are, and no shape twice. At this batch the best of two
/// shapes are shown as equally good nowhere, which would make them one plan of all.
TEST(Search, AnswersTheBestPlanOfEachShape) {
  const auto shape = [](const FoundPlan& found) {
    const Plan& plan = found.plan;
    return std::tuple(found.devices, plan.tensor, plan.pipeline, plan.context, plan.expert);
  };
  const std::vector<std::string> all = {"scenario.training.global_batch=32", "top=5000"};
  std::vector<FoundPlan> first;
  for (FoundPlan& found : run_search(search_of(kDenseSearch, all)).plans) {
    if (std::none_of(first.begin(), first.end(), [&](const FoundPlan& known) {
          return shape(known) == shape(found);
        })) {
      first.push_back(std::move(found));
    }
  }
  ASSERT_GT(first.size(), 7u);
  first.resize(7);
  const std::vector<std::string> shapes = {"scenario.training.global_batch=32", "best_of=shape"};
  const SearchAnswer answer = run_search(search_of(kDenseSearch, shapes));
  ASSERT_EQ(answer.plans.size(), 7u);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(shape(answer.plans[i]), shape(first[i]));
    EXPECT_EQ(answer.plans[i].scores, first[i].scores);
  }
  EXPECT_EQ(lines_of(run_search(search_of(kDenseSearch, shapes), {.threads = 3})),
            lines_of(answer));
}

TEST(SearchExhaustive, FindsTheSamePlansUnderLimits) {
  const std::vector<std::string> changes = {
      "constraints.memory_margin=0.4", "constraints.least_mfu=0.3", "space.rank_order=tp-cp-dp-pp"};
  const Search search = search_of(kDenseSearch, changes);
  expect_exhaustive(search);
  for (const FoundPlan& found : run_search(search).plans) {
    EXPECT_LE(found.result.memory_peak, 0.6 * found.result.memory_capacity);
    EXPECT_GE(found.result.mfu, 0.3);
  }
}

/// Those that need the least memory are slow, so that the limit of time decides.
TEST(SearchExhaustive, AnswersNoPlanOverTheLimitOfTime) {
  const std::vector<std::string> free = {"objective=memory", "space.rank_order=tp-cp-dp-pp"};
  const SearchAnswer any = run_search(search_of(kDenseSearch, free));
  ASSERT_FALSE(any.plans.empty());
  ASSERT_LT(any.plans.front().result.mfu, 0.35);
  std::vector<std::string> limited = free;
  limited.emplace_back("constraints.least_mfu=0.35");
  const SearchAnswer answer = run_search(search_of(kDenseSearch, limited));
  EXPECT_GT(answer.counts.over_limit, 0u);
  ASSERT_FALSE(answer.plans.empty());
  for (const FoundPlan& found : answer.plans) {
    EXPECT_GE(found.result.mfu, 0.35) << line_of(found);
  }
}

TEST(Search, SaysTheSameOnAnyNumberOfThreads) {
  const Search search = search_of(kDenseSearch);
  const SearchAnswer one = run_search(search);
  const SearchAnswer three = run_search(search, {.threads = 3});
  EXPECT_EQ(lines_of(three), lines_of(one));
  EXPECT_EQ(three.counts.evaluated, one.counts.evaluated);
  EXPECT_EQ(three.counts.bounded, one.counts.bounded);
  EXPECT_EQ(three.counts.over_memory, one.counts.over_memory);
}

TEST(Search, ListsAPlanOnceBestFirst) {
  const SearchAnswer answer = run_search(search_of(kDenseSearch));
  ASSERT_EQ(answer.plans.size(), 7u);
  for (std::size_t i = 1; i < answer.plans.size(); ++i) {
    EXPECT_LE(answer.plans[i - 1].result.iteration_time, answer.plans[i].result.iteration_time);
    EXPECT_NE(lines_of(answer)[i - 1], lines_of(answer)[i]);
  }
}

/// Ten rows are ten answers: what reads the same is one of them, and says what it stands for.
TEST(Search, FoldsPlansWhoseObjectiveReadsTheSame) {
  const Search search = search_of(kDenseSearch, with("objective=memory"));
  const SearchAnswer answer = run_search(search);
  Scenario scenario = search.scenario;
  std::set<std::string> rows;
  std::size_t folded = 0;
  for (const FoundPlan& found : answer.plans) {
    const std::string text = format(found.result.memory_peak);
    const auto form = [](const Plan& plan) {
      return fmt::format("{} {} {}", plan.tensor, plan.pipeline, name(plan.schedule));
    };
    rows.insert(text + ": " + form(found.plan));
    folded += found.alike_count;
    EXPECT_EQ(found.alike.size(), std::min<std::size_t>(found.alike_count, 99));
    for (const Plan& plan : found.alike) {
      scenario.plan = plan;
      const StepResult result = estimate(scenario);
      EXPECT_EQ(form(plan), form(found.plan));
      EXPECT_EQ(format(result.memory_peak), text);
      EXPECT_GE(result.memory_peak, found.result.memory_peak);
    }
  }
  EXPECT_EQ(rows.size(), 7u);
  EXPECT_GT(folded, 0u);
  EXPECT_EQ(lines_of(run_search(search, {.threads = 3})), lines_of(answer));
}

TEST(Search, StopsWithWhatItHas) {
  const std::atomic<bool> stop = true;
  const SearchAnswer answer = run_search(search_of(kDenseSearch), {.stop = &stop});
  EXPECT_FALSE(answer.complete);
  EXPECT_TRUE(answer.plans.empty());
  EXPECT_EQ(answer.counts.reached() + answer.counts.unreached, answer.counts.plans);
  EXPECT_GT(answer.counts.unreached, 0u);
  const SearchAnswer whole = run_search(search_of(kDenseSearch));
  EXPECT_TRUE(whole.complete);
  EXPECT_EQ(whole.counts.reached(), whole.counts.plans);
  EXPECT_EQ(whole.counts.plans, answer.counts.plans);
}

TEST(Search, SaysFirstThatItWasStopped) {
  const std::atomic<bool> stop = true;
  const Search search = search_of(kDenseSearch);
  const SearchAnswer answer = run_search(search, {.exhaustive = true, .stop = &stop});
  const std::string text = search_view(search, answer, {}).as_text();
  EXPECT_TRUE(text.substr(0, text.find('\n'))
                  .ends_with("; incomplete, stopped before all plans were through"))
      << text;
  EXPECT_NE(text.find(" not reached"), std::string::npos) << text;
  const Value json = search_view(search, answer, {}).as_json();
  EXPECT_EQ(json.find("counts")->find("unreached")->number,
            static_cast<double>(answer.counts.unreached));
}

TEST(Search, WritesAPlanThatRunsInTheSameTime) {
  for (const std::string_view text : {kDenseSearch, kExpertSearch}) {
    const Search search = search_of(text, with("top=2"));
    for (const FoundPlan& found : run_search(search).plans) {
      const ScenarioSource source = source_with(search, found.plan);
      const ScenarioSource again(parse_json(to_json(source.document().root), "best.json"));
      const StepResult result = estimate(again.read());
      EXPECT_EQ(result.iteration_time, found.result.iteration_time);
      EXPECT_EQ(result.memory_peak, found.result.memory_peak);
      EXPECT_EQ(result.devices, 64 / 2 / (text == kDenseSearch ? 2 : 1));
    }
  }
}

TEST(Search, FindsTheFewestDevicesThatAreFastEnough) {
  const std::vector<std::string> fast = {"devices=[2,4,8,16]", "target.tokens_per_s=30000"};
  const Search search = search_of(kDenseSearch, fast);
  const SearchAnswer answer = run_search(search);
  ASSERT_FALSE(answer.plans.empty());
  EXPECT_GE(answer.plans.front().result.tokens_per_s, 30000);
  EXPECT_FALSE(answer.without_plan.empty());
  // No plan of fewer is.
  const std::string fewer = "devices=" + std::to_string(answer.plans.front().devices / 2);
  const SearchAnswer slower = run_search(search_of(kDenseSearch, with(fewer)));
  EXPECT_LT(slower.plans.empty() ? 0 : slower.plans.front().result.tokens_per_s, 30000);
}

TEST(Search, FindsTheLargestModelThatFits) {
  const std::vector<std::string> models = {
      R"(largest_model=["megatron-7.5b","megatron-1t",{"layers":72},{"layers":360}])", "devices=8"};
  const SearchAnswer answer = run_search(search_of(kDenseSearch, models));
  ASSERT_FALSE(answer.plans.empty());
  EXPECT_EQ(answer.model, "layers 72");
  EXPECT_EQ(answer.without_plan, (std::vector<std::string>{"megatron-1t", "layers 360"}));
}

TEST(Search, RefinesWithEventsAndSortsAnew) {
  const Search search = search_of(kDenseSearch, with("top=3"));
  SearchAnswer answer = run_search(search);
  std::reverse(answer.plans.begin(), answer.plans.end());  // events may tell them apart otherwise
  EXPECT_TRUE(refine(search, Fidelity::event, answer).reasons.empty());
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    ASSERT_TRUE(answer.plans[i].refined);
    EXPECT_GE(*answer.plans[i].refined, 0.999 * answer.plans[i].result.iteration_time);
    EXPECT_LE(*answer.plans[i == 0 ? 0 : i - 1].refined, *answer.plans[i].refined);
  }
}

// Each list of modules by itself, and none of a scenario's own where a plan recomputes otherwise.
TEST(Search, RecomputesTheModulesThatASpaceNames) {
  const Search search = search_of(R"({
    "scenario": {"model": "megatron-1.7b", "cluster": "dgx-a100-80gb",
                 "plan": {"tensor": 2, "pipeline": 1},
                 "training": {"global_batch": 32, "sequence": 2048, "precision": "bf16"}},
    "devices": 8, "top": 1000, "any_software": true, "best_of": "plan",
    "space": {"recompute": [["mlp"], ["core_attention", "mlp"], "none", "full"]}})");
  const SearchAnswer answer = run_search(search, {.exhaustive = true});
  std::set<std::pair<Recompute, Modules>> found;
  for (const FoundPlan& plan : answer.plans) {
    Scenario scenario = search.scenario;
    scenario.plan = plan.plan;
    EXPECT_EQ(plan.result.iteration_time, estimate(scenario).iteration_time);
    found.emplace(plan.plan.recompute, plan.plan.recomputed);
  }
  constexpr Modules mlp = bit(Module::mlp);
  EXPECT_EQ(found,
            (std::set<std::pair<Recompute, Modules>>{
                {Recompute::none, Modules{0}},
                {Recompute::full, Modules{0}},
                {Recompute::modules, mlp},
                {Recompute::modules, static_cast<Modules>(mlp | bit(Module::core_attention))}}));
}

TEST(SearchSpace, LeavesOutWhatHasNoEffect) {
  const Search search = search_of(R"({
    "scenario": {"model": "megatron-1.7b", "cluster": "dgx-a100-80gb",
                 "training": {"global_batch": 8, "sequence": 2048, "precision": "bf16"}},
    "devices": 1})");
  const PlanTree tree(search.scenario, search.space, search.devices);
  // One device: micro-batches 1, 2, 4, 8 and three ways to recompute; nothing else matters.
  EXPECT_EQ(tree.plans(), 4u * 3u);
}

TEST(SearchSpace, HasOneOfRankOrdersThatPlaceGroupsAlike) {
  Search search = search_of(kDenseSearch, with("devices=64"));
  search.space = full_space(search.scenario, search.devices);
  search.space.tensor = {8};
  search.space.pipeline = {2};
  search.space.context = {1};
  const PlanTree tree(search.scenario, search.space, search.devices);
  // A node is a tensor group, or has tensor or data neighbours across nodes: tp first (of dp and pp
  // either is next), dp-tp, dp-pp (4 data ranks), pp-tp, pp-dp.
  ASSERT_EQ(tree.layouts().size(), 1u);
  std::vector<std::string> orders;
  for (const PlanPlace& place : tree.layouts().front().places) {
    Plan plan;
    tree.put(place, plan);
    orders.push_back(rank_order_name(plan));
  }
  EXPECT_EQ(orders,
            (std::vector<std::string>{"tp-dp-pp", "dp-tp-pp", "dp-pp-tp", "pp-tp-dp", "pp-dp-tp"}));
}

// Degrees that leave fewer replicas than islands are no plans; the others are found.
TEST(SearchSpace, HasPlansOfIslandsThatMeetSeldom) {
  const std::vector<std::string> islands = {"plan.local_steps.islands=4",
                                            "plan.local_steps.steps=100"};
  const SearchAnswer answer = run_search(search_of(kDenseSearch, islands));
  ASSERT_FALSE(answer.plans.empty());
  for (const FoundPlan& found : answer.plans) {
    EXPECT_EQ(found.plan.data % 4, 0);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
