#include "titer/ask/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ask/scenario_options.hpp"
#include "timeline_schedules.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/plan/schedule/read_schedule.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/simulate.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::string_view kSchedule = "schedule";
constexpr std::string_view kActions = "actions";
constexpr std::array<Choice<PictureFormat>, 3> kPictures = {
    {{"svg", PictureFormat::svg}, {"pdf", PictureFormat::pdf}, {"tikz", PictureFormat::tikz}}};
constexpr std::array<Choice<Palette>, 3> kPalettes = {
    {{"usual", Palette::usual}, {"safe", Palette::safe}, {"grey", Palette::grey}}};

using T = TimelineRequest;
template <auto Member>
constexpr Option<T> count(std::string_view key, std::string_view about, double most) {
  return options::integer<Member>(key, "INT", about).with(kSchedule).within({1, most});
}
template <auto Member>
constexpr Option<T> duration(std::string_view key, std::string_view about) {
  constexpr double longest = 10'000;  // durations are relative
  return options::number<Member>(key, "FLOAT", about).with(kSchedule).within({0, longest});
}
constexpr double kMostMicroBatches = 1'000'000;

bool is_schedule(std::string_view word) {
  return std::ranges::any_of(schedule_words(), [&](const auto& one) { return one.name == word; });
}

static_assert(kUsualTextWidth == 150, "as the option's sentence says");
constexpr std::array kTimelineOptions = [] {
  std::array all = options::with_scenario<&T::scenario>(std::array{
      options::list<&T::schedules>(
          kSchedule,
          "NAME[,NAME…]",
          "draw this schedule by itself (titer list schedules; interleaved: 1f1b with "
          "--virtual-stages, 2 if not said): stages alike, sending free; several, with commas "
          "between, on one axis")
          .file_unless(is_schedule),
      count<&T::pipeline>("pipeline", "ranks of the pipeline", kMostStages),
      count<&T::micro_batches>("micro_batches", "per iteration", kMostMicroBatches),
      count<&T::virtual_stages>("virtual_stages", "chunks of layers per rank", kMostStages),
      count<&T::micro_batch_group>(
          "micro_batch_group",
          "micro-batches that interleaving takes through one chunk before the next",
          kMostMicroBatches),
      duration<&T::forward>("forward", "duration of a rank's forward pass: 1"),
      duration<&T::input_gradient>("input_gradient", "of its backward pass for the input: 1"),
      duration<&T::weight_gradient>("weight_gradient", "of its backward pass for the weights: 1"),
      duration<&T::pair>("pair", "of a forward and a backward done together, otherwise their sum"),
      options::flag<&T::memory>("memory",
                                "below each rank of a picture what it holds over time: activations "
                                "of a schedule, bytes of a scenario"),
      options::flag<&T::every_rank>(
          "every_rank", "of a scenario: draw every device, not one for those that do the same"),
      options::integer<&T::width>(
          "width",
          "N",
          "columns of a text picture beside its names; default: 150, or what the terminal has")
          .within({kLeastTextWidth, kMostTextWidth})});
  all.front() = all.front().optional();
  return all;
}();

std::size_t longest_line(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string_view line : divided(text, "\n")) {
    longest = std::max(longest, line.size());
  }
  return longest;
}

/// `draw`: a picture of at most so many columns, beside names.
template <class Draw>
std::string picture_text(const T& request, const Draw& draw) {
  int width = request.width.value_or(kUsualTextWidth);
  std::string text = draw(width) + "\n";
  const bool must_fit = !request.width && request.columns > 0;
  for (std::size_t longest = longest_line(text);
       must_fit && longest > request.columns && width > kLeastTextWidth;
       longest = longest_line(text)) {
    width = std::max(kLeastTextWidth, width - static_cast<int>(longest - request.columns));
    text = draw(width) + "\n";
  }
  return text;
}

bool is_picture(const T& request) {
  return !request.drawn_as.empty() && request.drawn_as != kActions;
}
PictureStyle style_of(const T& request) {
  return {.format = chosen("--format", request.drawn_as, kPictures),
          .palette = chosen("--palette", request.palette, kPalettes)};
}

/// One timeline, with figures behind its text, and more than itself in its tree.
PictureOutcome answer_of(const T& request,
                         TimelineView picture,
                         const TextView& figures,
                         Value json,
                         const std::vector<std::string>& notes = {}) {
  PictureOutcome outcome;
  outcome.notes = notes;
  if (request.record) {
    request.record(picture.timeline, picture.title);
    return outcome;
  }
  if (is_picture(request)) {
    outcome.picture = timeline_picture(picture, style_of(request));
    return outcome;
  }
  outcome.view.title = picture.title;
  outcome.view.text =
      TextView(notes_text(notes) +
               picture_text(request, [&](int width) { return timeline_text(picture, width); }))
          .append(figures);
  const auto shared = std::make_shared<const TimelineView>(std::move(picture));
  outcome.view.long_csv = [shared](const Figures& /*asked*/) { return timeline_csv(*shared); };
  add_notes(notes, json);
  outcome.view.long_json = [json = std::move(json)] { return to_json(json) + "\n"; };
  return outcome;
}

PictureOutcome answer_of(const T& request, const ScheduleView& schedule) {
  if (request.drawn_as == kActions) {
    PictureOutcome outcome;
    outcome.picture = actions_csv(schedule.schedule, schedule.shape);
    return outcome;
  }
  return answer_of(request,
                   picture_view(schedule, request.memory),
                   schedule_text(schedule),
                   schedule_json(schedule));
}

PictureOutcome answer_of(const T& request, std::vector<ScheduleView> schedules) {
  PictureOutcome outcome;
  if (request.record || request.drawn_as == kActions) {
    throw InputError(
        fmt::format("--format: \"{}\": expected one schedule, or text, csv, json, svg, png, pdf or "
                    "tikz",
                    request.record ? "trace" : kActions));
  }
  if (is_picture(request)) {
    outcome.picture = schedules_picture(schedules, style_of(request), request.memory);
    return outcome;
  }
  outcome.view.title = "Schedules";
  outcome.view.text = TextView(picture_text(request, [&](int width) {
                        return schedules_text(schedules, width, request.memory);
                      })).append(schedules_table(schedules));
  const auto shared = std::make_shared<const std::vector<ScheduleView>>(std::move(schedules));
  outcome.view.long_csv = [shared](const Figures& /*asked*/) { return schedules_csv(*shared); };
  outcome.view.long_json = [shared] { return to_json(schedules_json(*shared)) + "\n"; };
  return outcome;
}

PictureOutcome scenario_answer(const T& request) {
  const ScenarioSource source = source_of(request.scenario);
  const Scenario scenario = source.read();
  const std::vector<std::string> notes = answer_notes(source, scenario);
  if (request.drawn_as == kActions) {
    PictureOutcome outcome;
    outcome.picture = actions_csv(scenario.plan.schedule, scenario.shape());
    outcome.notes = notes;
    return outcome;
  }
  check_fidelity(scenario, Fidelity::event);
  Simulation step =
      simulate(scenario, {.every_rank = request.every_rank, .record = true, .sample = 0});
  TimelineView view{.title = step_title(scenario),
                    .note = "one iteration of " + format(step.result.iteration_time),
                    .timeline = std::move(step.timeline)};
  if (request.memory) {
    view.memory = memory_in_use(view.timeline, step.result.memory_capacity);
  }
  Value json = timeline_json(view);
  return answer_of(request, std::move(view), ranks_text(step.result), std::move(json), notes);
}

}  // namespace

std::span<const Option<TimelineRequest>> timeline_options() { return kTimelineOptions; }

PictureOutcome ask(const TimelineRequest& request) {
  const bool has_scenario = is_asked(request.scenario) || !request.scenario.changes.empty();
  if (request.schedules.empty() != has_scenario) {
    throw InputError(
        "timeline: expected either a scenario, or --schedule with --pipeline and --micro-batches");
  }
  if (has_scenario) {
    return scenario_answer(request);
  }
  std::vector<ScheduleView> schedules = executed_schedules(request);
  return schedules.size() == 1 ? answer_of(request, schedules.front())
                               : answer_of(request, std::move(schedules));
}

}  // namespace titer
