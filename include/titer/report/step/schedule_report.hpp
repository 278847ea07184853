#pragma once
// A pipeline schedule executed by itself: its timeline, and what it leaves idle.

#include <span>

#include "titer/plan/schedule/schedule_run.hpp"
#include "titer/report/step/timeline_report.hpp"
#include "titer/view/view.hpp"

namespace titer {

struct ScheduleView {
  Schedule schedule;
  PipelineShape shape;
  PassTimes times;
  ScheduleRun run;
  TimeScale scale = TimeScale::relative;
};

/// The passes as spans, and a message from each pass to the one on another rank that waits for it.
[[nodiscard]] StepTimeline timeline_of(const ScheduleView& view);
/// The timeline with a title and a line on its bubble; `with_memory`: and what is held, in all of a
/// rank's layers for one micro-batch.
[[nodiscard]] TimelineView picture_view(const ScheduleView& view, bool with_memory = false);

/// Makespan, idle time of each rank, bubble (with its formula where one is known), chunks alive.
[[nodiscard]] TextView schedule_text(const ScheduleView& view);
/// The same figures, and all of the timeline.
[[nodiscard]] Value schedule_json(const ScheduleView& view);

/// Several in the order given, on one axis: pictures below one another.
[[nodiscard]] std::string schedules_text(std::span<const ScheduleView> views,
                                         int width,
                                         bool with_memory = false);
/// What each of them takes.
[[nodiscard]] TextView schedules_table(std::span<const ScheduleView> views);
[[nodiscard]] std::string schedules_picture(std::span<const ScheduleView> views,
                                            const PictureStyle& style,
                                            bool with_memory = false);
/// The table.
[[nodiscard]] std::string schedules_csv(std::span<const ScheduleView> views);
/// schedule_json() of each.
[[nodiscard]] Value schedules_json(std::span<const ScheduleView> views);

}  // namespace titer
