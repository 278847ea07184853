#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "app/output/trace_file.hpp"
#include "titer/plan/schedule/listed_schedule.hpp"
#include "titer/plan/schedule/read_schedule.hpp"
#include "titer/report/step/schedule_report.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/simulate.hpp"
#include "titer/view/view.hpp"

namespace titer {
namespace {

enum class TimelineFormat { text, csv, json, svg, trace, actions };
constexpr std::array<Choice<TimelineFormat>, 6> kTimelineFormats = {
    {{"text", TimelineFormat::text},
     {"csv", TimelineFormat::csv},
     {"json", TimelineFormat::json},
     {"svg", TimelineFormat::svg},
     {"trace", TimelineFormat::trace},
     {"actions", TimelineFormat::actions}}};

constexpr int kMostStages = 4096;
constexpr int kMostMicroBatches = 1'000'000;
constexpr std::int64_t kMostPasses = 4'000'000;  // of all ranks; what a picture can be made of
constexpr double kLongestPass = 10'000;          // durations are relative
constexpr double kLongestRun = 4e6;              // a timeline counts picoseconds

struct TimelineOptions {
  ScenarioOptions scenario;
  std::vector<std::string> schedules;
  int pipeline = 0;
  int micro_batches = 0;
  std::optional<int> virtual_stages;
  std::optional<int> group;
  double forward = 1;
  double input_gradient = 1;
  double weight_gradient = 1;
  std::optional<double> pair;
  std::string format = "text";
  std::string out;
  int width = kUsualTextWidth;
  bool every_rank = false;
};

Schedule schedule_called(const std::string& word) {
  if (word.ends_with(".csv")) {
    return ListedSchedule::load(word);
  }
  return Schedule(*schedule_entries()[chosen("--schedule", word, schedule_choices())]);
}

/// What is wrong with a number on the command line.
template <class T>
void check_range(std::string_view option, T value, T least, T most) {
  if (!(value >= least && value <= most)) {
    throw InputError(fmt::format("{}: {}: expected {} to {}", option, value, least, most));
  }
}

/// As software calls 1f1b with more than one chunk of layers on each rank.
constexpr std::string_view kInterleaved = "interleaved";

/// One of --schedule, and how many chunks of layers each rank has.
struct AskedSchedule {
  Schedule schedule;
  int chunks = 1;
};
AskedSchedule asked_schedule(const TimelineOptions& options, const std::string& word, bool alone) {
  if (word == kInterleaved) {
    const int chunks = options.virtual_stages.value_or(2);
    check_range("--virtual-stages", chunks, 2, kMostStages);
    return {schedule_called("1f1b"), chunks};
  }
  const Schedule schedule = schedule_called(word);
  const bool is_free = alone || interleaves(schedule);
  return {
      schedule,
      is_free ? options.virtual_stages.value_or(usual_chunks(schedule)) : usual_chunks(schedule)};
}

PipelineShape shape_of(const TimelineOptions& options, const AskedSchedule& asked) {
  check_range("--pipeline", options.pipeline, 1, kMostStages);
  check_range("--micro-batches", options.micro_batches, 1, kMostMicroBatches);
  const auto& [schedule, chunks] = asked;
  if (!interleaves(schedule) && chunks != usual_chunks(schedule)) {
    throw InputError(fmt::format("--virtual-stages: {}: expected {}, as {} has no other number",
                                 chunks,
                                 usual_chunks(schedule),
                                 name(schedule)));
  }
  check_range("--virtual-stages", chunks, 1, kMostStages / options.pipeline);
  const PipelineShape shape = {.stages = options.pipeline,
                               .micro_batches = options.micro_batches,
                               .virtual_stages = chunks,
                               .group = options.group};
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

PassTimes times_of(const TimelineOptions& options) {
  check_range("--forward", options.forward, 0.0, kLongestPass);
  check_range("--input-gradient", options.input_gradient, 0.0, kLongestPass);
  check_range("--weight-gradient", options.weight_gradient, 0.0, kLongestPass);
  check_range("--pair", options.pair.value_or(0.0), 0.0, kLongestPass);
  PassTimes times = {.forward = Seconds::from_si(options.forward),
                     .input_gradient = Seconds::from_si(options.input_gradient),
                     .weight_gradient = Seconds::from_si(options.weight_gradient)};
  if (options.pair) {
    times.pair = Seconds::from_si(*options.pair);
  }
  const double work = (times.forward + times.backward() + times.both()).si();
  if (work == 0 || work * options.pipeline * options.micro_batches > kLongestRun) {
    throw InputError(fmt::format(
        "--forward: {}: expected durations whose sum over all passes is above 0 and below {}",
        options.forward,
        kLongestRun));
  }
  return times;
}

ScheduleView executed(ScheduleView view) {
  view.run = run_schedule(view.schedule, view.shape, view.times);
  if (!view.run.deadlock.empty()) {
    throw InputError("--schedule " + std::string(name(view.schedule)) + ": " + view.run.deadlock);
  }
  return view;
}

std::vector<ScheduleView> by_themselves(const TimelineOptions& options) {
  std::vector<ScheduleView> views;
  for (const std::string& word : options.schedules) {
    const AskedSchedule asked = asked_schedule(options, word, options.schedules.size() == 1);
    views.push_back(executed({.schedule = asked.schedule,
                              .shape = shape_of(options, asked),
                              .times = times_of(options),
                              .run = {},
                              .scale = TimeScale::relative}));
  }
  return views;
}

/// What pictures of both kinds have in common; the text goes on with `figures`, and `json` is more
/// than the timeline where it is there.
std::string drawn(const TimelineView& picture,
                  TimelineFormat format,
                  int width,
                  const std::string& figures,
                  const Value& json) {
  switch (format) {
    case TimelineFormat::text:
      return timeline_text(picture, width) + "\n" + figures;
    case TimelineFormat::csv:
      return timeline_csv(picture);
    case TimelineFormat::json:
      return to_json(json) + "\n";
    case TimelineFormat::svg:
      return timeline_svg(picture);
    case TimelineFormat::trace:
    case TimelineFormat::actions:
      break;
  }
  ensure(false, "traces and actions are written in another way");
  return {};
}

void write_schedule(const TimelineOptions& options,
                    const ScheduleView& view,
                    TimelineFormat format,
                    OutputFile& out) {
  if (format == TimelineFormat::actions) {
    out.write(actions_csv(view.schedule, view.shape));
    return;
  }
  const TimelineView picture = picture_view(view);
  if (format == TimelineFormat::trace) {
    write_trace(out, picture.timeline, picture.title);
    return;
  }
  out.write(
      drawn(picture, format, options.width, schedule_text(view).write(), schedule_json(view)));
}

void write_step(const TimelineOptions& options, TimelineFormat format, OutputFile& out) {
  const ScenarioSource source = options.scenario.source();
  const Scenario scenario = source.read();
  const std::vector<std::string> notes = answer_notes(source, scenario);
  if (format == TimelineFormat::actions) {
    out.write(actions_csv(scenario.plan.schedule, scenario.shape()));
    tell_notes(notes);
    return;
  }
  check_fidelity(scenario, Fidelity::event);
  Simulation step =
      simulate(scenario, {.every_rank = options.every_rank, .record = true, .sample = 0});
  const TimelineView view{.title = step_title(scenario),
                          .note = "one iteration of " + titer::format(step.result.iteration_time),
                          .timeline = std::move(step.timeline)};
  if (format == TimelineFormat::trace) {
    write_trace(out, view.timeline, view.title);
    tell_notes(notes);
    return;
  }
  Value json = timeline_json(view);
  add_notes(notes, json);
  out.write(format == TimelineFormat::text ? notes_text(notes) : "");
  out.write(drawn(view, format, options.width, ranks_text(step.result).write(), json));
  if (format != TimelineFormat::text && format != TimelineFormat::json) {
    tell_notes(notes);
  }
}

/// Several below one another, on one axis.
void write_schedules(const TimelineOptions& options,
                     std::span<const ScheduleView> views,
                     TimelineFormat format,
                     OutputFile& out) {
  switch (format) {
    case TimelineFormat::text:
      return out.write(schedules_text(views, options.width));
    case TimelineFormat::csv:
      return out.write(schedules_csv(views));
    case TimelineFormat::json:
      return out.write(to_json(schedules_json(views)) + "\n");
    case TimelineFormat::svg:
      return out.write(schedules_svg(views));
    case TimelineFormat::trace:
    case TimelineFormat::actions:
      break;
  }
  throw InputError(fmt::format("--format: \"{}\": expected one schedule, or text, csv, json or svg",
                               options.format));
}

int timeline_command(const TimelineOptions& options) {
  const TimelineFormat format = chosen("--format", options.format, kTimelineFormats);
  check_range("--width", options.width, kLeastTextWidth, kMostTextWidth);
  if (options.schedules.empty() == options.scenario.scenario.empty()) {
    throw InputError(
        "timeline: expected either a scenario, or --schedule with --pipeline and --micro-batches");
  }
  OutputFile out(options.out);
  if (options.schedules.empty()) {
    write_step(options, format, out);
  } else if (const std::vector<ScheduleView> views = by_themselves(options); views.size() == 1) {
    write_schedule(options, views.front(), format, out);
  } else {
    write_schedules(options, views, format, out);
  }
  out.finish();
  return kSuccess;
}

void add_shape_options(CLI::App& app, TimelineOptions& options) {
  CLI::Option* schedule = app.add_option("--schedule",
                                         options.schedules,
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
  CLI::Option* pipeline = add("--pipeline", options.pipeline, "ranks of the pipeline");
  CLI::Option* micro_batches = add("--micro-batches", options.micro_batches, "per iteration");
  schedule->needs(pipeline)->needs(micro_batches);
  add("--virtual-stages", options.virtual_stages, "chunks of layers per rank");
  add("--micro-batch-group",
      options.group,
      "micro-batches that interleaving takes through one chunk before the next");
  add("--forward", options.forward, "duration of a rank's forward pass: 1");
  add("--input-gradient", options.input_gradient, "of its backward pass for the input: 1");
  add("--weight-gradient", options.weight_gradient, "of its backward pass for the weights: 1");
  add("--pair", options.pair, "of a forward and a backward done together, otherwise their sum");
}

}  // namespace

Command add_timeline(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("timeline", "Draw what every stage of the pipeline does when");
  app->footer(
      "Examples:\n"
      "  titer timeline --schedule 1f1b --pipeline 4 --micro-batches 8\n"
      "  titer timeline --schedule 1f1b --pipeline 4 --micro-batches 8 --virtual-stages 2 "
      "--format svg --out 1f1b.svg\n"
      "  titer timeline --schedule 1f1b,interleaved,zb-h1,zb-v --pipeline 4 --micro-batches 8\n"
      "  titer timeline gpt3-175b-64xa100 --format svg --out gpt3.svg");
  const auto options = std::make_shared<TimelineOptions>();
  options->scenario.add_to(*app);
  app->get_option("scenario")->required(false);
  add_shape_options(*app, *options);
  app->add_option(
         "--format",
         options->format,
         "text, csv, json, svg, trace (Chrome's, JSON) or actions (what every rank does, in order)")
      ->default_str("text")
      ->type_name("FORMAT");
  app->add_flag("--every-rank",
                options->every_rank,
                "of a scenario: draw every device, not one for those that do the same");
  app->add_option("--width", options->width, "columns of a text picture beside its names")
      ->default_val(kUsualTextWidth);
  app->add_option("--out", options->out, "write to this file, whole or not at all")
      ->type_name("FILE");
  return {app, [options] { return timeline_command(*options); }};
}

}  // namespace titer
