#include "titer/plan/schedule/listed_schedule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/pipeline_graph.hpp"
#include "titer/input/reader.hpp"
#include "titer/plan/schedule/schedule_run.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using pipeline_test::text_of;
using Lines = std::vector<std::string>;

const PassTimes kTimes{
    .forward = 4_us, .input_gradient = 5_us, .weight_gradient = 3_us, .pair = 10_us};

/// The complaints about a table.
Lines complaints_of(const std::string& text) {
  try {
    static_cast<void>(ListedSchedule::parse(text, "own.csv"));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

/// What a table says of actions: not which are overlapped.
std::vector<ActionList> written(std::vector<ActionList> lists) {
  for (ActionList& list : lists) {
    for (Action& action : list) {
      action.overlapped = false;
    }
  }
  return lists;
}

TEST(ListedSchedule, ReadsWhatIsWrittenOfEverySchedule) {
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape& shape : pipeline_test::shapes_of(schedule)) {
      const std::string text = actions_csv(schedule, shape);
      const ListedSchedule listed = ListedSchedule::parse(text, "runs/own.csv");
      EXPECT_EQ(listed.name, "own.csv");
      EXPECT_TRUE(listed.ranks == written(action_lists(schedule, shape))) << text;
      EXPECT_EQ(listed.refusal(listed.shape()), std::nullopt);
      EXPECT_EQ(actions_csv(listed, listed.shape()), text);
      EXPECT_EQ(run_schedule(listed, listed.shape(), kTimes).makespan,
                run_schedule(schedule, shape, kTimes).makespan)
          << name(schedule) << ": " << text_of(shape);
    }
  }
}

TEST(ListedSchedule, IsWrittenInTheNotationOfPyTorch) {
  EXPECT_EQ(actions_csv(named_schedule("1f1b"), {2, 2}), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  EXPECT_EQ(actions_csv(named_schedule("zb-h1"), {2, 2}),
            "0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1\n");
  const std::string pairs = actions_csv(named_schedule("dualpipev"), {1, 2, 2});
  EXPECT_EQ(pairs, "0F0,1F0,(0F1;1B0)OVERLAP_F_B,(1F1;0B0)OVERLAP_F_B,1B1,0I1,0W1\n");
}

TEST(ListedSchedule, AllowsEmptyCellsBlanksAndForeignLineEnds) {
  const ListedSchedule listed =
      ListedSchedule::parse("0F0, ,,0B0\r\n,1F0 ,1I0,1W0,\r\n\r\n", "own.csv");
  EXPECT_EQ(listed.shape(), (PipelineShape{.stages = 2, .micro_batches = 1}));
  EXPECT_EQ(listed.ranks[0].size(), 2U);
  EXPECT_EQ(listed.ranks[1][2], (Action{.pass = Pass::weight_gradient}));
}

TEST(ListedSchedule, TellsThePlacementFromTheStagesOfEachRank) {
  const auto placed = [](const Schedule& schedule, const PipelineShape& shape) {
    return ListedSchedule::parse(actions_csv(schedule, shape), "own.csv").placement;
  };
  EXPECT_EQ(placed(named_schedule("1f1b"), {2, 4, 2}), Placement::loop);
  EXPECT_EQ(placed(named_schedule("zb-v"), {2, 4, 2}), Placement::wave);
  EXPECT_EQ(placed(named_schedule("chimera"), {2, 4}), Placement::two_ways);
}

TEST(ListedSchedule, RefusesEveryIllFormedCell) {
  const std::string expected =
      ": expected a stage, F, B, I or W, and a micro-batch, such as 0F0, or two done together, "
      "such as (0F1;1B0)OVERLAP_F_B";
  EXPECT_EQ(complaints_of("0F0,0X0\nF1,1B-1,(1F0;1B0),1F0;1B0,1F99999999999\n"),
            (Lines{"own.csv:1: cell 2: 0X0" + expected,
                   "own.csv:2: cell 1: F1" + expected,
                   "own.csv:2: cell 2: 1B-1" + expected,
                   "own.csv:2: cell 3: (1F0;1B0)" + expected,
                   "own.csv:2: cell 4: 1F0;1B0" + expected,
                   "own.csv:2: cell 5: 1F99999999999" + expected}));
}

TEST(ListedSchedule, RefusesATableWithoutActions) {
  const Lines none{"own.csv: expected a line of actions for each rank, got none"};
  EXPECT_EQ(complaints_of(""), none);
  EXPECT_EQ(complaints_of(" \n\n"), none);
  EXPECT_EQ(complaints_of(",,\n,"), none);
}

TEST(ListedSchedule, RefusesStagesThatDoNotFitItsRanks) {
  EXPECT_EQ(complaints_of("0F0,0B0\n1F0,1B0,2F0,2B0\n"),
            Lines{"own.csv: expected as many stages on each of its 2 ranks, a line each, got 3"});
  EXPECT_EQ(complaints_of("0F0,0B0\n1F0,0F0\n"),
            Lines{"own.csv:2: cell 2: 0F0: not a stage of rank 1; expected stage s on rank s mod "
                  "2, or in waves over the ranks and back, or half of the micro-batches in the "
                  "opposite way"});
}

TEST(ListedSchedule, RefusesMissingDoubledAndEarlyPasses) {
  EXPECT_EQ(complaints_of("0F0,0F1,0B0\n1F0,1B0,1F1,1B1\n"),
            Lines{"own.csv: 0B1 is missing, or 0I1 or 0W1"});
  EXPECT_EQ(complaints_of("0F0,0B0\n1F0,1I0\n"), Lines{"own.csv: 1B0 is missing, or 1I0 or 1W0"});
  EXPECT_EQ(complaints_of("0F0,0B0\n1F1,1B1\n"), Lines{"own.csv: 0F1 is missing"});
  EXPECT_EQ(complaints_of("0F0,0F0,0B0\n1F0,1B0\n"),
            Lines{"own.csv:1: cell 2: 0F0: is the second of its kind for micro-batch 0 on stage "
                  "0"});
  EXPECT_EQ(complaints_of("0F0,0B0,0W0\n1F0,1B0\n"),
            Lines{"own.csv:1: cell 3: 0W0: is the second of its kind for micro-batch 0 on stage "
                  "0"});
  EXPECT_EQ(complaints_of("0B0,0F0\n1F0,1B0\n"),
            Lines{"own.csv:1: cell 1: 0B0: comes before the forward of micro-batch 0 on stage 0"});
  EXPECT_EQ(complaints_of("0F0,0W0,0I0\n1F0,1B0\n"),
            Lines{"own.csv:1: cell 2: 0W0: comes before the input gradient of micro-batch 0 on "
                  "stage 0"});
}

TEST(ListedSchedule, RefusesPairsThatNoRankDoesTogether) {
  EXPECT_EQ(complaints_of("0F0,1F0,(0F1;1I0)OVERLAP_F_B,1W0,1F1,1B1,0B0,0B1\n"),
            Lines{"own.csv:1: cell 3: (0F1;1I0)OVERLAP_F_B: expected a forward and a whole "
                  "backward, as far from the last stage as the forward is from the first"});
}

TEST(ListedSchedule, RefusesARingOfWaitingNamingARankAndItsAction) {
  // Rank 0 wants its backward of micro-batch 0 before it lets micro-batch 1 begin, rank 1 the
  // opposite.
  EXPECT_EQ(complaints_of("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"),
            Lines{"own.csv: rank 0 waits for ever before its action 2, 0B0, for a backward pass of "
                  "stage 1 on rank 1, which itself waits: expected an order without a ring of "
                  "waiting"});
}

TEST(ListedSchedule, RefusesAnotherShape) {
  const ListedSchedule listed =
      ListedSchedule::parse(actions_csv(named_schedule("1f1b"), {2, 4, 2}), "own.csv");
  EXPECT_EQ(refusal(listed, {2, 8, 2}),
            "expected what it lists, 2 stages, 4 micro-batches and 2 chunks per rank, got 2, 8 "
            "and 2");
}

TEST(ListedSchedule, IsNotTakenForAnotherOfTheSameShape) {
  const PipelineShape shape{.stages = 2, .micro_batches = 2};
  const Schedule one = ListedSchedule::parse(actions_csv(named_schedule("1f1b"), shape), "own.csv");
  const Schedule other =
      ListedSchedule::parse(actions_csv(named_schedule("sequential"), shape), "own.csv");
  EXPECT_FALSE(is_same(one, other));
  PipelineClock clock;
  const PassTicks costs = pipeline_test::equal_costs(one, shape, 10, 20);
  std::vector<Ticks> finish;
  clock.run(one, shape, costs, finish);
  EXPECT_EQ(finish.front(), (2 + 1) * 30);
  clock.run(other, shape, costs, finish);
  EXPECT_EQ(finish.front(), 2 * 2 * 30);
}

TEST(ListedSchedule, NamesAFileThatCannotBeRead) {
  try {
    static_cast<void>(ListedSchedule::load("no/such.csv"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines, Lines{"no/such.csv: cannot be read"});
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
