#include "titer/measured/decisions.hpp"

#include <gtest/gtest.h>

namespace titer::testing {
namespace TITER_TEST_FILE {

Comparison plan(std::string name, double measured, double predicted, std::string sweep = "s") {
  Comparison made{.case_id = std::move(name),
                  .family = "f",
                  .chip = "c",
                  .stack = {},
                  .grade = {},
                  .sweep = std::move(sweep)};
  made.measured = measured;
  made.predicted = predicted;
  return made;
}

TEST(SweepDecisions, CountPairsThatAreToldApart) {
  // 10 and 10.4 are no more than 5 % apart. Of the other five pairs those of 12 are the wrong way
  // round but for the one with 20.
  const std::vector<SweepDecision> found = sweep_decisions(
      std::vector{plan("a", 10, 5), plan("b", 10.4, 6), plan("c", 12, 1), plan("d", 20, 9)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rows, 4u);
  EXPECT_EQ(found[0].pairs, 4u * 3u / 2u - 1u);
  EXPECT_EQ(found[0].right, 3.0);
  EXPECT_DOUBLE_EQ(*found[0].kendall(), (3.0 - 2.0) / 5.0);
  EXPECT_EQ(found[0].chosen, "c");
  EXPECT_EQ(found[0].best, "a");
  EXPECT_DOUBLE_EQ(found[0].regret, 12.0 / 10.0 - 1.0);
}

TEST(SweepDecisions, CountATieAsHalfOfAPair) {
  const std::vector<SweepDecision> found = sweep_decisions(
      std::vector{plan("a", 1, 1), plan("b", 2, 1), plan("c", 3, 2), plan("d", 4, 3)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pairs, 6u);
  EXPECT_EQ(found[0].right, 6 - 0.5);
}

TEST(SweepDecisions, TakeWhatWasMeasuredAgainAsOnePlan) {
  std::vector<Comparison> rows = {plan("a", 10, 10),
                                  plan("b", 12, 11),
                                  plan("again", 16, 11),
                                  plan("c", 13, 12),
                                  plan("d", 20, 13)};
  EXPECT_EQ(sweep_decisions(rows)[0].plans, 5u);  // nothing says that any two are the same
  for (Comparison& row : rows) {
    row.plan = row.case_id == "again" ? "b" : row.case_id;
  }
  const std::vector<SweepDecision> found = sweep_decisions(rows);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rows, 5u);
  EXPECT_EQ(found[0].plans, 4u);
  EXPECT_EQ(found[0].pairs, 6u);
  EXPECT_EQ(found[0].right, 5.0);  // b took 14 on average, more than c
  rows[2].predicted = 11.5;        // another software, say
  EXPECT_EQ(sweep_decisions(rows)[0].plans, 5u);
}

TEST(SweepDecisions, LeaveOutWhatIsNoSweepOfFour) {
  std::vector<Comparison> rows = {
      plan("a", 1, 1), plan("b", 2, 2), plan("c", 3, 3), plan("d", 4, 4), plan("e", 5, 5, "")};
  rows[3].predicted.reset();
  EXPECT_TRUE(sweep_decisions(rows).empty());
  rows[3].predicted = 4;
  EXPECT_EQ(sweep_decisions(rows).size(), 1u);
}

TEST(SweepDecisions, AddUpAndAverage) {
  const std::vector<SweepDecision> two = {{.family = {},
                                           .chip = {},
                                           .rows = 4,
                                           .plans = 4,
                                           .pairs = 6,
                                           .right = 6,
                                           .chosen = {},
                                           .best = {}},
                                          {.family = {},
                                           .chip = {},
                                           .rows = 5,
                                           .plans = 4,
                                           .pairs = 10,
                                           .right = 2,
                                           .chosen = {},
                                           .best = {},
                                           .regret = 0.3}};
  const SweepDecision all = all_decisions(two);
  EXPECT_EQ(all.rows, 9u);
  EXPECT_EQ(all.plans, 8u);
  EXPECT_DOUBLE_EQ(*all.kendall(), 2.0 * (6 + 2) / (6 + 10) - 1.0);
  EXPECT_DOUBLE_EQ(all.regret, 0.3 / 2);
  EXPECT_FALSE(SweepDecision{}.kendall());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
