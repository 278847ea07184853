#pragma once
// Pipeline schedules. Each is a small type with the actions of every rank in order, the closed form
// of its bubble where a trusted one exists, and the activations that it keeps alive. A shared typed
// test executes the actions and demands the formulas.

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "titer/plan/actions.hpp"
#include "titer/plan/classic_schedules.hpp"
#include "titer/plan/listed_schedule.hpp"
#include "titer/plan/two_way_schedules.hpp"
#include "titer/plan/wave_schedules.hpp"
#include "titer/plan/zero_bubble_schedules.hpp"

namespace titer {

template <class S>
concept PipelineSchedule =
    requires(const S& schedule, int rank, const PipelineShape& shape, const PassTimes& times) {
  { schedule.name } -> std::convertible_to<std::string_view>;
  // Of its bubble, in p, m, v, F, B, W and F&B; "executed" where no trusted one exists.
  { schedule.formula } -> std::convertible_to<std::string_view>;
  { schedule.source } -> std::convertible_to<std::string_view>;
  { schedule.placement } -> std::convertible_to<Placement>;
  // Chunks per rank may be chosen; otherwise they are `chunks`.
  { schedule.interleaves } -> std::convertible_to<bool>;
  { schedule.chunks } -> std::convertible_to<int>;
  // What the shape would have to be, if the schedule cannot have this one.
  { schedule.refusal(shape) } -> std::same_as<std::optional<std::string>>;
  { schedule.actions(rank, shape) } -> std::same_as<ActionList>;
  // The most idle time of a rank between the start of its first action and the end of its last
  // (of_span) or until the last rank ends, when all stages take the same and sending is free.
  // Nothing where no formula is known to hold.
  { schedule.bubble(shape, times) } -> std::same_as<std::optional<Seconds>>;
  { schedule.bubble_of_span } -> std::convertible_to<bool>;
  // Most chunks whose activations a rank holds; one whose weight gradient is still to come
  // counts. Nothing where only counting tells.
  { schedule.in_flight(rank, shape) } -> std::same_as<std::optional<int>>;
  { schedule.steady_phase(rank, shape) } -> std::same_as<std::optional<SteadyPhase>>;
};

template <PipelineSchedule... Schedules>
using ScheduleOf = std::variant<Schedules...>;
using Schedule = ScheduleOf<Sequential,
                            GPipe,
                            OneForwardOneBackward,
                            BreadthFirst,
                            ZeroBubbleH1,
                            ZeroBubbleH2,
                            ZeroBubbleV,
                            VHalf,
                            VMin,
                            DualPipe,
                            DualPipeV,
                            Chimera,
                            Hanayo,
                            ListedSchedule>;
/// All but the last, which is a file's.
inline constexpr std::size_t kNamedSchedules = std::variant_size_v<Schedule> - 1;

[[nodiscard]] std::string_view name(const Schedule& schedule);
[[nodiscard]] std::string_view bubble_formula(const Schedule& schedule);
[[nodiscard]] std::string_view source(const Schedule& schedule);
[[nodiscard]] Placement placement(const Schedule& schedule);
[[nodiscard]] bool interleaves(const Schedule& schedule);
/// Whether it may do a forward and a backward together: those that have `pairs`.
[[nodiscard]] bool may_pair(const Schedule& schedule);
/// Whether it may split backward passes: all but those that say no in `splits`.
[[nodiscard]] bool may_split(const Schedule& schedule);
/// Chunks per rank that the schedule works with unless told otherwise.
[[nodiscard]] int usual_chunks(const Schedule& schedule);
[[nodiscard]] std::optional<std::string> refusal(const Schedule& schedule,
                                                 const PipelineShape& shape);
/// REQUIRES a shape that is not refused.
[[nodiscard]] ActionList actions(const Schedule& schedule, int rank, const PipelineShape& shape);
/// Of all ranks, for less than the sum of each.
[[nodiscard]] std::vector<ActionList> action_lists(const Schedule& schedule,
                                                   const PipelineShape& shape);
/// Whether they are one schedule, and if lists, the same.
[[nodiscard]] bool is_same(const Schedule& a, const Schedule& b);
/// By the schedule's formula, or counted along its actions.
[[nodiscard]] int in_flight(const Schedule& schedule, int rank, const PipelineShape& shape);
[[nodiscard]] std::optional<Seconds> bubble(const Schedule& schedule,
                                            const PipelineShape& shape,
                                            const PassTimes& times);
[[nodiscard]] std::optional<SteadyPhase> steady_phase(const Schedule& schedule,
                                                      int rank,
                                                      const PipelineShape& shape);

/// The actions as a table: a line for each rank, its actions as cells in the notation of
/// ListedSchedule, which reads them again.  REQUIRES a shape that is not refused.
[[nodiscard]] std::string actions_csv(const Schedule& schedule, const PipelineShape& shape);

/// bubble_ratio = idle / total = (p-1)/(v m + p - 1).  [E8; seeds trap T15]
[[nodiscard]] constexpr double bubble_ratio(PipelineShape shape) {
  return (shape.stages - 1.0) / (shape.virtual_stages * shape.micro_batches + shape.stages - 1.0);
}
/// bubble_overhead = idle / ideal = (p-1)/(v m).  [Narayanan et al. 2021]
[[nodiscard]] constexpr double bubble_overhead(PipelineShape shape) {
  return (shape.stages - 1.0) / (shape.virtual_stages * shape.micro_batches);
}

}  // namespace titer
