#include "titer/scenario/draws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace titer {
namespace TITER_TEST_FILE {

using Words = std::array<std::uint32_t, 4>;

// The known answers that come with Random123, the authors' own code.
TEST(Philox, GivesTheKnownAnswers) {
  static_assert(philox({}, {}) == Words{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U});
  constexpr std::uint32_t ones = 0xffffffffU;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
  EXPECT_EQ(
      philox({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
      (Words{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(Draws, LieInsideTheUnitIntervalAndFillItEvenly) {
  constexpr int count = 20'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < count; ++i) {
    const UniformPair pair = uniform_pair({.seed = 3, .number = static_cast<std::uint64_t>(i)});
    for (const double u : {pair.first, pair.second}) {
      ASSERT_GT(u, 0.0);
      ASSERT_LT(u, 1.0);
      sum += u;
      squares += u * u;
    }
  }
  // Four standard errors of the mean and of the mean square.
  const double n = 2.0 * count;
  EXPECT_NEAR(sum / n, 0.5, 4 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 4 * std::sqrt((1.0 / 5 - 1.0 / 9) / n));
}

TEST(Draws, DifferInEveryPartOfTheirName) {
  const std::uint64_t high = std::uint64_t{1} << 32U;
  const DrawName name = {.seed = 1, .sample = 1, .device = 1, .number = 1, .purpose = 16};
  std::set<double> seen = {uniform_pair(name).first, uniform_pair(name).second};
  for (int part = 0; part < 7; ++part) {
    DrawName other = name;
    other.seed += part == 0 ? 1U : 0U;
    other.seed += part == 1 ? high : 0U;
    other.sample += part == 2 ? 1U : 0U;
    other.device += part == 3 ? 1U : 0U;
    other.number += part == 4 ? 1U : 0U;
    other.number += part == 5 ? high : 0U;
    other.purpose = part == 6 ? 32 : 16;
    seen.insert(uniform_pair(other).first);
    seen.insert(uniform_pair(other).second);
  }
  EXPECT_EQ(seen.size(), 2U * 8);
}

TEST(NormalQuantile, InvertsTheErrorFunction) {
  for (const double z :
       {-8.0, -5.5, -3.0, -1.0, -0.1, 0.0, 0.1, 0.9, 1.5, 2.0, 5.0, 7.5, 20.0, 37.0}) {
    const double above = std::erfc(z / std::sqrt(2.0)) / 2;
    // A probability next to 1 is itself known to 1e-16 only; the density says what that is in z.
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0));
    const double tolerance = 1e-14 * std::max(1.0, std::abs(z)) + 2e-16 * above / density;
    EXPECT_NEAR(normal_quantile_above(above), z, tolerance);
  }
}

TEST(NormalQuantile, IsOddAroundTheMiddle) {
  EXPECT_EQ(normal_quantile_above(0.5), 0.0);
  for (const double above : {0.25, 0.0625, 0x1p-20}) {
    EXPECT_EQ(normal_quantile_above(above), -normal_quantile_above(1 - above));
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
