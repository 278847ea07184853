#include "titer/report/file/trace_report.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>

#include "report/picture/timeline_picture.hpp"
#include "titer/input/document.hpp"

namespace titer {
namespace {

constexpr std::size_t kPiece = 1 << 16;  // bytes that are written at once

/// Names of colours that the viewer of Chrome reserves; Perfetto colours by the spans' names.
constexpr std::array<std::string_view, kPaintCount> kColourNames = {
    "thread_state_runnable",  // forward: blue
    "thread_state_running",   // backward: green
    "rail_load",              // input gradient: dark green
    "yellow",                 // weight gradient
    "olive",                  // recompute
    "grey",                   // optimizer
    "thread_state_iowait",    // tensor comm: orange
    "bad",                    // context comm: yellowish
    "terrible",               // expert comm: red
    "detailed_memory_dump",   // pipeline comm: magenta
    "thread_state_unknown",   // data comm: brown
    "generic_work"};          // host copy: light grey

std::string json_text(std::string_view text) { return to_json(Value(text), 0); }

/// Nanoseconds, rounded to nearest: half of 1000 ps goes up.
std::int64_t nanoseconds(Ticks tick) { return (tick + 500) / 1000; }

class TraceWriter {
 public:
  TraceWriter(const StepTimeline& timeline, const std::function<void(std::string_view)>& write)
      : timeline_(timeline), reader_(timeline), order_(by_lane(timeline.spans)), write_(write) {}

  void heading(const TraceHeading& heading) {
    add(FMT_COMPILE("{{\"displayTimeUnit\":\"ms\",\n\"otherData\":{{\"program\":{},\"format_"
                    "version\":{},\"title\":{}}},\n\"traceEvents\":[\n"),
        json_text(heading.program),
        kTraceFormatVersion,
        json_text(heading.title));
  }

  void events() {
    place_spans();
    processes();
    for (const std::uint32_t i : order_) {
      span(i);
    }
    for (std::size_t i = 0; i < timeline_.flows.size(); ++i) {
      flow(i);
    }
    for (const MemoryPoint& point : timeline_.memory) {
      begin_event();
      add(FMT_COMPILE("{{\"ph\":\"C\",\"cat\":\"memory\",\"pid\":{},\"ts\":{}.{:03},\"name\":"
                      "\"memory in use\",\"args\":{{\"bytes\":{}}}}}"),
          point.rank,
          nanoseconds(point.tick) / 1000,
          nanoseconds(point.tick) % 1000,
          std::llround(point.in_use.si()));
    }
    add(FMT_COMPILE("\n]}}\n"));
    flush();
  }

 private:
  /// `text`: FMT_COMPILE of a format, which is several times as fast as the format itself.
  template <class Text, class... T>
  void add(const Text& text, const T&... values) {
    fmt::format_to(std::back_inserter(piece_), text, values...);
    if (piece_.size() >= kPiece) {
      flush();
    }
  }
  void flush() {
    write_({piece_.data(), piece_.size()});
    piece_.clear();
  }
  void begin_event() {
    if (!first_) {
      add(FMT_COMPILE(",\n"));
    }
    first_ = false;
  }

  /// The first thread of its lane that is free when a span starts.
  void place_spans() {
    threads_.resize(timeline_.spans.size());
    std::vector<std::int64_t> busy_until;  // the threads of one lane of one rank
    const LaneSpan* before = nullptr;
    for (const std::uint32_t i : order_) {
      const LaneSpan& span = timeline_.spans[i];
      if (before == nullptr || before->rank != span.rank || before->lane != span.lane) {
        busy_until.clear();
      }
      before = &span;
      std::size_t row = 0;
      while (row < busy_until.size() && busy_until[row] > nanoseconds(span.start)) {
        ++row;
      }
      busy_until.resize(std::max(busy_until.size(), row + 1));
      busy_until[row] = nanoseconds(span.end);
      threads_[i] = thread_of(span.lane, row);
    }
  }
  // Ten places for each lane keep the order of lanes; a span too many shares the last place.
  static constexpr std::uint32_t rows_per_lane = 10;
  static std::uint32_t thread_of(DeviceLane lane, std::size_t row) {
    return static_cast<std::uint32_t>(lane) * rows_per_lane +
           std::min(static_cast<std::uint32_t>(row), rows_per_lane - 1);
  }

  void metadata(std::string_view what, std::size_t rank, std::string_view rest) {
    begin_event();
    add(FMT_COMPILE("{{\"ph\":\"M\",\"pid\":{},\"name\":\"{}\",{}}}"), rank, what, rest);
  }

  void processes() {
    const std::vector<std::string> names = rank_names(timeline_);
    for (std::size_t rank = 0; rank < names.size(); ++rank) {
      metadata(
          "process_name", rank, fmt::format("\"args\":{{\"name\":{}}}", json_text(names[rank])));
      metadata("process_sort_index", rank, fmt::format("\"args\":{{\"sort_index\":{}}}", rank));
    }
    std::vector<std::pair<std::int32_t, std::uint32_t>> named;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      named.emplace_back(timeline_.spans[i].rank, threads_[i]);
    }
    std::ranges::sort(named);
    named.erase(std::unique(named.begin(), named.end()), named.end());
    for (const auto& [rank, thread] : named) {
      const std::string_view lane = kLaneNames[thread / rows_per_lane];
      const std::string name = thread % rows_per_lane == 0
                                   ? std::string(lane)
                                   : fmt::format("{}, beside {}", lane, thread % rows_per_lane);
      const auto process = static_cast<std::size_t>(rank);
      metadata("thread_name",
               process,
               fmt::format("\"tid\":{},\"args\":{{\"name\":{}}}", thread, json_text(name)));
      metadata("thread_sort_index",
               process,
               fmt::format("\"tid\":{0},\"args\":{{\"sort_index\":{0}}}", thread));
    }
  }

  /// Short, as boxes may be narrow, where pictures have a letter for it too.
  static std::string label(std::size_t paint) {
    const PaintLook& look = kPaints[paint];
    return std::isupper(look.letter) != 0 ? std::string(1, look.letter)
                                          : std::string(look.name) + " ";
  }

  void span(std::uint32_t i) {
    const LaneSpan& span = timeline_.spans[i];
    const std::int64_t start = nanoseconds(span.start);
    const std::int64_t time = nanoseconds(span.end) - start;
    const auto paint = static_cast<std::size_t>(reader_.paint(span));
    begin_event();
    add(FMT_COMPILE("{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{}.{:03},\"dur\":{}.{:03},\"cat\":"
                    "\"{}\",\"cname\":\"{}\",\"name\":\"{}{}\",\"args\":{{"),
        span.rank,
        threads_[i],
        start / 1000,
        start % 1000,
        time / 1000,
        time % 1000,
        kPaints[paint].name,
        kColourNames[paint],
        label(paint),
        span.micro_batch ? std::to_string(*span.micro_batch)
        : span.bucket    ? std::to_string(*span.bucket)
                         : "");
    std::string_view comma = "";  // with an address: fmt copies from it, be it empty
    const auto argument = [&](std::string_view key, const auto& value) {
      if (value) {
        add(FMT_COMPILE("{}\"{}\":{}"), comma, key, *value);
        comma = ",";
      }
    };
    argument("stage", span.stage);
    argument("micro_batch", span.micro_batch);
    argument("bucket", span.bucket);
    add(FMT_COMPILE("{}\"part\":\"{}\"}}}}"), comma, name(span.part));
  }

  /// An arrow leaves its span before that ends, and arrives where the other begins.
  void flow(std::size_t number) {
    const SpanFlow& flow = timeline_.flows[number];
    const LaneSpan& from = timeline_.spans[flow.from];
    const LaneSpan& to = timeline_.spans[flow.to];
    const std::int64_t start = nanoseconds(from.start);
    const std::int64_t last = std::max(start, nanoseconds(from.end) - 1);
    const std::int64_t leaves = std::clamp(nanoseconds(to.start), start, last);
    flow_end("s", number, {flow.from, leaves});
    flow_end("f", number, {flow.to, std::max(leaves, nanoseconds(to.start))});
  }

  struct FlowEnd {
    std::uint32_t span;
    std::int64_t at;
  };
  void flow_end(std::string_view phase, std::size_t number, FlowEnd end) {
    begin_event();
    add(FMT_COMPILE("{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}.{:03},\"cat\":\"message\","
                    "\"name\":\"message\",\"id\":{}{}}}"),
        phase,
        timeline_.spans[end.span].rank,
        threads_[end.span],
        end.at / 1000,
        end.at % 1000,
        number,
        phase == "f" ? ",\"bp\":\"e\"" : "");
  }

  const StepTimeline& timeline_;
  SpanReader reader_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> threads_;  // of the spans
  const std::function<void(std::string_view)>& write_;
  fmt::memory_buffer piece_;
  bool first_ = true;
};

}  // namespace

void write_trace(const StepTimeline& timeline,
                 const TraceHeading& heading,
                 const std::function<void(std::string_view)>& write) {
  TraceWriter writer(timeline, write);
  writer.heading(heading);
  writer.events();
}

}  // namespace titer
