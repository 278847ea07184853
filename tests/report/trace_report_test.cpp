// Traces are read back as what they claim to be: JSON with spans, arrows and counters.

#include "titer/report/file/trace_report.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "report/timelines.hpp"
#include "titer/input/document.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

Document trace_of(const StepTimeline& timeline, const std::string& title = "a step") {
  std::string text;
  write_trace(timeline, {.program = "titer 1.2.3", .title = title}, [&](std::string_view piece) {
    text += piece;
  });
  return parse_json(text, "trace");
}

std::vector<const Value*> events(const Document& trace, std::string_view phase) {
  std::vector<const Value*> found;
  for (const Value& event : trace.at("traceEvents")->items) {
    if (event.find("ph")->text == phase) {
      found.push_back(&event);
    }
  }
  return found;
}

double number(const Value& event, std::string_view key) { return event.find(key)->number; }
std::pair<std::int64_t, std::int64_t> thread(const Value& event) {
  return {event.find("pid")->integer, event.find("tid")->integer};
}

/// Whether the spans of every thread follow one another.
void expect_no_overlap(const Document& trace) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> end;
  for (const Value* span : events(trace, "X")) {
    double& busy_until = end.try_emplace(thread(*span), 0.0).first->second;
    EXPECT_GE(number(*span, "ts"), busy_until - 1e-6);  // 1e-3 is a nanosecond
    busy_until = number(*span, "ts") + number(*span, "dur");
  }
}

/// Whether every arrow leaves from within a span and arrives where one begins.
void expect_bound(const Document& trace) {
  std::set<std::tuple<std::int64_t, std::int64_t, double>> starts;
  for (const Value* span : events(trace, "X")) {
    const auto [pid, tid] = thread(*span);
    starts.emplace(pid, tid, number(*span, "ts"));
  }
  for (const Value* arrow : events(trace, "f")) {
    const auto [pid, tid] = thread(*arrow);
    EXPECT_TRUE(starts.contains({pid, tid, number(*arrow, "ts")}));
    EXPECT_EQ(arrow->find("bp")->text, "e");
  }
  for (const Value* arrow : events(trace, "s")) {
    const auto spans = events(trace, "X");
    EXPECT_TRUE(std::any_of(spans.begin(), spans.end(), [&](const Value* span) {
      const double into = number(*arrow, "ts") - number(*span, "ts");
      return thread(*span) == thread(*arrow) && into >= 0 && into < number(*span, "dur");
    }));
  }
}

TEST(Trace, SaysWhoWroteItAndWhatItShows) {
  const Document trace = trace_of(small_step(), "a \"step\"\nof two");
  EXPECT_EQ(trace.at("displayTimeUnit")->text, "ms");
  EXPECT_EQ(trace.at("otherData.program")->text, "titer 1.2.3");
  EXPECT_EQ(trace.at("otherData.format_version")->integer, kTraceFormatVersion);
  EXPECT_EQ(trace.at("otherData.title")->text, "a \"step\"\nof two");
}

TEST(Trace, HasASpanForEachWithItsTimesInMicroseconds) {
  const StepTimeline timeline = small_step();
  const Document trace = trace_of(timeline);
  const auto spans = events(trace, "X");
  ASSERT_EQ(spans.size(), timeline.spans.size());
  const Value& last = *spans.back();  // of rank 1's lanes the last is the data lane
  EXPECT_EQ(last.find("pid")->integer, 1);
  EXPECT_DOUBLE_EQ(number(last, "ts"), 8e3);
  EXPECT_DOUBLE_EQ(number(last, "dur"), 2e3);
  EXPECT_EQ(last.find("cat")->text, "data comm");
  EXPECT_EQ(last.find("args")->find("bucket")->integer, 2);
  EXPECT_EQ(last.find("args")->find("micro_batch"), nullptr);
  const Value& first = *spans.front();
  EXPECT_EQ(first.find("name")->text, "F3");
  EXPECT_EQ(first.find("args")->find("stage")->integer, 0);
  EXPECT_EQ(first.find("args")->find("micro_batch")->integer, 3);
  EXPECT_EQ(first.find("args")->find("part")->text, "forward");
  EXPECT_NE(first.find("cname")->text, last.find("cname")->text);
}

TEST(Trace, NamesProcessesAndThreadsInOrder) {
  const Document trace = trace_of(small_step());
  std::map<std::string, std::vector<std::string>> names;
  std::map<std::string, std::vector<std::int64_t>> order;
  for (const Value* event : events(trace, "M")) {
    const Value& args = *event->find("args");
    if (const Value* name = args.find("name")) {
      names[event->find("name")->text].push_back(name->text);
    } else {
      order[event->find("name")->text].push_back(args.find("sort_index")->integer);
    }
  }
  EXPECT_EQ(names["process_name"],
            (std::vector<std::string>{"stage 0 (x 8 devices)", "stage 1 (x 8 devices)"}));
  EXPECT_EQ(names["thread_name"],
            (std::vector<std::string>{
                "compute", "pipeline send", "compute", "pipeline receive", "data comm"}));
  EXPECT_EQ(order["process_sort_index"], (std::vector<std::int64_t>{0, 1}));
  ASSERT_EQ(order["thread_sort_index"].size(), 5u);
  EXPECT_LT(order["thread_sort_index"][2], order["thread_sort_index"][3]);
}

TEST(Trace, NamesRanksByTheirNumbersWhereTheyAreApart) {
  StepTimeline timeline;
  timeline.ranks = {{.stage = 0}, {.stage = 0, .tensor = 1}, {.stage = 3, .tensor = 0, .data = 1}};
  const Document trace = trace_of(timeline);
  const auto names = events(trace, "M");
  EXPECT_EQ(names[2]->find("args")->find("name")->text, "stage 0, tensor 1, data 0");
  EXPECT_EQ(names[4]->find("args")->find("name")->text, "stage 3, tensor 0, data 1");
}

TEST(Trace, CountsTheMemoryInUse) {
  const Document trace = trace_of(small_step());
  const auto counters = events(trace, "C");
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0]->find("args")->find("bytes")->integer, 5'000'000'000);
  EXPECT_DOUBLE_EQ(number(*counters[1], "ts"), 13e3);
}

TEST(Trace, DrawsAnArrowFromEachSendToItsArrival) {
  const Document trace = trace_of(small_step());
  ASSERT_EQ(events(trace, "s").size(), 1u);
  ASSERT_EQ(events(trace, "f").size(), 1u);
  EXPECT_EQ(events(trace, "s")[0]->find("id")->integer, events(trace, "f")[0]->find("id")->integer);
  EXPECT_EQ(events(trace, "s")[0]->find("pid")->integer, 0);
  EXPECT_EQ(events(trace, "f")[0]->find("pid")->integer, 1);
  EXPECT_DOUBLE_EQ(number(*events(trace, "f")[0], "ts"), 2e3);
  expect_bound(trace);
}

TEST(Trace, OfASchedulePutsOneSpanAfterTheOther) {
  // Thirds of a second are no whole nanoseconds.
  for (const PipelineShape& shape :
       {PipelineShape{.stages = 3, .micro_batches = 7},
        PipelineShape{.stages = 4, .micro_batches = 8, .virtual_stages = 3}}) {
    const StepTimeline timeline =
        timeline_of(executed(named_schedule("1f1b"), shape, {1_s / 3.0, 1_s / 7.0, 1_s / 11.0}));
    const Document trace = trace_of(timeline);
    const auto n =
        static_cast<std::size_t>(shape.stages * shape.virtual_stages * shape.micro_batches);
    EXPECT_EQ(events(trace, "X").size(), 2 * n);
    // Every pass but the first stage's forward and the last one's backward waits for another rank.
    EXPECT_EQ(events(trace, "s").size(), 2 * n - 2 * static_cast<std::size_t>(shape.micro_batches));
    expect_no_overlap(trace);
    expect_bound(trace);
  }
}

TEST(Trace, GivesSpansOfOneLaneAtTheSameTimeThreadsOfTheirOwn) {
  StepTimeline timeline = small_step();
  LaneSpan beside = timeline.spans[0];
  beside.part = TaskPart::backward;
  timeline.spans.insert(timeline.spans.begin() + 1, beside);
  timeline.flows = {{.from = 2, .to = 3}};
  const Document trace = trace_of(timeline);
  expect_no_overlap(trace);
  const auto names = events(trace, "M");
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), [](const Value* event) {
    const Value* name = event->find("args")->find("name");
    return name != nullptr && name->text == "compute, beside 1";
  }));
}

TEST(Trace, OfNothingIsStillOne) {
  const Document trace = trace_of({});
  EXPECT_TRUE(trace.at("traceEvents")->items.empty());
}

TEST(Trace, ReachesItsReaderInPiecesOfTheSameBytes) {
  const StepTimeline timeline =
      timeline_of(executed(named_schedule("1f1b"), {.stages = 8, .micro_batches = 200}));
  std::string once;
  std::size_t pieces = 0;
  write_trace(timeline, {.program = "p", .title = "t"}, [&](std::string_view piece) {
    once += piece;
    ++pieces;
  });
  EXPECT_GT(pieces, 1u);
  std::string again;
  write_trace(
      timeline, {.program = "p", .title = "t"}, [&](std::string_view piece) { again += piece; });
  EXPECT_EQ(once, again);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
