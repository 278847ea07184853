// What every pipeline schedule promises, for each alternative of the list.

#include "titer/plan/schedule/schedule.hpp"

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
#include "titer/plan/schedule/schedule_run.hpp"

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

class ScheduleContract : public ::testing::TestWithParam<const ScheduleEntry*> {
 protected:
  const ScheduleEntry& entry = *GetParam();
  const Schedule schedule{*GetParam()};
  const std::vector<PipelineShape> shapes = pipeline_test::shapes_of(schedule);
};
std::string name_of_test(const ::testing::TestParamInfo<const ScheduleEntry*>& info) {
  std::string name(info.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Of,
                         ScheduleContract,
                         ::testing::ValuesIn(schedule_entries().begin(), schedule_entries().end()),
                         name_of_test);

/// Which of the four passes of a chunk and micro-batch are done.
using Done = std::array<int, kPasses>;
constexpr Done kWhole = {1, 1, 0, 0};
constexpr Done kInParts = {1, 0, 1, 1};

TEST_P(ScheduleContract, TakesManyShapes) { EXPECT_GE(shapes.size(), 10U); }

TEST_P(ScheduleContract, DoesEveryChunkOfEveryMicroBatchOnceForwardAndOnceBackward) {
  const Placement placed = entry.placement;
  for (const PipelineShape& shape : shapes) {
    const int chunks = chunks_per_rank(placed, shape);
    const int m = micro_batches_per_chunk(placed, shape);
    for (int rank = 0; rank < shape.stages; ++rank) {
      std::map<std::pair<int, int>, Done> done;
      for (const Action& a : actions(schedule, rank, shape)) {
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

TEST_P(ScheduleContract, ForwardsBeforeItBackwards) {
  for (const PipelineShape& shape : shapes) {
    for (int rank = 0; rank < shape.stages; ++rank) {
      std::set<std::tuple<Pass, int, int>> done;
      for (const Action& a : actions(schedule, rank, shape)) {
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

TEST_P(ScheduleContract, PairsAForwardAndAWholeBackwardOfTheOtherWay) {
  for (const PipelineShape& shape : shapes) {
    for (int rank = 0; rank < shape.stages; ++rank) {
      const ActionList list = actions(schedule, rank, shape);
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].with_next) {
          continue;
        }
        ASSERT_LT(i + 1, list.size());
        EXPECT_FALSE(list[i + 1].with_next);
        EXPECT_EQ(list[i].pass, Pass::forward);
        EXPECT_EQ(list[i + 1].pass, Pass::backward);
        const auto stage = [&](const Action& a) {
          return stage_of(entry.placement, {.rank = rank, .chunk = a.chunk}, shape);
        };
        EXPECT_EQ(stage(list[i]) + stage(list[i + 1]), model_stages(entry.placement, shape) - 1)
            << "as pair_kind() has it";
      }
    }
  }
}

TEST_P(ScheduleContract, NeverDeadlocks) {
  for (const PipelineShape& shape : shapes) {
    EXPECT_EQ(run_schedule(schedule, shape, kTimes).deadlock, "") << text_of(shape);
    const auto built = pipeline_graph(schedule, shape, equal_costs(schedule, shape, 1, 1));
    EXPECT_TRUE(built.complete) << text_of(shape);
  }
}

TEST_P(ScheduleContract, RunByItselfTakesWhatTheEngineTakes) {
  for (const PipelineShape& shape : shapes) {
    const Ticks engine = makespan(schedule, shape, kForward, kBackward);
    EXPECT_NEAR(run_schedule(schedule, shape, kTimes).makespan.si(),
                to_seconds(engine).si(),
                1e-9 * to_seconds(engine).si())
        << text_of(shape);
  }
}

TEST_P(ScheduleContract, ExecutedHasTheBubbleOfItsFormulaWhereverThatHolds) {
  TimesMaker maker;
  int known = 0;
  for (const PipelineShape& shape : shapes) {
    for (int i = 0; i < 24; ++i) {
      const PassTimes times = maker.next();
      const auto formula = bubble(schedule, shape, times);
      if (!formula) {
        continue;
      }
      ++known;
      const ScheduleRun run = run_schedule(schedule, shape, times);
      EXPECT_NEAR(run.bubble(entry.bubble_of_span).si(), formula->si(), 1e-9 * run.makespan.si())
          << text_of(shape) << ", F " << times.forward.si() << ", B " << times.input_gradient.si()
          << ", W " << times.weight_gradient.si() << ", F&B " << times.both().si();
      EXPECT_GE(*formula, Seconds{});
    }
  }
  EXPECT_EQ(known > 0, entry.formula != "executed");
}

TEST_P(ScheduleContract, HasNoBubbleOnOneStage) {
  const PipelineShape shape{.stages = 1, .micro_batches = 6, .virtual_stages = entry.chunks};
  if (refusal(schedule, shape)) {
    EXPECT_EQ(entry.placement, Placement::two_ways) << "needs two ends";
    return;
  }
  const ScheduleRun run = run_schedule(schedule, shape, kTimes);
  EXPECT_NEAR(run.bubble(false).si(), 0.0, 1e-12 * run.makespan.si());
  EXPECT_EQ(bubble(schedule, shape, kTimes).value_or(Seconds{}), Seconds{});
}

TEST_P(ScheduleContract, KeepsAliveWhatInFlightSays) {
  for (const PipelineShape& shape : shapes) {
    const ScheduleRun run = run_schedule(schedule, shape, kTimes);
    for (int rank = 0; rank < shape.stages; ++rank) {
      const RankRun& at = run.ranks[static_cast<std::size_t>(rank)];
      EXPECT_EQ(in_flight(schedule, rank, shape), at.peak_chunks)
          << text_of(shape) << ", rank " << rank;
    }
  }
}

TEST_P(ScheduleContract, ListsAllRanksAsEachByItself) {
  for (const PipelineShape& shape : shapes) {
    const auto lists = action_lists(schedule, shape);
    ASSERT_EQ(lists.size(), static_cast<std::size_t>(shape.stages));
    for (int rank = 0; rank < shape.stages; ++rank) {
      EXPECT_EQ(lists[static_cast<std::size_t>(rank)], actions(schedule, rank, shape));
    }
  }
}

TEST_P(ScheduleContract, IsFoundByItsNameAndSaysWhatItsEntrySays) {
  const Schedule found = named_schedule(entry.name);
  EXPECT_TRUE(is_same(found, schedule));
  EXPECT_EQ(name(found), entry.name);
  EXPECT_EQ(bubble_formula(found), entry.formula);
  EXPECT_EQ(source(found), entry.source);
  EXPECT_EQ(placement(found), entry.placement);
  EXPECT_EQ(interleaves(found), entry.interleaves);
  EXPECT_EQ(usual_chunks(found), entry.chunks);
  EXPECT_EQ(schedule_entries()[found.index()], &entry);
  EXPECT_EQ(found.listed(), nullptr);
}

// What searches and memory take for granted of those that say it.
TEST_P(ScheduleContract, KeepsWhatItSaysOfItsOrder) {
  for (const PipelineShape& shape : shapes) {
    for (int rank = 0; rank < shape.stages; ++rank) {
      bool went_back = false;
      for (const Action& action : actions(schedule, rank, shape)) {
        const bool forward = action.pass == Pass::forward;
        EXPECT_FALSE(entry.forwards_first && went_back && forward) << text_of(shape);
        EXPECT_TRUE(entry.pairs || !action.with_next) << text_of(shape);
        EXPECT_TRUE(entry.splits || forward || action.pass == Pass::backward) << text_of(shape);
        went_back = went_back || !forward;
      }
    }
    const ScheduleRun run = run_schedule(schedule, shape, kTimes);
    if (entry.by_one_rank) {
      EXPECT_NEAR(run.bubble_ratio(), 1.0 - 1.0 / shape.stages, 1e-12) << text_of(shape);
    }
    if (entry.has_plain_ratio && bubble(schedule, shape, kTimes)) {
      EXPECT_NEAR(run.bubble_ratio(), bubble_ratio(shape), 1e-9) << text_of(shape);
    }
  }
}

TEST(AliveChunks, CountBothOfAPairWhicheverIsListedFirst) {
  const Action first{.pass = Pass::forward, .micro_batch = 0};
  const Action last{.pass = Pass::backward, .micro_batch = 1};
  const auto most = [&](Action one, const Action& other) {
    one.with_next = true;
    return most_alive(ActionList{first, one, other, last});
  };
  const Action forward{.pass = Pass::forward, .micro_batch = 1};
  const Action backward{.pass = Pass::backward, .micro_batch = 0};
  EXPECT_EQ(most(forward, backward), 2);
  EXPECT_EQ(most(backward, forward), 2);
  EXPECT_EQ(most_alive(ActionList{first, backward, forward, last}), 1);
}

TEST(Schedules, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Schedule& schedule : testing::all_schedules()) {
    names.insert(name(schedule));
  }
  EXPECT_EQ(names.size(), schedule_entries().size() + 1);
}

TEST(ClassicSchedules, BubbleDependsOnTheSumOfForwardAndBackwardOnly) {
  for (const Schedule& schedule :
       {named_schedule("sequential"), named_schedule("gpipe"), named_schedule("1f1b")}) {
    for (const PipelineShape& shape : pipeline_test::shapes_of(schedule)) {
      EXPECT_EQ(makespan(schedule, shape, kForward, kBackward),
                makespan(schedule, shape, kBackward, kForward))
          << text_of(shape);
    }
  }
}

TEST(ClassicSchedules, EarlierStagesKeepAtLeastAsMuch) {
  for (const Schedule& schedule :
       {named_schedule("sequential"), named_schedule("gpipe"), named_schedule("1f1b")}) {
    for (const PipelineShape& shape : pipeline_test::shapes_of(schedule)) {
      for (int rank = 1; rank < shape.stages; ++rank) {
        EXPECT_GE(in_flight(schedule, rank - 1, shape), in_flight(schedule, rank, shape));
      }
    }
  }
}

TEST(Refusals, SayWhatTheShapeWouldHaveToBe) {
  EXPECT_EQ(refusal(named_schedule("1f1b"), {4, 6, 2}),
            "expected the 6 micro-batches to be a multiple of the 4 stages, as interleaving needs");
  EXPECT_EQ(refusal(named_schedule("1f1b"), {4, 6, 2, 3}),
            "expected groups of at least 4 of the 6 micro-batches, the last one included, got 3");
  EXPECT_EQ(refusal(named_schedule("dualpipe"), {5, 20}),
            "expected an even number of pipeline stages, got 5");
  EXPECT_EQ(refusal(named_schedule("dualpipe"), {4, 9}),
            "expected an even number of micro-batches, at least 2 x 4 stages, got 9");
  EXPECT_EQ(refusal(named_schedule("dualpipe"), {4, 6}),
            "expected an even number of micro-batches, at least 2 x 4 stages, got 6");
  EXPECT_EQ(refusal(named_schedule("dualpipev"), {4, 7, 2}),
            "expected at least 2 x 4 micro-batches, got 7");
  EXPECT_EQ(refusal(named_schedule("chimera"), {3, 4}),
            "expected an even number of pipeline stages, got 3");
  EXPECT_EQ(refusal(named_schedule("chimera"), {4, 5}),
            "expected an even number of micro-batches, got 5");
  EXPECT_EQ(refusal(named_schedule("hanayo"), {4, 4, 3}),
            "expected an even number of virtual stages, two for each wave, got 3");
}

TEST(Formulas, AreWithheldWhereTheyDoNotHold) {
  const auto times = [](double f, double b, double w) {
    return PassTimes{
        .forward = f * 1_s, .input_gradient = b * 1_s, .weight_gradient = w * 1_s, .pair = {}};
  };
  const PipelineShape shape{.stages = 4, .micro_batches = 12};
  EXPECT_FALSE(bubble(named_schedule("zb-h1"), shape, times(1, 0.8, 1.2))) << "W > B";
  EXPECT_FALSE(bubble(named_schedule("zb-h1"), shape, times(0.8, 1.2, 1.0))) << "W > F";
  EXPECT_FALSE(bubble(named_schedule("zb-h1"), {4, 3}, times(1, 1, 1))) << "m < p";
  EXPECT_FALSE(bubble(named_schedule("zb-h2"), {4, 6}, times(1, 1, 1))) << "m < 2 p - 1";
  EXPECT_FALSE(bubble(named_schedule("zb-v"), shape, times(1, 1, 0.9)));
  EXPECT_FALSE(bubble(named_schedule("v-half"), shape, times(1, 1.1, 1)));
  EXPECT_FALSE(bubble(named_schedule("v-min"), {4, 3}, times(1, 1, 1))) << "m < p";
  EXPECT_FALSE(bubble(named_schedule("dualpipe"), shape, times(2, 1, 1))) << "F > B";
  PassTimes short_pair = times(1, 1, 1);
  short_pair.pair = 1.9_s;
  EXPECT_FALSE(bubble(named_schedule("dualpipe"), shape, short_pair)) << "F&B < F + B";
  EXPECT_FALSE(bubble(named_schedule("chimera"), shape, times(1, 1, 1))) << "F < B + W";
  EXPECT_FALSE(bubble(named_schedule("breadth-first"), {4, 3, 2}, times(1, 1, 1))) << "m < p";
}

// E8: T_bubble = (p-1) (T_comp + T_PP + T_TP) per micro-batch, R = (p-1)/(p-1+m).
TEST(E8_Bubble, IsPMinusOneMicroBatchTimesOfAllTheirParts) {
  const Ticks compute = 7'000;
  const Ticks tensor = 1'200;
  const Ticks pipeline = 300;
  const PipelineShape shape{.stages = 4, .micro_batches = 8};
  const Ticks both = 2 * (compute + tensor + pipeline);
  const Ticks total = makespan(named_schedule("1f1b"), shape, both / 2, both / 2);
  const Ticks idle = total - shape.micro_batches * both;
  EXPECT_EQ(idle, (shape.stages - 1) * both);
  EXPECT_DOUBLE_EQ(static_cast<double>(idle) / static_cast<double>(total), bubble_ratio(shape));
}

TEST(F18_BubbleRatio, IsThreeElevenths) {
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 4, .micro_batches = 8}), 3.0 / 11.0);
}

// E16, F47: with one micro-batch only one of N devices works at a time.
TEST(E16_VanillaModelParallelism, UsesOneNthOfItsDevices) {
  for (const Schedule& schedule : {named_schedule("sequential"),
                                   named_schedule("gpipe"),
                                   named_schedule("1f1b"),
                                   named_schedule("breadth-first")}) {
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
  const ScheduleRun run = run_schedule(named_schedule("sequential"), shape, kTimes);
  EXPECT_NEAR(run.bubble_ratio(), 1.0 - 1.0 / 10, 1e-12);
  EXPECT_NEAR(run.bubble_overhead(), 10.0 - 1, 1e-9);
}

TEST(F47_VanillaModelParallelism, IdlesEighteenOfTwentySlotsOnTenDevices) {
  EXPECT_EQ(makespan(named_schedule("gpipe"), {.stages = 10, .micro_batches = 1}, 1, 1), 20);
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 10, .micro_batches = 1}), 18.0 / 20.0);
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 3, .micro_batches = 1}), 1.0 - 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(bubble_ratio({.stages = 100, .micro_batches = 1}), 1.0 - 0.01);
}

// F48: three stages and three micro-batches: 9 slots one after the other, 5 pipelined, each way.
TEST(F48_Pipeline, TakesFiveSlotsInsteadOfNineEachWay) {
  const PipelineShape pipelined{.stages = 3, .micro_batches = 3};
  const int slots = pipelined.micro_batches + pipelined.stages - 1;
  EXPECT_EQ(slots, 5);
  EXPECT_EQ(makespan(named_schedule("gpipe"), pipelined, 1, 0), slots);
  EXPECT_EQ(makespan(named_schedule("gpipe"), pipelined, 0, 1), slots);
  EXPECT_EQ(makespan(named_schedule("gpipe"), pipelined, 1, 1), 2 * slots);
  EXPECT_EQ(makespan(named_schedule("sequential"), pipelined, 1, 0), 9);
  EXPECT_EQ(makespan(named_schedule("sequential"), pipelined, 1, 1), 2 * 9);
  EXPECT_DOUBLE_EQ(bubble_ratio(pipelined), 0.4);
}

// T15: two published definitions, two names.
TEST(T15_BubbleDefinitions, DivideTheSameIdleTimeByTheTotalOrByTheIdealTime) {
  for (const PipelineShape& shape : pipeline_test::shapes_of(named_schedule("1f1b"))) {
    const auto total =
        static_cast<double>(makespan(named_schedule("1f1b"), shape, kForward, kBackward));
    const auto ideal = static_cast<double>(shape.micro_batches * (kForward + kBackward));
    EXPECT_DOUBLE_EQ(bubble_ratio(shape), (total - ideal) / total) << text_of(shape);
    EXPECT_DOUBLE_EQ(bubble_overhead(shape), (total - ideal) / ideal) << text_of(shape);
    const ScheduleRun run = run_schedule(named_schedule("1f1b"), shape, kTimes);
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
