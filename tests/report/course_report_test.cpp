#include "titer/report/study/course_report.hpp"

#include <gtest/gtest.h>

#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

struct Followed {
  Course course;
  CourseResult result;
};
Followed followed(const std::string& name) {
  Course course = load_course(name);
  CourseResult result = follow(course, Fidelity::closed);
  return {std::move(course), std::move(result)};
}

TEST(CourseReport, SaysTheSameAsCsvAndJson) {
  for (const std::string& name : shipped_names(kCourseData)) {
    const Followed one = followed(name);
    const Value json = course_view(one.course, one.result).as_json();
    const auto rows = parse_csv(course_view(one.course, one.result).as_csv());
    const auto& items = json.find("rows")->items;
    ASSERT_EQ(rows.size(), items.size() + 2) << name;
    const auto same = [&](const std::vector<std::string>& row, const Value& object) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        const Value* value = object.find(rows[0][c]);
        if (value == nullptr || value->kind == Value::Kind::null) {
          EXPECT_EQ(row[c], c == 0 && value == nullptr ? "all" : "") << rows[0][c];
        } else {
          EXPECT_EQ(row[c], value->kind == Value::Kind::text ? value->text : to_json(*value, 0));
        }
      }
    };
    for (std::size_t i = 0; i < items.size(); ++i) {
      same(rows[i + 1], items[i]);
    }
    same(rows.back(), *json.find("all"));
  }
}

TEST(CourseReport, GivesPhasesTheirChanges) {
  const Followed one = followed("elastic-2-then-6");
  const Value json = course_view(one.course, one.result).as_json();
  EXPECT_EQ(json.find("kind")->text, "phases");
  EXPECT_EQ(json.find("all")->find("average_devices")->number, 4);
  EXPECT_EQ(json.find("all")->find("training_device_hours")->number, (2 + 6) * 6);
  const Value& first = json.find("rows")->items[0];
  const Value& second = json.find("rows")->items[1];
  EXPECT_EQ(first.find("change_s")->kind, Value::Kind::null);
  EXPECT_EQ(second.find("change_s")->number,
            second.find("change_save_s")->number + second.find("change_load_s")->number +
                second.find("change_restart_s")->number);
  EXPECT_EQ(second.find("devices")->integer, 6);
}

TEST(CourseReport, ShowsPeopleWhatMatters) {
  const Followed elastic = followed("elastic-2-then-6");
  const std::string text = course_view(elastic.course, elastic.result).as_text();
  EXPECT_TRUE(text.starts_with(elastic.course.title + "\n"));
  EXPECT_NE(text.find("average devices        4\n"), std::string::npos) << text;
  const Followed serving = followed("serving");
  const std::string fleet = course_view(serving.course, serving.result).as_text();
  EXPECT_NE(fleet.find("fixed device hours  96\n"), std::string::npos) << fleet;
  EXPECT_NE(fleet.find("device time saved   45.8 %\n"), std::string::npos) << fleet;
}

TEST(CourseReport, NamesWhatDoesNotFit) {
  const std::vector<Assignment> changes = {parse_assignment("plan.recompute=none"),
                                           parse_assignment("plan.micro_batch=8")};
  const Course course = load_course("two-jobs", changes);
  const CourseResult result = follow(course, Fidelity::closed);
  const Value json = course_view(course, result).as_json();
  ASSERT_EQ(json.find("does_not_fit")->items.size(), 1u);
  EXPECT_EQ(json.find("all")->find("fits")->text, "no");
  const std::string text = course_view(course, result).as_text();
  EXPECT_TRUE(text.ends_with(json.find("does_not_fit")->items[0].text + "\n")) << text;
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
