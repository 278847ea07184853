#include "titer/campaign/side_costs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "titer/campaign/capacity.hpp"
#include "titer/estimate/model_state.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kDaySeconds = 86400;
constexpr double kYearDays = 365;

Seconds days(double count) { return Seconds::from_si(count * kDaySeconds); }

/// A shipped run on 256 H100 for 2.67 dollars an hour.
CapacityQuestion question_of(std::vector<Assignment> changes = {}) {
  const std::vector<Assignment> usual = {{"tokens", Value("1T"), "t"},
                                         {"devices", Value(256), "t"},
                                         {"prices", Value("gpu-clouds-2026"), "t"}};
  changes.insert(changes.end(), usual.begin(), usual.end());
  return load_capacity("llama3-70b-64xh100", changes);
}

CapacityPoint point_of(const CapacityQuestion& question) {
  return find_capacity(question).points.front();
}

TEST(SideCosts, CountsWhatLeavesTheSite) {
  const Bytes checkpoint = Bytes::from_si(500e9);
  const SideCosts costs{.egress = 0.08,
                        .moved_out = Bytes::from_si(20e12),
                        .checkpoints_out = 3,
                        .checkpoint_out_every = days(2)};
  EXPECT_DOUBLE_EQ(costs.in_a_month(checkpoint), 15 * 500 * 0.08);
  EXPECT_DOUBLE_EQ(costs.paid_once(checkpoint), (20'000 + 3 * 500) * 0.08);
  EXPECT_DOUBLE_EQ(costs.times(2).in_a_month(checkpoint), 2 * 15 * 500 * 0.08);
  EXPECT_DOUBLE_EQ(costs.times(2).paid_once(checkpoint), 2 * (20'000 + 3 * 500) * 0.08);
}

TEST(SideCosts, OfEgressAreInTheBill) {
  const CapacityQuestion without = question_of();
  const CapacityQuestion with = question_of({{"costs.egress", Value(0.08), "t"},
                                             {"costs.moved_out", Value("20 TB"), "t"},
                                             {"costs.checkpoints_out", Value(3), "t"},
                                             {"costs.checkpoint_out_every", Value("1 d"), "t"}});
  const CapacityPoint point = point_of(with);
  const double gigabytes = model_state(*point.planned.scenario).total().si() / 1e9;
  const double copies = 3 + point.time.si() / kDaySeconds;
  EXPECT_NEAR(*point.bill->dollars - *point_of(without).bill->dollars,
              0.08 * (20'000 + copies * gigabytes),
              1e-3);
}

TEST(Escalation, IsTheMeanOfPricesOverTheTime) {
  const Escalation none;
  EXPECT_EQ(mean_growth(0, none, {.from = days(3), .to = days(1000)}), 1);
  const Escalation later{.begins = days(kYearDays)};
  EXPECT_DOUBLE_EQ(mean_growth(0.1, later, {}), 1.1);
  EXPECT_NEAR(mean_growth(0.1, later, {.from = days(kYearDays), .to = days(3 * kYearDays)}),
              (std::pow(1.1, 4) - std::pow(1.1, 2)) / (2 * std::log(1.1)),
              1e-12);
  EXPECT_NEAR(mean_growth(-0.2, none, {.to = days(kYearDays)}), (0.8 - 1) / std::log(0.8), 1e-12);
}

TEST(Escalation, RaisesTheRentAndWhatIsPaidByTheMonth) {
  const CapacityQuestion question = question_of({{"escalation.rent", Value("-20%"), "t"},
                                                 {"escalation.costs", Value("5%"), "t"},
                                                 {"escalation.begins", Value("180 d"), "t"},
                                                 {"costs.staff", Value(50'000), "t"}});
  const CapacityPoint point = point_of(question);
  const double years = point.time.si() / kDaySeconds / kYearDays;
  const auto mean = [&](double yearly) {
    const double begin = 180 / kYearDays;
    return (std::pow(1 + yearly, begin + years) - std::pow(1 + yearly, begin)) /
           (years * std::log(1 + yearly));
  };
  const double rent = point.device_time() / kHour * 2.67 * mean(-0.2);
  const double staff = 50'000 * years * kYearDays / 30 * mean(0.05);
  EXPECT_NEAR(*point.bill->dollars, rent + staff, 1e-3);
  EXPECT_LT(*point.dollars_low, *point.bill->dollars);
  EXPECT_GT(*point.dollars_high, *point.bill->dollars);
}

/// With a budget of what the tokens cost exactly these are possible.
TEST(Escalation, IsInWhatABudgetAllows) {
  for (const char* rise : {"-60%", "-20%", "35%"}) {
    std::vector<Assignment> changes = {{"escalation.rent", Value(rise), "t"},
                                       {"escalation.begins", Value("90 d"), "t"}};
    const double dollars = *point_of(question_of(changes)).bill->dollars;
    changes.push_back({"budget", Value(dollars), "t"});
    const CapacityPoint point = point_of(question_of(changes));
    EXPECT_NEAR(*point.possible / point.tokens, 1, 1e-6) << rise;
  }
}

TEST(Escalation, LeavesReservedRentAtWhatItBeginsWith) {
  CapacityQuestion question = question_of(
      {{"escalation.rent", Value("10%"), "t"}, {"escalation.begins", Value("365 d"), "t"}});
  question.economy->devices = {
      {.chip = "h100-sxm5-80gb", .dollars_per_hour = 2, .commitment = days(200)}};
  const CapacityPoint point = point_of(question);
  ASSERT_LT(point.time, days(200));
  EXPECT_NEAR(*point.bill->dollars, 256 * 200 * 24 * 2 * 1.1, 1e-3);
  // A budget that does not reach for the commitment pays for nothing, however near the deadline.
  question.budget = 256 * 199 * 24 * 2 * 1.1;
  question.deadline = days(50);
  EXPECT_EQ(*point_of(question).possible, 0);
}

TEST(Escalation, OfElectricityIsThatOfDevicesThatAreBought) {
  const auto answer = [](const std::vector<Assignment>& changes) {
    std::vector<Assignment> all = {{"tokens", Value("1T"), "t"},
                                   {"devices", Value(256), "t"},
                                   {"prices", Value("owned-assumed"), "t"}};
    all.insert(all.end(), changes.begin(), changes.end());
    return point_of(load_capacity("llama3-70b-64xh100", all));
  };
  const CapacityPoint still = answer({});
  const CapacityPoint rising = answer(
      {{"escalation.electricity", Value("50%"), "t"}, {"escalation.rent", Value("50%"), "t"}});
  const double years = still.time.si() / kDaySeconds / kYearDays;
  const double mean = (std::pow(1.5, years) - 1) / (years * std::log(1.5));
  const double electricity = *still.bill->energy / Joules::from_si(3.6e6) *
                             *load_economy("owned-assumed").grid.dollars_per_kwh;
  EXPECT_NEAR(*rising.bill->dollars - *still.bill->dollars, electricity * (mean - 1), 1e-3);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
