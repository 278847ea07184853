// Which knobs to turn: every change is what a run with it says, and no other question.
#include "titer/whatif/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "titer/estimate/estimate.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::string_view kRun = "gpt3-175b-64xa100";

StepResult result_with(const Tuning& tuning) {
  ScenarioSource source = ScenarioSource::load(kRun);
  for (const Assignment& change : tuning.assignments()) {
    source.assign(change);
  }
  const Scenario scenario = source.read();
  EXPECT_TRUE(validate(scenario).empty());
  return estimate(scenario);
}

/// Computed once.
class Tune : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    probe_ = std::make_unique<ScenarioProbe>(ScenarioSource::load(kRun), Fidelity::closed);
    answer_ = tune(*probe_, software_abilities(ScenarioSource::load(kRun)));
  }
  static void TearDownTestSuite() { probe_.reset(); }

  static std::unique_ptr<ScenarioProbe> probe_;
  static TuneAnswer answer_;
};
std::unique_ptr<ScenarioProbe> Tune::probe_;
TuneAnswer Tune::answer_;

TEST_F(Tune, ChangesAreWhatARunWithThemSays) {
  int sound = 0;
  for (const auto* list : {&answer_.singles, &answer_.pairs}) {
    for (const Tuning& tuning : *list) {
      if (tuning.outcome != TuneOutcome::faster && tuning.outcome != TuneOutcome::slower) {
        continue;
      }
      SCOPED_TRACE(tuning.knobs.front());
      const StepResult with = result_with(tuning);
      EXPECT_EQ(with.iteration_time, tuning.iteration_time);
      EXPECT_EQ(with.memory_peak, tuning.peak);
      EXPECT_DOUBLE_EQ(tuning.gain, 1 - with.iteration_time / probe_->base().iteration_time);
      EXPECT_EQ(tuning.outcome == TuneOutcome::faster, tuning.gain > 0);
      EXPECT_GE(tuning.spare, answer_.kept_free);
      ++sound;
    }
  }
  EXPECT_GE(sound, 20);
}

TEST_F(Tune, KeepsModelDevicesAndBatch) {
  const Scenario& base = probe_->scenario();
  for (const Tuning& tuning : answer_.singles) {
    if (tuning.outcome == TuneOutcome::unsound) {
      continue;
    }
    ScenarioSource source = ScenarioSource::load(kRun);
    for (const Assignment& change : tuning.assignments()) {
      EXPECT_FALSE(change.path.starts_with("model") || change.path.starts_with("cluster"));
      source.assign(change);
    }
    const Scenario changed = source.read();
    EXPECT_EQ(changed.plan.devices(), base.plan.devices());
    EXPECT_EQ(changed.training.global_batch, base.training.global_batch);
    EXPECT_EQ(changed.training.sequence, base.training.sequence);
  }
}

TEST_F(Tune, StaysInsideOfTheSoftwareAndSaysWhy) {
  const Abilities can = software_abilities(ScenarioSource::load(kRun));
  std::size_t counted = 0;
  for (const Choice<TuneOutcome>& outcome : kTuneOutcomes) {
    counted += answer_.count(outcome.value);
  }
  EXPECT_EQ(counted, answer_.singles.size());
  EXPECT_GT(answer_.count(TuneOutcome::beyond_software), 0U);
  for (const Tuning& tuning : answer_.singles) {
    const bool told =
        tuning.outcome == TuneOutcome::beyond_software || tuning.outcome == TuneOutcome::unsound;
    EXPECT_TRUE(!told || !tuning.reason.empty()) << tuning.knobs.front();
    if (tuning.outcome == TuneOutcome::faster) {
      ScenarioSource source = ScenarioSource::load(kRun);
      for (const Assignment& change : tuning.assignments()) {
        source.assign(change);
      }
      EXPECT_TRUE(missing_abilities(can, source.read().plan).empty()) << tuning.knobs.front();
    }
  }
}

TEST_F(Tune, TheBestIsTheFastestThatFits) {
  const Tuning* best = answer_.best(true);
  ASSERT_NE(best, nullptr);
  for (const auto* list : {&answer_.singles, &answer_.pairs}) {
    for (const Tuning& tuning : *list) {
      if (tuning.outcome == TuneOutcome::faster) {
        EXPECT_LE(best->iteration_time, tuning.iteration_time);
      }
    }
  }
  for (const Tuning& pair : answer_.pairs) {
    ASSERT_EQ(pair.knobs.size(), 2U);
  }
  const Tuning* same_numbers = answer_.best(false);
  ASSERT_NE(same_numbers, nullptr);
  EXPECT_TRUE(same_numbers->same_numbers);
  EXPECT_DOUBLE_EQ(same_numbers->of_measured(Seconds::from_si(10)).si(),
                   10 * (1 - same_numbers->gain));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
