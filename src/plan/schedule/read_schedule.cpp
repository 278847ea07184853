#include "titer/plan/schedule/read_schedule.hpp"

#include "titer/plan/schedule/listed_schedule.hpp"

namespace titer {
namespace {

Schedule read_listed_schedule(Reader& in) {
  try {
    return ListedSchedule::load(in.file("schedule"));
  } catch (const InputError& error) {
    for (const std::string& line : error.lines) {
      in.fail("schedule", line);
    }
  }
  return Schedule();
}

}  // namespace

std::span<const Choice<std::size_t>> schedule_choices() {
  static const std::vector<Choice<std::size_t>> choices = [] {
    std::vector<Choice<std::size_t>> list;
    for (const ScheduleEntry* entry : schedule_entries()) {
      list.push_back({entry->name, list.size()});
    }
    return list;
  }();
  return choices;
}

Schedule read_schedule(Reader& in) {
  const Value* value = in.raw("schedule");
  if (value != nullptr && value->kind == Value::Kind::text && value->text.ends_with(".csv")) {
    return read_listed_schedule(in);
  }
  const auto index = in.maybe_choice<std::size_t>("schedule", schedule_choices());
  return index ? Schedule(*schedule_entries()[*index]) : Schedule();
}

}  // namespace titer
