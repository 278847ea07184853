#pragma once
// Schedules that are asked for by name, with a shape and durations of their own.

#include <vector>

#include "titer/ask/run.hpp"
#include "titer/report/step/schedule_report.hpp"

namespace titer {

inline constexpr int kMostStages = 4096;

/// Each by itself, in the order of the names.
[[nodiscard]] std::vector<ScheduleView> executed_schedules(const TimelineRequest& request);

}  // namespace titer
