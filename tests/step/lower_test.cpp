#include "titer/step/lower.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "step/scenarios.hpp"
#include "titer/step/estimate.hpp"

namespace titer {
namespace {

constexpr int kRandomScenarios = 600;

/// Half a picosecond for every task: what rounding the durations to ticks may amount to.
double rounding(const LoweredStep& step) {
  return 0.5e-12 * static_cast<double>(step.graph.size());
}

void expect_agreement(const Scenario& scenario) {
  const StepResult closed = estimate(scenario);
  const StepResult events = simulate(scenario);
  const double tolerance = rounding(lower(scenario));
  const std::string text = scenarios::text_of(scenario);
  EXPECT_EQ(to_ticks(closed.iteration_time), to_ticks(events.iteration_time)) << text;
  EXPECT_EQ(closed.reference_stage, events.reference_stage) << text;
  for (const BreakdownPart& part : kBreakdownParts) {
    EXPECT_NEAR((closed.breakdown.*part.value).si(), (events.breakdown.*part.value).si(), tolerance)
        << text << ": " << part.name;
  }
  for (const CommunicationPart& part : kCommunicationParts) {
    EXPECT_EQ(closed.comm_total.*part.value, events.comm_total.*part.value)
        << text << ": " << part.name;
  }
  EXPECT_NEAR(closed.mfu, events.mfu, 1e-12 * closed.mfu) << text;
  EXPECT_EQ(closed.memory_peak, events.memory_peak) << text;
}

TEST(ClosedForm, IsWhatTheEventsTake) {
  scenarios::Maker maker(11);
  std::set<std::string> schedules;
  int interleaved = 0;
  int on_one_stage = 0;
  int fewer_than_stages = 0;
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    schedules.insert(std::string(name(scenario.plan.schedule)));
    interleaved += scenario.plan.virtual_stages > 1 ? 1 : 0;
    on_one_stage += scenario.plan.pipeline == 1 ? 1 : 0;
    fewer_than_stages += scenario.micro_batches() < scenario.plan.pipeline ? 1 : 0;
    expect_agreement(scenario);
  }
  EXPECT_EQ(schedules.size(), std::variant_size_v<Schedule>) << "every schedule was tried";
  EXPECT_GT(interleaved, 20);
  EXPECT_GT(on_one_stage, 20);
  EXPECT_GT(fewer_than_stages, 20);
}

TEST(ClosedForm, IsWhatTheEventsTakeInTheShippedRuns) {
  for (const std::string& name : shipped_names(kRunData)) {
    expect_agreement(ScenarioSource::load(name).read());
  }
}

TEST(Lowering, GivesEveryStageALaneAndEveryTaskALabel) {
  const Scenario scenario = scenarios::shipped_run();
  const LoweredStep step = lower(scenario);
  EXPECT_EQ(step.graph.resources(), 8U);
  ASSERT_EQ(step.labels.size(), step.graph.size());
  for (TaskId task = 0; task < step.graph.size(); ++task) {
    EXPECT_EQ(static_cast<int>(step.graph.resource(task)), step.labels[task].stage);
  }
}

TEST(Lowering, HasATaskForEveryPassAndWhatGoesWithIt) {
  const Scenario scenario = scenarios::shipped_run();
  const LoweredStep step = lower(scenario);
  const auto count = [&](TaskPart part) {
    return std::count_if(step.labels.begin(), step.labels.end(), [&](const TaskLabel& label) {
      return label.part == part;
    });
  };
  const int p = 8;
  const int v = 3;
  const int m = 64;
  EXPECT_EQ(count(TaskPart::forward), p * v * m);
  EXPECT_EQ(count(TaskPart::backward), p * v * m);
  EXPECT_EQ(count(TaskPart::recompute), p * v * m);
  EXPECT_EQ(count(TaskPart::optimizer), p);
  EXPECT_EQ(count(TaskPart::data_comm), 0) << "d = 1";
  // Both ways over every boundary of p v virtual stages, and the tied table at both ends.
  EXPECT_EQ(count(TaskPart::pipeline_comm), 2 * (p * v - 1) * m + 2);
}

TEST(Lowering, LeavesOutWhatTakesNoTime) {
  const Scenario scenario = scenarios::shipped_run({"plan.tensor=1",
                                                    "plan.sequence_parallel=false",
                                                    "plan.pipeline=1",
                                                    "plan.virtual_stages=1",
                                                    "cluster.nodes=8",
                                                    "plan.data=64"});
  const LoweredStep step = lower(scenario);
  for (const TaskLabel& label : step.labels) {
    EXPECT_NE(label.part, TaskPart::tensor_comm);
    EXPECT_NE(label.part, TaskPart::pipeline_comm);
  }
}

TEST(Simulation, BusyTimeOfTheReferenceStageIsItsBreakdownWithoutTheBubble) {
  scenarios::Maker maker(12);
  for (int i = 0; i < 50; ++i) {
    const Scenario scenario = maker.next();
    const StepResult result = simulate(scenario);
    const auto busy = busy_time(lower(scenario).graph);
    EXPECT_NEAR((result.breakdown.total() - result.breakdown.bubble).si(),
                to_seconds(busy[static_cast<std::size_t>(result.reference_stage)]).si(),
                1e-12 * result.iteration_time.si())
        << scenarios::text_of(scenario);
  }
}

TEST(Simulation, IsTheSameEveryTime) {
  const Scenario scenario = scenarios::shipped_run();
  EXPECT_EQ(simulate(scenario).iteration_time, simulate(scenario).iteration_time);
}

}  // namespace
}  // namespace titer
