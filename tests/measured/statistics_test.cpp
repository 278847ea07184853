#include "titer/measured/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kRounding = 1e-12;  // of a few additions

Comparison row(std::optional<double> measured, std::optional<double> predicted) {
  Comparison made;
  made.measured = measured;
  made.predicted = predicted;
  return made;
}

Comparison in_sweep(std::string sweep, double measured, double predicted) {
  Comparison made = row(measured, predicted);
  made.sweep = std::move(sweep);
  return made;
}

ErrorStatistics time_of(const std::vector<Comparison>& rows) {
  return group_statistics(rows, GroupBy::all).front().time;
}

TEST(Percentile, LiesBetweenNeighboursInProportion) {
  EXPECT_EQ(percentile({8, 1, 4, 2}, 0.5), (2.0 + 4.0) / 2);
  EXPECT_EQ(percentile({8, 1, 4}, 0.5), 4);
  EXPECT_EQ(percentile({3, 1, 2}, 0), 1);
  EXPECT_EQ(percentile({3, 1, 2}, 1), 3);
  // Position 10 * 0.9 = 9 of 0 … 10, and 3 * 0.9 = 2.7 of 0 … 3.
  EXPECT_EQ(percentile({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.9), 9);
  EXPECT_NEAR(percentile({10, 20, 30, 50}, 0.9), 30 + 0.7 * (50 - 30), kRounding);
  EXPECT_EQ(percentile({7}, 0.9), 7);
}

TEST(Percentile, OfNoSampleIsNone) {
  EXPECT_THROW(static_cast<void>(percentile({}, 0.5)), Defect);
  EXPECT_THROW(static_cast<void>(percentile({1}, 1.1)), Defect);
}

TEST(RankCorrelation, SeesOrdersOnly) {
  const std::vector<double> up = {1, 10, 100, 1000};
  const std::vector<double> down = {4, 3, 2, 1};
  EXPECT_NEAR(*rank_correlation(up, up), 1, kRounding);
  EXPECT_NEAR(*rank_correlation(up, down), -1, kRounding);
  // One swap of neighbours: 1 - 6 sum d^2 / (n (n^2 - 1)).
  EXPECT_NEAR(*rank_correlation(up, std::vector<double>{1, 3, 2, 4}),
              1 - 6.0 * (1 + 1) / (4 * (16 - 1)),
              kRounding);
}

TEST(RankCorrelation, GivesTiesTheMeanOfTheirRanks) {
  // Ranks 1, 2, 3, 4 against 1, 2.5, 2.5, 4: from the mean 2.5 they are -1.5, -0.5, 0.5, 1.5 and
  // -1.5, 0, 0, 1.5.
  const double together = 1.5 * 1.5 + 1.5 * 1.5;
  const double of_one = 2 * (1.5 * 1.5 + 0.5 * 0.5);
  const double of_other = 2 * 1.5 * 1.5;
  EXPECT_NEAR(*rank_correlation(std::vector<double>{1, 2, 3, 4}, std::vector<double>{5, 7, 7, 9}),
              together / std::sqrt(of_one * of_other),
              kRounding);
}

TEST(RankCorrelation, NeedsAnOrderOnBothSides) {
  EXPECT_FALSE(rank_correlation(std::vector<double>{}, std::vector<double>{}));
  EXPECT_FALSE(rank_correlation(std::vector<double>{1}, std::vector<double>{2}));
  EXPECT_FALSE(rank_correlation(std::vector<double>{1, 2, 3}, std::vector<double>{5, 5, 5}));
}

TEST(GroupStatistics, AreThoseOfErrorsOverWhatWasMeasured) {
  // Errors +10 %, -20 %, +30 %, 0.
  const ErrorStatistics found = time_of({row(1, 1.1), row(2, 1.6), row(10, 13), row(5, 5)});
  EXPECT_EQ(found.n, 4u);
  EXPECT_EQ(found.skipped, 0u);
  EXPECT_NEAR(*found.bias, (0.1 - 0.2 + 0.3 + 0) / 4, kRounding);
  EXPECT_NEAR(*found.median_signed, (0 + 0.1) / 2, kRounding);
  EXPECT_NEAR(*found.mean, (0.1 + 0.2 + 0.3 + 0) / 4, kRounding);
  EXPECT_NEAR(*found.median, (0.1 + 0.2) / 2, kRounding);
  EXPECT_NEAR(*found.p90, 0.2 + 0.7 * (0.3 - 0.2), kRounding);
  EXPECT_NEAR(*found.most, 0.3, kRounding);
  EXPECT_FALSE(found.spearman);
  EXPECT_FALSE(found.regret);
  EXPECT_FALSE(found.coverage80);
}

TEST(GroupStatistics, OfOneRowAreItsError) {
  const ErrorStatistics found = time_of({row(4, 3)});
  for (const auto& figure : {found.median, found.mean, found.p90, found.most}) {
    EXPECT_EQ(figure, 0.25);
  }
  EXPECT_EQ(found.bias, -0.25);
}

TEST(GroupStatistics, OfNothingHaveNoFigures) {
  Comparison skipped = row(1, std::nullopt);
  skipped.skip_reason = "recompute not stated";
  for (const auto& rows : {std::vector<Comparison>{}, {skipped, skipped}}) {
    const ErrorStatistics found = time_of(rows);
    EXPECT_EQ(found.n, 0u);
    EXPECT_EQ(found.skipped, rows.size());
    for (const auto& figure : {found.bias,
                               found.median_signed,
                               found.median,
                               found.mean,
                               found.p90,
                               found.most,
                               found.spearman,
                               found.regret,
                               found.coverage80}) {
      EXPECT_FALSE(figure);
    }
  }
}

TEST(GroupStatistics, CountWhyRowsWereSkipped) {
  Comparison open = row(1, std::nullopt);
  open.skip_reason = "recompute not stated";
  const Comparison unmeasured = row(std::nullopt, 1);
  const Comparison unpredicted = row(1, std::nullopt);
  const auto groups =
      group_statistics(std::vector{unmeasured, open, row(1, 1), open, unpredicted}, GroupBy::all);
  const auto& reasons = groups.front().reasons;
  ASSERT_EQ(reasons.size(), 3u);
  EXPECT_EQ(reasons[0].reason, "recompute not stated");
  EXPECT_EQ(reasons[0].rows, 2u);
  EXPECT_EQ(reasons[1].reason, "no time measured");
  EXPECT_EQ(reasons[2].reason, "no time predicted");
  EXPECT_EQ(groups.front().time.n, 1u);
  EXPECT_EQ(groups.front().time.skipped, 4u);
}

TEST(GroupStatistics, RankPlansWithinTheirSweep) {
  // Sweep a: measured 10, 11, 12, predicted in the opposite order, so that 12 is taken for 10.
  // Sweep b: in order. Sweep c has two rows, and other rows no sweep: neither counts.
  const ErrorStatistics found = time_of({in_sweep("a", 10, 3),
                                         in_sweep("a", 11, 2),
                                         in_sweep("a", 12, 1),
                                         in_sweep("b", 1, 5),
                                         in_sweep("b", 2, 6),
                                         in_sweep("b", 3, 7),
                                         in_sweep("c", 5, 1),
                                         in_sweep("c", 1, 5),
                                         row(1, 9),
                                         row(2, 8),
                                         row(3, 7)});
  EXPECT_EQ(found.sweeps, 2u);
  EXPECT_NEAR(*found.spearman, (-1.0 + 1.0) / 2, kRounding);
  EXPECT_NEAR(*found.regret, ((12.0 / 10 - 1) + 0) / 2, kRounding);
}

TEST(GroupStatistics, TakeTheMeanOfPlansPredictedEquallyFast) {
  const ErrorStatistics found =
      time_of({in_sweep("a", 10, 1), in_sweep("a", 14, 1), in_sweep("a", 12, 2)});
  EXPECT_NEAR(*found.regret, ((10.0 + 14.0) / 2) / 10 - 1, kRounding);
  // Where all are predicted alike there is no order, but still a plan to regret.
  const ErrorStatistics alike =
      time_of({in_sweep("a", 10, 1), in_sweep("a", 14, 1), in_sweep("a", 12, 1)});
  EXPECT_FALSE(alike.spearman);
  EXPECT_NEAR(*alike.regret, 12.0 / 10 - 1, kRounding);
}

TEST(GroupStatistics, CountWhatLiesInTheIntervals) {
  std::vector<Comparison> rows = {row(1, 1), row(2, 2), row(3, 3), row(4, 4), row(9, 9)};
  rows[0].interval = Interval{.low = 1, .high = 1.5};  // the ends belong to it
  rows[1].interval = Interval{.low = 1, .high = 1.9};
  rows[2].interval = Interval{.low = 2, .high = 4};
  rows[3].interval = Interval{.low = 4.1, .high = 9};
  EXPECT_NEAR(*time_of(rows).coverage80, 2.0 / 4, kRounding);
}

TEST(GroupStatistics, KeepMemoryApartFromTime) {
  std::vector<Comparison> rows = {row(1, 1.5), row(std::nullopt, std::nullopt), row(1, 1)};
  rows[0].memory_measured = 80;
  rows[0].memory_predicted = 60;
  rows[1].memory_measured = 50;
  const GroupStatistics all = group_statistics(rows, GroupBy::all).front();
  EXPECT_EQ(all.memory.n, 1u);
  EXPECT_EQ(all.memory.skipped, 1u) << "of the rows with a measured memory";
  EXPECT_NEAR(*all.memory.bias, 60.0 / 80 - 1, kRounding);
  EXPECT_EQ(all.time.n, 2u);
  EXPECT_EQ(all.time.skipped, 1u);
  EXPECT_NEAR(*all.time.bias, (0.5 + 0) / 2, kRounding);
}

TEST(GroupStatistics, ComeFirstOfAllAndThenByName) {
  std::vector<Comparison> rows = {row(1, 2), row(1, 1), row(1, 1)};
  rows[0].family = "vtrain";
  rows[0].chip = rows[1].chip = rows[2].chip = "a100";
  rows[1].family = "libai";
  const auto groups = group_statistics(rows, GroupBy::family);
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].name, "all");
  EXPECT_EQ(groups[1].name, "libai");
  EXPECT_EQ(groups[2].name, "not stated");
  EXPECT_EQ(groups[3].name, "vtrain");
  EXPECT_EQ(groups[3].time.n, 1u);
  EXPECT_EQ(groups[3].time.bias, 1.0);
  EXPECT_EQ(group_statistics(rows, GroupBy::chip).size(), 2u);
  EXPECT_EQ(group_statistics(rows, GroupBy::stack).back().name, "not stated");
  EXPECT_EQ(group_statistics({}, GroupBy::family).size(), 1u);
}

TEST(GroupStatistics, AreOfFiguresAboveZero) {
  EXPECT_THROW(static_cast<void>(time_of({row(0, 1)})), Defect);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
