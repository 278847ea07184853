#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "app/output/picture_file.hpp"
#include "app/output/png.hpp"
#include "app/output/terminal.hpp"
#include "app/output/trace_file.hpp"
#include "app/question_options.hpp"
#include "asked_schedules.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/ask/run.hpp"
#include "titer/report/step/schedule_report.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/simulate.hpp"
#include "titer/view/view.hpp"

namespace titer {
namespace {

enum class TimelineFormat { text, csv, json, svg, png, pdf, tikz, trace, actions };
constexpr std::array<Choice<TimelineFormat>, 9> kTimelineFormats = {
    {{"text", TimelineFormat::text},
     {"csv", TimelineFormat::csv},
     {"json", TimelineFormat::json},
     {"svg", TimelineFormat::svg},
     {"png", TimelineFormat::png},
     {"pdf", TimelineFormat::pdf},
     {"tikz", TimelineFormat::tikz},
     {"trace", TimelineFormat::trace},
     {"actions", TimelineFormat::actions}}};

constexpr std::array<Choice<Palette>, 3> kPalettes = {
    {{"usual", Palette::usual}, {"safe", Palette::safe}, {"grey", Palette::grey}}};

/// Nothing where the format is no picture that is a file.
std::optional<PictureFormat> picture_format(TimelineFormat format) {
  switch (format) {
    case TimelineFormat::svg:
    case TimelineFormat::png:  // drawn of it
      return PictureFormat::svg;
    case TimelineFormat::pdf:
      return PictureFormat::pdf;
    case TimelineFormat::tikz:
      return PictureFormat::tikz;
    case TimelineFormat::text:
    case TimelineFormat::csv:
    case TimelineFormat::json:
    case TimelineFormat::trace:
    case TimelineFormat::actions:
      break;
  }
  return std::nullopt;
}

struct TimelineOptions {
  std::string format = {};
  bool memory = false;
  std::optional<Palette> palette = {};
  bool every_rank = false;
  std::optional<int> width = {};
  std::string out = {};
};
static_assert(kUsualTextWidth == 150, "as the option's sentence says");
constexpr std::array kTimelineOptions = {
    options::text<&TimelineOptions::format>(
        "format",
        "FORMAT",
        "text, csv, json, svg, png, pdf, tikz (for LaTeX), trace (Chrome's, JSON) or actions (what "
        "every rank does, in order); what the name of --out tells")
        .or_else("text"),
    options::flag<&TimelineOptions::memory>(
        "memory",
        "below each rank of a picture what it holds over time: activations of a schedule, bytes of "
        "a scenario"),
    options::choice<&TimelineOptions::palette, kPalettes>(
        "palette",
        "NAME",
        "colours of svg, png, pdf and tikz: usual, safe (for those who tell few colours apart) or "
        "grey"),
    options::flag<&TimelineOptions::every_rank>(
        "every_rank", "of a scenario: draw every device, not one for those that do the same"),
    options::integer<&TimelineOptions::width>(
        "width",
        "N",
        "columns of a text picture beside its names; default: 150, or what the terminal has")
        .within({kLeastTextWidth, kMostTextWidth}),
    out_option<&TimelineOptions::out>()};

/// A scenario, or schedules by themselves, and how they are drawn.
struct TimelineCommand {
  RequestOptions<CheckRequest> scenario;  // and changes to it
  RequestOptions<AskedSchedules> schedules;
  RequestOptions<TimelineOptions> own;
};

/// How a picture looks. Refuses what the format has no place for.
PictureStyle style_of(const TimelineOptions& options, TimelineFormat format) {
  const std::optional<PictureFormat> picture = picture_format(format);
  if (options.palette && !picture) {
    throw InputError(
        fmt::format("--palette: expected --format svg, png, pdf or tikz, got {}", options.format));
  }
  if (options.memory && !picture && format != TimelineFormat::text) {
    throw InputError(fmt::format("--memory: expected --format text, svg, png, pdf or tikz, got {}",
                                 options.format));
  }
  return {.format = picture.value_or(PictureFormat::svg),
          .palette = options.palette.value_or(Palette::usual)};
}

std::size_t longest_line(std::string_view text) {
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

/// `draw`: a picture so many columns wide, beside names. Unless told, no wider than the terminal
/// that it goes to.
template <class Draw>
std::string picture_text(const TimelineOptions& options, const Draw& draw) {
  std::string text = draw(options.width.value_or(kUsualTextWidth));
  const std::size_t terminal = options.out.empty() ? terminal_style().width : 0;
  const std::size_t longest = longest_line(text);
  if (options.width || terminal == 0 || longest <= terminal) {
    return text;
  }
  return draw(std::max(kLeastTextWidth, kUsualTextWidth - static_cast<int>(longest - terminal)));
}

/// What pictures of both kinds have in common; the text goes on with `figures`, and `json` is more
/// than the timeline where it is there.
std::string drawn(const TimelineView& picture,
                  const TimelineOptions& options,
                  TimelineFormat format,
                  const TextView& figures,
                  const Value& json) {
  switch (format) {
    case TimelineFormat::text:
      return written(
          TextView(picture_text(options, [&](int width) { return timeline_text(picture, width); }) +
                   "\n")
              .append(figures),
          options.out);
    case TimelineFormat::csv:
      return timeline_csv(picture);
    case TimelineFormat::json:
      return to_json(json) + "\n";
    case TimelineFormat::svg:
    case TimelineFormat::pdf:
    case TimelineFormat::tikz:
      return timeline_picture(picture, style_of(options, format));
    case TimelineFormat::png:
      return png_of(timeline_picture(picture, style_of(options, format)));
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
  const TimelineView picture = picture_view(view, options.memory);
  if (format == TimelineFormat::trace) {
    write_trace(out, picture.timeline, picture.title);
    return;
  }
  out.write(drawn(picture, options, format, schedule_text(view), schedule_json(view)));
}

void write_step(const TimelineOptions& options,
                const ScenarioSource& source,
                TimelineFormat format,
                OutputFile& out) {
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
  TimelineView view{.title = step_title(scenario),
                    .note = "one iteration of " + titer::format(step.result.iteration_time),
                    .timeline = std::move(step.timeline)};
  if (options.memory) {
    view.memory = memory_in_use(view.timeline, step.result.memory_capacity);
  }
  if (format == TimelineFormat::trace) {
    write_trace(out, view.timeline, view.title);
    tell_notes(notes);
    return;
  }
  Value json = timeline_json(view);
  add_notes(notes, json);
  out.write(format == TimelineFormat::text ? notes_text(notes) : "");
  out.write(drawn(view, options, format, ranks_text(step.result), json));
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
      return out.write(written(TextView(picture_text(options,
                                                     [&](int width) {
                                                       return schedules_text(
                                                           views, width, options.memory);
                                                     }) +
                                        "\n")
                                   .append(schedules_table(views)),
                               options.out));
    case TimelineFormat::csv:
      return out.write(schedules_csv(views));
    case TimelineFormat::json:
      return out.write(to_json(schedules_json(views)) + "\n");
    case TimelineFormat::svg:
    case TimelineFormat::pdf:
    case TimelineFormat::tikz:
      return out.write(schedules_picture(views, style_of(options, format), options.memory));
    case TimelineFormat::png:
      return out.write(png_of(schedules_picture(views, style_of(options, format), options.memory)));
    case TimelineFormat::trace:
    case TimelineFormat::actions:
      break;
  }
  throw InputError(
      fmt::format("--format: \"{}\": expected one schedule, or text, csv, json, svg, png, pdf or "
                  "tikz",
                  options.format));
}

/// With the format that it was not told, which is what the file's name tells.
TimelineOptions with_format(TimelineOptions options) {
  if (options.format.empty()) {
    const std::string_view told = told_format(options.out);
    const bool is_known =
        std::ranges::find(kTimelineFormats, told, &Choice<TimelineFormat>::name) !=
        kTimelineFormats.end();
    options.format = is_known ? told : "text";
  }
  return options;
}

int timeline_command(const TimelineCommand& command) {
  const TimelineOptions options = with_format(command.own.request());
  const AskedSchedules schedules = command.schedules.request();
  const TimelineFormat format = chosen("--format", options.format, kTimelineFormats);
  static_cast<void>(style_of(options, format));
  if (schedules.names.empty() == command.scenario.typed().empty()) {
    throw InputError(
        "timeline: expected either a scenario, or --schedule with --pipeline and --micro-batches");
  }
  if (format == TimelineFormat::png) {
    expect_png_goes_to(options.out);
  }
  OutputFile out("--out", options.out, options.format);
  if (schedules.names.empty()) {
    write_step(options, source_of(command.scenario.request().scenario), format, out);
  } else if (const std::vector<ScheduleView> views = schedules.executed(); views.size() == 1) {
    write_schedule(options, views.front(), format, out);
  } else {
    write_schedules(options, views, format, out);
  }
  out.finish();
  return kSuccess;
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
  std::vector<Option<CheckRequest>> scenario(check_options().begin(), check_options().end());
  scenario.front() = scenario.front().optional();
  const auto command =
      std::make_shared<TimelineCommand>(TimelineCommand{.scenario = {*app, scenario},
                                                        .schedules = {*app, schedule_options()},
                                                        .own = {*app, kTimelineOptions}});
  return {app, [command] { return timeline_command(*command); }};
}

}  // namespace titer
