// Questions asked of the library: the answers are those that the program prints.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "titer/ask/campaign.hpp"
#include "titer/ask/run.hpp"
#include "titer/ask/search.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/ask/whatif.hpp"
#include "titer/campaign/course.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kRun = "gpt3-175b-64xa100";

std::string json_of(const Answer& answer) { return to_json(answer.view.as_json()) + "\n"; }

/// What the program prints of these words, as JSON.
std::string printed(std::vector<std::string> words) {
  words.insert(words.end(), {"--format", "json"});
  return data_of(titer(words));
}

Asked with(const std::string& name, std::vector<std::string> sets) {
  return {.what = name, .changes = parse_assignments(sets)};
}

TEST(Ask, ARunIsThatOfTheProgram) {
  EXPECT_EQ(json_of(ask(RunRequest{.scenario = {.what = kRun}})), printed({"run", kRun}));
  EXPECT_EQ(json_of(ask(RunRequest{.scenario = with(kRun, {"plan.micro_batch=2"}),
                                   .fidelity = Fidelity::network})),
            printed({"run", kRun, "--set", "plan.micro_batch=2", "--fidelity", "network"}));
  EXPECT_EQ(json_of(ask(RunRequest{.scenario = {.what = kRun}, .every_rank = true})),
            printed({"run", kRun, "--every-rank"}));
}

TEST(Ask, ADocumentIsAskedAboutAsAFileIs) {
  const Document run = load_data(kRunData, kRun);
  EXPECT_EQ(json_of(ask(RunRequest{.scenario = {.what = run}})),
            json_of(ask(RunRequest{.scenario = {.what = kRun}})));
  EXPECT_EQ(json_of(ask(DiffRequest{.a = {.what = run}, .b = with(kRun, {"plan.micro_batch=2"})})),
            printed({"diff", kRun, kRun, "--set-b", "plan.micro_batch=2"}));
  EXPECT_EQ(json_of(ask(CapacityRequest{.question = {.what = run,
                                                     .changes = parse_assignments(
                                                         std::vector<std::string>{"tokens=1T"})}})),
            printed({"capacity", kRun, "--tokens", "1T"}));
  const Document course = load_data(kCourseData, "elastic-2-then-6");
  EXPECT_EQ(json_of(ask(CourseRequest{.course = {.what = course}})),
            printed({"course", "elastic-2-then-6"}));
}

TEST(Ask, WhatDoesNotFitIsNotGood) {
  const Asked small = with(kRun, {"cluster.chip.memory.capacity=40 GiB"});
  EXPECT_TRUE(ask(RunRequest{.scenario = {.what = kRun}}).good);
  EXPECT_FALSE(ask(RunRequest{.scenario = small}).good);
  EXPECT_TRUE(ask(CheckRequest{.scenario = {.what = kRun}}).good);
  const Answer answer = ask(CheckRequest{.scenario = small});
  EXPECT_FALSE(answer.good);
  EXPECT_FALSE(answer.view.as_json().find("fits")->boolean);
  EXPECT_TRUE(answer.view.as_json().find("memory")->text.starts_with("does not fit: "));
  EXPECT_EQ(
      json_of(answer),
      titer({"check", kRun, "--set", "cluster.chip.memory.capacity=40 GiB", "--format", "json"})
          .out);
  EXPECT_FALSE(ask(CapacityRequest{.question = with(kRun, {"tokens=1T", "deadline=1 h"})}).good);
}

TEST(Ask, ARecordIsOfTheStepThatIsAnswered) {
  std::size_t ranks = 0;
  std::string title;
  const Answer answer = ask(RunRequest{
      .scenario = {.what = kRun}, .record = [&](const StepTimeline& step, const std::string& of) {
        ranks = step.ranks.size();
        title = of;
      }});
  EXPECT_EQ(ranks, 8u);
  EXPECT_TRUE(title.starts_with("GPT-3 175B on 64 x ")) << title;
  EXPECT_EQ(json_of(answer), printed({"run", kRun, "--fidelity", "event"}));
  EXPECT_THROW(static_cast<void>(ask(RunRequest{
                   .scenario = {.what = kRun}, .fidelity = Fidelity::closed, .every_rank = true})),
               InputError);
}

TEST(Ask, SamplesAreCountedAndRepeat) {
  std::size_t seen = 0;
  const RunRequest request{.scenario = with(kRun,
                                            {"conditions.compute_jitter.distribution=normal",
                                             "conditions.compute_jitter.deviation=0.05"}),
                           .samples = 5,
                           .seed = 3,
                           .threads = 2,
                           .progress = [&](std::size_t done, std::size_t of) {
                             seen = done;
                             EXPECT_EQ(of, 5u);
                           }};
  const std::string first = json_of(ask(request));
  EXPECT_GT(seen, 0u);
  EXPECT_EQ(first, json_of(ask(request)));
  EXPECT_THROW(static_cast<void>(ask(RunRequest{.scenario = {.what = kRun}, .samples = 5})),
               InputError);
}

TEST(Ask, ASearchGivesItsBestPlanToRun) {
  std::size_t total = 0;
  const SearchOutcome outcome =
      ask(SearchRequest{.search = with("llama3-70b-64xh100", {"top=2", "space.schedule=1f1b"}),
                        .threads = 2,
                        .progress = [&](std::size_t, std::size_t of) { total = of; }});
  ASSERT_TRUE(outcome.good && outcome.complete && outcome.best);
  EXPECT_GT(total, 0u);
  EXPECT_TRUE(outcome.defects.empty());
  const Value plans = *outcome.view.as_json().find("plans");
  ASSERT_EQ(plans.items.size(), 2u);
  const Value again = ask(RunRequest{.scenario = {.what = *outcome.best}}).view.as_json();
  EXPECT_EQ(plans.at("0.iteration_time_s")->number, again.at("iteration_time_s")->number);

  const std::atomic<bool> stop = true;
  const SearchOutcome stopped =
      ask(SearchRequest{.search = {.what = "llama3-70b-64xh100"}, .stop = &stop});
  EXPECT_FALSE(stopped.complete);
  EXPECT_FALSE(stopped.good);
}

/// Of the plans that a search without bounds has, each with its own draws, none takes less on
/// average than the robust best, which here is not the fastest.
TEST(Ask, ARobustSearchFindsTheLeastExpectedTime) {
  const std::vector<std::string> space = {"space.context=1",
                                          "space.micro_batch=1",
                                          "space.sequence_parallel=true",
                                          "space.tensor_overlap=none",
                                          "space.rank_order=tp-cp-dp-pp",
                                          "space.schedule=1f1b",
                                          "space.recompute=full",
                                          "best_of=plan"};
  std::vector<std::string> robust = space;
  robust.insert(robust.end(), {"robust=true", "top=3"});
  std::vector<std::string> all = space;
  all.push_back("top=1000");
  const auto plans_of = [](const std::vector<std::string>& changes, bool exhaustive) {
    return *ask(SearchRequest{.search = with("mixtral-8x7b-64xh100", changes),
                              .exhaustive = exhaustive})
                .view.as_json()
                .find("plans");
  };
  const Value best = plans_of(robust, false);
  const Value every = plans_of(all, true);
  ASSERT_EQ(best.items.size(), 3U);
  ASSERT_GT(every.items.size(), 10U);
  double least = every.at("0.expected_time_s")->number;
  for (const Value& plan : every.items) {
    least = std::min(least, plan.find("expected_time_s")->number);
  }
  EXPECT_EQ(best.at("0.expected_time_s")->number, least);
  EXPECT_THROW(static_cast<void>(plans_of({"robust=true", "objective=mfu"}, false)), InputError);
}

TEST(Ask, TheTermsAreOfTheClosedForm) {
  EXPECT_EQ(json_of(ask(ExplainRequest{.scenario = {.what = kRun}})), printed({"explain", kRun}));
  EXPECT_THROW(static_cast<void>(
                   ask(ExplainRequest{.scenario = {.what = kRun}, .fidelity = Fidelity::event})),
               InputError);
}

TEST(Ask, SensitivityReadsItsFiguresAsTheProgramDoes) {
  EXPECT_EQ(json_of(ask(SensitivityRequest{.scenario = {.what = kRun},
                                           .of = "mfu",
                                           .reach = "mfu=0.5",
                                           .costs = {"cluster.chip.memory.bandwidth=$200"}})),
            printed({"sensitivity",
                     kRun,
                     "--of",
                     "mfu",
                     "--reach",
                     "mfu=0.5",
                     "--cost",
                     "cluster.chip.memory.bandwidth=$200"}));
}

TEST(Ask, NamesWhatIsShipped) {
  for (const auto& [kind, data] : data_kinds()) {
    EXPECT_FALSE(shipped(kind).empty()) << kind;
  }
  const std::vector<std::string> runs = shipped("runs");
  EXPECT_TRUE(std::binary_search(runs.begin(), runs.end(), kRun));
  try {
    static_cast<void>(shipped("chip"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_TRUE(contains(error.what(), "did you mean \"chips\"?")) << error.what();
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
