// Elasticities: what must hold of them whatever the scenario, and against single evaluations.

#include "titer/whatif/sensitivity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace titer {
namespace TITER_TEST_FILE {

ScenarioSource with(std::string_view run, const std::vector<std::string>& sets) {
  ScenarioSource source = ScenarioSource::load(run);
  for (const std::string& set : sets) {
    source.assign(parse_assignment(set));
  }
  return source;
}

SensitivityOptions of(std::string_view name) {
  return {.of = outcome_figure(name, "--of"), .step = 0.01, .costs = {}};
}

double time_with(std::string_view run, const std::vector<std::string>& sets) {
  return estimate(with(run, sets).read()).iteration_time.si();
}

/// Computed once.
class StudySensitivity : public ::testing::Test {
 protected:
  static constexpr std::string_view kRun = "gpt3-175b-64xa100";

  static void SetUpTestSuite() {
    probe_ = std::make_unique<ScenarioProbe>(ScenarioSource::load(kRun), Fidelity::closed);
    SensitivityOptions options = of("iteration_time_s");
    options.costs = {{"cluster.chip.memory.bandwidth", 1000}, {"cluster.node.nic_bandwidth", 1}};
    found_ = std::make_unique<Sensitivity>(sensitivity(*probe_, options));
  }
  static void TearDownTestSuite() {
    found_.reset();
    probe_.reset();
  }

  static const FigureEffect& effect(std::string_view path) {
    const auto found =
        std::find_if(found_->figures.begin(), found_->figures.end(), [&](const FigureEffect& one) {
          return one.figure.path == path;
        });
    EXPECT_NE(found, found_->figures.end()) << path;
    return *found;
  }
  static const CountEffect& count(std::string_view path) {
    const auto found =
        std::find_if(found_->counts.begin(), found_->counts.end(), [&](const CountEffect& one) {
          return one.figure.path == path;
        });
    EXPECT_NE(found, found_->counts.end()) << path;
    return *found;
  }
  static double rounding() {
    return rounding_of(probe_->scenario()) / probe_->base().iteration_time;
  }

  static std::unique_ptr<ScenarioProbe> probe_;
  static std::unique_ptr<Sensitivity> found_;
};
std::unique_ptr<ScenarioProbe> StudySensitivity::probe_;
std::unique_ptr<Sensitivity> StudySensitivity::found_;

TEST_F(StudySensitivity, TimesLessRatesAddUpToOne) {
  double sum = 0;
  for (const ResourceShare& share : found_->shares) {
    EXPECT_GT(share.share, 0);
    sum += share.share;
  }
  // Each of some 25 elasticities is a difference of rounded times over a step of 2 %.
  EXPECT_NEAR(sum, 1.0, 25 * 2 * rounding() / 0.02);
}

TEST_F(StudySensitivity, ScalingAllRatesAndTimesScalesTheIteration) {
  constexpr double k = 3;
  std::vector<Assignment> changes;
  for (const ScenarioFigure& figure : scenario_figures(probe_->document())) {
    const double factor = is_rate(figure.kind) ? k : figure.kind == FigureKind::time ? 1 / k : 1;
    if (factor != 1) {
      changes.push_back({figure.place, figure_value(figure.kind, factor * figure.value), "test"});
    }
  }
  EXPECT_GT(changes.size(), 30u);
  const double before = probe_->base().iteration_time.si();
  const StepResult* after = probe_->with(changes);
  ASSERT_NE(after, nullptr) << probe_->refusal();
  EXPECT_NEAR(k * after->iteration_time.si(), before, 2 * k * rounding() * before);
}

TEST_F(StudySensitivity, AnExactOneTellsTheTimeElsewhereOnTheCurve) {
  const double time = probe_->base().iteration_time.si();
  int exact = 0;
  for (const FigureEffect& one : found_->figures) {
    const bool simple = is_rate(one.figure.kind) || one.figure.kind == FigureKind::time;
    if (!simple || one.elasticity.derivation != Derivation::exact) {
      continue;
    }
    ++exact;
    // T + E T (x'/x - 1) of a time, T - E T (x/x' - 1) of a rate.
    const double factor = 1 + 0.25 * one.elasticity.within;
    const double expected = is_rate(one.figure.kind)
                                ? time * (1 - one.elasticity.value * (1 / factor - 1))
                                : time * (1 + one.elasticity.value * (factor - 1));
    const auto there =
        outcome_at(*probe_, one.figure, of("iteration_time_s").of, factor * one.figure.value);
    ASSERT_TRUE(there);
    EXPECT_NEAR(*there, expected, 8 * rounding() * time) << one.figure.path;
  }
  EXPECT_GE(exact, 12);
}

TEST_F(StudySensitivity, LeavesTheScenarioAsItWas) {
  const StepResult* same = probe_->with({});
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(same->iteration_time, probe_->base().iteration_time);
  EXPECT_EQ(probe_->base().iteration_time.si(), time_with(kRun, {}));
}

TEST_F(StudySensitivity, AGainIsWhatARunWithTheBetterFigureSays) {
  const FigureEffect& memory = effect("cluster.chip.memory.bandwidth");
  ASSERT_TRUE(memory.gain);
  EXPECT_DOUBLE_EQ(memory.gain->to, 1.1 * 2039e9);
  const double better = time_with(kRun, {"cluster.chip.memory.bandwidth=2242.9 GB/s"});
  EXPECT_DOUBLE_EQ(memory.gain->outcome, better);
  EXPECT_DOUBLE_EQ(memory.gain->relative, (found_->outcome - better) / found_->outcome);
  // A latency gets shorter; a share is at most one.
  const FigureEffect& floor = effect("cluster.chip.launch_floor");
  ASSERT_TRUE(floor.gain);
  const Seconds now = ScenarioSource::load(kRun).read().cluster.chip.launch_floor;
  EXPECT_DOUBLE_EQ(floor.gain->to, now.si() / 1.1);
  const FigureEffect& clock = effect("cluster.chip.sustained.share");
  ASSERT_TRUE(clock.gain);
  EXPECT_EQ(clock.gain->to, 1.0);
}

TEST_F(StudySensitivity, NamesWhatDoesNotMatter) {
  const auto& unmoved = found_->unmoved;
  const auto has = [&](std::string_view path) {
    return std::find(unmoved.begin(), unmoved.end(), path) != unmoved.end();
  };
  EXPECT_TRUE(has("cluster.chip.matrix.bf16.peak")) << "the run computes in fp16";
  EXPECT_TRUE(has("cluster.chip.power"));
  EXPECT_FALSE(has("cluster.chip.matrix.fp16.peak"));
}

TEST_F(StudySensitivity, MovesWholeNumbersWithWhatTheyAreTiedTo) {
  const CountEffect& pipeline = count("plan.pipeline");
  ASSERT_TRUE(pipeline.down && pipeline.up);
  EXPECT_EQ(pipeline.down->to, 4);
  ASSERT_EQ(pipeline.down->along.size(), 1u);
  EXPECT_EQ(pipeline.down->along[0].path, "plan.data") << "as many devices";
  EXPECT_EQ(pipeline.down->along[0].value.integer, 2);
  EXPECT_EQ(pipeline.down->outcome, time_with(kRun, {"plan.pipeline=4", "plan.data=2"}));
  EXPECT_EQ(pipeline.up->to, 16);
  ASSERT_EQ(pipeline.up->along.size(), 1u);
  EXPECT_EQ(pipeline.up->along[0].path, "cluster.nodes");
  const CountEffect& batch = count("training.global_batch");
  ASSERT_TRUE(batch.up);
  const double twice = time_with(kRun, {"training.global_batch=128"});
  EXPECT_DOUBLE_EQ(batch.up->elasticity, std::log(twice / found_->outcome) / std::log(2.0));
  EXPECT_FALSE(count("training.sequence").up) << "2048 positions are learned";
}

TEST_F(StudySensitivity, OtherOutcomesFollowFromTheTime) {
  const auto elasticity_of = [&](std::string_view path, std::string_view outcome) {
    return elasticity(*probe_, effect(path).figure, of(outcome));
  };
  const std::string link = "cluster.node.fabric.bandwidth";
  const std::string peak = "cluster.chip.matrix.fp16.peak";
  const double noise = 4 * rounding() / 0.01;
  const Elasticity rate = elasticity_of(link, "tokens_per_s");
  EXPECT_EQ(rate.derivation, Derivation::exact);
  EXPECT_NEAR(rate.value, -effect(link).elasticity.value, noise);
  // MFU = F / (T n peak)
  const Elasticity mfu = elasticity_of(peak, "mfu");
  EXPECT_EQ(mfu.derivation, Derivation::exact);
  EXPECT_NEAR(mfu.value, -effect(peak).elasticity.value - 1, noise);
}

TEST_F(StudySensitivity, RanksByCost) {
  const auto& ranked = found_->by_cost;
  ASSERT_EQ(ranked.size(), 2u);
  EXPECT_EQ(ranked[0].figure.path, "cluster.node.nic_bandwidth") << "less, but cheap";
  EXPECT_DOUBLE_EQ(*ranked[1].gain->per_cost, ranked[1].gain->relative / 1000);
  SensitivityOptions options = of("iteration_time_s");
  options.costs = {{"cluster.chip.memory.bandwith", 1}};
  try {
    static_cast<void>(sensitivity(*probe_, options));
    FAIL() << "no such path";
  } catch (const InputError& error) {
    EXPECT_NE(error.lines[0].find("did you mean \"cluster.chip.memory.bandwidth\"?"),
              std::string::npos)
        << error.lines[0];
  }
}

/// Where the host is slower than the device at what it launches, every pass is its launches.
TEST(StudyElasticity, OfLaunchesIsOneWhereNothingElseTakesTime) {
  ScenarioProbe probe(with("llama3-70b-64xh100",
                           {"plan.pipeline=1",
                            "plan.tensor=1",
                            "plan.data=1",
                            "cluster.nodes=null",
                            "plan.sequence_parallel=false",
                            "training.global_batch=1",
                            "stack.dispatch=1 s"}),
                      Fidelity::closed);
  const ScenarioFigure dispatch =
      figure_at(scenario_figures(probe.document()), "stack.dispatch", "test");
  const Elasticity found = elasticity(probe, dispatch, of("iteration_time_s"));
  EXPECT_EQ(found.derivation, Derivation::exact);
  EXPECT_NEAR(found.value, 1.0, 1e-3) << "but for the optimizer";
}

TEST(StudyElasticity, IsOneSidedAtTheBoundOfAShare) {
  ScenarioProbe probe(with("gpt3-175b-64xa100", {"cluster.chip.sustained.share=1"}),
                      Fidelity::closed);
  const ScenarioFigure share =
      figure_at(scenario_figures(probe.document()), "cluster.chip.sustained.share", "test");
  const Elasticity found = elasticity(probe, share, of("iteration_time_s"));
  EXPECT_EQ(found.derivation, Derivation::one_sided);
  ASSERT_TRUE(found.down);
  EXPECT_FALSE(found.up);
  EXPECT_LT(*found.down, -0.5);
}

TEST(StudyOutcome, SuggestsTheNameThatWasMeant) {
  try {
    static_cast<void>(outcome_figure("iteration_time", "--of"));
    FAIL() << "no such figure";
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines[0],
              "--of: iteration_time: no figure of a result; did you mean \"iteration_time_s\"?");
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
