// Pictures of timelines: each row says what its rank did, and when.

#include "titer/report/step/timeline_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/timelines.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TimelineView pictured(const PipelineShape& shape,
                      const Schedule& schedule = named_schedule("1f1b")) {
  return picture_view(executed(schedule, shape));
}

/// The line of a text that begins with a name, without the name and the blanks at both ends.
std::string row(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + " ");
  EXPECT_NE(at, std::string::npos) << text;
  std::string line =
      text.substr(at + 1 + name.size(), text.find('\n', at + 1) - at - 1 - name.size());
  line.erase(0, line.find_first_not_of(' '));
  return line.erase(line.find_last_not_of(' ') + 1);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Two passes of a rank at the same time, and one after them.
StepTimeline paired() {
  StepTimeline timeline;
  timeline.ranks = {{.stage = 0}, {.stage = 1}};
  const auto add = [&](TaskPart part, int stage, int micro_batch, Seconds start, Seconds end) {
    timeline.spans.push_back({.rank = 0,
                              .lane = DeviceLane::compute,
                              .part = part,
                              .stage = static_cast<std::int16_t>(stage),
                              .bucket = {},
                              .micro_batch = micro_batch,
                              .start = to_ticks(start),
                              .end = to_ticks(end)});
  };
  add(TaskPart::forward, 0, 4, 0_s, 3_s);
  add(TaskPart::backward, 1, 1, 0_s, 3_s);
  add(TaskPart::weight_gradient, 1, 1, 3_s, 4_s);
  timeline.makespan = to_ticks(4_s);
  return timeline;
}

TEST(TimelineText, IsThePapersPictureOf1F1B) {
  const std::string text = timeline_text(pictured({.stages = 2, .micro_batches = 3}));
  // A unit of time has three columns: a pass, its micro-batch, and a blank behind it.
  EXPECT_EQ(row(text, "stage 0"), "F0 F1 ......B0--- F2 B1--- ...B2---");
  EXPECT_EQ(row(text, "stage 1"), "...F0 B0--- F1 B1--- F2 B2--- ......");
}

TEST(TimelineText, OfGPipeHasAllForwardsFirst) {
  const std::string text =
      timeline_text(pictured({.stages = 2, .micro_batches = 3}, named_schedule("gpipe")));
  // The last stage is done with the forwards after 4 units, and with its first backward after 6.
  EXPECT_EQ(row(text, "stage 0"), "F0 F1 F2 .........B0--- B1--- B2---");
  EXPECT_EQ(row(text, "stage 1"), "...F0 F1 F2 B0--- B1--- B2--- ......");
}

TEST(TimelineText, NamesTheChunksOfARank) {
  const std::string text =
      timeline_text(pictured({.stages = 2, .micro_batches = 2, .virtual_stages = 2}));
  EXPECT_TRUE(row(text, "stage 0").starts_with("F0a F1a F0b F1b "));
  EXPECT_NE(text.find("chunk a to b"), std::string::npos);
}

TEST(TimelineText, SaysLessWhereThereIsLessRoom) {
  const TimelineView view = pictured({.stages = 2, .micro_batches = 12});
  const std::string full = timeline_text(view, 13 * 3 * 4);
  EXPECT_NE(full.find("F11"), std::string::npos);
  // 13 x 3 units; a letter and a digit in each.
  const std::string digits = timeline_text(view, 13 * 3 * 2);
  EXPECT_EQ(digits.find("F11"), std::string::npos);
  EXPECT_TRUE(row(digits, "stage 0").starts_with("F0F1....B0--F2B1--"));
  const std::string letters = timeline_text(view, 13 * 3);
  EXPECT_TRUE(row(letters, "stage 0").starts_with("FF..BBFBBFBB"));
  EXPECT_NE(letters.find("a character is 1\n"), std::string::npos);
}

TEST(TimelineText, NeverExceedsItsWidth) {
  for (const int width : {kLeastTextWidth, 40, 77, 150, 400}) {
    const std::string text = timeline_text(pictured({.stages = 4, .micro_batches = 9}), width);
    const std::size_t indent = std::string("stage 0  ").size();
    const std::size_t begin = text.find("\nstage 0") + 1;
    EXPECT_LE(text.find('\n', begin) - begin, indent + static_cast<std::size_t>(width));
  }
}

TEST(TimelineText, WritesPassesDoneTogetherTogether) {
  const std::string text = timeline_text({"t", "", paired(), TimeScale::relative});
  EXPECT_TRUE(row(text, "stage 0").starts_with("F4a+I1b"));
  EXPECT_EQ(count(text, "input gradient"), 1u);  // the backward pass has its weight gradient apart
}

TEST(TimelineText, SaysSoWhereNothingTakesTime) {
  StepTimeline nothing;
  nothing.ranks = {{.stage = 0}};
  EXPECT_NE(timeline_text({"t", "", nothing}).find("nothing takes any time"), std::string::npos);
}

TEST(TimelineSvg, HasARowForEachRankAndANumberInEachBox) {
  const std::string svg = timeline_picture(pictured({.stages = 4, .micro_batches = 8}));
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(count(svg, ">stage " + std::to_string(stage) + "<"), 1u);
  }
  // A forward and a backward of micro-batch 7 on each rank.
  EXPECT_EQ(count(svg, ">7<"), 4u * 2);
  // One path for each colour, with one rectangle for each pass.
  EXPECT_EQ(count(svg, "<path fill="), 2u);
  EXPECT_EQ(count(svg, "h-"), 2u * 4 * 8);
}

TEST(TimelineSvg, IsSmallEnoughForAPage) {
  EXPECT_LT(timeline_picture(pictured({.stages = 4, .micro_batches = 8})).size(), 8'000u);
  EXPECT_LT(timeline_picture(pictured({.stages = 8, .micro_batches = 20})).size(), 30'000u);
  EXPECT_LT(timeline_picture(pictured({.stages = 32, .micro_batches = 1024})).size(), 1'500'000u);
}

TEST(TimelineSvg, NumbersWidePassesBetweenThinOnes) {
  StepTimeline timeline;
  timeline.ranks = {{.stage = 0}};
  timeline.makespan = to_ticks(10_s);
  const auto add = [&](TaskPart part, int micro_batch, Seconds start, Seconds end) {
    timeline.spans.push_back({.rank = 0,
                              .lane = DeviceLane::compute,
                              .part = part,
                              .stage = 0,
                              .bucket = {},
                              .micro_batch = micro_batch,
                              .start = to_ticks(start),
                              .end = to_ticks(end)});
  };
  for (int i = 0; i < 10; ++i) {
    const Seconds start = i * 1_s;
    add(TaskPart::forward, i, start, start + 900_ms);
    add(TaskPart::recompute, i, start + 900_ms, start + 901_ms);
    add(TaskPart::recompute, i, start + 950_ms, start + 951_ms);
  }
  const std::string svg = timeline_picture({"t", "", timeline});
  EXPECT_EQ(count(svg, ">7</text>"), 2u) << "the pass, and a mark of the axis";
  EXPECT_EQ(count(svg, "v22h-"), 3u * 10);
  // Thin ones alone are columns of what there is most of.
  std::erase_if(timeline.spans, [](auto& span) { return span.part == TaskPart::forward; });
  EXPECT_EQ(count(timeline_picture({"t", "", timeline}), "v22h-"), 0u);
}

TEST(TimelineSvg, ShadesChunksAndSaysWhich) {
  const std::string svg =
      timeline_picture(pictured({.stages = 4, .micro_batches = 8, .virtual_stages = 2}));
  EXPECT_EQ(count(svg, "<path fill="), 4u);  // two chunks, forward and backward
  EXPECT_NE(svg.find("dark to light: chunk 0 to 1"), std::string::npos);
}

TEST(TimelineSvg, DrawsLanesThatAreUsedAndOnlyThose) {
  const std::string svg = timeline_picture({"a <b> & c", "", small_step()});
  EXPECT_EQ(count(svg, ">data comm<"), 1u);
  EXPECT_EQ(count(svg, ">pipeline send<"), 1u);
  EXPECT_EQ(count(svg, ">tensor comm<"), 0u);
  EXPECT_NE(svg.find("a &lt;b&gt; &amp; c"), std::string::npos);
  EXPECT_NE(svg.find("time, ms"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(TimelineSvg, DividesTheHeightBetweenPassesDoneTogether) {
  const std::string svg = timeline_picture({"t", "", paired(), TimeScale::relative});
  EXPECT_EQ(count(svg, "v10.7h-"), 2u);  // (22 - 0.6) / 2
  EXPECT_EQ(count(svg, "v22h-"), 1u);
}

/// Two ranks in 13 ms, of which the first holds 5 GiB and then 2, the second 1.
TimelineView with_memory() {
  TimelineView view{.title = "t", .note = "", .timeline = small_step()};
  view.memory = {.what = "memory in use, GiB",
                 .ranks = {{{0, 5.0}, {to_ticks(6500_us), 2.0}}, {{0, 1.0}}},
                 .limit = 4.0};
  return view;
}

TEST(TimelineSvg, DrawsWhatRanksHoldBelowThemOnOneScale) {
  const std::string svg = timeline_picture(with_memory());
  // All of the strip for 5, two fifths of it for 2, a fifth for 1; each corner once.
  EXPECT_EQ(count(svg, "<path fill=\"#8fa3bd\""), 2u);
  EXPECT_EQ(count(svg, "stroke-dasharray"), 2u) << "what there is room for, on each";
  EXPECT_EQ(count(svg, ">5</text>") + count(svg, ">1</text>"), 2u);
  EXPECT_NE(svg.find("memory in use, GiB, of 4: "), std::string::npos);
  TimelineView roomy = with_memory();
  roomy.memory->limit = 8.0;
  EXPECT_EQ(count(timeline_picture(roomy), "stroke-dasharray"), 0u) << "the strip's own edge";
}

TEST(TimelineText, WritesWhatRanksHoldBelowThemOnOneScale) {
  const std::string text = timeline_text(with_memory(), 26);
  EXPECT_NE(text.find("██████████▃▃▃▃▃▃▃▃▃▃  5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂  1\n"), std::string::npos) << text;
}

TEST(TimelineView, ShowsTheMemoryThatWasRecorded) {
  const MemoryStrips strips = memory_in_use(small_step(), 80_GiB);
  ASSERT_EQ(strips.ranks.size(), 2u);
  ASSERT_EQ(strips.ranks[0].size(), 2u);
  EXPECT_DOUBLE_EQ(strips.ranks[0][1].held, 4_GB / 1_GiB);
  EXPECT_EQ(strips.ranks[0][1].tick, to_ticks(13_ms));
  EXPECT_TRUE(strips.ranks[1].empty());
  EXPECT_EQ(strips.limit, 80.0);
}

TEST(TimelinePdf, SaysWhereItsObjectsAreAndHowLongItsPageIs) {
  TimelineView view = with_memory();
  view.title = "a (b) \\ \xC3\xBC \xE2\x96\x88";
  const std::string pdf = timeline_picture(view, {.format = PictureFormat::pdf});
  EXPECT_TRUE(pdf.starts_with("%PDF-1.4\n"));
  const std::size_t xref = std::stoul(pdf.substr(pdf.find("startxref\n") + 10));
  ASSERT_EQ(pdf.substr(xref, 9), "xref\n0 7\n");
  for (std::size_t object = 1; object < 7; ++object) {
    const std::string row = pdf.substr(xref + 9 + 20 * object, 20);
    EXPECT_TRUE(row.ends_with(" 00000 n \n")) << row;
    const std::string head = std::to_string(object) + " 0 obj\n";
    EXPECT_EQ(pdf.substr(std::stoul(row), head.size()), head);
  }
  const std::size_t begin = pdf.find("stream\n") + 7;
  const std::size_t length = pdf.find("endstream") - begin;
  EXPECT_EQ(std::stoul(pdf.substr(pdf.find("/Length ") + 8)), length);
  // Letters that mean something, one of Latin 1 and one that is not in it.
  EXPECT_NE(pdf.find("(a \\(b\\) \\\\ \\374 ?) Tj"), std::string::npos);
}

TEST(TimelineTikz, DefinesItsColoursAndWritesWhatTexWouldRead) {
  TimelineView view = with_memory();
  view.title = "50 % of a_b & {c} \\";
  const std::string tex = timeline_picture(view, {.format = PictureFormat::tikz});
  EXPECT_NE(tex.find("{50 \\% of a\\_b \\& \\{c\\} \\textbackslash{}};"), std::string::npos) << tex;
  int depth = 0;
  for (std::size_t i = 0; i < tex.size(); ++i) {
    const bool is_escaped = i > 0 && tex[i - 1] == '\\';
    depth += is_escaped ? 0 : (tex[i] == '{' ? 1 : 0) - (tex[i] == '}' ? 1 : 0);
    ASSERT_GE(depth, 0);
  }
  EXPECT_EQ(depth, 0);
  for (std::size_t at = tex.find("\\fill[titer"); at != std::string::npos;
       at = tex.find("\\fill[titer", at + 1)) {
    const std::string colour = tex.substr(at + 6, 11);
    EXPECT_EQ(count(tex, "\\definecolor{" + colour + "}{HTML}"), 1u) << colour;
  }
}

TEST(TimelinePicture, HasTheColoursThatAreAskedFor) {
  const TimelineView view = pictured({.stages = 4, .micro_batches = 8});
  EXPECT_EQ(count(timeline_picture(view, {.palette = Palette::usual}), "\"#2f66ad\""), 2u);
  EXPECT_EQ(count(timeline_picture(view, {.palette = Palette::safe}), "\"#0072b2\""), 2u);
  EXPECT_EQ(count(timeline_picture(view, {.palette = Palette::grey}), "\"#2f66ad\""), 0u);
  EXPECT_EQ(count(timeline_picture(view, {.palette = Palette::grey}), "\"#5a5a5a\""), 2u);
}

TEST(TimelineSvg, OfNothingIsStillAPicture) {
  StepTimeline nothing;
  nothing.ranks = {{.stage = 0}};
  const std::string svg = timeline_picture({"t", "", nothing});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(TimelineCsv, HasTheSpansByRankLaneAndStart) {
  const auto rows = parse_csv(timeline_csv({"t", "", small_step()}));
  ASSERT_EQ(rows.size(), 1 + small_step().spans.size());
  EXPECT_EQ(
      rows[0],
      (std::vector<std::string>{
          "rank", "lane", "pass", "stage", "chunk", "micro_batch", "bucket", "start_s", "end_s"}));
  EXPECT_EQ(rows[1],
            (std::vector<std::string>{"0", "compute", "forward", "0", "0", "3", "", "0", "0.002"}));
  EXPECT_EQ(rows.back(),
            (std::vector<std::string>{
                "1", "data comm", "data comm", "1", "0", "", "2", "0.008", "0.01"}));
}

TEST(TimelineCsv, TellsChunksAndPartsOfBackwardPassesApart) {
  const auto rows = parse_csv(timeline_csv({"t", "", paired(), TimeScale::relative}));
  EXPECT_EQ(rows[0][7], "start");
  EXPECT_EQ(rows[1][2], "forward");
  EXPECT_EQ(rows[2][2], "input gradient");
  EXPECT_EQ(rows[2][4], "1");  // rank 0 has stage 1 in the opposite way
  EXPECT_EQ(rows[3][2], "weight gradient");
}

TEST(TimelineJson, HoldsRanksSpansAndMessages) {
  const Value json = timeline_json({"t", "", small_step()});
  EXPECT_DOUBLE_EQ(json.find("makespan_s")->number, 0.013);
  EXPECT_EQ(json.find("ranks")->items[1].find("stands_for")->integer, 8);
  ASSERT_EQ(json.find("spans")->items.size(), 7u);
  EXPECT_EQ(json.find("spans")->items[5].find("micro_batch")->kind, Value::Kind::null);
  EXPECT_EQ(json.find("messages")->items[0].find("to")->integer, 2);
  EXPECT_DOUBLE_EQ(json.find("memory")->items[1].find("bytes")->number, 4e9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
