// What every pipeline schedule promises, for each alternative of the list; then the published
// figures of single schedules.

#include "titer/plan/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "plan/pipeline_graph.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

using pipeline_test::equal_costs;
using pipeline_test::pipeline_graph;
using pipeline_test::text_of;

// Divisible by every v that is tried.
constexpr Ticks kForward = 12'000;
constexpr Ticks kBackward = 24'000;

/// Makespan when every chunk takes its share of the two durations, found by the engine.
Ticks makespan(const Schedule& schedule, PipelineShape shape, Ticks forward, Ticks backward) {
  const auto built = pipeline_graph(schedule, shape, equal_costs(shape, forward, backward));
  EXPECT_TRUE(built.complete) << name(schedule) << ": " << text_of(shape);
  return run(built.graph).makespan;
}

/// Most chunks that are forwarded and not yet backwarded on a rank at any time.
int counted_peak(const Schedule& schedule, int rank, PipelineShape shape) {
  int alive = 0;
  int peak = 0;
  for (int i = 0; i < shape.actions_per_rank(); ++i) {
    alive += action(schedule, rank, i, shape).backward ? -1 : 1;
    peak = std::max(peak, alive);
  }
  EXPECT_EQ(alive, 0) << "every activation is freed";
  return peak;
}

template <class S>
class ScheduleContract : public ::testing::Test {
 protected:
  static std::vector<PipelineShape> shapes() { return pipeline_test::shapes_of(S{}); }
};

struct ScheduleNames {
  template <class S>
  static std::string GetName(
      int /*index*/) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::string(S::name);
  }
};
using EverySchedule = pipeline_test::AlternativesOf<Schedule>::As<::testing::Types>;
TYPED_TEST_SUITE(ScheduleContract, EverySchedule, ScheduleNames);

TYPED_TEST(ScheduleContract, DoesEveryChunkOfEveryMicroBatchOnceForwardAndOnceBackward) {
  for (const PipelineShape shape : this->shapes()) {
    for (int rank = 0; rank < shape.stages; ++rank) {
      std::vector<std::tuple<bool, int, int>> done;
      for (int i = 0; i < shape.actions_per_rank(); ++i) {
        const Action a = TypeParam::action(rank, i, shape);
        done.emplace_back(a.backward, a.chunk, a.micro_batch);
      }
      std::sort(done.begin(), done.end());
      std::vector<std::tuple<bool, int, int>> wanted;
      for (const bool backward : {false, true}) {
        for (int chunk = 0; chunk < shape.virtual_stages; ++chunk) {
          for (int micro_batch = 0; micro_batch < shape.micro_batches; ++micro_batch) {
            wanted.emplace_back(backward, chunk, micro_batch);
          }
        }
      }
      EXPECT_EQ(done, wanted) << text_of(shape) << ", rank " << rank;
    }
  }
}

TYPED_TEST(ScheduleContract, ForwardsBeforeItBackwards) {
  for (const PipelineShape shape : this->shapes()) {
    for (int rank = 0; rank < shape.stages; ++rank) {
      std::vector<bool> forwarded(
          static_cast<std::size_t>(shape.virtual_stages * shape.micro_batches), false);
      for (int i = 0; i < shape.actions_per_rank(); ++i) {
        const Action a = TypeParam::action(rank, i, shape);
        const auto at = static_cast<std::size_t>(a.chunk * shape.micro_batches + a.micro_batch);
        EXPECT_EQ(forwarded[at], a.backward) << text_of(shape) << ", rank " << rank;
        forwarded[at] = true;
      }
    }
  }
}

TYPED_TEST(ScheduleContract, NeverDeadlocks) {
  for (const PipelineShape shape : this->shapes()) {
    const auto built = pipeline_graph(TypeParam{}, shape, equal_costs(shape, 1, 1));
    EXPECT_TRUE(built.complete) << text_of(shape);
  }
}

TYPED_TEST(ScheduleContract, ExecutedTakesTheIdealTimeAndTheBubbleOfItsFormula) {
  for (const PipelineShape shape : this->shapes()) {
    const Ticks ideal = shape.micro_batches * (kForward + kBackward);
    const Ticks bubble_ticks = to_ticks(TypeParam::bubble(shape, to_seconds(kForward + kBackward)));
    EXPECT_EQ(makespan(TypeParam{}, shape, kForward, kBackward), ideal + bubble_ticks)
        << text_of(shape);
  }
}

TYPED_TEST(ScheduleContract, BubbleDependsOnTheSumOfForwardAndBackwardOnly) {
  for (const PipelineShape shape : this->shapes()) {
    EXPECT_EQ(makespan(TypeParam{}, shape, kForward, kBackward),
              makespan(TypeParam{}, shape, kBackward, kForward))
        << text_of(shape);
  }
}

TYPED_TEST(ScheduleContract, HasNoBubbleOnOneStage) {
  EXPECT_EQ(TypeParam::bubble({.stages = 1, .micro_batches = 5}, 3_ms), Seconds{});
}

TYPED_TEST(ScheduleContract, KeepsAliveWhatInFlightSays) {
  for (const PipelineShape shape : this->shapes()) {
    for (int rank = 0; rank < shape.stages; ++rank) {
      EXPECT_EQ(TypeParam::in_flight(rank, shape), counted_peak(TypeParam{}, rank, shape))
          << text_of(shape) << ", rank " << rank;
    }
  }
}

TYPED_TEST(ScheduleContract, EarlierStagesKeepAtLeastAsMuch) {
  for (const PipelineShape shape : this->shapes()) {
    for (int rank = 1; rank < shape.stages; ++rank) {
      EXPECT_GE(TypeParam::in_flight(rank - 1, shape), TypeParam::in_flight(rank, shape));
    }
  }
}

TYPED_TEST(ScheduleContract, IsFoundThroughTheVariant) {
  const Schedule schedule = TypeParam{};
  const PipelineShape shape{.stages = 4, .micro_batches = 8};
  EXPECT_EQ(name(schedule), TypeParam::name);
  EXPECT_EQ(bubble_formula(schedule), TypeParam::formula);
  EXPECT_EQ(source(schedule), TypeParam::source);
  EXPECT_EQ(interleaves(schedule), TypeParam::interleaves);
  EXPECT_EQ(in_flight(schedule, 1, shape), TypeParam::in_flight(1, shape));
  EXPECT_EQ(bubble(schedule, shape, 3_ms), TypeParam::bubble(shape, 3_ms));
  EXPECT_NE(bubble_formula(schedule).find("(p - 1)"), std::string_view::npos);
}

/// Golden figures found by an independent event simulation: F = 1, B = 2, no communication.
struct GoldenCase {
  PipelineShape shape;
  double bubble;      // in units of F
  double first_peak;  // chunks over v: micro-batches of a whole device's activations
  double last_peak;
};

void expect_golden(const Schedule& schedule, const GoldenCase& golden) {
  const PipelineShape shape = golden.shape;
  const Ticks idle =
      makespan(schedule, shape, kForward, 2 * kForward) - shape.micro_batches * 3 * kForward;
  EXPECT_EQ(idle, static_cast<Ticks>(golden.bubble * kForward)) << text_of(shape);
  const double v = shape.virtual_stages;
  EXPECT_DOUBLE_EQ(counted_peak(schedule, 0, shape) / v, golden.first_peak) << text_of(shape);
  EXPECT_DOUBLE_EQ(counted_peak(schedule, shape.stages - 1, shape) / v, golden.last_peak)
      << text_of(shape);
}

TEST(ScheduleGolden, GPipe) {
  expect_golden(GPipe{}, {{4, 8, 1}, 9.0, 8.0, 8.0});
  expect_golden(GPipe{}, {{8, 8, 1}, 21.0, 8.0, 8.0});
  expect_golden(GPipe{}, {{8, 32, 1}, 21.0, 32.0, 32.0});
}

TEST(ScheduleGolden, OneForwardOneBackward) {
  expect_golden(OneForwardOneBackward{}, {{4, 8, 1}, 9.0, 4.0, 1.0});
  expect_golden(OneForwardOneBackward{}, {{8, 8, 1}, 21.0, 8.0, 1.0});
  expect_golden(OneForwardOneBackward{}, {{8, 32, 1}, 21.0, 8.0, 1.0});
}

TEST(ScheduleGolden, Interleaved) {
  expect_golden(OneForwardOneBackward{}, {{4, 8, 2}, 4.5, 5.5, 2.5});
  expect_golden(OneForwardOneBackward{}, {{4, 8, 4}, 2.25, 4.75, 3.25});
  expect_golden(OneForwardOneBackward{}, {{8, 32, 2}, 10.5, 11.5, 4.5});
  expect_golden(OneForwardOneBackward{}, {{8, 32, 4}, 5.25, 9.75, 6.25});
}

TEST(ScheduleGolden, InterleavedHoldsNoMoreThanAllMicroBatches) {
  expect_golden(OneForwardOneBackward{}, {{8, 8, 2}, 10.5, 8.0, 4.5});
  expect_golden(OneForwardOneBackward{}, {{8, 8, 4}, 5.25, 8.0, 6.25});
}

TEST(OneForwardOneBackwardInFlight, IsTheStagesStillAhead) {
  for (const int p : {1, 2, 4, 8}) {
    for (const int m : {1, 2, 4, 8, 32}) {
      for (int s = 0; s < p; ++s) {
        EXPECT_EQ(OneForwardOneBackward::in_flight(s, {p, m, 1}), std::min(m, p - s));
      }
    }
  }
}

TEST(OneForwardOneBackwardInFlight, InterleavedFollowsMegatron) {
  // min(m v, 2 (p - s - 1) + (v - 1) p + 1) chunks
  for (const int s : {0, 3, 7}) {
    EXPECT_EQ(OneForwardOneBackward::in_flight(s, {8, 64, 3}), 2 * (8 - s - 1) + (3 - 1) * 8 + 1);
  }
}

TEST(OneForwardOneBackwardOrder, IsTheOneOfItsPaper) {
  // Narayanan et al. 2021, figure 4: the first and the last of p = 4 stages, m = 8.
  const auto order = [](int rank) {
    std::string text;
    for (int i = 0; i < 16; ++i) {
      const Action a = OneForwardOneBackward::action(rank, i, {4, 8, 1});
      text += a.backward ? "b" : "F";
      text += std::to_string(a.micro_batch + 1);
      text += " ";
    }
    return text;
  };
  EXPECT_EQ(order(0), "F1 F2 F3 F4 b1 F5 b2 F6 b3 F7 b4 F8 b5 b6 b7 b8 ");
  EXPECT_EQ(order(3), "F1 b1 F2 b2 F3 b3 F4 b4 F5 b5 F6 b6 F7 b7 F8 b8 ");
}

TEST(OneForwardOneBackwardOrder, EndsAfterItsLastAction) {
  const PipelineShape shape{4, 8, 2};
  EXPECT_THROW((void)OneForwardOneBackward::action(0, shape.actions_per_rank(), shape), Defect);
}

// E8: T_bubble = (p-1) (T_comp + T_PP + T_TP) per micro-batch, R = (p-1)/(p-1+m).
TEST(E8_Bubble, IsPMinusOneMicroBatchTimesOfAllTheirParts) {
  const Ticks compute = 7'000;
  const Ticks tensor = 1'200;
  const Ticks pipeline = 300;
  const PipelineShape shape{.stages = 4, .micro_batches = 8};
  const Ticks both = 2 * (compute + tensor + pipeline);
  const Ticks total = makespan(OneForwardOneBackward{}, shape, both / 2, both / 2);
  const Ticks idle = total - shape.micro_batches * both;
  EXPECT_EQ(idle, (shape.stages - 1) * both);
  EXPECT_DOUBLE_EQ(static_cast<double>(idle) / static_cast<double>(total), bubble_ratio(shape));
}

TEST(F18_BubbleRatio, IsThreeElevenths) {
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 4, .micro_batches = 8}), 3.0 / 11.0);
}

// E16, F47: with one micro-batch only one of N devices works at a time.
TEST(E16_VanillaModelParallelism, UsesOneNthOfItsDevices) {
  for (const Schedule& schedule : pipeline_test::all_schedules()) {
    for (const int n : {1, 3, 10, 100}) {
      const PipelineShape shape{.stages = n, .micro_batches = 1};
      const Ticks slot = 1'000;
      const Ticks total = makespan(schedule, shape, slot, slot);
      EXPECT_EQ(total, 2 * n * slot);
      const Ticks idle = total - 2 * slot;
      EXPECT_EQ(idle, 2 * (n - 1) * slot);
      EXPECT_DOUBLE_EQ(2.0 * slot / static_cast<double>(total), 1.0 / n);
      EXPECT_DOUBLE_EQ(bubble_ratio(shape), (n - 1.0) / n) << "idle over total";
    }
  }
}

TEST(F47_VanillaModelParallelism, IdlesEighteenOfTwentySlotsOnTenDevices) {
  EXPECT_EQ(makespan(GPipe{}, {.stages = 10, .micro_batches = 1}, 1, 1), 20);
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 10, .micro_batches = 1}), 18.0 / 20.0);
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 3, .micro_batches = 1}), 1.0 - 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 100, .micro_batches = 1}), 1.0 - 0.01);
}

// F48: three stages and three micro-batches: 9 slots one after the other, 5 pipelined, each way.
TEST(F48_Pipeline, TakesFiveSlotsInsteadOfNineEachWay) {
  const PipelineShape pipelined{.stages = 3, .micro_batches = 3};
  const int slots = pipelined.micro_batches + pipelined.stages - 1;
  EXPECT_EQ(slots, 5);
  EXPECT_EQ(makespan(GPipe{}, pipelined, 1, 0), slots);
  EXPECT_EQ(makespan(GPipe{}, pipelined, 0, 1), slots);
  EXPECT_EQ(makespan(GPipe{}, pipelined, 1, 1), 2 * slots);
  const Ticks one_by_one = 3 * makespan(GPipe{}, {.stages = 3, .micro_batches = 1}, 1, 0);
  EXPECT_EQ(one_by_one, 9);
  EXPECT_DOUBLE_EQ(bubble_ratio(pipelined), 0.4);
}

// T15: two published definitions, two names.
TEST(T15_BubbleDefinitions, DivideTheSameIdleTimeByTheTotalOrByTheIdealTime) {
  for (const PipelineShape shape : pipeline_test::shapes_of(OneForwardOneBackward{})) {
    const auto total =
        static_cast<double>(makespan(OneForwardOneBackward{}, shape, kForward, kBackward));
    const auto ideal = static_cast<double>(shape.micro_batches * (kForward + kBackward));
    EXPECT_DOUBLE_EQ(bubble_ratio(shape), (total - ideal) / total) << text_of(shape);
    EXPECT_DOUBLE_EQ(bubble_overhead(shape), (total - ideal) / ideal) << text_of(shape);
  }
}

TEST(T15_BubbleDefinitions, InterleavingDividesTheOverheadByItsChunks) {
  EXPECT_DOUBLE_EQ(bubble_overhead({.stages = 8, .micro_batches = 64}), 7.0 / 64.0);
  EXPECT_DOUBLE_EQ(bubble_overhead({.stages = 8, .micro_batches = 64, .virtual_stages = 3}),
                   7.0 / (3.0 * 64.0));
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 8, .micro_batches = 64, .virtual_stages = 3}),
                   7.0 / (3.0 * 64.0 + 7.0));
}

}  // namespace
}  // namespace titer
