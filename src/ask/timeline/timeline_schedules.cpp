#include "timeline_schedules.hpp"

#include <fmt/format.h>

#include "titer/plan/schedule/listed_schedule.hpp"
#include "titer/plan/schedule/read_schedule.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostPasses = 4'000'000;  // of all ranks; what a picture can be made of
constexpr double kLongestRun = 4e6;              // a timeline counts picoseconds

/// Refuses chunks of a schedule, on so many ranks, that are not within these bounds.
void check_chunks(int chunks, int least, int most) {
  if (chunks < least || chunks > most) {
    throw InputError(fmt::format("--virtual-stages: {}: expected {} to {}", chunks, least, most));
  }
}

Schedule schedule_called(const std::string& word) {
  if (word.ends_with(".csv")) {
    return ListedSchedule::load(word);
  }
  return Schedule(*schedule_entries()[chosen("--schedule", word, schedule_words())]);
}

/// One of --schedule, and how many chunks of layers each rank has.
struct AskedSchedule {
  Schedule schedule;
  int chunks = 1;
};
AskedSchedule asked_schedule(const TimelineRequest& all, const std::string& word, bool alone) {
  const Schedule schedule = schedule_called(word);
  if (word == schedule.entry().of_chunks) {
    const int chunks = all.virtual_stages.value_or(2);
    check_chunks(chunks, 2, kMostStages);
    return {schedule, chunks};
  }
  const bool is_free = alone || interleaves(schedule);
  return {schedule,
          is_free ? all.virtual_stages.value_or(usual_chunks(schedule)) : usual_chunks(schedule)};
}

PipelineShape shape_of(const TimelineRequest& all, const AskedSchedule& asked) {
  const auto& [schedule, chunks] = asked;
  if (!interleaves(schedule) && chunks != usual_chunks(schedule)) {
    throw InputError(fmt::format("--virtual-stages: {}: expected {}, as {} has no other number",
                                 chunks,
                                 usual_chunks(schedule),
                                 name(schedule)));
  }
  check_chunks(chunks, 1, kMostStages / all.pipeline);
  const PipelineShape shape = {.stages = all.pipeline,
                               .micro_batches = all.micro_batches,
                               .virtual_stages = chunks,
                               .group = all.micro_batch_group};
  const std::int64_t passes =
      std::int64_t{shape.stages} * shape.micro_batches * shape.virtual_stages;
  if (passes > kMostPasses) {
    throw InputError(
        fmt::format("--micro-batches: {}: expected at most {} passes of a chunk in all, got {}",
                    shape.micro_batches,
                    kMostPasses,
                    passes));
  }
  if (const auto problem = refusal(schedule, shape)) {
    throw InputError("--schedule " + std::string(name(schedule)) + ": " + *problem);
  }
  return shape;
}

PassTimes times_of(const TimelineRequest& all) {
  PassTimes times = {.forward = Seconds::from_si(all.forward),
                     .input_gradient = Seconds::from_si(all.input_gradient),
                     .weight_gradient = Seconds::from_si(all.weight_gradient)};
  if (all.pair) {
    times.pair = Seconds::from_si(*all.pair);
  }
  const double work = (times.forward + times.backward() + times.both()).si();
  if (work == 0 || work * all.pipeline * all.micro_batches > kLongestRun) {
    throw InputError(fmt::format(
        "--forward: {}: expected durations whose sum over all passes is above 0 and below {}",
        all.forward,
        kLongestRun));
  }
  return times;
}

ScheduleView run_of(ScheduleView view) {
  view.run = run_schedule(view.schedule, view.shape, view.times);
  if (!view.run.deadlock.empty()) {
    throw InputError("--schedule " + std::string(name(view.schedule)) + ": " + view.run.deadlock);
  }
  return view;
}

}  // namespace

std::vector<ScheduleView> executed_schedules(const TimelineRequest& request) {
  if (request.pipeline == 0 || request.micro_batches == 0) {
    throw InputError("--schedule: expected --pipeline and --micro-batches beside it");
  }
  std::vector<ScheduleView> views;
  for (const std::string& word : request.schedules) {
    const AskedSchedule asked = asked_schedule(request, word, request.schedules.size() == 1);
    views.push_back(run_of({.schedule = asked.schedule,
                            .shape = shape_of(request, asked),
                            .times = times_of(request),
                            .run = {},
                            .scale = TimeScale::relative}));
  }
  return views;
}

}  // namespace titer
