#pragma once
// Small timelines for the tests of pictures and traces.

#include "titer/report/step/schedule_report.hpp"

namespace titer::testing {

inline ScheduleView executed(const Schedule& schedule,
                             const PipelineShape& shape,
                             const PassTimes& times = {
                                 .forward = 1_s, .input_gradient = 1_s, .weight_gradient = 1_s}) {
  return {.schedule = schedule,
          .shape = shape,
          .times = times,
          .run = run_schedule(schedule, shape, times)};
}

/// Two ranks: a forward on each with a message between them, then whole backward passes; gradients
/// on the data lane beside the last one; memory in use.
inline StepTimeline small_step() {
  StepTimeline timeline;
  timeline.ranks = {{.stage = 0, .stands_for = 8}, {.stage = 1, .stands_for = 8}};
  const auto add = [&](int rank, DeviceLane lane, TaskPart part, Seconds start, Seconds end) {
    timeline.spans.push_back({.rank = rank,
                              .lane = lane,
                              .part = part,
                              .stage = static_cast<std::int16_t>(rank),
                              .bucket = {},
                              .micro_batch = 3,
                              .start = to_ticks(start),
                              .end = to_ticks(end)});
  };
  add(0, DeviceLane::compute, TaskPart::forward, 0_ms, 2_ms);
  add(0, DeviceLane::pipeline_send, TaskPart::pipeline_comm, 2_ms, 3_ms);
  add(1, DeviceLane::pipeline_receive, TaskPart::pipeline_comm, 2_ms, 3_ms);
  add(1, DeviceLane::compute, TaskPart::forward, 3_ms, 5_ms);
  add(1, DeviceLane::compute, TaskPart::backward, 5_ms, 9_ms);
  add(1, DeviceLane::data_comm, TaskPart::data_comm, 8_ms, 10_ms);
  timeline.spans.back().micro_batch.reset();
  timeline.spans.back().bucket = 2;
  add(0, DeviceLane::compute, TaskPart::backward, 9_ms, 13_ms);
  timeline.flows = {{.from = 1, .to = 2}};
  timeline.memory = {{.rank = 0, .tick = 0, .in_use = 5_GB},
                     {.rank = 0, .tick = to_ticks(13_ms), .in_use = 4_GB}};
  timeline.makespan = to_ticks(13_ms);
  return timeline;
}

}  // namespace titer::testing
