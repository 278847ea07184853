// Break-even points and what a target needs, against single evaluations.

#include "titer/whatif/break_even.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::string_view kNics = "cluster.node.nic_bandwidth";
constexpr std::string_view kMemory = "cluster.chip.memory.bandwidth";

/// A run, with one figure changed.
class Study {
 public:
  explicit Study(const std::vector<std::string>& sets) : probe(source(sets), Fidelity::closed) {}

  [[nodiscard]] ScenarioFigure figure(std::string_view path) const {
    return figure_at(scenario_figures(probe.document()), path, "test");
  }
  [[nodiscard]] StepResult at(std::string_view path, double value) {
    const ScenarioFigure changed = figure(path);
    const Assignment change{changed.place, figure_value(changed.kind, value), "test"};
    const StepResult* result = probe.with({&change, 1});
    EXPECT_NE(result, nullptr) << probe.refusal();
    return *result;
  }
  [[nodiscard]] Reach reach(std::string_view path, const Target& target) {
    for (const Reach& found : titer::reach(probe, target).figures) {
      if (found.figure.place == figure(path).place) {
        return found;
      }
    }
    ADD_FAILURE() << path;
    return {};
  }
  /// Of the iteration time over x0 / x, between two values.
  [[nodiscard]] double slope(std::string_view path, double from, double to) {
    const double now = figure(path).value;
    const double time = (at(path, to).iteration_time - at(path, from).iteration_time).si();
    return time / (now / to - now / from);
  }

  ScenarioProbe probe;

 private:
  static ScenarioSource source(const std::vector<std::string>& sets) {
    ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
    for (const std::string& set : sets) {
      source.assign(parse_assignment(set));
    }
    return source;
  }
};

/// Gradients of one stage on eight replicas, synchronised beside the backward passes.
Study overlapped() {
  return Study({"plan.overlap_grad_reduce=true",
                "plan.pipeline=1",
                "plan.data=8",
                "training.global_batch=64"});
}

TEST(StudyBreakEven, TheTimeTakesAnotherCourseAtABendAndNotBefore) {
  Study study = overlapped();
  const auto network = break_even(study.probe, study.figure(kNics));
  ASSERT_TRUE(network && network->above);
  const Bend& bend = *network->above;
  const double x = network->figure.value;
  EXPECT_GT(bend.at, x);
  ASSERT_FALSE(bend.parts.empty());
  EXPECT_EQ(bend.parts[0].part, "data_comm");
  const double now = study.slope(kNics, x, 1.001 * x);
  const double before = study.slope(kNics, 0.99 * bend.at, 0.999 * bend.at);
  const double after = study.slope(kNics, 1.001 * bend.at, 1.01 * bend.at);
  const double whole = study.probe.base().iteration_time.si();
  EXPECT_LT(std::abs(before - now), 0.01 * whole);
  EXPECT_GE(std::abs(after - now), 0.01 * whole);
  EXPECT_NEAR(bend.before, -now / whole, 1e-4);
  EXPECT_GT(std::abs(bend.before), 2 * std::abs(bend.after)) << "most of it is hidden from there";
}

/// By how much they change, whether they grow or shrink.
TEST(StudyBreakEven, PartsOfABendAreInTheOrderOfTheirChange) {
  bool shrinks_before_growing = false;
  Study study = overlapped();
  for (const ScenarioFigure& figure : scenario_figures(study.probe.document())) {
    const auto found = break_even(study.probe, figure);
    for (const auto& bend :
         {found ? found->above : std::nullopt, found ? found->below : std::nullopt}) {
      for (std::size_t i = 1; bend && i < bend->parts.size(); ++i) {
        const double first = bend->parts[i - 1].after - bend->parts[i - 1].before;
        const double next = bend->parts[i].after - bend->parts[i].before;
        EXPECT_GE(std::abs(first), std::abs(next)) << figure.place;
        shrinks_before_growing = shrinks_before_growing || (first < 0 && next > first);
      }
    }
  }
  EXPECT_TRUE(shrinks_before_growing);
}

TEST(StudyBreakEven, WhatIsSettledDoesNotChangeAnyMore) {
  Study study({"plan.pipeline_send=overlapped", "plan.tensor=4", "plan.data=4"});
  const auto network = break_even(study.probe, study.figure(kNics));
  ASSERT_TRUE(network);
  ASSERT_EQ(network->settled.size(), 1u);
  const Settled& point = network->settled[0];
  EXPECT_EQ(point.part, "data_comm");
  EXPECT_TRUE(point.upward);
  EXPECT_EQ(point.now, study.probe.base().breakdown.data_comm);
  const auto part = [&](double value) { return study.at(kNics, value).breakdown.data_comm.si(); };
  const double tolerance = rounding_of(study.probe.scenario()).si();
  EXPECT_NEAR(part(1.001 * point.from), point.rest.si(), tolerance);
  EXPECT_NEAR(part(1.5 * point.from), point.rest.si(), tolerance);
  EXPECT_GT(std::abs(part(0.999 * point.from) - point.rest.si()), tolerance);
}

TEST(StudyBreakEven, ARateOfAnotherDataTypeHasNone) {
  Study study({});
  EXPECT_FALSE(break_even(study.probe, study.figure("cluster.chip.matrix.fp32.peak")));
}

TEST(StudyReach, ATargetIsJustMet) {
  Study study = overlapped();
  const double wanted = 0.97 * study.probe.base().iteration_time.si();
  const Target target{.of = outcome_figure("iteration_time_s", "test"), .value = wanted};
  for (const std::string_view path : {kNics, kMemory}) {
    const Reach found = study.reach(path, target);
    ASSERT_TRUE(found.value) << path;
    EXPECT_LE(found.limit, wanted);
    EXPECT_EQ(found.limit, study.at(path, *found.value).iteration_time.si());
    EXPECT_GT(study.at(path, 0.9999 * *found.value).iteration_time.si(), wanted);
    EXPECT_DOUBLE_EQ(found.factor(), *found.value / found.figure.value);
  }
}

TEST(StudyReach, SaysWhatTheLimitOfAFigureIs) {
  Study study = overlapped();
  const Target target = parse_target("1 s");
  const Reach found = study.reach(kNics, target);
  EXPECT_FALSE(found.value);
  const StepResult best = study.at(kNics, 1024 * found.figure.value);
  EXPECT_EQ(found.limit, best.iteration_time.si());
  EXPECT_EQ(found.factor(), 1.0);
}

TEST(StudyReach, WhatIsMetSaysHowBadAFigureMayBecome) {
  Study study = overlapped();
  const Reach found = study.reach(kMemory, parse_target("mfu=0.3"));
  ASSERT_TRUE(found.value);
  EXPECT_LT(*found.value, found.figure.value);
  EXPECT_GE(study.at(kMemory, *found.value).mfu, 0.3);
  EXPECT_LT(study.at(kMemory, 0.9999 * *found.value).mfu, 0.3);
}

TEST(StudyReach, ReadsATimeOrANamedFigureAsTarget) {
  EXPECT_EQ(parse_target("12s").value, 12.0);
  EXPECT_EQ(parse_target("12s").of.name, "iteration_time_s");
  EXPECT_EQ(parse_target("data_comm_s=200 ms").value, 0.2);
  EXPECT_EQ(parse_target("memory_peak_bytes=40 GiB").value, 40.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(parse_target("mfu=0.5").value, 0.5);
  EXPECT_FALSE(parse_target("mfu=0.5").of.less_is_better);
  for (const char* wrong : {"", "soon", "-3 s", "mfu=", "mfu=half", "mfu=12 s", "0", "inf"}) {
    EXPECT_THROW(static_cast<void>(parse_target(wrong)), InputError) << wrong;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
