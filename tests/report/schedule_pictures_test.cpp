// Every schedule in the list can be drawn, and the pictures and tables say what it did.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plan/schedules.hpp"
#include "report/timelines.hpp"
#include "titer/input/document.hpp"
#include "titer/report/file/trace_report.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// Every schedule in the shapes that it can have.
std::vector<ScheduleView> views() {
  std::vector<ScheduleView> found;
  for (const Schedule& schedule : all_schedules()) {
    for (const auto& [stages, micro_batches] : {std::pair{1, 3}, {2, 6}, {4, 8}, {6, 24}}) {
      for (const int chunks : {usual_chunks(schedule), 2, 4}) {
        const PipelineShape shape = {
            .stages = stages, .micro_batches = micro_batches, .virtual_stages = chunks};
        if ((chunks == usual_chunks(schedule) || interleaves(schedule)) &&
            !refusal(schedule, shape)) {
          found.push_back(executed(schedule, shape, {3_s, 2_s, 1_s}));
        }
      }
    }
  }
  return found;
}

std::string about(const ScheduleView& view) { return picture_view(view).title; }

/// A pass as the run and the table both tell it: rank, pass, chunk, micro-batch, start, end.
std::string told(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) {
    text += cell + " ";
  }
  return text;
}

std::string word(Pass pass) {
  constexpr std::array<const char*, kPasses> words = {
      "forward", "backward", "input gradient", "weight gradient"};
  return words[static_cast<std::size_t>(pass)];
}

std::string number(Ticks ticks) { return fmt::format("{}", static_cast<double>(ticks) / 1e12); }

TEST(SchedulePictures, TellEveryActionInTheTable) {
  for (const ScheduleView& view : views()) {
    std::vector<std::string> ran;
    for (std::size_t rank = 0; rank < view.run.ranks.size(); ++rank) {
      for (const ActionTime& time : view.run.ranks[rank].actions) {
        ran.push_back(told({std::to_string(rank),
                            word(time.action.pass),
                            std::to_string(time.stage),
                            std::to_string(time.action.chunk),
                            std::to_string(time.action.micro_batch),
                            number(to_ticks(time.start)),
                            number(to_ticks(time.end))}));
      }
    }
    std::vector<std::string> written;
    auto rows = parse_csv(timeline_csv(picture_view(view)));
    rows.erase(rows.begin());
    for (const auto& row : rows) {
      written.push_back(told({row[0], row[2], row[3], row[4], row[5], row[7], row[8]}));
    }
    std::sort(ran.begin(), ran.end());
    std::sort(written.begin(), written.end());
    EXPECT_EQ(ran, written) << about(view);
  }
}

TEST(SchedulePictures, FillAsManyColumnsAsTheRankWasBusyFor) {
  for (const ScheduleView& view : views()) {
    const std::string text = timeline_text(picture_view(view), kMostTextWidth);
    std::size_t begin = 0;
    for (std::size_t rank = 0; rank < view.run.ranks.size(); ++rank) {
      begin = text.find("\nstage " + std::to_string(rank) + " ", begin) + 1;
      const std::string line = text.substr(begin, text.find('\n', begin) - begin);
      const std::size_t indent =
          std::string("stage ").size() + std::to_string(view.run.ranks.size() - 1).size() + 2;
      const auto columns = static_cast<double>(line.size() - indent);
      const auto idle = static_cast<double>(std::count(line.begin(), line.end(), '.'));
      const double share = view.run.idle(static_cast<int>(rank)) / view.run.makespan;
      // Each end of a pass is rounded to a column.
      const auto ends = static_cast<double>(2 * view.run.ranks[rank].actions.size());
      EXPECT_NEAR(idle, share * columns, 0.5 * ends + 1e-9) << about(view);
    }
  }
}

TEST(SchedulePictures, PutOneRectangleForEachPassIntoTheSvg) {
  for (const ScheduleView& view : views()) {
    const std::string svg = timeline_picture(picture_view(view));
    std::size_t rectangles = 0;
    for (std::size_t at = svg.find("zM"); at != std::string::npos; at = svg.find("zM", at + 1)) {
      ++rectangles;
    }
    for (std::size_t at = svg.find("z\""); at != std::string::npos; at = svg.find("z\"", at + 1)) {
      ++rectangles;
    }
    std::size_t passes = 0;
    for (const RankRun& rank : view.run.ranks) {
      passes += rank.actions.size();
    }
    EXPECT_EQ(rectangles, passes) << about(view);
  }
}

/// Chunks whose forward has begun and whose last pass has not ended, counted one by one.
int alive_at(const RankRun& rank, Seconds now) {
  int alive = 0;
  for (const ActionTime& begun : rank.actions) {
    const auto ends = [&](const ActionTime& time) {
      return time.action.chunk == begun.action.chunk && makes_gradients(time.action.pass) &&
             time.action.micro_batch == begun.action.micro_batch && time.end <= now;
    };
    const bool is_alive = begun.action.pass == Pass::forward && begun.start <= now &&
                          std::none_of(rank.actions.begin(), rank.actions.end(), ends);
    alive += is_alive ? 1 : 0;
  }
  return alive;
}

TEST(SchedulePictures, ShowInStripsHowManyChunksAreAlive) {
  for (const ScheduleView& view : views()) {
    const MemoryStrips strips = *picture_view(view, true).memory;
    ASSERT_EQ(strips.ranks.size(), view.run.ranks.size());
    const double chunks = chunks_per_rank(placement(view.schedule), view.shape);
    for (std::size_t rank = 0; rank < strips.ranks.size(); ++rank) {
      const std::vector<HeldPoint>& points = strips.ranks[rank];
      double most = 0.0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        most = std::max(most, points[i].held);
        const bool lasts = i + 1 == points.size() || points[i].tick < points[i + 1].tick;
        const Seconds now = to_seconds(points[i].tick);
        EXPECT_TRUE(!lasts || points[i].held * chunks == alive_at(view.run.ranks[rank], now))
            << about(view) << ", rank " << rank << ", " << now.si();
      }
      EXPECT_EQ(most * chunks, view.run.ranks[rank].peak_chunks) << about(view);
      EXPECT_EQ(points.back().held, 0.0) << about(view);
    }
  }
}

TEST(SchedulePictures, KeepTheSpansOfATracesThreadApart) {
  for (const ScheduleView& view : views()) {
    std::string text;
    write_trace(timeline_of(view), {.program = "p", .title = "t"}, [&](std::string_view piece) {
      text += piece;
    });
    const Document trace = parse_json(text, "trace");
    std::map<std::pair<std::int64_t, std::int64_t>, double> busy_until;
    std::size_t spans = 0;
    for (const Value& event : trace.at("traceEvents")->items) {
      if (event.find("ph")->text == "X") {
        double& until = busy_until[{event.find("pid")->integer, event.find("tid")->integer}];
        EXPECT_GE(event.find("ts")->number, until) << about(view);  // whole seconds, so exact
        until = event.find("ts")->number + event.find("dur")->number;
        ++spans;
      }
    }
    EXPECT_EQ(spans, timeline_of(view).spans.size());
  }
}

TEST(SchedulePictures, StateTheBubbleThatTheRunHas) {
  for (const ScheduleView& view : views()) {
    const Value json = schedule_json(view);
    double least = view.run.makespan.si();
    for (const Value& idle : json.find("idle")->items) {
      least = std::min(least, view.run.makespan.si() - idle.number);
    }
    EXPECT_NEAR(json.find("bubble_ratio")->number, 1 - least / view.run.makespan.si(), 1e-12)
        << about(view);
    const double overhead = json.find("bubble_overhead")->number;
    EXPECT_NEAR(json.find("bubble_ratio")->number, overhead / (1 + overhead), 1e-12);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
