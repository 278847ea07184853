#pragma once
// A course's result as figures with names, the same in every view.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "titer/campaign/course.hpp"

namespace titer {

/// Of 1; text shows percents.
struct CourseShare {
  double value = 0;
};
/// Devices x time, in hours.
struct DeviceHours {
  Seconds time;
};
using CourseFigureValue = std::variant<std::monostate,
                                       std::string,
                                       std::int64_t,
                                       double,
                                       Seconds,
                                       Bytes,
                                       CourseShare,
                                       DeviceHours>;

struct CourseFigure {
  std::string_view name;  // "iteration_time"; JSON adds the unit
  CourseFigureValue value;
  bool in_text = true;
};
using CourseFigures = std::vector<CourseFigure>;

struct CourseFigureTable {
  std::string_view kind;            // "phases"
  std::vector<CourseFigures> rows;  // all with the same names
  CourseFigures all;
};
[[nodiscard]] CourseFigureTable course_figures(const CourseResult& result);

}  // namespace titer
