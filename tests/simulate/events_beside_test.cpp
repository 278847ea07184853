#include "titer/simulate/events_beside.hpp"

#include <gtest/gtest.h>

#include "scenario/scenarios.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Llama 2 13B on 32 A100 of Polaris, sends beside compute that they slow down, and which makes
/// them late: that, events alone follow.
Scenario overlapping(const std::vector<std::string>& more = {}) {
  std::vector<std::string> changes = {
      "model=llama2-13b",
      "cluster={\"name\": \"polaris\"}",
      "stack=nemo",
      "stack.overlap_slowdown=1.9",
      "plan={\"pipeline\": 8, \"tensor\": 1, \"data\": 4, \"virtual_stages\": 5}",
      "training={\"global_batch\": 32, \"sequence\": 1024, \"precision\": \"bf16\"}"};
  changes.insert(changes.end(), more.begin(), more.end());
  return scenarios::shipped_run(changes);
}

TEST(EventsBeside, AreToldWhereTheySayAnotherTime) {
  const Scenario scenario = overlapping();
  StepResult result = estimate(scenario);
  const Seconds event = simulate(scenario).result.iteration_time;
  ASSERT_GT(event, 1.03 * result.iteration_time);
  result.events = events_beside(scenario, result);
  ASSERT_TRUE(result.events.has_value());
  EXPECT_EQ(result.events->iteration_time, event);
  const std::string text = step_view(scenario, result).as_text();
  EXPECT_NE(text.find("events: " + format(event) + ", +"), std::string::npos) << text;
  EXPECT_EQ(step_view(scenario, result).as_json().find("event_iteration_time_s")->number,
            event.si());
  EXPECT_NE(step_view(scenario, result).as_csv().find("event_iteration_time_s"), std::string::npos);
}

TEST(EventsBeside, AreNotToldWhereTheyAgree) {
  const Scenario blocking = overlapping({"plan.overlap_grad_reduce=false",
                                         "plan.overlap_param_gather=false",
                                         "plan.pipeline_send=blocking"});
  EXPECT_FALSE(events_beside(blocking, estimate(blocking)).has_value());
  const Scenario free = overlapping({"stack.overlap_slowdown=1"});
  EXPECT_FALSE(events_beside(free, estimate(free)).has_value());
  const Scenario e7 = overlapping({"formula={\"name\": \"e7\", \"utilization\": 0.4}"});
  StepResult result;
  Estimator estimator;
  evaluate(e7, Fidelity::closed, estimator, result);
  EXPECT_FALSE(events_beside(e7, result).has_value());
}

/// How much longer events take than the closed form, and how much longer both take than if nothing
/// were slowed down by what is beside it.
struct Slowed {
  double events = 0;
  double all = 0;
};
Slowed slowed(std::vector<std::string> more) {
  const Scenario scenario = overlapping(more);
  more.emplace_back("stack.overlap_slowdown=1");
  const Seconds closed = estimate(scenario).iteration_time;
  const Seconds free = estimate(overlapping(more)).iteration_time;
  return {.events = simulate(scenario).result.iteration_time / closed - 1,
          .all = closed / free - 1};
}

TEST(EventsBeside, AreNearTheClosedFormWhereLanesOfDataAreBesidePasses) {
  const std::string slowdown = "stack.overlap_slowdown=1.2";
  const std::string sharded = "plan.sharding=zero1";
  // Buckets beside interleaved passes, whose messages need the same links.
  const Slowed interleaved =
      slowed({slowdown, sharded, "plan.pipeline=4", "plan.tensor=2", "training.global_batch=16"});
  EXPECT_NEAR(interleaved.events, 0, 0.025);
  EXPECT_GT(interleaved.all, 0.1);
  // Messages that a rank waits for.
  const Slowed waiting = slowed({slowdown,
                                 sharded,
                                 "plan.pipeline=4",
                                 "plan.tensor=2",
                                 "plan.virtual_stages=1",
                                 "plan.pipeline_send=blocking"});
  EXPECT_NEAR(waiting.events, 0, 0.02);
  EXPECT_GT(waiting.all, 0.03);
  // No messages, but tensor ranks in two nodes, whose transfers need the links of the buckets.
  const Slowed alone = slowed({slowdown,
                               sharded,
                               "plan.pipeline=1",
                               "plan.tensor=8",
                               "plan.virtual_stages=1",
                               "plan.micro_batch=2"});
  EXPECT_NEAR(alone.events, 0, 0.02);
  EXPECT_GT(alone.all, 0.05);
}

TEST(EventsBeside, AreLeftOutOfStepsThatAreTooLargeAndSaySo) {
  const Scenario large = overlapping({"training.global_batch=51200"});
  StepResult result = estimate(large);
  result.events = events_beside(large, result);
  ASSERT_TRUE(result.events.has_value());
  EXPECT_FALSE(result.events->iteration_time.has_value());
  EXPECT_NE(step_view(large, result).as_text().find("events: not followed beside 1024000 passes"),
            std::string::npos)
      << step_view(large, result).as_text();
  EXPECT_EQ(step_view(large, result).as_json().find("event_iteration_time_s")->kind,
            Value::Kind::null);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
