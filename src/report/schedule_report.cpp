#include "titer/report/schedule_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "titer/report/table.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

TaskPart part_of(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return TaskPart::forward;
    case Pass::weight_gradient:
      return TaskPart::weight_gradient;
    case Pass::backward:
    case Pass::input_gradient:
      break;
  }
  return TaskPart::backward;
}

/// Messages: each forward pass waits for that of the stage before, each gradient for that of the
/// stage after.
std::vector<SpanFlow> messages_of(const std::vector<LaneSpan>& spans) {
  using Key = std::tuple<bool, int, int>;  // forward, stage, micro-batch
  std::map<Key, std::uint32_t> made;
  const auto is_forward = [](const LaneSpan& span) { return span.part == TaskPart::forward; };
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    if (spans[i].part != TaskPart::weight_gradient) {
      made[{is_forward(spans[i]), *spans[i].stage, *spans[i].micro_batch}] = i;
    }
  }
  std::vector<SpanFlow> flows;
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    if (spans[i].part == TaskPart::weight_gradient) {
      continue;
    }
    const int from = *spans[i].stage + (is_forward(spans[i]) ? -1 : 1);
    const auto maker = made.find({is_forward(spans[i]), from, *spans[i].micro_batch});
    if (maker != made.end() && spans[maker->second].rank != spans[i].rank) {
      flows.push_back({.from = maker->second, .to = i});
    }
  }
  return flows;
}

/// The figures that are shown in every view.
struct ScheduleFigures {
  Seconds bubble;  // inside the spans of the ranks where the schedule's formula counts it there
  Seconds makespan;
  std::optional<Seconds> formula;
  bool inside_spans = false;

  explicit ScheduleFigures(const ScheduleView& view)
      : bubble(view.run.bubble(view.schedule.entry().bubble_of_span)),
        makespan(view.run.makespan),
        formula(titer::bubble(view.schedule, view.shape, view.times)),
        inside_spans(view.schedule.entry().bubble_of_span) {}

  // Idle over all, and over what is not idle, of the rank that is idle most.
  [[nodiscard]] double ratio(Seconds idle) const { return idle / makespan; }
  [[nodiscard]] double overhead(Seconds idle) const { return idle / (makespan - idle); }
};

std::string time_text(const ScheduleView& view, Seconds time) {
  return view.scale == TimeScale::real ? format(time) : fmt::format("{:.6g}", time.si());
}

std::string durations(const ScheduleView& view) {
  std::string text = fmt::format("F {}, B {}, W {}",
                                 time_text(view, view.times.forward),
                                 time_text(view, view.times.input_gradient),
                                 time_text(view, view.times.weight_gradient));
  return view.times.pair ? text + ", F&B " + time_text(view, *view.times.pair) : text;
}

std::string formula_text(const ScheduleView& view, const ScheduleFigures& figures) {
  if (!figures.formula) {
    return "no formula is known to hold here";
  }
  return fmt::format("{} by its formula, {} ({})",
                     time_text(view, *figures.formula),
                     bubble_formula(view.schedule),
                     source(view.schedule));
}

std::vector<Row> figure_rows(const ScheduleView& view) {
  const ScheduleFigures figures(view);
  const Seconds idle = view.run.bubble(false);
  std::vector<Row> rows;
  rows.push_back({"makespan", time_text(view, view.run.makespan)});
  rows.push_back({figures.inside_spans ? "most idle in a span" : "most idle",
                  time_text(view, figures.bubble) + "; " + formula_text(view, figures)});
  if (figures.inside_spans) {
    rows.push_back({"most idle in all", time_text(view, idle)});
  }
  rows.push_back({"bubble ratio", percent_text(figures.ratio(idle)) + " of the makespan"});
  rows.push_back(
      {"bubble overhead", percent_text(figures.overhead(idle)) + " of the time without it"});
  return rows;
}

std::vector<Row> rank_rows(const ScheduleView& view) {
  std::vector<Row> rows = {{"stage", "busy", "idle", "idle in its span", "most chunks alive"}};
  for (std::size_t rank = 0; rank < view.run.ranks.size(); ++rank) {
    const RankRun& run = view.run.ranks[rank];
    rows.push_back({std::to_string(rank),
                    time_text(view, run.busy),
                    time_text(view, view.run.idle(static_cast<int>(rank))),
                    time_text(view, run.idle_in_span()),
                    std::to_string(run.peak_chunks)});
  }
  return rows;
}

}  // namespace

StepTimeline timeline_of(const ScheduleView& view) {
  StepTimeline timeline;
  timeline.makespan = to_ticks(view.run.makespan);
  for (std::size_t rank = 0; rank < view.run.ranks.size(); ++rank) {
    timeline.ranks.push_back({.stage = static_cast<int>(rank)});
    for (const ActionTime& time : view.run.ranks[rank].actions) {
      timeline.spans.push_back({.rank = static_cast<std::int32_t>(rank),
                                .lane = DeviceLane::compute,
                                .part = part_of(time.action.pass),
                                .stage = static_cast<std::int16_t>(time.stage),
                                .bucket = {},
                                .micro_batch = time.action.micro_batch,
                                .start = to_ticks(time.start),
                                .end = to_ticks(time.end)});
    }
  }
  std::stable_sort(timeline.spans.begin(),
                   timeline.spans.end(),
                   [](const LaneSpan& a, const LaneSpan& b) { return a.end < b.end; });
  timeline.flows = messages_of(timeline.spans);
  return timeline;
}

TimelineView picture_view(const ScheduleView& view) {
  const ScheduleFigures figures(view);
  const PipelineShape& shape = view.shape;
  const Seconds idle = view.run.bubble(false);
  const int chunks = chunks_per_rank(placement(view.schedule), shape);
  return {.title = fmt::format("{}: {} stages{}, {} micro-batches",
                               name(view.schedule),
                               shape.stages,
                               chunks > 1 ? fmt::format(" of {} chunks", chunks) : "",
                               shape.micro_batches),
          .note = fmt::format("{}; makespan {}, idle {}: bubble ratio {}, overhead {}",
                              durations(view),
                              time_text(view, view.run.makespan),
                              time_text(view, idle),
                              percent_text(figures.ratio(idle)),
                              percent_text(figures.overhead(idle))),
          .timeline = timeline_of(view),
          .scale = view.scale};
}

std::string schedule_text(const ScheduleView& view) {
  return text_table(figure_rows(view), {Align::left, Align::left}) + "\n" +
         text_table(rank_rows(view), {Align::right});
}

Value schedule_json(const ScheduleView& view) {
  const ScheduleFigures figures(view);
  const Seconds idle = view.run.bubble(false);
  const std::string suffix = view.scale == TimeScale::real ? "_s" : "";
  Value idles = Value::make_array();
  Value spans = Value::make_array();
  Value chunks = Value::make_array();
  for (std::size_t rank = 0; rank < view.run.ranks.size(); ++rank) {
    idles.push(Value(view.run.idle(static_cast<int>(rank)).si()));
    spans.push(Value(view.run.ranks[rank].idle_in_span().si()));
    chunks.push(Value(view.run.ranks[rank].peak_chunks));
  }
  Value json = timeline_json(picture_view(view));
  json.add("schedule", Value(name(view.schedule)))
      .add("pipeline", Value(view.shape.stages))
      .add("micro_batches", Value(view.shape.micro_batches))
      .add("virtual_stages", Value(view.shape.virtual_stages))
      .add("bubble" + suffix, Value(figures.bubble.si()))
      .add("bubble_of_span", Value(figures.inside_spans))
      .add("bubble_formula" + suffix, figures.formula ? Value(figures.formula->si()) : Value())
      .add("bubble_ratio", Value(figures.ratio(idle)))
      .add("bubble_overhead", Value(figures.overhead(idle)))
      .add("idle" + suffix, std::move(idles))
      .add("idle_in_span" + suffix, std::move(spans))
      .add("peak_chunks", std::move(chunks));
  return json;
}

}  // namespace titer
