#include "report/picture/timeline_picture.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/report/step/timeline_report.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

// A quotient, not a product with 1e-12: the nearest double, so that 0.3 prints as 0.3.
double seconds(Ticks ticks) { return static_cast<double>(ticks) / 1e12; }

template <class T>
std::string cell(const std::optional<T>& number) {
  return number ? std::to_string(*number) : "";
}
template <class T>
Value json(const std::optional<T>& number) {
  return number ? Value(std::int64_t{*number}) : Value();
}

std::optional<int> chunk_of(const SpanReader& reader, const LaneSpan& span) {
  return span.stage ? std::optional(reader.chunk(span)) : std::nullopt;
}

/// "start_s", or "start" where a second stands for something else.
std::string timed(std::string_view word, TimeScale scale) {
  return std::string(word) + (scale == TimeScale::real ? "_s" : "");
}

Value ranks_json(const StepTimeline& timeline) {
  Value ranks = Value::make_array();
  const std::vector<std::string> names = rank_names(timeline);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const TimelineRank& rank = timeline.ranks[i];
    ranks.push(Value::make_object()
                   .add("name", Value(names[i]))
                   .add("stage", Value(rank.stage))
                   .add("tensor", Value(rank.tensor))
                   .add("data", Value(rank.data))
                   .add("context", Value(rank.context))
                   .add("stands_for", Value(rank.stands_for)));
  }
  return ranks;
}

}  // namespace

std::string timeline_csv(const TimelineView& view) {
  const StepTimeline& timeline = view.timeline;
  const SpanReader reader(timeline);
  std::string text = csv_line({"rank",
                               "lane",
                               "pass",
                               "stage",
                               "chunk",
                               "micro_batch",
                               "bucket",
                               timed("start", view.scale),
                               timed("end", view.scale)});
  for (const std::uint32_t i : by_lane(timeline.spans)) {
    const LaneSpan& span = timeline.spans[i];
    text += csv_line({std::to_string(span.rank),
                      std::string(name(span.lane)),
                      std::string(look(reader.paint(span)).name),
                      cell(span.stage),
                      cell(chunk_of(reader, span)),
                      cell(span.micro_batch),
                      cell(span.bucket),
                      number_text(seconds(span.start)),
                      number_text(seconds(span.end))});
  }
  return text;
}

Value timeline_json(const TimelineView& view) {
  const StepTimeline& timeline = view.timeline;
  const SpanReader reader(timeline);
  Value spans = Value::make_array();
  for (const LaneSpan& span : timeline.spans) {
    spans.push(Value::make_object()
                   .add("rank", Value(span.rank))
                   .add("lane", Value(name(span.lane)))
                   .add("pass", Value(look(reader.paint(span)).name))
                   .add("stage", json(span.stage))
                   .add("chunk", json(chunk_of(reader, span)))
                   .add("micro_batch", json(span.micro_batch))
                   .add("bucket", json(span.bucket))
                   .add(timed("start", view.scale), Value(seconds(span.start)))
                   .add(timed("end", view.scale), Value(seconds(span.end))));
  }
  Value messages = Value::make_array();
  for (const SpanFlow& flow : timeline.flows) {
    messages.push(Value::make_object()
                      .add("from", Value(std::int64_t{flow.from}))
                      .add("to", Value(std::int64_t{flow.to})));
  }
  Value memory = Value::make_array();
  for (const MemoryPoint& point : timeline.memory) {
    memory.push(Value::make_object()
                    .add("rank", Value(point.rank))
                    .add(timed("time", view.scale), Value(seconds(point.tick)))
                    .add("bytes", Value(point.in_use.si())));
  }
  return Value::make_object()
      .add("format_version", Value(kFormatVersion))
      .add("title", Value(view.title))
      .add(timed("makespan", view.scale), Value(seconds(timeline.makespan)))
      .add("ranks", ranks_json(timeline))
      .add("spans", std::move(spans))
      .add("messages", std::move(messages))
      .add("memory", std::move(memory));
}

}  // namespace titer
