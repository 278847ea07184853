#include "titer/report/step/schedule_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

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

Figures read_figures(const ScheduleView& view) {
  const ScheduleFigures figures(view);
  const Seconds idle = view.run.bubble(false);
  const Datum in_all = figures.inside_spans ? Datum(time_text(view, idle)) : Datum();
  return {
      {"", time_text(view, view.run.makespan), "makespan"},
      {"",
       time_text(view, figures.bubble) + "; " + formula_text(view, figures),
       figures.inside_spans ? "most idle in a span" : "most idle"},
      {"", in_all, "most idle in all"},
      {"", percent_text(figures.ratio(idle)) + " of the makespan", "bubble ratio"},
      {"", percent_text(figures.overhead(idle)) + " of the time without it", "bubble overhead"}};
}

FigureRows stage_rows(const ScheduleView& view) {
  FigureRows rows;
  for (const RankRun& run : view.run.ranks) {
    const auto stage = static_cast<int>(rows.size());
    rows.push_back({{"", stage, "stage"},
                    {"", time_text(view, run.busy), "busy"},
                    {"", time_text(view, view.run.idle(stage)), "idle"},
                    {"", time_text(view, run.idle_in_span()), "idle in its span"},
                    {"", run.peak_chunks, "most chunks alive"}});
  }
  return rows;
}

}  // namespace

namespace {

/// What tells schedules apart, one in a row.
FigureRows compared_rows(std::span<const ScheduleView> views) {
  FigureRows rows;
  for (const ScheduleView& view : views) {
    const ScheduleFigures figures(view);
    const Seconds idle = view.run.bubble(false);
    int alive = 0;
    for (const RankRun& run : view.run.ranks) {
      alive = std::max(alive, run.peak_chunks);
    }
    const int chunks = chunks_per_rank(placement(view.schedule), view.shape);
    rows.push_back(
        {{"schedule", name(view.schedule), "schedule"},
         {"pipeline", view.shape.stages},
         {"micro_batches", view.shape.micro_batches},
         {"chunks", chunks, "chunks"},
         {"makespan", Datum(view.run.makespan, time_text(view, view.run.makespan)), "makespan"},
         {"idle", Datum(idle, time_text(view, idle)), "most idle"},
         {"bubble_ratio", Datum(figures.ratio(idle), kPercent), "bubble ratio"},
         {"bubble_overhead", Datum(figures.overhead(idle), kPercent), "overhead"},
         {"peak_chunks", alive, "most chunks alive"},
         {"peak_layers",
          Datum(static_cast<double>(alive) / chunks,
                fmt::format("{:.4g}", static_cast<double>(alive) / chunks)),
          "of a rank's layers"}});
  }
  return rows;
}

/// Chunks that are alive, each a share of the rank's layers.
MemoryStrips chunks_held(const ScheduleView& view) {
  MemoryStrips strips{.what = "activations held, in those of a rank's layers for one micro-batch",
                      .ranks = {}};
  const double chunks = chunks_per_rank(placement(view.schedule), view.shape);
  for (const RankRun& rank : view.run.ranks) {
    std::vector<HeldPoint>& points = strips.ranks.emplace_back();
    for (std::size_t i = 0; i < rank.actions.size(); ++i) {
      points.push_back({to_ticks(rank.actions[i].start), rank.alive[i].during / chunks});
      points.push_back({to_ticks(rank.actions[i].end), rank.alive[i].after / chunks});
    }
  }
  return strips;
}

std::vector<TimelineView> pictures_of(std::span<const ScheduleView> views, bool with_memory) {
  return each_of(views, [&](const ScheduleView& view) { return picture_view(view, with_memory); });
}

}  // namespace

std::string schedules_text(std::span<const ScheduleView> views, int width, bool with_memory) {
  return timelines_text(pictures_of(views, with_memory), width);
}

TextView schedules_table(std::span<const ScheduleView> views) {
  return TextView().table(compared_rows(views), "l");
}

std::string schedules_picture(std::span<const ScheduleView> views,
                              const PictureStyle& style,
                              bool with_memory) {
  return timelines_picture(pictures_of(views, with_memory), style);
}

std::string schedules_csv(std::span<const ScheduleView> views) {
  const FigureRows rows = compared_rows(views);
  return csv_of(rows, listed(rows.front(), &Figure::key, " "));
}

Value schedules_json(std::span<const ScheduleView> views) {
  Value list = Value::make_array();
  for (const ScheduleView& view : views) {
    list.push(schedule_json(view));
  }
  return Value::make_object()
      .add("format_version", Value(kFormatVersion))
      .add("schedules", std::move(list));
}

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
  std::ranges::stable_sort(timeline.spans, {}, &LaneSpan::end);
  timeline.flows = messages_of(timeline.spans);
  return timeline;
}

TimelineView picture_view(const ScheduleView& view, bool with_memory) {
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
          .scale = view.scale,
          .memory = with_memory ? std::optional(chunks_held(view)) : std::nullopt};
}

TextView schedule_text(const ScheduleView& view) {
  return TextView().pairs(read_figures(view)).add("\n").table(stage_rows(view), "r");
}

Value schedule_json(const ScheduleView& view) {
  const ScheduleFigures figures(view);
  const Seconds idle = view.run.bubble(false);
  const std::string suffix = view.scale == TimeScale::real ? "_s" : "";
  std::vector<Seconds> idles;
  std::vector<Seconds> in_spans;
  std::vector<int> chunks;
  for (const RankRun& run : view.run.ranks) {
    idles.push_back(view.run.idle(static_cast<int>(idles.size())));
    in_spans.push_back(run.idle_in_span());
    chunks.push_back(run.peak_chunks);
  }
  Value more = json_of({{"schedule", name(view.schedule)},
                        {"pipeline", view.shape.stages},
                        {"micro_batches", view.shape.micro_batches},
                        {"virtual_stages", view.shape.virtual_stages},
                        {"bubble" + suffix, figures.bubble},
                        {"bubble_of_span", figures.inside_spans},
                        {"bubble_formula" + suffix, figures.formula},
                        {"bubble_ratio", figures.ratio(idle)},
                        {"bubble_overhead", figures.overhead(idle)},
                        {"idle" + suffix, idles},
                        {"idle_in_span" + suffix, in_spans},
                        {"peak_chunks", chunks}});
  Value json = timeline_json(picture_view(view));
  for (auto& [key, value] : more.members) {
    json.add(key, std::move(value));
  }
  return json;
}

}  // namespace titer
