// Two scenarios side by side: everything adds up, and Shapley's shares are what they are defined
// as.

#include "titer/whatif/difference.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "titer/whatif/shapley.hpp"

namespace titer {
namespace TITER_TEST_FILE {

ScenarioSource changed(std::string_view run, const std::vector<std::string>& sets) {
  ScenarioSource source = ScenarioSource::load(run);
  for (const std::string& set : sets) {
    source.assign(parse_assignment(set));
  }
  return source;
}

Difference between(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return difference(
      changed("gpt3-175b-64xa100", a), changed("gpt3-175b-64xa100", b), Fidelity::closed);
}

double time_of(const std::vector<std::string>& sets) {
  return estimate(changed("gpt3-175b-64xa100", sets).read()).iteration_time.si();
}

void expect_sums(const Difference& found) {
  const double tolerance = 1e-12 * found.a.iteration_time.si();
  double contributions = 0;
  for (const Contribution& one : found.contributions) {
    contributions += one.time.si();
  }
  EXPECT_NEAR(contributions, found.time().si(), tolerance);
  double parts = 0;
  for (const BreakdownPart& part : kBreakdownParts) {
    parts += (found.b.breakdown.*part.value - found.a.breakdown.*part.value).si();
  }
  EXPECT_NEAR(parts, found.time().si(), tolerance);
}

TEST(StudyDifference, SharesOutTwoChangesByBothOrders) {
  const std::string a = "plan.recompute=full";
  const std::string b = "cluster.chip.memory.bandwidth=4 TB/s";
  const Difference found = between({}, {a, b});
  expect_sums(found);
  ASSERT_EQ(found.contributions.size(), 2u);
  EXPECT_EQ(found.orders, 2);
  EXPECT_EQ(found.sound_orders, 2);
  EXPECT_EQ(found.contributions[0].paths, std::vector<std::string>{"plan.recompute"});
  EXPECT_EQ(found.contributions[1].paths,
            std::vector<std::string>{"cluster.chip.memory.bandwidth"});
  // First, or after the other.
  const double expected = 0.5 * ((time_of({a}) - time_of({})) + (time_of({a, b}) - time_of({b})));
  EXPECT_NEAR(found.contributions[0].time.si(), expected, 1e-12 * expected);
  ASSERT_EQ(found.changes.size(), 2u);
  EXPECT_EQ(found.evaluations, 2 + 4);
}

TEST(StudyDifference, TakesTogetherWhatIsNotSoundAlone) {
  const Difference found = between({}, {"plan.tensor=4", "plan.data=2", "plan.recompute=full"});
  expect_sums(found);
  ASSERT_EQ(found.contributions.size(), 2u);
  EXPECT_EQ(found.orders, 2);
  EXPECT_FALSE(found.refusal.empty());
  const auto& all = found.contributions;
  const std::vector<std::string> together = {"plan.tensor", "plan.data"};
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Contribution& one) {
    return std::is_permutation(
        one.paths.begin(), one.paths.end(), together.begin(), together.end());
  }));
}

TEST(StudyDifference, ComparesWholeMachinesAndModels) {
  const Difference machines = difference(ScenarioSource::load("gpt3-175b-64xa100"),
                                         changed("gpt3-175b-64xa100", {"cluster=dgx-h100"}),
                                         Fidelity::closed,
                                         4);
  expect_sums(machines);
  EXPECT_EQ(machines.contributions[0].paths, std::vector<std::string>{"cluster.chip"});
  EXPECT_EQ(machines.contributions.size(), 4u);
  EXPECT_EQ(machines.sound_orders, 4 * 3 * 2 * 1) << machines.refusal;
  const Difference models = difference(ScenarioSource::load("llama3-70b-64xh100"),
                                       ScenarioSource::load("gpt3-175b-64xa100"),
                                       Fidelity::closed,
                                       4);
  expect_sums(models);
  EXPECT_LT(models.sound_orders, models.orders) << "2048 positions are learned";
}

TEST(StudyDifference, SeesNoneBetweenEqualQuantities) {
  const Difference same = between({}, {});
  EXPECT_TRUE(same.changes.empty());
  EXPECT_TRUE(same.contributions.empty());
  EXPECT_EQ(same.time(), Seconds{});
  const Difference units =
      between({"cluster.node.nic_bandwidth=200 Gbps"},
              {"cluster.node.nic_bandwidth=25 GB/s", "cluster.node.host_path=null"});
  EXPECT_TRUE(units.changes.empty()) << units.changes[0].path;
}

TEST(StudyShapley, GivesEachWhatItAddsWhereNothingInteracts) {
  // Worth: 1, 10 and 100 for players 0, 1 and 2.
  CoalitionWorth worth;
  for (int taken = 0; taken < 8; ++taken) {
    worth.emplace_back((taken & 1) + (taken & 2) / 2 * 10 + (taken & 4) / 4 * 100);
  }
  const std::vector<std::uint32_t> alone = {1, 2, 4};
  const ShapleyShares found = shapley_shares(worth, alone);
  EXPECT_EQ(found.orders, 3 * 2 * 1);
  EXPECT_EQ(found.shares, (std::vector<double>{1, 10, 100}));
}

TEST(StudyShapley, OfTheGloveGame) {
  // Player 0 has a left glove, 1 and 2 a right one each; a pair is worth 1. [Shapley's value: 4/6,
  // 1/6, 1/6]
  const CoalitionWorth worth = {0, 0, 0, 1, 0, 1, 0, 1};
  const std::vector<std::uint32_t> alone = {1, 2, 4};
  const ShapleyShares found = shapley_shares(worth, alone);
  EXPECT_NEAR(found.shares[0], 4.0 / 6, 1e-15);
  EXPECT_NEAR(found.shares[1], 1.0 / 6, 1e-15);
  EXPECT_NEAR(found.shares[2], 1.0 / 6, 1e-15);
}

TEST(StudyShapley, AveragesOverThePossibleOrdersOnly) {
  // 1 cannot be without 0: the one order left is 0, 1.
  const CoalitionWorth worth = {0, 3, std::nullopt, 10};
  const std::vector<std::uint32_t> alone = {1, 2};
  const ShapleyShares found = shapley_shares(worth, alone);
  EXPECT_EQ(found.orders, 1);
  EXPECT_EQ(found.shares, (std::vector<double>{3, 10 - 3}));
}

TEST(StudyShapley, JoinsThoseThatOnlyGoTogether) {
  // 0 and 2 only together; 1 by itself.
  CoalitionWorth worth(8);
  worth[0b000] = 0;
  worth[0b010] = 1;
  worth[0b101] = 5;
  worth[0b111] = 8;
  const std::vector<std::uint32_t> groups = joined_groups(worth, {1, 2, 4});
  EXPECT_EQ(groups, (std::vector<std::uint32_t>{0b101, 0b010}));
  const ShapleyShares found = shapley_shares(worth, groups);
  EXPECT_EQ(found.orders, 2);
  // 5 first and 8 - 1 after; 1 first and 8 - 5 after.
  EXPECT_EQ(found.shares, (std::vector<double>{(5.0 + 7.0) / 2, (1.0 + 3.0) / 2}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
