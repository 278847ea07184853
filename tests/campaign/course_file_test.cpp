#include <gtest/gtest.h>

#include <algorithm>

#include "campaign/courses.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

/// The lines of the error that a course raises, its folder left out.
Lines problems_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  try {
    static_cast<void>(course_of(text, sets));
  } catch (const InputError& error) {
    Lines lines = error.lines;
    for (std::string& line : lines) {
      const std::size_t at = line.find("course.json");
      line.erase(0, line.starts_with("/") && at != std::string::npos ? at : 0);
    }
    return lines;
  }
  return {};
}

Lines problems_of_rest(std::string_view rest, const std::vector<std::string>& sets = {}) {
  return problems_of(course_json_of(rest), sets);
}

TEST(CourseFile, OfEveryShippedNameIsFollowedAndFits) {
  const std::vector<std::string> names = shipped_names(kCourseData);
  EXPECT_GE(names.size(), 5u);
  std::vector<bool> seen(std::variant_size_v<CourseKind>);
  for (const std::string& name : names) {
    const Course course = load_course(name);
    EXPECT_NE(course.title, name);
    EXPECT_EQ(too_large(follow(course, Fidelity::closed)), Lines{}) << name;
    seen[course.kind.index()] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
}

TEST(CourseFile, KeepsItsTitleForWhatItWasWrittenFor) {
  const std::vector<Assignment> changes = {parse_assignment("plan.micro_batch=2"),
                                           parse_assignment("phases.0.name=first")};
  EXPECT_EQ(load_course("elastic-2-then-6", changes).title,
            "elastic-2-then-6 with --set plan.micro_batch=2, --set phases.0.name=first");
}

TEST(CourseFile, IsOfOneKind) {
  const Lines one_kind = {"course.json:1:1: expected one of phases, jobs, rounds and queries"};
  EXPECT_EQ(problems_of("{}"), one_kind);
  EXPECT_EQ(problems_of(R"({"jobs": [], "phases": []})"), one_kind);
  EXPECT_EQ(problems_of("[]").size(), 1u);
}

TEST(CourseFile, NamesWhatIsWrongInAPhase) {
  EXPECT_EQ(problems_of_rest(R"("phases": [])"),
            (Lines{"course.json:3:11: phases: []: expected a phase or more"}));
  EXPECT_EQ(
      problems_of_rest(R"("phases": [{"iterations": 1, "time": "1 h"}])"),
      (Lines{"course.json:3:12: phases.0: expected one of iterations, samples, tokens and time"}));
  EXPECT_EQ(problems_of_rest(R"("phases": [{"time": "0 s"}])"),
            (Lines{"course.json:3:21: phases.0.time: \"0 s\": expected a time above zero"}));
  EXPECT_EQ(problems_of_rest(R"("phases": [{"iterations": 1, "set": {"phases": 1}}])").size(), 1u);
  EXPECT_EQ(
      problems_of_rest(R"("phases": [{"iterations": 1}, {"name": "b", "set": {"plan.data": 5},
"iterations": 1}])"),
      (Lines{
          "course.json:2:52: training.global_batch: 48: expected a multiple of micro_batch x data "
          "= 1 x 5 = 5 (in b)"}));
}

/// Of a phase with longer sequences fewer.
TEST(CourseFile, HasPhasesOfSoManyTokens) {
  const Course course = read_course(parse_json(R"({"scenario": "llama3-70b-64xh100", "phases": [
{"tokens": "8192M"},
{"tokens": 8192000000, "set": {"training.sequence": 32768, "plan.recompute": "full"}}]})",
                                               "course.json"),
                                    "course.json",
                                    {});
  const auto& phases = std::get<TrainingPhases>(course.kind).phases;
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(std::get<Sequences>(phases[0].length).count, 8192e6 / 8192);
  EXPECT_EQ(std::get<Sequences>(phases[1].length).count, 8192e6 / 32768);
}

TEST(CourseFile, NamesWhatIsWrongInAChange) {
  const auto change = [](std::string_view text) {
    return problems_of_rest(R"("phases": [{"iterations": 1}], "change": )" + std::string(text));
  };
  EXPECT_EQ(change(R"({"move": "network"})"), Lines{});
  EXPECT_EQ(change("{}").size(), 1u);  // no bandwidth
  EXPECT_EQ(change(R"({"move": "network", "storage_bandwidth": "1 GB/s"})").size(), 1u);
  EXPECT_EQ(change(R"({"move": "pigeon"})").size(), 2u);
  EXPECT_EQ(change(R"({"storage_bandwidth": "1 GB/s", "restart": 60})").size(), 1u);
}

TEST(CourseFile, WantsJobsOnTheSameDevices) {
  EXPECT_EQ(problems_of_rest(R"("jobs": [{}])"),
            (Lines{"course.json:3:9: jobs: [{}]: expected two jobs or more"}));
  EXPECT_EQ(problems_of_rest(R"("jobs": [{}, {"set": {"plan.data": 4}}])"),
            (Lines{"course.json:3:14: jobs.1: 4 x a100-sxm4-80gb (dgx-a100-80gb): expected the "
                   "devices of the first job, 2 x a100-sxm4-80gb (dgx-a100-80gb)"}));
  EXPECT_EQ(problems_of(R"({"jobs": [{}, {}]})").size(), 2u);  // no scenarios
  EXPECT_EQ(problems_of(R"({"jobs": [{"scenario": "resnet-50-8xa100"},
                                     {"scenario": "resnet-50-8xa100", "load": 0.5}]})"),
            Lines{});
  EXPECT_EQ(problems_of_rest(R"("jobs": [{}, {"load": 1.5}])").size(), 1u);
}

TEST(CourseFile, WantsWholeRoundsAndIntervals) {
  EXPECT_EQ(problems_of_rest(R"("rounds": {})").size(), 5u);
  EXPECT_EQ(problems_of(R"({"queries": []})"),
            (Lines{"course.json:1:13: queries: []: expected an interval or more"}));
  EXPECT_EQ(problems_of(R"({"queries": [{"queries": 4}]})").size(), 1u);
  EXPECT_EQ(problems_of(R"({"scenario": "resnet-50-8xa100", "queries": []})").size(), 2u);
}

TEST(CourseChanges, GoToEveryScenarioOrToTheCourse) {
  const std::string text =
      course_json_of(R"("phases": [{"iterations": 1}, {"set": {"plan.data": 4}, "time": "1 h"}])");
  const Course course = course_of(text,
                                  {"plan.data=6",
                                   "training.global_batch=24",
                                   "phases.1.time=2 h",
                                   "change={\"move\": \"network\"}"});
  const auto& phases = std::get<TrainingPhases>(course.kind);
  EXPECT_EQ(phases.phases[0].scenario.plan.data, 6);
  EXPECT_EQ(phases.phases[1].scenario.plan.data, 4);  // its own
  EXPECT_EQ(phases.phases[1].scenario.training.global_batch, 24);
  EXPECT_EQ(std::get<Seconds>(phases.phases[1].length), 7200_s);
  EXPECT_EQ(phases.change->move, StateMove::network);
  EXPECT_EQ(problems_of(text, {"phasess.0.time=1 h"}).size(), 1u);
  EXPECT_EQ(problems_of(R"({"queries": [{"queries": 4, "time": "1 h"}]})", {"plan.data=2"}),
            (Lines{"--set plan.data=2: expected a path of the course: queries have no scenario"}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
