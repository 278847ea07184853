#include "titer/plan/read_schedule.hpp"

namespace titer {
namespace {

/// The variant's own list is the list of names.
template <std::size_t... I>
constexpr auto schedule_names(std::index_sequence<I...> /*alternatives*/) {
  return std::array<Choice<std::size_t>, sizeof...(I)>{
      {{std::variant_alternative_t<I, Schedule>::name, I}...}};
}

constexpr auto kAlternatives = std::make_index_sequence<kNamedSchedules>{};
constexpr auto kScheduleNames = schedule_names(kAlternatives);

template <std::size_t... I>
Schedule schedule_at(std::size_t index, std::index_sequence<I...> /*alternatives*/) {
  Schedule schedule;
  ((index == I ? void(schedule = std::variant_alternative_t<I, Schedule>{}) : void()), ...);
  return schedule;
}

Schedule read_listed_schedule(Reader& in) {
  try {
    return ListedSchedule::load(in.file("schedule"));
  } catch (const InputError& error) {
    for (const std::string& line : error.lines) {
      in.fail("schedule", line);
    }
  }
  return OneForwardOneBackward{};
}

}  // namespace

std::span<const Choice<std::size_t>> schedule_choices() { return kScheduleNames; }

Schedule read_schedule(Reader& in) {
  const Value* value = in.raw("schedule");
  if (value != nullptr && value->kind == Value::Kind::text && value->text.ends_with(".csv")) {
    return read_listed_schedule(in);
  }
  const auto index = in.maybe_choice<std::size_t>("schedule", kScheduleNames);
  return index ? schedule_at(*index, kAlternatives) : Schedule(OneForwardOneBackward{});
}

}  // namespace titer
