#pragma once
// Views of a course: text for people, CSV rows for tables, JSON for programs.

#include <string>

#include "titer/campaign/course.hpp"
#include "titer/input/document.hpp"

namespace titer {

[[nodiscard]] std::string course_text(const Course& course, const CourseResult& result);
/// A row per phase, job, part of a round or interval, and one for all.
[[nodiscard]] std::string course_csv(const CourseResult& result);
[[nodiscard]] Value course_json(const Course& course, const CourseResult& result);

}  // namespace titer
