#pragma once
// A course as it is read.

#include "titer/campaign/course.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A row per phase, job, part of a round or interval, and one for all.
[[nodiscard]] View course_view(const Course& course, const CourseResult& result);

}  // namespace titer
