// titer course, from the outside.

#include <gtest/gtest.h>

#include "titer/input/document.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(AppCourse, FollowsAShippedCourseInEveryFormat) {
  EXPECT_TRUE(
      contains(data_of(titer({"course", "elastic-2-then-6"})), "average devices        4\n"));
  EXPECT_TRUE(data_of(titer({"course", "serving", "--format", "csv"}))
                  .starts_with("asked,course,interval,queries,devices,time_s,device_hours,"));
  const Document json =
      parse_json(data_of(titer({"course", "federated", "--format", "json"})), "out");
  EXPECT_EQ(json.at("kind")->text, "rounds");
}

TEST(AppCourse, TakesChangesAndFidelities) {
  const auto clients = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"course", "federated", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse_json(data_of(titer(arguments)), "out").at("all.clients")->integer;
  };
  EXPECT_EQ(clients({}), 50);
  EXPECT_EQ(clients({"--set", "rounds.clients=7", "--set", "plan.micro_batch=16"}), 7);
  EXPECT_EQ(clients({"--fidelity", "event"}), 50);
}

TEST(AppCourse, AnswersNoWhereJobsDoNotFit) {
  const auto outcome =
      titer({"course", "two-jobs", "--set", "plan.recompute=none", "--set", "plan.micro_batch=8"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(contains(outcome.out, "does not fit: first and second need "));
}

TEST(AppCourse, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(contains(refusal_of(titer({"course", "elastic-2-than-6"})), "elastic-2-then-6"));
  EXPECT_TRUE(contains(refusal_of(titer({"course", "serving", "--format", "xml"})), "--format"));
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(refusal_of(titer({"course", folder.file("a.json", "{}")})),
                       "expected one of phases, jobs, rounds and queries"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
