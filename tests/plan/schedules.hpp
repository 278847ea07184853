#pragma once
// Every schedule, to be looped over.

#include <vector>

#include "titer/plan/schedule/listed_schedule.hpp"
#include "titer/plan/schedule/schedule.hpp"

namespace titer::testing {

inline std::vector<Schedule> named_schedules() {
  std::vector<Schedule> all;
  for (const ScheduleEntry* entry : schedule_entries()) {
    all.emplace_back(*entry);
  }
  return all;
}
/// Those with a name, and a file's.
inline std::vector<Schedule> all_schedules() {
  std::vector<Schedule> all = named_schedules();
  all.emplace_back(ListedSchedule{});
  return all;
}

}  // namespace titer::testing
