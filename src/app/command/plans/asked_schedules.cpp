#include "asked_schedules.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/command.hpp"
#include "titer/plan/schedule/listed_schedule.hpp"
#include "titer/plan/schedule/read_schedule.hpp"

namespace titer {
namespace {

template <class T>
void check(std::string_view option, T value, T least, T most) {
  if (!(value >= least && value <= most)) {
    throw InputError(fmt::format("{}: {}: expected {} to {}", option, value, least, most));
  }
}

constexpr int kMostStages = 4096;
constexpr int kMostMicroBatches = 1'000'000;
constexpr std::int64_t kMostPasses = 4'000'000;  // of all ranks; what a picture can be made of
constexpr double kLongestPass = 10'000;          // durations are relative
constexpr double kLongestRun = 4e6;              // a timeline counts picoseconds

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
AskedSchedule asked_schedule(const AskedSchedules& all, const std::string& word, bool alone) {
  const Schedule schedule = schedule_called(word);
  if (word == schedule.entry().of_chunks) {
    const int chunks = all.virtual_stages.value_or(2);
    check_range("--virtual-stages", chunks, 2, kMostStages);
    return {schedule, chunks};
  }
  const bool is_free = alone || interleaves(schedule);
  return {schedule,
          is_free ? all.virtual_stages.value_or(usual_chunks(schedule)) : usual_chunks(schedule)};
}

PipelineShape shape_of(const AskedSchedules& all, const AskedSchedule& asked) {
  check_range("--pipeline", all.pipeline, 1, kMostStages);
  check_range("--micro-batches", all.micro_batches, 1, kMostMicroBatches);
  const auto& [schedule, chunks] = asked;
  if (!interleaves(schedule) && chunks != usual_chunks(schedule)) {
    throw InputError(fmt::format("--virtual-stages: {}: expected {}, as {} has no other number",
                                 chunks,
                                 usual_chunks(schedule),
                                 name(schedule)));
  }
  check_range("--virtual-stages", chunks, 1, kMostStages / all.pipeline);
  const PipelineShape shape = {.stages = all.pipeline,
                               .micro_batches = all.micro_batches,
                               .virtual_stages = chunks,
                               .group = all.group};
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

PassTimes times_of(const AskedSchedules& all) {
  check_range("--forward", all.forward, 0.0, kLongestPass);
  check_range("--input-gradient", all.input_gradient, 0.0, kLongestPass);
  check_range("--weight-gradient", all.weight_gradient, 0.0, kLongestPass);
  check_range("--pair", all.pair.value_or(0.0), 0.0, kLongestPass);
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

void check_range(std::string_view option, int value, int least, int most) {
  check(option, value, least, most);
}
void check_range(std::string_view option, double value, double least, double most) {
  check(option, value, least, most);
}

std::vector<ScheduleView> AskedSchedules::executed() const {
  std::vector<ScheduleView> views;
  for (const std::string& word : names) {
    const AskedSchedule asked = asked_schedule(*this, word, names.size() == 1);
    views.push_back(run_of({.schedule = asked.schedule,
                            .shape = shape_of(*this, asked),
                            .times = times_of(*this),
                            .run = {},
                            .scale = TimeScale::relative}));
  }
  return views;
}

void AskedSchedules::add_to(CLI::App& app) {
  CLI::Option* schedule = app.add_option("--schedule",
                                         names,
                                         "draw this schedule by itself (titer list schedules; "
                                         "interleaved: 1f1b with --virtual-stages, 2 if not "
                                         "said): stages alike, sending free; several, with commas "
                                         "between, on one axis")
                              ->delimiter(',')
                              ->allow_extra_args(false)
                              ->type_name("NAME[,NAME…]");
  const auto add = [&](const char* name, auto& value, const char* what) {
    return app.add_option(name, value, what)->needs(schedule);
  };
  CLI::Option* ranks = add("--pipeline", pipeline, "ranks of the pipeline");
  CLI::Option* number = add("--micro-batches", micro_batches, "per iteration");
  schedule->needs(ranks)->needs(number);
  add("--virtual-stages", virtual_stages, "chunks of layers per rank");
  add("--micro-batch-group",
      group,
      "micro-batches that interleaving takes through one chunk before the next");
  add("--forward", forward, "duration of a rank's forward pass: 1");
  add("--input-gradient", input_gradient, "of its backward pass for the input: 1");
  add("--weight-gradient", weight_gradient, "of its backward pass for the weights: 1");
  add("--pair", pair, "of a forward and a backward done together, otherwise their sum");
}

}  // namespace titer
