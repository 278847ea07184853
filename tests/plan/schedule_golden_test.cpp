// The published figures of single schedules, found by independent event simulations or stated in
// their papers.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "titer/plan/schedule/schedule_run.hpp"

namespace titer {
namespace TITER_TEST_FILE {

PassTimes times(double forward, double input_gradient, double weight_gradient) {
  return {.forward = forward * 1_s,
          .input_gradient = input_gradient * 1_s,
          .weight_gradient = weight_gradient * 1_s,
          .pair = {}};
}

PassTimes with_pair(PassTimes alone, double pair) {
  alone.pair = pair * 1_s;
  return alone;
}

// F = 1, B + W = 2.
const PassTimes kUsual = times(1, 1, 1);

std::vector<double> idle_of_ranks(const ScheduleRun& run) {
  std::vector<double> idle;
  for (int rank = 0; rank < static_cast<int>(run.ranks.size()); ++rank) {
    idle.push_back(run.idle(rank).si());
  }
  return idle;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-9) << "rank " << i;
  }
}

std::vector<int> peaks_of(const ScheduleRun& run) {
  std::vector<int> peaks;
  for (const RankRun& rank : run.ranks) {
    peaks.push_back(rank.peak_chunks);
  }
  return peaks;
}

/// F = 1, B + W = 2, no communication; peaks in micro-batches of a whole device's activations.
struct GoldenCase {
  PipelineShape shape;
  double bubble;
  double first_peak;
  double last_peak;
};

void expect_golden(const Schedule& schedule, const GoldenCase& golden) {
  const ScheduleRun run = run_schedule(schedule, golden.shape, kUsual);
  const double v = golden.shape.virtual_stages;
  EXPECT_NEAR(run.makespan.si(), golden.shape.micro_batches * 3.0 + golden.bubble, 1e-9);
  EXPECT_NEAR(run.bubble(false).si(), golden.bubble, 1e-9);
  EXPECT_DOUBLE_EQ(run.ranks.front().peak_chunks / v, golden.first_peak);
  EXPECT_DOUBLE_EQ(run.ranks.back().peak_chunks / v, golden.last_peak);
}

TEST(ScheduleGolden, GPipe) {
  expect_golden(named_schedule("gpipe"), {{4, 8, 1}, 9.0, 8.0, 8.0});
  expect_golden(named_schedule("gpipe"), {{8, 8, 1}, 21.0, 8.0, 8.0});
  expect_golden(named_schedule("gpipe"), {{8, 32, 1}, 21.0, 32.0, 32.0});
}

TEST(ScheduleGolden, OneForwardOneBackward) {
  expect_golden(named_schedule("1f1b"), {{4, 8, 1}, 9.0, 4.0, 1.0});
  expect_golden(named_schedule("1f1b"), {{8, 8, 1}, 21.0, 8.0, 1.0});
  expect_golden(named_schedule("1f1b"), {{8, 32, 1}, 21.0, 8.0, 1.0});
}

TEST(ScheduleGolden, Interleaved) {
  expect_golden(named_schedule("1f1b"), {{4, 8, 2}, 4.5, 5.5, 2.5});
  expect_golden(named_schedule("1f1b"), {{4, 8, 4}, 2.25, 4.75, 3.25});
  expect_golden(named_schedule("1f1b"), {{8, 32, 2}, 10.5, 11.5, 4.5});
  expect_golden(named_schedule("1f1b"), {{8, 32, 4}, 5.25, 9.75, 6.25});
}

TEST(ScheduleGolden, InterleavedHoldsNoMoreThanAllMicroBatches) {
  expect_golden(named_schedule("1f1b"), {{8, 8, 2}, 10.5, 8.0, 4.5});
  expect_golden(named_schedule("1f1b"), {{8, 8, 4}, 5.25, 8.0, 6.25});
}

TEST(ScheduleGolden, BreadthFirstHasTheBubbleOfInterleavingAndKeepsEverything) {
  expect_golden(named_schedule("breadth-first"), {{4, 8, 2}, 4.5, 8.0, 8.0});
  expect_golden(named_schedule("breadth-first"), {{8, 32, 4}, 5.25, 32.0, 32.0});
}

TEST(ScheduleGolden, ZeroBubbleH1) {
  const PipelineShape shape{.stages = 4, .micro_batches = 12};
  const auto bubble = [&](const PassTimes& of) {
    const ScheduleRun run = run_schedule(named_schedule("zb-h1"), shape, of);
    EXPECT_EQ(peaks_of(run), (std::vector<int>{4, 4, 4, 4}));
    return run.bubble(false).si();
  };
  EXPECT_NEAR(bubble(times(1, 1, 1)), 3 * (1 + 1 - 1), 1e-9);
  EXPECT_NEAR(bubble(times(1, 1.2, 0.8)), 3 * (1 + 1.2 - 0.8), 1e-9);
  EXPECT_NEAR(bubble(times(1, 1.5, 0.5)), 3 * (1 + 1.5 - 0.5), 1e-9);
}

TEST(ScheduleGolden, ZeroBubbleH1WithLongWeightGradientsMissesItsFormula) {
  const ScheduleRun run =
      run_schedule(named_schedule("zb-h1"), {.stages = 4, .micro_batches = 12}, times(1, 0.8, 1.2));
  EXPECT_NEAR(run.bubble(false).si(), 3.0, 1e-9);
  EXPECT_NEAR(run.bubble(true).si(), 2.4, 1e-9);
  EXPECT_LT(3 * (1 + 0.8 - 1.2), 2.4) << "what the formula would say";
}

TEST(ScheduleGolden, ZeroBubbleH2) {
  const PipelineShape shape{.stages = 4, .micro_batches = 12};
  const ScheduleRun equal = run_schedule(named_schedule("zb-h2"), shape, times(1, 1, 1));
  EXPECT_NEAR(equal.bubble(true).si(), 0.0, 1e-9);
  EXPECT_NEAR(equal.bubble(false).si(), 3 * 1.0, 1e-9) << "the last rank begins (p - 1) F later";
  EXPECT_EQ(peaks_of(equal), std::vector<int>(4, 2 * 4 - 1));
  const ScheduleRun short_weights =
      run_schedule(named_schedule("zb-h2"), shape, times(1, 1.5, 0.5));
  EXPECT_NEAR(short_weights.bubble(true).si(), 3 * (1 + 1.5 - 2 * 0.5), 1e-9);
  EXPECT_NEAR(short_weights.bubble(false).si(), 4.5, 1e-9);
  const ScheduleRun eight =
      run_schedule(named_schedule("zb-h2"), {.stages = 8, .micro_batches = 24}, times(1, 1.2, 0.8));
  EXPECT_NEAR(eight.bubble(true).si(), 7 * (1 + 1.2 - 2 * 0.8), 1e-9);
  EXPECT_NEAR(eight.bubble(false).si(), 7.0, 1e-9);
}

TEST(ScheduleGolden, ZeroBubbleVHasNoneWithinASpanAndTheMemoryOf1F1B) {
  for (const int p : {2, 3, 4, 8, 16}) {
    for (const int m : {2 * p, 3 * p + 1}) {
      const ScheduleRun run = run_schedule(named_schedule("zb-v"), {p, m, 2}, kUsual);
      EXPECT_NEAR(run.bubble(true).si(), 0.0, 1e-9);
      EXPECT_NEAR(run.bubble(false).si(), (p - 1) / 2.0, 1e-9) << "half of ZB-H2's late begin";
      EXPECT_EQ(peaks_of(run), std::vector<int>(static_cast<std::size_t>(p), 2 * p))
          << "chunks of half a rank's layers";
    }
  }
}

TEST(ScheduleGolden, VHalfHasHalfTheBubbleAndHalfTheMemoryOf1F1B) {
  for (const int p : {2, 4, 8, 16, 32}) {
    const ScheduleRun run = run_schedule(named_schedule("v-half"), {p, 3 * p, 2}, kUsual);
    EXPECT_NEAR(run.bubble(false).si(), 3.0 * (p - 1) / 2, 1e-9) << p;
    EXPECT_EQ(peaks_of(run), std::vector<int>(static_cast<std::size_t>(p), p + 2))
        << "chunks of half a rank's layers";
  }
}

TEST(ScheduleGolden, VMinHasTwoThirdsOfTheBubbleAndAThirdOfTheMemoryOf1F1B) {
  for (const int p : {3, 4, 6, 8, 16, 33}) {
    const ScheduleRun run = run_schedule(named_schedule("v-min"), {p, 3 * p, 2}, kUsual);
    const double of_1f1b = 3.0 * (p - 1);
    EXPECT_NEAR(run.bubble(false).si(), of_1f1b * 2 / 3, 0.5 + 1e-9) << p;
    for (const int chunks : peaks_of(run)) {
      EXPECT_LE(chunks / 2.0, p / 3.0 + 4.0 / 3) << p;
    }
  }
}

TEST(ScheduleGolden, DualPipe) {
  const PipelineShape shape{.stages = 8, .micro_batches = 20};
  const ScheduleRun apart = run_schedule(named_schedule("dualpipe"), shape, with_pair(kUsual, 3));
  EXPECT_NEAR(apart.makespan.si(), 66.0, 1e-9);
  expect_near(idle_of_ranks(apart), std::vector<double>(8, (8 / 2 - 1) * (3 + 2 - 3 * 1)));
  EXPECT_EQ(peaks_of(apart), std::vector<int>(8, 8 + 1));
  EXPECT_NEAR(run_schedule(named_schedule("1f1b"), shape, kUsual).bubble(false).si(), 21, 1e-9);
  EXPECT_NEAR(run_schedule(named_schedule("zb-h1"), shape, kUsual).bubble(false).si(), 7, 1e-9);

  const ScheduleRun overlapped =
      run_schedule(named_schedule("dualpipe"), shape, with_pair(kUsual, 2.4));
  EXPECT_NEAR(overlapped.makespan.si(), 57.0, 1e-9);
  expect_near(idle_of_ranks(overlapped), {2.4, 3.0, 3.6, 4.2, 4.2, 3.6, 3.0, 2.4});
  EXPECT_NEAR(overlapped.bubble(false).si(), (8 / 2 - 1) * (2.4 + 2 - 3 * 1), 1e-9)
      << "the formula is that of the middle ranks";
}

TEST(ScheduleGolden, DualPipeOfFourStages) {
  const PipelineShape shape{.stages = 4, .micro_batches = 12};
  const ScheduleRun apart = run_schedule(named_schedule("dualpipe"), shape, with_pair(kUsual, 3));
  EXPECT_NEAR(apart.makespan.si(), 38.0, 1e-9);
  EXPECT_NEAR(apart.bubble(false).si(), 2.0, 1e-9);
  const ScheduleRun overlapped =
      run_schedule(named_schedule("dualpipe"), shape, with_pair(kUsual, 2.4));
  EXPECT_NEAR(overlapped.makespan.si(), 32.6, 1e-9);
  EXPECT_NEAR(overlapped.bubble(false).si(), 1.4, 1e-9);
}

TEST(ScheduleGolden, DualPipeVIsDualPipeCutInHalf) {
  // Four ranks with both chunks of eight stages; a chunk takes as long as a stage of DualPipe.
  const PipelineShape half{.stages = 4, .micro_batches = 10, .virtual_stages = 2};
  const PipelineShape whole{.stages = 8, .micro_batches = 20};
  for (const double pair : {3.0, 2.4}) {
    const ScheduleRun cut =
        run_schedule(named_schedule("dualpipev"), half, with_pair(times(2, 2, 2), 2 * pair));
    const ScheduleRun both =
        run_schedule(named_schedule("dualpipe"), whole, with_pair(kUsual, pair));
    EXPECT_NEAR(cut.makespan.si(), both.makespan.si(), 1e-9);
    std::vector<double> idle = idle_of_ranks(both);
    idle.resize(4);
    expect_near(idle_of_ranks(cut), idle);
    EXPECT_EQ(peaks_of(cut), std::vector<int>(4, 8 + 1));
  }
}

TEST(ScheduleGolden, Chimera) {
  for (const int p : {2, 4, 6, 8}) {
    const PipelineShape shape{.stages = p, .micro_batches = p};
    // Published for F = B + W: (p - 2) / (2 m + p - 2) of the time.
    const ScheduleRun equal = run_schedule(named_schedule("chimera"), shape, times(1, 0.5, 0.5));
    EXPECT_NEAR(equal.bubble_ratio(), (p - 2.0) / (2 * p + p - 2), 1e-9);
    EXPECT_GE(run_schedule(named_schedule("chimera"), shape, kUsual).bubble(false),
              (p / 2 - 1) * 3.0 * 1_s - 1_ns)
        << "gaps appear in the middle";
    EXPECT_EQ(equal.ranks.front().peak_chunks, p / 2 + 1);
    EXPECT_EQ(equal.ranks[static_cast<std::size_t>(p / 2)].peak_chunks, p);
  }
  EXPECT_NEAR(run_schedule(named_schedule("chimera"), {4, 4}, kUsual).bubble(false).si(), 4.0, 1e-9)
      << "one more than (p/2 - 1) (F + B + W)";
}

TEST(ScheduleGolden, HanayoWaitsLessWithEveryWave) {
  for (const int p : {2, 4, 8}) {
    Seconds before = run_schedule(named_schedule("1f1b"), {p, p}, kUsual).bubble(false);
    for (const int waves : {1, 2, 4}) {
      const PipelineShape shape{p, p, 2 * waves};
      const ScheduleRun run = run_schedule(named_schedule("hanayo"), shape, kUsual);
      EXPECT_LT(run.bubble(false), before);
      before = run.bubble(false);
      for (const RankRun& rank : run.ranks) {
        EXPECT_LE(rank.peak_chunks, p * shape.virtual_stages);
      }
      // (2p - 2) / (3 p w + p - 1) is unverified; our order is at most a twentieth above it.
      EXPECT_LE(run.bubble_ratio(), 1.05 * (2 * p - 2) / (3.0 * p * waves + p - 1)) << p << waves;
    }
  }
}

TEST(OneForwardOneBackwardInFlight, IsTheStagesStillAhead) {
  for (const int p : {1, 2, 4, 8}) {
    for (const int m : {1, 2, 4, 8, 32}) {
      for (int s = 0; s < p; ++s) {
        EXPECT_EQ(in_flight(named_schedule("1f1b"), s, {p, m, 1}), std::min(m, p - s));
      }
    }
  }
}

TEST(OneForwardOneBackwardInFlight, InterleavedFollowsMegatron) {
  // min(m v, 2 (p - s - 1) + (v - 1) g + 1) chunks
  for (const int s : {0, 3, 7}) {
    EXPECT_EQ(in_flight(named_schedule("1f1b"), s, {8, 64, 3}), 2 * (8 - s - 1) + (3 - 1) * 8 + 1);
    EXPECT_EQ(in_flight(named_schedule("1f1b"), s, {8, 64, 3, 16}),
              2 * (8 - s - 1) + (3 - 1) * 16 + 1);
  }
}

/// "F1 b1": forwards, whole backwards b, input gradients i and weight gradients w.
std::string order(const Schedule& schedule, int rank, const PipelineShape& shape) {
  std::string text;
  for (const Action& a : actions(schedule, rank, shape)) {
    text += text.empty() ? "" : " ";
    text += "Fbiw"[static_cast<std::size_t>(a.pass)];
    text += std::to_string(a.micro_batch + 1);
  }
  return text;
}

TEST(ScheduleOrders, AreThoseOfTheirPapers) {
  // Narayanan et al. 2021, figure 4: the first and the last of p = 4 stages, m = 8.
  EXPECT_EQ(order(named_schedule("1f1b"), 0, {4, 8}),
            "F1 F2 F3 F4 b1 F5 b2 F6 b3 F7 b4 F8 b5 b6 b7 b8");
  EXPECT_EQ(order(named_schedule("1f1b"), 3, {4, 8}),
            "F1 b1 F2 b2 F3 b3 F4 b4 F5 b5 F6 b6 F7 b7 F8 b8");
  // Qi et al. 2024, figure 3: ZB-H2's ranks begin with 2 (p - s) - 1 forwards, and end alike.
  EXPECT_EQ(order(named_schedule("zb-h2"), 0, {3, 6}),
            "F1 F2 F3 F4 F5 i1 w1 F6 i2 w2 i3 w3 i4 w4 i5 w5 i6 w6");
  EXPECT_EQ(order(named_schedule("zb-h2"), 2, {3, 6}),
            "F1 i1 F2 i2 F3 i3 F4 i4 F5 i5 w1 F6 i6 w2 w3 w4 w5 w6");
  EXPECT_EQ(order(named_schedule("zb-h1"), 0, {3, 4}), "F1 F2 F3 i1 w1 F4 i2 w2 i3 w3 i4 w4");
  EXPECT_EQ(order(named_schedule("sequential"), 1, {3, 3}), "F1 b1 F2 b2 F3 b3");
  EXPECT_EQ(order(named_schedule("breadth-first"), 0, {2, 2, 2}), "F1 F2 F1 F2 b1 b2 b1 b2");
}

TEST(ScheduleRuns, HaveThePairsAtOneTime) {
  const ScheduleRun run = run_schedule(
      named_schedule("dualpipe"), {.stages = 4, .micro_batches = 8}, with_pair(kUsual, 2.4));
  int pairs = 0;
  for (const RankRun& rank : run.ranks) {
    for (std::size_t i = 0; i + 1 < rank.actions.size(); ++i) {
      if (rank.actions[i].action.with_next) {
        ++pairs;
        EXPECT_EQ(rank.actions[i].start, rank.actions[i + 1].start);
        EXPECT_EQ(rank.actions[i].end, rank.actions[i + 1].end);
      }
    }
  }
  EXPECT_GT(pairs, 0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
