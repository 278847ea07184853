#include "titer/plan/read_schedule.hpp"

namespace titer {
namespace {

/// The variant's own list is the list of names.
template <std::size_t... I>
constexpr auto schedule_names(std::index_sequence<I...> /*alternatives*/) {
  return std::array<Choice<std::size_t>, sizeof...(I)>{
      {{std::variant_alternative_t<I, Schedule>::name, I}...}};
}

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

Schedule read_schedule(Reader& in) {
  constexpr auto alternatives = std::make_index_sequence<kNamedSchedules>{};
  constexpr auto names = schedule_names(alternatives);
  const Value* value = in.raw("schedule");
  if (value != nullptr && value->kind == Value::Kind::text && value->text.ends_with(".csv")) {
    return read_listed_schedule(in);
  }
  const auto index = in.maybe_choice<std::size_t>("schedule", names);
  return index ? schedule_at(*index, alternatives) : Schedule(OneForwardOneBackward{});
}

}  // namespace titer
