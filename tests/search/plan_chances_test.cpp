// How sure it is which of the plans that were found is the fastest.

#include <gtest/gtest.h>

#include <cmath>

#include "searches.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// `drawn`: as find_chances() has it; otherwise nothing is off but the plans by themselves.
SearchAnswer answer_of(const std::vector<double>& seconds,
                       const std::vector<std::vector<double>>& drawn = {}) {
  SearchAnswer answer;
  for (const double time : seconds) {
    FoundPlan found;
    found.result.iteration_time = Seconds::from_si(time);
    found.result.memory_peak = 70_GiB;
    found.result.memory_capacity = 80_GiB;
    answer.plans.push_back(found);
  }
  find_chances(drawn.empty() ? std::vector(seconds.size(), std::vector{1.0}) : drawn, answer);
  return answer;
}

double sum_of(const SearchAnswer& answer) {
  double sum = 0;
  for (const FoundPlan& found : answer.plans) {
    sum += *found.chance_fastest;
  }
  return sum;
}

TEST(PlanChances, AreEqualWherePlansAreAndAddUpToOne) {
  for (const FoundPlan& found : answer_of({10, 10, 10, 10}).plans) {
    EXPECT_NEAR(*found.chance_fastest, 1.0 / 4, 1e-9);
  }
  const SearchAnswer unequal = answer_of({10, 10.3, 11, 14});
  EXPECT_NEAR(sum_of(unequal), 1, 1e-9);
  for (std::size_t i = 1; i < unequal.plans.size(); ++i) {
    EXPECT_LT(*unequal.plans[i].chance_fastest, *unequal.plans[i - 1].chance_fastest);
  }
}

/// Of two: their difference has sqrt(2) times the deviation of one.
TEST(PlanChances, OfTwoAreThoseOfTheirDifference) {
  const SearchAnswer two = answer_of({10, 11});
  EXPECT_NEAR(*two.plans[0].chance_fastest,
              normal_share_below(std::log(11.0 / 10) / (std::sqrt(2.0) * kPlanError)),
              1e-9);
}

/// What moves all plans alike tells none from the others; what moves one of them alone makes it
/// less sure, and dearer on average where it goes up further than down.
TEST(PlanChances, FollowTheFiguresThatMovePlansApart) {
  const SearchAnswer fixed = answer_of({10, 10.5});
  const SearchAnswer alike = answer_of({10, 10.5}, {{0.5, 2}, {0.5, 2}});
  EXPECT_NEAR(*alike.plans[0].chance_fastest, *fixed.plans[0].chance_fastest, 1e-9);
  const SearchAnswer apart = answer_of({10, 10.5}, {{0.8, 1.25}, {1, 1}});
  EXPECT_LT(*apart.plans[0].chance_fastest, *fixed.plans[0].chance_fastest);
  EXPECT_NEAR(sum_of(apart), 1, 1e-9);
  EXPECT_NEAR(apart.plans[0].expected_time->si(), 10.25, 1e-12);
  EXPECT_NEAR(apart.plans[1].expected_time->si(), 10.5, 1e-12);
}

TEST(PlanChances, OfFittingFollowTheErrorOfMemory) {
  EXPECT_NEAR(chance_to_fit(80_GiB, 80_GiB), 0.5, 1e-12);
  // The mean of |error| is kMemoryError, which is sqrt(2 / pi) deviations of a normal one.
  const double deviation = kMemoryError * std::sqrt(std::acos(-1.0) / 2);
  EXPECT_NEAR(chance_to_fit(80_GiB / (1 + deviation), 80_GiB), normal_share_below(1), 1e-9);
  EXPECT_NEAR(normal_share_below(1), 0.841345, 1e-6);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
