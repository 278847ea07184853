// What every pipeline schedule promises, for each alternative of the list.

#include "titer/plan/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "plan/pipeline_graph.hpp"
#include "titer/plan/schedule_run.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using pipeline_test::equal_costs;
using pipeline_test::pipeline_graph;
using pipeline_test::text_of;

// Divisible by every v that is tried.
constexpr Ticks kForward = 12'000;
constexpr Ticks kBackward = 24'000;
const PassTimes kTimes{.forward = to_seconds(kForward),
                       .input_gradient = to_seconds(kBackward / 2),
                       .weight_gradient = to_seconds(kBackward / 2),
                       .pair = {}};

/// Makespan when every chunk takes its share of the two durations, found by the engine.
Ticks makespan(const Schedule& schedule, PipelineShape shape, Ticks forward, Ticks backward) {
  const auto built =
      pipeline_graph(schedule, shape, equal_costs(schedule, shape, forward, backward));
  EXPECT_TRUE(built.complete) << name(schedule) << ": " << text_of(shape);
  return run(built.graph).makespan;
}

/// Times of passes, ordered and equal often enough for every formula to hold now and then.
class TimesMaker {
 public:
  PassTimes next() {
    PassTimes times{
        .forward = any(), .input_gradient = any(), .weight_gradient = any(), .pair = {}};
    switch (random_() % 4) {
      case 0:
        times.input_gradient = times.forward;
        times.weight_gradient = times.forward;
        break;
      case 1:
        times.weight_gradient = times.forward / 2;
        times.input_gradient = times.forward / 2;
        break;
      case 2:
        times.input_gradient = times.forward + any();
        times.weight_gradient = times.forward / 2;
        times.pair = times.forward + times.input_gradient + times.weight_gradient / 4;
        break;
      default:
        break;
    }
    return times;
  }

 private:
  Seconds any() { return (1 + static_cast<double>(random_() % 1'000)) * 1_us; }

  std::mt19937 random_{3};
};

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
using EverySchedule =
    pipeline_test::AlternativesOf<pipeline_test::NamedSchedule>::As<::testing::Types>;
TYPED_TEST_SUITE(ScheduleContract, EverySchedule, ScheduleNames);

/// Which of the four passes of a chunk and micro-batch are done.
using Done = std::array<int, kPasses>;
constexpr Done kWhole = {1, 1, 0, 0};
constexpr Done kInParts = {1, 0, 1, 1};

TYPED_TEST(ScheduleContract, TakesManyShapes) { EXPECT_GE(this->shapes().size(), 10U); }

TYPED_TEST(ScheduleContract, DoesEveryChunkOfEveryMicroBatchOnceForwardAndOnceBackward) {
  constexpr Placement placed = TypeParam::placement;
  for (const PipelineShape& shape : this->shapes()) {
    const int chunks = chunks_per_rank(placed, shape);
    const int m = micro_batches_per_chunk(placed, shape);
    for (int rank = 0; rank < shape.stages; ++rank) {
      std::map<std::pair<int, int>, Done> done;
      for (const Action& a : TypeParam::actions(rank, shape)) {
        ++done[{a.chunk, a.micro_batch}][static_cast<std::size_t>(a.pass)];
      }
      EXPECT_EQ(done.size(), static_cast<std::size_t>(chunks * m)) << text_of(shape);
      for (const auto& [of, passes] : done) {
        const int first = placed == Placement::two_ways ? of.first * m : 0;
        EXPECT_TRUE(of.first < chunks && of.second >= first && of.second < first + m);
        EXPECT_TRUE(passes == kWhole || passes == kInParts) << text_of(shape) << ", rank " << rank;
      }
    }
  }
}

TYPED_TEST(ScheduleContract, ForwardsBeforeItBackwards) {
  for (const PipelineShape& shape : this->shapes()) {
    for (int rank = 0; rank < shape.stages; ++rank) {
      std::set<std::tuple<Pass, int, int>> done;
      for (const Action& a : TypeParam::actions(rank, shape)) {
        if (a.pass != Pass::forward) {
          EXPECT_TRUE(done.contains({Pass::forward, a.chunk, a.micro_batch})) << text_of(shape);
        }
        if (a.pass == Pass::weight_gradient) {
          EXPECT_TRUE(done.contains({Pass::input_gradient, a.chunk, a.micro_batch}));
        }
        done.emplace(a.pass, a.chunk, a.micro_batch);
      }
    }
  }
}

TYPED_TEST(ScheduleContract, PairsAForwardAndAWholeBackwardOfTheOtherWay) {
  for (const PipelineShape& shape : this->shapes()) {
    for (int rank = 0; rank < shape.stages; ++rank) {
      const ActionList list = TypeParam::actions(rank, shape);
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].with_next) {
          continue;
        }
        ASSERT_LT(i + 1, list.size());
        EXPECT_FALSE(list[i + 1].with_next);
        EXPECT_EQ(list[i].pass, Pass::forward);
        EXPECT_EQ(list[i + 1].pass, Pass::backward);
        const auto stage = [&](const Action& a) {
          return stage_of(TypeParam::placement, {.rank = rank, .chunk = a.chunk}, shape);
        };
        EXPECT_EQ(stage(list[i]) + stage(list[i + 1]),
                  model_stages(TypeParam::placement, shape) - 1)
            << "as pair_kind() has it";
      }
    }
  }
}

TYPED_TEST(ScheduleContract, NeverDeadlocks) {
  for (const PipelineShape& shape : this->shapes()) {
    EXPECT_EQ(run_schedule(TypeParam{}, shape, kTimes).deadlock, "") << text_of(shape);
    const auto built = pipeline_graph(TypeParam{}, shape, equal_costs(TypeParam{}, shape, 1, 1));
    EXPECT_TRUE(built.complete) << text_of(shape);
  }
}

TYPED_TEST(ScheduleContract, RunByItselfTakesWhatTheEngineTakes) {
  for (const PipelineShape& shape : this->shapes()) {
    const Ticks engine = makespan(TypeParam{}, shape, kForward, kBackward);
    EXPECT_NEAR(run_schedule(TypeParam{}, shape, kTimes).makespan.si(),
                to_seconds(engine).si(),
                1e-9 * to_seconds(engine).si())
        << text_of(shape);
  }
}

TYPED_TEST(ScheduleContract, ExecutedHasTheBubbleOfItsFormulaWhereverThatHolds) {
  TimesMaker maker;
  int known = 0;
  for (const PipelineShape& shape : this->shapes()) {
    for (int i = 0; i < 24; ++i) {
      const PassTimes times = maker.next();
      const auto formula = TypeParam::bubble(shape, times);
      if (!formula) {
        continue;
      }
      ++known;
      const ScheduleRun run = run_schedule(TypeParam{}, shape, times);
      EXPECT_NEAR(
          run.bubble(TypeParam::bubble_of_span).si(), formula->si(), 1e-9 * run.makespan.si())
          << text_of(shape) << ", F " << times.forward.si() << ", B " << times.input_gradient.si()
          << ", W " << times.weight_gradient.si() << ", F&B " << times.both().si();
      EXPECT_GE(*formula, Seconds{});
    }
  }
  EXPECT_EQ(known > 0, TypeParam::formula != "executed");
}

TYPED_TEST(ScheduleContract, HasNoBubbleOnOneStage) {
  const PipelineShape shape{.stages = 1, .micro_batches = 6, .virtual_stages = TypeParam::chunks};
  if (TypeParam::refusal(shape)) {
    EXPECT_EQ(TypeParam::placement, Placement::two_ways) << "needs two ends";
    return;
  }
  const ScheduleRun run = run_schedule(TypeParam{}, shape, kTimes);
  EXPECT_NEAR(run.bubble(false).si(), 0.0, 1e-12 * run.makespan.si());
  EXPECT_EQ(TypeParam::bubble(shape, kTimes).value_or(Seconds{}), Seconds{});
}

TYPED_TEST(ScheduleContract, KeepsAliveWhatInFlightSays) {
  for (const PipelineShape& shape : this->shapes()) {
    const ScheduleRun run = run_schedule(TypeParam{}, shape, kTimes);
    for (int rank = 0; rank < shape.stages; ++rank) {
      const RankRun& at = run.ranks[static_cast<std::size_t>(rank)];
      EXPECT_EQ(in_flight(TypeParam{}, rank, shape), at.peak_chunks)
          << text_of(shape) << ", rank " << rank;
    }
  }
}

TYPED_TEST(ScheduleContract, ListsAllRanksAsEachByItself) {
  for (const PipelineShape& shape : this->shapes()) {
    const auto lists = action_lists(TypeParam{}, shape);
    ASSERT_EQ(lists.size(), static_cast<std::size_t>(shape.stages));
    for (int rank = 0; rank < shape.stages; ++rank) {
      EXPECT_EQ(lists[static_cast<std::size_t>(rank)], TypeParam::actions(rank, shape));
    }
  }
}

TYPED_TEST(ScheduleContract, IsFoundThroughTheVariant) {
  const Schedule schedule = TypeParam{};
  const PipelineShape shape{.stages = 4, .micro_batches = 8, .virtual_stages = TypeParam::chunks};
  EXPECT_EQ(name(schedule), TypeParam::name);
  EXPECT_EQ(bubble_formula(schedule), TypeParam::formula);
  EXPECT_EQ(source(schedule), TypeParam::source);
  EXPECT_EQ(placement(schedule), TypeParam::placement);
  EXPECT_EQ(interleaves(schedule), TypeParam::interleaves);
  EXPECT_EQ(usual_chunks(schedule), TypeParam::chunks);
  EXPECT_EQ(refusal(schedule, shape), std::nullopt);
  EXPECT_EQ(actions(schedule, 1, shape), TypeParam::actions(1, shape));
  EXPECT_EQ(bubble(schedule, shape, kTimes), TypeParam::bubble(shape, kTimes));
  EXPECT_TRUE(is_same(schedule, TypeParam{}));
}

TEST(Schedules, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Schedule& schedule : pipeline_test::all_schedules()) {
    names.insert(name(schedule));
  }
  EXPECT_EQ(names.size(), std::variant_size_v<Schedule>);
}

TEST(ClassicSchedules, BubbleDependsOnTheSumOfForwardAndBackwardOnly) {
  for (const Schedule& schedule :
       {Schedule(Sequential{}), Schedule(GPipe{}), Schedule(OneForwardOneBackward{})}) {
    for (const PipelineShape& shape : pipeline_test::shapes_of(schedule)) {
      EXPECT_EQ(makespan(schedule, shape, kForward, kBackward),
                makespan(schedule, shape, kBackward, kForward))
          << text_of(shape);
    }
  }
}

TEST(ClassicSchedules, EarlierStagesKeepAtLeastAsMuch) {
  for (const Schedule& schedule :
       {Schedule(Sequential{}), Schedule(GPipe{}), Schedule(OneForwardOneBackward{})}) {
    for (const PipelineShape& shape : pipeline_test::shapes_of(schedule)) {
      for (int rank = 1; rank < shape.stages; ++rank) {
        EXPECT_GE(in_flight(schedule, rank - 1, shape), in_flight(schedule, rank, shape));
      }
    }
  }
}

TEST(Refusals, SayWhatTheShapeWouldHaveToBe) {
  EXPECT_EQ(OneForwardOneBackward::refusal({4, 6, 2}),
            "expected the 6 micro-batches to be a multiple of the 4 stages, as interleaving needs");
  EXPECT_EQ(OneForwardOneBackward::refusal({4, 6, 2, 3}),
            "expected groups of at least 4 of the 6 micro-batches, the last one included, got 3");
  EXPECT_EQ(DualPipe::refusal({5, 20}), "expected an even number of pipeline stages, got 5");
  EXPECT_EQ(DualPipe::refusal({4, 9}),
            "expected an even number of micro-batches, at least 2 x 4 stages, got 9");
  EXPECT_EQ(DualPipe::refusal({4, 6}),
            "expected an even number of micro-batches, at least 2 x 4 stages, got 6");
  EXPECT_EQ(DualPipeV::refusal({4, 7, 2}), "expected at least 2 x 4 micro-batches, got 7");
  EXPECT_EQ(Chimera::refusal({3, 4}), "expected an even number of pipeline stages, got 3");
  EXPECT_EQ(Chimera::refusal({4, 5}), "expected an even number of micro-batches, got 5");
  EXPECT_EQ(Hanayo::refusal({4, 4, 3}),
            "expected an even number of virtual stages, two for each wave, got 3");
}

TEST(Formulas, AreWithheldWhereTheyDoNotHold) {
  const auto times = [](double f, double b, double w) {
    return PassTimes{
        .forward = f * 1_s, .input_gradient = b * 1_s, .weight_gradient = w * 1_s, .pair = {}};
  };
  const PipelineShape shape{.stages = 4, .micro_batches = 12};
  EXPECT_FALSE(ZeroBubbleH1::bubble(shape, times(1, 0.8, 1.2))) << "W > B";
  EXPECT_FALSE(ZeroBubbleH1::bubble(shape, times(0.8, 1.2, 1.0))) << "W > F";
  EXPECT_FALSE(ZeroBubbleH1::bubble({4, 3}, times(1, 1, 1))) << "m < p";
  EXPECT_FALSE(ZeroBubbleH2::bubble({4, 6}, times(1, 1, 1))) << "m < 2 p - 1";
  EXPECT_FALSE(ZeroBubbleV::bubble(shape, times(1, 1, 0.9)));
  EXPECT_FALSE(VHalf::bubble(shape, times(1, 1.1, 1)));
  EXPECT_FALSE(VMin::bubble({4, 3}, times(1, 1, 1))) << "m < p";
  EXPECT_FALSE(DualPipe::bubble(shape, times(2, 1, 1))) << "F > B";
  PassTimes short_pair = times(1, 1, 1);
  short_pair.pair = 1.9_s;
  EXPECT_FALSE(DualPipe::bubble(shape, short_pair)) << "F&B < F + B";
  EXPECT_FALSE(Chimera::bubble(shape, times(1, 1, 1))) << "F < B + W";
  EXPECT_FALSE(BreadthFirst::bubble({4, 3, 2}, times(1, 1, 1))) << "m < p";
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
  for (const Schedule& schedule : {Schedule(Sequential{}),
                                   Schedule(GPipe{}),
                                   Schedule(OneForwardOneBackward{}),
                                   Schedule(BreadthFirst{})}) {
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

TEST(E16_VanillaModelParallelism, UsesOneNthWhateverTheMicroBatches) {
  const PipelineShape shape{.stages = 10, .micro_batches = 7};
  const ScheduleRun run = run_schedule(Sequential{}, shape, kTimes);
  EXPECT_NEAR(run.bubble_ratio(), 1.0 - 1.0 / 10, 1e-12);
  EXPECT_NEAR(run.bubble_overhead(), 10.0 - 1, 1e-9);
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
  EXPECT_EQ(makespan(Sequential{}, pipelined, 1, 0), 9);
  EXPECT_EQ(makespan(Sequential{}, pipelined, 1, 1), 2 * 9);
  EXPECT_DOUBLE_EQ(bubble_ratio(pipelined), 0.4);
}

// T15: two published definitions, two names.
TEST(T15_BubbleDefinitions, DivideTheSameIdleTimeByTheTotalOrByTheIdealTime) {
  for (const PipelineShape& shape : pipeline_test::shapes_of(OneForwardOneBackward{})) {
    const auto total =
        static_cast<double>(makespan(OneForwardOneBackward{}, shape, kForward, kBackward));
    const auto ideal = static_cast<double>(shape.micro_batches * (kForward + kBackward));
    EXPECT_DOUBLE_EQ(bubble_ratio(shape), (total - ideal) / total) << text_of(shape);
    EXPECT_DOUBLE_EQ(bubble_overhead(shape), (total - ideal) / ideal) << text_of(shape);
    const ScheduleRun run = run_schedule(OneForwardOneBackward{}, shape, kTimes);
    EXPECT_NEAR(run.bubble_ratio(), bubble_ratio(shape), 1e-12) << text_of(shape);
    EXPECT_NEAR(run.bubble_overhead(), bubble_overhead(shape), 1e-11) << text_of(shape);
  }
}

TEST(T15_BubbleDefinitions, InterleavingDividesTheOverheadByItsChunks) {
  EXPECT_DOUBLE_EQ(bubble_overhead({.stages = 8, .micro_batches = 64}), 7.0 / 64.0);
  EXPECT_DOUBLE_EQ(bubble_overhead({.stages = 8, .micro_batches = 64, .virtual_stages = 3}),
                   7.0 / (3.0 * 64.0));
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 8, .micro_batches = 64, .virtual_stages = 3}),
                   7.0 / (3.0 * 64.0 + 7.0));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
