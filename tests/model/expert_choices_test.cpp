#include "titer/model/routing/expert_choices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace titer {
namespace TITER_TEST_FILE {

double sum_of(const std::vector<double>& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

TEST(ExpertChoices, AreAsLikelyAsOneAnotherWhereRoutingIsUniform) {
  const ExpertChoices choices = expert_choices({}, 16, 2, 4, 4096);
  EXPECT_EQ(choices.wanted, std::vector<double>(16, 1.0 / 16));
  EXPECT_EQ(choices.sent, choices.wanted);
  EXPECT_EQ(choices.per_token, 2.0);
  EXPECT_FALSE(choices.capacity.has_value());
}

TEST(ExpertChoices, FollowZipfsLawAndHistograms) {
  const Routing zipf{.shape = RoutingShape::zipf, .exponent = 0.5};
  const auto wanted = expert_choices(zipf, 8, 2, 8, 1 << 16).wanted;
  EXPECT_NEAR(wanted[3] / wanted[0], 1 / std::sqrt(4.0), 1e-12);
  EXPECT_NEAR(sum_of(wanted), 1, 1e-12);
  const Routing measured{.shape = RoutingShape::measured, .histogram = {1, 2, 3, 2}};
  const auto counted = expert_choices(measured, 4, 1, 2, 4096).wanted;
  EXPECT_EQ(counted, (std::vector<double>{1.0 / 8, 2.0 / 8, 3.0 / 8, 2.0 / 8}));
}

TEST(ExpertChoices, AreKeptAsTheLoadOfExpertsHasIt) {
  for (const RoutingShape shape : {RoutingShape::uniform, RoutingShape::zipf}) {
    for (const double factor : {0.5, 1.0, 1.5}) {
      const Routing routing{.shape = shape, .exponent = 0.7, .capacity_factor = factor};
      const ExpertChoices choices = expert_choices(routing, 32, 2, 8, 8 * 1024);
      EXPECT_NEAR(sum_of(choices.sent), expert_load(routing, 32, 2, 8, 8 * 1024).kept, 1e-12);
      EXPECT_EQ(choices.capacity, std::ceil(factor * 1024 * 2 / 32));
    }
  }
}

TEST(ExpertChoices, AreFilledUpToCapacityWherePadded) {
  const Routing routing{
      .shape = RoutingShape::zipf, .exponent = 1, .capacity_factor = 2.0, .padded = true};
  for (const double sent : expert_choices(routing, 8, 2, 4, 4 * 512).sent) {
    EXPECT_DOUBLE_EQ(sent, 2.0 / 8);  // factor over experts
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
