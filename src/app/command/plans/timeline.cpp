#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/output/output_file.hpp"
#include "app/output/picture_file.hpp"
#include "app/output/png.hpp"
#include "app/output/terminal.hpp"
#include "app/output/trace_file.hpp"
#include "app/question_command.hpp"
#include "titer/ask/run.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// As what a timeline goes to a file: an answer, a trace, or what the request draws it as.
struct TimelineForm {
  std::optional<Format> format = {};
  std::string_view drawn_as = {};
  bool as_png = false;  // of what is drawn

  [[nodiscard]] bool is_trace() const { return !format && drawn_as.empty(); }
  [[nodiscard]] bool is_picture() const { return !drawn_as.empty() && drawn_as != "actions"; }
};
constexpr std::array<Choice<TimelineForm>, 9> kTimelineForms = {
    {{"text", {.format = Format::text}},
     {"csv", {.format = Format::csv}},
     {"json", {.format = Format::json}},
     {"svg", {.drawn_as = "svg"}},
     {"png", {.drawn_as = "svg", .as_png = true}},
     {"pdf", {.drawn_as = "pdf"}},
     {"tikz", {.drawn_as = "tikz"}},
     {"trace", {}},
     {"actions", {.drawn_as = "actions"}}}};

struct TimelineOwn {
  std::string format = {};
  std::string palette = {};
  std::string out = {};
};
constexpr std::array kTimelineOwn = {
    options::text<&TimelineOwn::format>(
        "format",
        "FORMAT",
        "text, csv, json, svg, png, pdf, tikz (for LaTeX), trace (Chrome's, JSON) or actions (what "
        "every rank does, in order); what the name of --out tells")
        .or_else("text"),
    options::text<&TimelineOwn::palette>(
        "palette",
        "NAME",
        "colours of svg, png, pdf and tikz: usual, safe (for those who tell few colours apart) or "
        "grey"),
    out_option<&TimelineOwn::out>()};

using TimelineCommand = QuestionCommand<TimelineRequest, TimelineOwn>;

/// Refuses what the format has no place for.
void check_format(const TimelineOwn& own,
                  const TimelineForm& form,
                  const TimelineRequest& request) {
  if (!own.palette.empty() && !form.is_picture()) {
    throw InputError(
        fmt::format("--palette: expected --format svg, png, pdf or tikz, got {}", own.format));
  }
  if (request.memory && !form.is_picture() && form.format != Format::text) {
    throw InputError(
        fmt::format("--memory: expected --format text, svg, png, pdf or tikz, got {}", own.format));
  }
}

/// With the format that it was not told, which is what the file's name tells.
TimelineOwn with_format(TimelineOwn own) {
  if (own.format.empty()) {
    const std::string_view told = told_format(own.out);
    const bool is_known = includes(kTimelineForms, told, &Choice<TimelineForm>::name);
    own.format = is_known ? told : "text";
  }
  return own;
}

int timeline_command(const TimelineCommand& command) {
  const TimelineOwn own = with_format(command.own());
  const TimelineForm form = chosen("--format", own.format, kTimelineForms);
  TimelineRequest request = command.request();
  check_format(own, form, request);
  request.drawn_as = form.drawn_as;
  request.columns = own.out.empty() ? terminal_style().width : 0;
  if (!own.palette.empty()) {
    request.palette = own.palette;
  }
  if (form.as_png) {
    expect_png_goes_to(own.out);
  }
  OutputFile out("--out", own.out, own.format);
  if (form.is_trace()) {
    request.record = [&](const StepTimeline& timeline, const std::string& title) {
      write_trace(out, timeline, title);
    };
  }
  const PictureOutcome outcome = command.answer(request);
  if (form.format) {
    out.write(written(*form.format, outcome.view, own.out));
  } else {
    out.write(form.as_png ? png_of(outcome.picture) : outcome.picture);
  }
  out.finish();
  if (form.format != Format::text && form.format != Format::json) {
    tell_notes(outcome.notes);
  }
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
  return question_command(
      *app, timeline_options(), kTimelineOwn, timeline_command, {.has_report = false});
}

}  // namespace titer
