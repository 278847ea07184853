// A schedule's figures beside its picture.

#include "titer/report/step/schedule_report.hpp"

#include <gtest/gtest.h>

#include "report/timelines.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr PassTimes kTimes = {.forward = 1_s, .input_gradient = 1_s, .weight_gradient = 1_s};

TEST(ScheduleTimeline, HasThePassesOfTheRun) {
  const ScheduleView view = executed(named_schedule("1f1b"), {.stages = 4, .micro_batches = 8});
  const StepTimeline timeline = timeline_of(view);
  EXPECT_EQ(timeline.ranks.size(), 4u);
  EXPECT_EQ(timeline.spans.size(), 2u * 4 * 8);
  EXPECT_EQ(timeline.makespan, to_ticks((8 + 3) * 3_s));
  Ticks busy = 0;
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    EXPECT_TRUE(i == 0 || timeline.spans[i - 1].end <= timeline.spans[i].end);
    busy += timeline.spans[i].end - timeline.spans[i].start;
  }
  EXPECT_EQ(busy, to_ticks(4 * 8 * 3_s));
}

TEST(ScheduleTimeline, SendsAMessageToEachPassThatWaitsForAnotherRank) {
  const StepTimeline timeline = timeline_of(
      executed(named_schedule("1f1b"), {.stages = 4, .micro_batches = 8, .virtual_stages = 2}));
  // 8 stages of the model have 7 borders, each crossed twice by a micro-batch.
  EXPECT_EQ(timeline.flows.size(), 2u * 7 * 8);
  for (const SpanFlow& flow : timeline.flows) {
    const LaneSpan& from = timeline.spans[flow.from];
    const LaneSpan& to = timeline.spans[flow.to];
    EXPECT_LE(from.end, to.start);
    EXPECT_EQ(from.micro_batch, to.micro_batch);
    EXPECT_EQ(*to.stage - *from.stage, to.part == TaskPart::forward ? 1 : -1);
    EXPECT_NE(from.rank, to.rank);
  }
}

TEST(ScheduleText, PutsTheFormulaBesideTheBubble) {
  const std::string text =
      schedule_text(executed(named_schedule("1f1b"), {.stages = 4, .micro_batches = 8})).write();
  // (p - 1) (F + B + W) of (m + p - 1) (F + B + W); (p - 1) / m.
  EXPECT_NE(text.find("most idle        9; 9 by its formula, (p - 1) (F + B + W) / v"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("27.3 % of the makespan"), std::string::npos);
  EXPECT_NE(text.find("37.5 % of the time without it"), std::string::npos);
}

TEST(ScheduleText, HasIdleTimeAndChunksOfEachRank) {
  const std::string text =
      schedule_text(executed(named_schedule("gpipe"), {.stages = 3, .micro_batches = 5})).write();
  // Rank 1 begins (p - 1) (F + B + W) / 2 later than it could, and that is outside of its span.
  EXPECT_NE(text.find("      0    15     6                 6                  5\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("      1    15     6                 3                  5\n"),
            std::string::npos);
}

TEST(ScheduleText, UsesRealUnitsForRealTimes) {
  ScheduleView view = executed(named_schedule("1f1b"),
                               {.stages = 2, .micro_batches = 4},
                               {.forward = 2_ms, .input_gradient = 2_ms, .weight_gradient = 1_ms});
  view.scale = TimeScale::real;
  EXPECT_NE(schedule_text(view).write().find("makespan         25 ms"), std::string::npos);
  EXPECT_NE(timeline_csv(picture_view(view)).find("start_s"), std::string::npos);
}

TEST(SchedulePicture, IsTitledByShapeAndBubble) {
  const TimelineView view = picture_view(
      executed(named_schedule("1f1b"), {.stages = 4, .micro_batches = 8, .virtual_stages = 2}));
  EXPECT_EQ(view.title, "1f1b: 4 stages of 2 chunks, 8 micro-batches");
  // 9 / 2 of 24 + 9 / 2.
  EXPECT_EQ(view.note,
            "F 1, B 1, W 1; makespan 28.5, idle 4.5: bubble ratio 15.8 %, overhead 18.8 %");
}

TEST(ScheduleJson, HasTheFiguresThatTheTextHas) {
  const Value json =
      schedule_json(executed(named_schedule("1f1b"), {.stages = 4, .micro_batches = 8}, kTimes));
  EXPECT_EQ(json.find("schedule")->text, "1f1b");
  EXPECT_DOUBLE_EQ(json.find("bubble")->number, 3 * 3.0);
  EXPECT_DOUBLE_EQ(json.find("bubble_formula")->number, 3 * 3.0);
  EXPECT_DOUBLE_EQ(json.find("bubble_ratio")->number, 3.0 / (8 + 3));
  EXPECT_DOUBLE_EQ(json.find("bubble_overhead")->number, 3.0 / 8);
  EXPECT_DOUBLE_EQ(json.find("makespan")->number, 33.0);
  ASSERT_EQ(json.find("peak_chunks")->items.size(), 4u);
  EXPECT_EQ(json.find("peak_chunks")->items[1].integer, 3);
  EXPECT_DOUBLE_EQ(json.find("idle_in_span")->items[3].number, 0.0);
  EXPECT_EQ(json.find("spans")->items.size(), 64u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
