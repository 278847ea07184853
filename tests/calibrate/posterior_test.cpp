#include "titer/calibrate/posterior.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "titer/calibrate/posterior_trial.hpp"
#include "titer/calibrate/posterior_update.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/input/input_error.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// A shipped run with changes; measured: what is predicted of it with `truth` besides, times
/// `factor`.
MeasuredRun made_run(const std::vector<Assignment>& changes,
                     const std::vector<Assignment>& truth = {},
                     double factor = 1) {
  ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
  for (const Assignment& change : changes) {
    source.assign(change);
  }
  MeasuredRun run{.scenario = source.read(),
                  .iteration_time = {},
                  .group = "family",
                  .name = "run",
                  .source = std::make_shared<ScenarioSource>(source)};
  for (const Assignment& change : truth) {
    source.assign(change);
  }
  run.iteration_time = factor * estimate(source.read()).iteration_time;
  return run;
}

Assignment set(std::string path, Value value) { return {std::move(path), std::move(value), "set"}; }

const LearnedFigure& figure_of(const Posterior& posterior, const std::string& figure) {
  const auto found = std::find_if(posterior.figures.begin(),
                                  posterior.figures.end(),
                                  [&](const LearnedFigure& one) { return one.figure == figure; });
  EXPECT_NE(found, posterior.figures.end()) << figure;
  return *found;
}

TEST(Posterior, StaysWhereARunIsAsPredictedAndIsSurer) {
  const MeasuredRun run = made_run({});
  const Posterior posterior = learn(std::vector{run});
  for (const LearnedFigure& figure : posterior.figures) {
    EXPECT_NEAR(figure.factor, 1.0, 1e-6) << figure.figure;
    EXPECT_LE(figure.error, figure.spread * (1 + 1e-6)) << figure.figure;
  }
  const PredictedSpread spread = predicted_spread(posterior, run);
  EXPECT_LT(spread.after, spread.before);
  EXPECT_GT(spread.after, kRunScatter);
}

TEST(Posterior, GoesTowardsARunAndNoFurther) {
  for (const double factor : {0.9, 1.15}) {
    const MeasuredRun run = made_run({}, {}, factor);
    const Posterior posterior = learn(std::vector{run});
    const double before = std::log(posterior.runs[0].before / posterior.runs[0].measured);
    const double after = std::log(posterior.runs[0].after / posterior.runs[0].measured);
    EXPECT_NEAR(before, -std::log(factor), 1e-9);
    EXPECT_LT(std::abs(after), std::abs(before));
    EXPECT_GT(after * before, 0.0) << "the prior pulls back";
    EXPECT_NEAR(predicted_time(posterior, run) / posterior.runs[0].after, 1.0, 1e-9);
  }
}

TEST(Posterior, LeavesFiguresOnWhichNoRunBears) {
  // One node has no network between nodes.
  const MeasuredRun run = made_run({set("model", "megatron-7.5b"),
                                    set("plan.pipeline", 1),
                                    set("plan.virtual_stages", 1),
                                    set("cluster.nodes", 1)},
                                   {},
                                   1.2);
  const Posterior posterior = learn(std::vector{run});
  const LearnedFigure& network = figure_of(posterior, "network.*.efficiency");
  EXPECT_NEAR(network.factor, 1.0, 1e-9);
  EXPECT_NEAR(network.error, network.spread, 1e-6);
  EXPECT_GT(posterior.runs[0].after, 1.02 * posterior.runs[0].before);
}

TEST(Posterior, TellsTheNextRunFromAFew) {
  const std::vector<Assignment> truth = {set("stack.memory_traffic", 1.9),
                                         set("cluster.chip.matrix.fp16.plateau", 0.75)};
  std::vector<MeasuredRun> runs;
  for (const int micro_batch : {1, 2, 4}) {
    runs.push_back(made_run({set("plan.micro_batch", micro_batch)}, truth));
  }
  const MeasuredRun next =
      made_run({set("plan.micro_batch", 2), set("plan.recompute", "full")}, truth);
  const double measured = next.iteration_time.si();
  const double before = std::abs(predicted_time({}, next) / measured - 1.0);
  const double after = std::abs(predicted_time(learn(runs), next) / measured - 1.0);
  EXPECT_GT(before, 0.05);
  EXPECT_LT(after, 0.3 * before);
}

TEST(Posterior, DoesNotFollowARunThatIsFarOff) {
  std::vector<MeasuredRun> runs = {made_run({}), made_run({}), made_run({})};
  runs.push_back(made_run({}, {}, 3));
  const Posterior posterior = learn(runs);
  EXPECT_LT(std::abs(posterior.runs[0].after / posterior.runs[0].measured - 1.0), 0.1);
}

TEST(Likeness, IsWholeOfTheSameAndNothingOfOtherSoftwareOrChips) {
  const Scenario here = made_run({}).scenario;
  EXPECT_DOUBLE_EQ(likeness(here, here), 1.0);
  const Scenario near = made_run({set("plan.micro_batch", 2)}).scenario;
  const Scenario far = made_run({set("plan.micro_batch", 8)}).scenario;
  EXPECT_DOUBLE_EQ(likeness(here, near), likeness(near, here));
  EXPECT_LT(likeness(here, far), likeness(here, near));
  // Twice the tokens at once, half the micro-batches; sizes that differ by e^1.5 are one apart, and
  // micro-batches count half.
  const double apart = std::log(2.0) / 1.5;
  EXPECT_NEAR(likeness(here, near), std::exp(-0.5 * apart * apart * (1.0 + 0.25)), 1e-12);
  const Scenario again = made_run({set("plan.recompute", "full")}).scenario;
  EXPECT_NEAR(likeness(here, again), std::exp(-0.5), 1e-12);
  EXPECT_EQ(likeness(here, made_run({set("stack", "nemo")}).scenario), 0.0);
  EXPECT_EQ(likeness(here, made_run({set("cluster", "dgx-h100")}).scenario), 0.0);
}

TEST(Posterior, AsksARunsNeighbourBeforeOthers) {
  const MeasuredRun here = made_run({}, {}, 1.12);
  const MeasuredRun there =
      made_run({set("plan.micro_batch", 8), set("plan.recompute", "full")}, {}, 0.95);
  const std::vector<MeasuredRun> runs = {here, there};
  const auto off = [](const Posterior& posterior, const MeasuredRun& run) {
    return std::abs(std::log(predicted_time(posterior, run) / run.iteration_time.si()));
  };
  for (const MeasuredRun& run : runs) {
    const Posterior asked = learn(runs, &run.scenario);
    EXPECT_LT(off(asked, run), kRunNoise) << "what was measured is answered";
    EXPECT_LT(off(asked, run), off(learn(runs), run));
    EXPECT_LT(predicted_spread(asked, run).after, predicted_spread(learn(runs), run).after);
  }
}

TEST(PredictedSpread, NarrowsBarsByWhatIsLeftAndNeverWidensThem) {
  const ErrorShares half = PredictedSpread{.before = 0.2, .after = 0.1}.narrowed({0.81, 1.44});
  EXPECT_NEAR(half.low, 0.9, 1e-12);
  EXPECT_NEAR(half.high, 1.2, 1e-12);
  const ErrorShares same = PredictedSpread{.before = 0.1, .after = 0.2}.narrowed({0.81, 1.44});
  EXPECT_EQ(same.low, 0.81);
}

TEST(Posterior, NeedsRuns) { EXPECT_THROW(static_cast<void>(learn({})), InputError); }

TEST(LearnedChanges, MakeTheScenarioAnswerAsThePosteriorDoes) {
  const std::vector<MeasuredRun> runs = {made_run({}, {}, 1.12)};
  const Posterior posterior = learn(runs);
  const LearnedChanges learned = learned_changes(posterior, runs, "runs.csv", *runs[0].source, {});
  ScenarioSource source = *runs[0].source;
  for (const Assignment& change : learned.changes) {
    source.assign(change);
  }
  const StepResult result = estimate(source.read());
  // Files have four digits of a figure.
  EXPECT_NEAR(result.iteration_time.si() / posterior.runs[0].after, 1.0, 1e-3);
  const StepResult before = estimate(runs[0].scenario);
  ASSERT_TRUE(result.error_bar && before.error_bar);
  // Also as far as the bar is that of public runs like it.
  const auto above = [](const StepResult& of) {
    return std::log(of.error_bar->high / of.iteration_time);
  };
  const auto below = [](const StepResult& of) {
    return std::log(of.error_bar->low / of.iteration_time);
  };
  const double left = predicted_spread(posterior, runs[0]).left();
  EXPECT_NEAR(above(result) / above(before), left, 0.01);
  EXPECT_NEAR(below(result) / below(before), left, 0.01);
  EXPECT_GE(learned.notes.size(), 3u);
}

TEST(LearnedChanges, NameTheRunThatIsMostLikeWhatIsAsked) {
  MeasuredRun here = made_run({}, {}, 1.12);
  here.name = "here";
  const MeasuredRun there = made_run({set("plan.micro_batch", 8)}, {}, 0.95);
  const std::vector<MeasuredRun> runs = {there, here};
  const LearnedChanges learned =
      learned_changes(learn_for(*here.source, runs), runs, "runs.csv", *here.source, {});
  ASSERT_GE(learned.notes.size(), 2u);
  EXPECT_TRUE(learned.notes[1].starts_with("here, measured at ")) << learned.notes[1];
  EXPECT_NE(learned.notes[1].find("tells most: 10.7 % off before"), std::string::npos)
      << learned.notes[1] << ": 1 / 1.12 - 1";
}

TEST(LearnedChanges, KeepValuesThatAreGiven) {
  const std::vector<MeasuredRun> runs = {made_run({}, {}, 1.12)};
  const std::vector<Assignment> given = {set("stack.memory_traffic", 1.3)};
  const LearnedChanges learned =
      learned_changes(learn(runs), runs, "runs.csv", *runs[0].source, given);
  EXPECT_TRUE(
      std::none_of(learned.changes.begin(), learned.changes.end(), [](const Assignment& change) {
        return change.path.starts_with("stack.memory_traffic");
      }));
}

TEST(LearnedChanges, RefuseRunsOfNothingThatTheScenarioHas) {
  const std::vector<MeasuredRun> runs = {made_run({})};
  const ScenarioSource other = ScenarioSource::load("llama3-70b-64xh100");
  ScenarioSource elsewhere = other;
  elsewhere.assign(set("stack", "nemo"));
  EXPECT_THROW(static_cast<void>(learned_changes(learn(runs), runs, "runs.csv", elsewhere, {})),
               InputError);
}

TEST(GivenTrial, GivesTheShortestToTheLongest) {
  std::vector<MeasuredRun> runs;
  for (int batch = 1; batch <= 12; ++batch) {
    runs.push_back(
        made_run({set("training.global_batch", 16 * batch)}, {set("stack.memory_traffic", 1.8)}));
    runs.back().name = std::to_string(batch);
  }
  std::reverse(runs.begin(), runs.end());
  const std::vector<GivenTrial> trials = try_given(runs, 3);
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].given, (std::vector<std::string>{"1", "7", "12"}));
  EXPECT_EQ(trials[0].after.rows, 12u - 3u);
  EXPECT_LT(trials[0].after.mean, trials[0].before.mean);
  EXPECT_EQ(trials[0].coverage80, 1.0);
  runs.resize(kLeastTried - 1);
  EXPECT_TRUE(try_given(runs, 3).empty());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
