#include "titer/plan/schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedules.hpp"
#include "titer/plan/schedule/listed_schedule.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// What is the file's own is asked of the file.
constexpr ScheduleEntry kListed{
    .name = "FILE.csv", .source = "the actions listed in the file", .pairs = true};

/// Whether the second, which follows the first, needs nothing of it, and goes the other way.
bool can_overlap(const Action& first, const Action& second) {
  const bool other_way = first.pass == Pass::forward
                             ? sends_gradient(second.pass)
                             : sends_gradient(first.pass) && second.pass == Pass::forward;
  return other_way && first.micro_batch != second.micro_batch && !second.with_next;
}

/// Neighbours that can be are overlapped. Between the last forward and the first backward pass a
/// rank waits.
ActionList overlapped(ActionList list) {
  const auto is_forward = [](const Action& action) { return action.pass == Pass::forward; };
  const auto last_forward = std::find_if(list.rbegin(), list.rend(), is_forward).base();
  const auto first_backward = std::ranges::find_if_not(list, is_forward);
  for (auto at = list.begin(); list.end() - at > 1; ++at) {
    const auto next = std::ranges::next(at);
    const bool waits = next == first_backward && next == last_forward;
    if (at->with_next) {
      ++at;
    } else if (can_overlap(*at, *next) && !waits) {
      at->overlapped = true;
      next->overlapped = true;
      ++at;
    }
  }
  return list;
}

/// Where a schedule has a forward and a backward pass to do at the same time.
bool has_overlap(const Schedule& schedule, const PipelineShape& shape) {
  const ScheduleEntry& entry = schedule.entry();
  return shape.overlaps && !entry.forwards_first && !entry.by_one_rank;
}
bool adds_overlap(const Schedule& schedule, const PipelineShape& shape) {
  return has_overlap(schedule, shape) && !schedule.entry().overlaps;
}

std::vector<ActionList> listed_actions(const Schedule& schedule, const PipelineShape& shape) {
  const ScheduleEntry& entry = schedule.entry();
  if (schedule.listed() != nullptr) {
    return schedule.listed()->ranks;
  }
  if (entry.lists != nullptr) {
    return entry.lists(shape);
  }
  std::vector<ActionList> lists;
  lists.reserve(static_cast<std::size_t>(shape.stages));
  for (int rank = 0; rank < shape.stages; ++rank) {
    lists.push_back(entry.actions(rank, shape));
  }
  return lists;
}

}  // namespace

std::span<const ScheduleEntry* const> schedule_entries() { return kSchedules; }

Schedule::Schedule() : Schedule(kOneForwardOneBackward) {}
Schedule::Schedule(const ListedSchedule& list)
    : entry_(&kListed), list_(std::make_shared<const ListedSchedule>(list)) {}

std::size_t Schedule::index() const {
  return static_cast<std::size_t>(std::ranges::find(kSchedules, entry_) - kSchedules.begin());
}

Schedule named_schedule(std::string_view name) {
  const auto found =
      std::ranges::find_if(kSchedules, [&](const auto* entry) { return entry->name == name; });
  ensure(found != kSchedules.end(), "a schedule is asked for by a name of the list");
  return Schedule(**found);
}

std::string_view name(const Schedule& schedule) {
  return schedule.listed() != nullptr ? schedule.listed()->name : schedule.entry().name;
}
std::string_view bubble_formula(const Schedule& schedule) { return schedule.entry().formula; }
std::string_view source(const Schedule& schedule) { return schedule.entry().source; }
Placement placement(const Schedule& schedule) {
  return schedule.listed() != nullptr ? schedule.listed()->placement : schedule.entry().placement;
}
bool interleaves(const Schedule& schedule) { return schedule.entry().interleaves; }
int usual_chunks(const Schedule& schedule) {
  return schedule.listed() != nullptr ? schedule.listed()->chunks : schedule.entry().chunks;
}

std::optional<std::string> refusal(const Schedule& schedule, const PipelineShape& shape) {
  if (schedule.listed() != nullptr) {
    return schedule.listed()->refusal(shape);
  }
  const auto refuse = schedule.entry().refusal;
  return refuse == nullptr ? std::nullopt : refuse(shape);
}

ActionList actions(const Schedule& schedule, int rank, const PipelineShape& shape) {
  const auto of_rank = schedule.entry().actions;
  if (of_rank == nullptr) {
    return std::move(action_lists(schedule, shape)[static_cast<std::size_t>(rank)]);
  }
  ActionList list = of_rank(rank, shape);
  return adds_overlap(schedule, shape) ? overlapped(std::move(list)) : list;
}

std::vector<ActionList> action_lists(const Schedule& schedule, const PipelineShape& shape) {
  std::vector<ActionList> lists = listed_actions(schedule, shape);
  if (adds_overlap(schedule, shape)) {
    for (ActionList& list : lists) {
      list = overlapped(std::move(list));
    }
  }
  return lists;
}

bool is_same(const Schedule& a, const Schedule& b) {
  const bool listed = a.listed() != nullptr && b.listed() != nullptr;
  return &a.entry() == &b.entry() && (!listed || *a.listed() == *b.listed());
}

int in_flight(const Schedule& schedule, int rank, const PipelineShape& shape) {
  const ScheduleEntry& entry = schedule.entry();
  const bool holds =
      entry.in_flight != nullptr && (entry.overlaps || !has_overlap(schedule, shape));
  const auto known = holds ? entry.in_flight(rank, shape) : std::nullopt;
  return known ? *known : most_alive(actions(schedule, rank, shape));
}

std::optional<Seconds> bubble(const Schedule& schedule,
                              const PipelineShape& shape,
                              const PassTimes& times) {
  const auto formula = schedule.entry().bubble;
  return formula == nullptr ? std::nullopt : formula(shape, times);
}

std::optional<SteadyPhase> steady_phase(const Schedule& schedule,
                                        int rank,
                                        const PipelineShape& shape) {
  const auto formula = schedule.entry().steady_phase;
  return formula == nullptr ? std::nullopt : formula(rank, shape);
}

std::string actions_csv(const Schedule& schedule, const PipelineShape& shape) {
  const Placement placed = placement(schedule);
  const std::vector<ActionList> lists = action_lists(schedule, shape);
  std::string text;
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    const auto cell = [&](const Action& action) {
      return action_text(
          action, stage_of(placed, {.rank = static_cast<int>(rank), .chunk = action.chunk}, shape));
    };
    const ActionList& list = lists[rank];
    for (std::size_t i = 0; i < list.size(); i += done_together(list, i)) {
      text += i == 0 ? "" : ",";
      text += done_together(list, i) == 1
                  ? cell(list[i])
                  : fmt::format("({};{}){}", cell(list[i]), cell(list[i + 1]), kPairMark);
    }
    text += "\n";
  }
  return text;
}

}  // namespace titer
