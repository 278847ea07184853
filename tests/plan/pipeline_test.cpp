#include "titer/plan/pipeline/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plan/pipeline_graph.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using pipeline_test::text_of;

/// When each rank ends, found by the engine.
std::vector<Ticks> executed(const Schedule& schedule, PipelineShape shape, const PassTicks& costs) {
  const auto built = pipeline_test::pipeline_graph(schedule, shape, costs);
  EXPECT_TRUE(built.complete);
  const Timeline timeline = run(built.graph);
  std::vector<Ticks> ends;
  for (const TaskId task : built.last) {
    ends.push_back(timeline.start[task] + built.graph.duration(task));
  }
  return ends;
}

class CostMaker {
 public:
  explicit CostMaker(unsigned seed) : random_(seed) {}

  /// One in eight passes takes no time; the spread of the others is up to `spread`.
  PassTicks costs(const Schedule& schedule, PipelineShape shape, Ticks spread) {
    const int stages = model_stages(placement(schedule), shape);
    const std::size_t places = pass_places(placement(schedule), stages);
    PassTicks costs(pass_kinds(places), 0);
    for (std::size_t kind = 0; kind < instant_kind(places); ++kind) {
      const bool nothing = random_() % 8 == 0;
      costs[kind] = nothing ? 0 : 1'000 + static_cast<Ticks>(random_()) % spread;
    }
    return costs;
  }

 private:
  std::mt19937 random_;
};

std::vector<PipelineShape> large_shapes() {
  return {{2, 200, 1},
          {7, 100, 1},
          {16, 64, 1},
          {32, 96, 1},
          {8, 64, 3},
          {4, 128, 6},
          {3, 33, 5},
          {8, 40, 2},
          {7, 100, 1, {}, true},
          {1, 50, 1, {}, true},
          {4, 128, 6, {}, true}};
}

TEST(PipelineClock, EndsEveryRankWhenTheEngineDoes) {
  CostMaker maker(1);
  std::vector<Ticks> finish;
  PipelineClock clock;
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape shape : pipeline_test::shapes_of(schedule)) {
      for (const Ticks spread : {1, 2, 50, 1'000, 1'000'000'000}) {
        const PassTicks costs = maker.costs(schedule, shape, spread);
        clock.run(schedule, shape, costs, finish);
        EXPECT_EQ(finish, executed(schedule, shape, costs))
            << name(schedule) << ": " << text_of(shape) << ", spread " << spread;
      }
    }
  }
}

TEST(PipelineClock, EndsEveryRankWhenTheEngineDoesInLongPipelines) {
  CostMaker maker(2);
  std::vector<Ticks> finish;
  PipelineClock clock;
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape shape : large_shapes()) {
      if (!pipeline_test::allows(schedule, shape)) {
        continue;
      }
      for (int i = 0; i < 20; ++i) {
        const PassTicks costs = maker.costs(schedule, shape, i % 2 == 0 ? 100 : 1'000'000'000);
        clock.run(schedule, shape, costs, finish);
        EXPECT_EQ(finish, executed(schedule, shape, costs))
            << name(schedule) << ": " << text_of(shape);
      }
    }
  }
}

TEST(PipelineClock, TakesLongStagesAtTheEndsExactly) {
  // The embedding on the first and the logits on the last stage: the common case.
  std::vector<Ticks> finish;
  PipelineClock clock;
  for (const PipelineShape shape : large_shapes()) {
    PassTicks costs = pipeline_test::equal_costs(named_schedule("1f1b"), shape, 120'000, 240'000);
    const auto last = static_cast<std::size_t>(shape.stages * shape.virtual_stages - 1);
    costs[pass_kind(0, Pass::forward)] += 7'001;
    costs[pass_kind(0, Pass::backward)] += 1'003;
    costs[pass_kind(last, Pass::forward)] += 90'011;
    costs[pass_kind(last, Pass::backward)] += 180'017;
    clock.run(named_schedule("1f1b"), shape, costs, finish);
    EXPECT_EQ(finish, executed(named_schedule("1f1b"), shape, costs)) << text_of(shape);
  }
}

/// The kinds of a rank's passes in its schedule's order.
std::vector<std::size_t> kinds_of(const Schedule& schedule, int rank, PipelineShape shape) {
  const Placement placed = placement(schedule);
  std::vector<std::size_t> kinds;
  const ActionList list = actions(schedule, rank, shape);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const int stages = model_stages(placed, shape);
    const auto place = [&](const Action& a) {
      return pass_place(
          placed, stages, rank, stage_of(placed, {.rank = rank, .chunk = a.chunk}, shape));
    };
    if (!list[i].with_next) {
      kinds.push_back(pass_kind(place(list[i]), list[i].pass, list[i].overlapped));
      continue;
    }
    const Action& forward = list[i].pass == Pass::forward ? list[i] : list[i + 1];
    const std::size_t places = pass_places(placed, stages);
    kinds.insert(
        kinds.end(),
        {instant_kind(places), pair_kind(place(forward)), pair_end_kind(places, place(forward))});
    ++i;
  }
  return kinds;
}

TEST(PipelineProgram, ListsEveryPassAfterWhatItWaitsFor) {
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape shape : pipeline_test::shapes_of(schedule)) {
      const PipelineProgram program(schedule, shape);
      std::vector<PassEnd> last(static_cast<std::size_t>(shape.stages), 0);
      std::vector<std::vector<std::size_t>> kinds(last.size());
      PassEnd end = 0;
      for (const PipelinePass& pass : program.passes()) {
        EXPECT_LE(pass.input, end) << text_of(shape);
        EXPECT_EQ(pass.before, last[pass.rank]) << text_of(shape);
        last[pass.rank] = ++end;
        kinds[pass.rank].push_back(pass.kind);
      }
      EXPECT_TRUE(std::equal(last.begin(), last.end(), program.last().begin()));
      for (int rank = 0; rank < shape.stages; ++rank) {
        EXPECT_EQ(kinds[static_cast<std::size_t>(rank)], kinds_of(schedule, rank, shape))
            << "a rank keeps its order";
      }
    }
  }
}

TEST(PipelineProgram, HasAPeriodToRepeatWhereTheScheduleHas) {
  for (const int stages : {1, 2, 3, 8, 17}) {
    for (const int chunks : {1, 2, 5}) {
      if (chunks > 1 && stages == 1) {
        continue;
      }
      PipelineShape shape{stages, 100 * stages, chunks};
      shape.overlaps = stages == 8;
      shape.micro_batches = few_micro_batches(named_schedule("1f1b"), shape);
      EXPECT_LT(shape.micro_batches, 100 * stages) << text_of(shape);
      const PipelineProgram program(named_schedule("1f1b"), shape);
      const auto& repeated = program.repeated();
      EXPECT_EQ(repeated.micro_batches, chunks == 1 ? 1 : stages) << text_of(shape);
      EXPECT_EQ(repeated.end - repeated.begin,
                static_cast<std::size_t>(2 * chunks * stages * repeated.micro_batches))
          << "every rank's passes of these micro-batches";
      EXPECT_FALSE(repeated.carried.empty());
    }
  }
  EXPECT_EQ(few_micro_batches(named_schedule("gpipe"), {4, 100, 1}), 100) << "no steady phase";
  EXPECT_EQ(PipelineProgram(named_schedule("gpipe"), {4, 100, 1}).repeated().micro_batches, 0);
}

TEST(PipelineProgram, MayPairWhereAnActionIsDoneWithTheNext) {
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape shape : pipeline_test::shapes_of(schedule)) {
      const std::vector<ActionList> lists = action_lists(schedule, shape);
      const bool pairs = std::any_of(lists.begin(), lists.end(), [](const ActionList& list) {
        return std::any_of(list.begin(), list.end(), [](const Action& a) { return a.with_next; });
      });
      EXPECT_TRUE(!pairs || schedule.entry().pairs) << name(schedule) << ' ' << text_of(shape);
    }
  }
  EXPECT_TRUE(named_schedule("dualpipe").entry().pairs);
  EXPECT_FALSE(named_schedule("1f1b").entry().pairs);
}

TEST(PipelineProgram, MaySplitWhereABackwardPassIsInParts) {
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape shape : pipeline_test::shapes_of(schedule)) {
      const std::vector<ActionList> lists = action_lists(schedule, shape);
      const bool splits = std::any_of(lists.begin(), lists.end(), [](const ActionList& list) {
        return std::any_of(list.begin(), list.end(), [](const Action& a) {
          return a.pass == Pass::input_gradient || a.pass == Pass::weight_gradient;
        });
      });
      EXPECT_TRUE(!splits || schedule.entry().splits) << name(schedule) << ' ' << text_of(shape);
    }
  }
  EXPECT_TRUE(named_schedule("zb-h1").entry().splits);
  EXPECT_FALSE(named_schedule("1f1b").entry().splits);
}

TEST(PipelineClock, LeavesPeriodsOutWithoutLosingATick) {
  // Long steady phases, of stages that settle at once, late (nearly equal ends) or never (ties).
  PipelineClock clock;
  std::vector<Ticks> finish;
  std::mt19937 random(6);
  for (const PipelineShape shape : {PipelineShape{8, 512, 1},
                                    PipelineShape{4, 400, 3},
                                    PipelineShape{9, 270, 2},
                                    PipelineShape{2, 100, 4},
                                    PipelineShape{4, 400, 3, {}, true},
                                    PipelineShape{1, 50, 1}}) {
    for (int i = 0; i < 40; ++i) {
      PassTicks costs = pipeline_test::equal_costs(named_schedule("1f1b"), shape, 100'000, 200'000);
      for (Ticks& cost : costs) {
        cost += static_cast<Ticks>(random() % (i % 4 == 0 ? 3 : 40'000));
      }
      clock.run(named_schedule("1f1b"), shape, costs, finish);
      EXPECT_EQ(finish, executed(named_schedule("1f1b"), shape, costs)) << text_of(shape);
    }
  }
}

TEST(PipelineClock, KeepsManyShapesApart) {
  PipelineClock clock;
  CostMaker maker(7);
  std::vector<Ticks> finish;
  for (int round = 0; round < 2; ++round) {
    for (int stages = 1; stages <= 80; ++stages) {  // more shapes than are kept
      const PipelineShape shape{stages, 5, 1};
      const PassTicks costs = maker.costs(named_schedule("1f1b"), shape, 1'000);
      clock.run(named_schedule("1f1b"), shape, costs, finish);
      EXPECT_EQ(finish, executed(named_schedule("1f1b"), shape, costs)) << text_of(shape);
    }
  }
}

TEST(PipelineClock, SequentialStagesAddUp) {
  // One micro-batch: there and back, one stage after the other.
  const PipelineShape shape{.stages = 3, .micro_batches = 1};
  PassTicks costs(pass_kinds(3), 0);
  costs[pass_kind(0, Pass::forward)] = 1;
  costs[pass_kind(0, Pass::backward)] = 20;
  costs[pass_kind(1, Pass::forward)] = 300;
  costs[pass_kind(1, Pass::backward)] = 4'000;
  costs[pass_kind(2, Pass::forward)] = 50'000;
  costs[pass_kind(2, Pass::backward)] = 600'000;
  std::vector<Ticks> finish;
  PipelineClock clock;
  clock.run(named_schedule("gpipe"), shape, costs, finish);
  const Ticks there = 1 + 300 + 50'000;
  EXPECT_EQ(
      finish,
      (std::vector<Ticks>{there + 600'000 + 4'000 + 20, there + 600'000 + 4'000, there + 600'000}));
}

TEST(PipelineClock, MayReuseMemoryOfALargerOne) {
  std::vector<Ticks> finish;
  PipelineClock clock;
  CostMaker maker(3);
  const PipelineShape large{8, 32, 1};
  clock.run(
      named_schedule("gpipe"), large, maker.costs(named_schedule("gpipe"), large, 1'000), finish);
  const PipelineShape small{2, 3, 1};
  const PassTicks costs = maker.costs(named_schedule("gpipe"), small, 1'000);
  clock.run(named_schedule("gpipe"), small, costs, finish);
  EXPECT_EQ(finish, executed(named_schedule("gpipe"), small, costs));
}

TEST(PipelineClock, IsLinearInTheCosts) {
  CostMaker maker(4);
  std::vector<Ticks> once;
  std::vector<Ticks> thrice;
  PipelineClock clock;
  const PipelineShape shape{4, 12, 2};
  PassTicks costs = maker.costs(named_schedule("1f1b"), shape, 5'000);
  clock.run(named_schedule("1f1b"), shape, costs, once);
  for (Ticks& cost : costs) {
    cost *= 3;
  }
  clock.run(named_schedule("1f1b"), shape, costs, thrice);
  for (std::size_t rank = 0; rank < once.size(); ++rank) {
    EXPECT_EQ(thrice[rank], 3 * once[rank]);
  }
}

TEST(PipelineClock, EndsNoLaterWhenAPassIsShorter) {
  CostMaker maker(5);
  std::vector<Ticks> before;
  std::vector<Ticks> after;
  PipelineClock clock;
  for (const PipelineShape shape : {PipelineShape{4, 12, 2}, PipelineShape{5, 7, 1}}) {
    PassTicks costs = maker.costs(named_schedule("1f1b"), shape, 5'000);
    clock.run(named_schedule("1f1b"), shape, costs, before);
    for (Ticks& cost : costs) {
      const Ticks kept = cost;
      cost /= 2;
      clock.run(named_schedule("1f1b"), shape, costs, after);
      for (std::size_t rank = 0; rank < before.size(); ++rank) {
        EXPECT_LE(after[rank], before[rank]) << "a shorter pass makes no rank end later";
      }
      cost = kept;
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
