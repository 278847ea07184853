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

/// By the chunks of "virtual_stages", or by a layout of the layers.
bool has_chunks(Reader& in) {
  const Value* layers = in.raw("layers");
  return in.raw("virtual_stages") != nullptr ||
         (layers != nullptr && layers->kind == Value::Kind::text);
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

std::span<const Choice<std::size_t>> schedule_words() {
  static const std::vector<Choice<std::size_t>> words = [] {
    const std::span<const Choice<std::size_t>> names = schedule_choices();
    std::vector<Choice<std::size_t>> list(names.begin(), names.end());
    for (const Choice<std::size_t>& choice : names) {
      if (const std::string_view word = schedule_entries()[choice.value]->of_chunks;
          !word.empty()) {
        list.push_back({word, choice.value});
      }
    }
    return list;
  }();
  return words;
}

Schedule read_schedule(Reader& in) {
  const Value* value = in.raw("schedule");
  if (value != nullptr && value->kind == Value::Kind::text && value->text.ends_with(".csv")) {
    return read_listed_schedule(in);
  }
  const auto index = in.maybe_choice<std::size_t>("schedule", schedule_words());
  if (!index) {
    return Schedule();
  }
  const ScheduleEntry& entry = *schedule_entries()[*index];
  if (value != nullptr && value->text == entry.of_chunks && !has_chunks(in)) {
    in.fail("schedule",
            "expected \"virtual_stages\" too: how many chunks of layers a rank has (--set "
            "plan.virtual_stages=2)");
  }
  return Schedule(entry);
}

}  // namespace titer
