#include "titer/simulate/events_beside.hpp"

#include <gtest/gtest.h>

#include "scenario/scenarios.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Llama 2 13B on 32 A100 of Polaris, sends and gradients beside compute that they slow down.
Scenario overlapping(const std::vector<std::string>& more = {}) {
  std::vector<std::string> changes = {
      "model=llama2-13b",
      "cluster={\"name\": \"polaris\"}",
      "stack=nemo",
      "plan={\"pipeline\": 4, \"tensor\": 2, \"data\": 4, \"virtual_stages\": 5, "
      "\"sharding\": \"zero1\"}",
      "training={\"global_batch\": 16, \"sequence\": 1024, \"precision\": \"bf16\"}"};
  changes.insert(changes.end(), more.begin(), more.end());
  return scenarios::shipped_run(changes);
}

TEST(EventsBeside, AreToldWhereTheySayAnotherTime) {
  const Scenario scenario = overlapping();
  StepResult result = estimate(scenario);
  const Seconds event = simulate(scenario).result.iteration_time;
  ASSERT_GT(event, 1.1 * result.iteration_time);
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

TEST(EventsBeside, AreLeftOutOfStepsThatAreTooLargeAndSaySo) {
  const Scenario large = overlapping({"training.global_batch=100000"});
  StepResult result = estimate(large);
  result.events = events_beside(large, result);
  ASSERT_TRUE(result.events.has_value());
  EXPECT_FALSE(result.events->iteration_time.has_value());
  EXPECT_NE(step_view(large, result).as_text().find("events: not followed beside 1000000 passes"),
            std::string::npos)
      << step_view(large, result).as_text();
  EXPECT_EQ(step_view(large, result).as_json().find("event_iteration_time_s")->kind,
            Value::Kind::null);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
