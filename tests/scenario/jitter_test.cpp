#include "titer/scenario/jitter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kPi = 3.14159265358979323846;

std::vector<Jitter> every_jitter() {
  std::vector<Jitter> all;
  for (const Choice<Spread>& spread : kSpreads) {
    for (const double share : {0.05, 0.5, 1.0}) {
      all.push_back({.spread = spread.value, .deviation = share * most_deviation(spread.value)});
    }
  }
  return all;
}

std::string text_of(const Jitter& jitter) {
  return std::string(kSpreads[static_cast<std::size_t>(jitter.spread)].name) + " " +
         std::to_string(jitter.deviation);
}

DrawName draw(int number, std::uint32_t sample = 0) {
  return {.seed = 5, .sample = sample, .number = static_cast<std::uint64_t>(number)};
}

TEST(Jitter, HasTheMeanOneAndTheDeviationThatItSays) {
  constexpr int count = 200'000;
  for (const Jitter& jitter : every_jitter()) {
    double sum = 0;
    double squares = 0;
    double fourths = 0;
    for (int i = 0; i < count; ++i) {
      const double factor = jitter.factor(draw(i));
      ASSERT_GT(factor, 0.0) << text_of(jitter);
      const double off = (factor - 1) / jitter.deviation;
      sum += off;
      squares += off * off;
      fourths += off * off * off * off;
    }
    // Four standard errors each, that of the square from the sample's own fourth moment.
    const double n = count;
    EXPECT_NEAR(sum / n, 0, 4 / std::sqrt(n)) << text_of(jitter);
    EXPECT_NEAR(squares / n, 1, 4 * std::sqrt((fourths / n - 1) / n)) << text_of(jitter);
  }
}

// Kolmogorov and Smirnov: a share of 1e-3 of good generators is further off than 1.95 / sqrt(n).
TEST(Jitter, SpreadsItsFactorsAsItsQuantilesSay) {
  constexpr int count = 20'000;
  for (const Jitter& jitter : every_jitter()) {
    std::vector<double> factors;
    for (int i = 0; i < count; ++i) {
      factors.push_back(jitter.factor(draw(i, 1)));
    }
    std::sort(factors.begin(), factors.end());
    for (const double above : {0.99, 0.9, 0.5, 0.1, 0.01}) {
      const auto beyond =
          std::upper_bound(factors.begin(), factors.end(), jitter.exceeded_with(above));
      const double share = static_cast<double>(factors.end() - beyond) / count;
      EXPECT_NEAR(share, above, 1.95 / std::sqrt(count)) << text_of(jitter);
    }
  }
}

TEST(Jitter, OfNoDeviationIsNone) {
  for (const Choice<Spread>& spread : kSpreads) {
    const Jitter jitter = {.spread = spread.value, .deviation = 0};
    EXPECT_EQ(jitter.factor(draw(1)), 1.0);
    EXPECT_EQ(jitter.exceeded_with(0.01), 1.0);
    EXPECT_EQ(expected_slowdown(jitter, 1000), 1.0);
  }
}

TEST(Jitter, IsAlwaysAboveZeroAtTheMostDeviation) {
  constexpr double next_to_one = 1 - 0x1p-53;
  for (const Choice<Spread>& spread : kSpreads) {
    const Jitter jitter = {.spread = spread.value, .deviation = most_deviation(spread.value)};
    EXPECT_GT(jitter.exceeded_with(next_to_one), 0.0) << spread.name;
  }
}

TEST(ExpectedSlowdown, OfTwoAndThreeNormalTimesIsKnown) {
  const Jitter jitter = {.spread = Spread::normal, .deviation = 0.1};
  EXPECT_EQ(expected_slowdown(jitter, 1), 1.0);
  EXPECT_NEAR(expected_slowdown(jitter, 2), 1 + 0.1 / std::sqrt(kPi), 1e-12);
  EXPECT_NEAR(expected_slowdown(jitter, 3), 1 + 0.1 * 1.5 / std::sqrt(kPi), 1e-12);
}

/// The integral over z of z n Phi(z)^(n-1) phi(z), by the trapezoidal rule.
double normal_maximum(std::int64_t n) {
  double sum = 0;
  constexpr double step = 1.0 / 256;
  for (double z = -12; z <= 12; z += step) {
    const double phi = std::exp(-z * z / 2) / std::sqrt(2 * kPi);
    const double below = std::log1p(-std::erfc(z / std::sqrt(2.0)) / 2);
    const auto count = static_cast<double>(n);
    sum += z * count * std::exp((count - 1) * below) * phi * step;
  }
  return sum;
}

TEST(ExpectedSlowdown, OfNormalTimesIsTheIntegralOverTheLargest) {
  const Jitter jitter = {.spread = Spread::normal, .deviation = 0.02};
  for (const std::int64_t n : {2, 8, 64, 512, 16'384, 1'000'000}) {
    EXPECT_NEAR(expected_slowdown(jitter, n), 1 + 0.02 * normal_maximum(n), 1e-11) << n;
  }
}

TEST(ExpectedSlowdown, OfNormalTimesNearsTheSquareRootOfTwiceTheLogarithm) {
  const Jitter jitter = {.spread = Spread::normal, .deviation = 0.02};
  double before = 0;
  for (const double n : {1e2, 1e4, 1e6, 1e8}) {
    const double share = (expected_slowdown(jitter, static_cast<std::int64_t>(n)) - 1) /
                         (0.02 * std::sqrt(2 * std::log(n)));
    EXPECT_GT(share, before);
    EXPECT_LT(share, 1.0);
    before = share;
  }
  EXPECT_GT(before, 0.92);
}

TEST(ExpectedSlowdown, OfExponentialTimesIsAHarmonicNumber) {
  const Jitter jitter = {.spread = Spread::exponential, .deviation = 0.3};
  double harmonic = 0;
  for (std::int64_t n = 1; n <= 1000; ++n) {
    harmonic += 1 / static_cast<double>(n);
    if (n == 2 || n == 10 || n == 1000) {
      EXPECT_NEAR(expected_slowdown(jitter, n), 1 - 0.3 + 0.3 * harmonic, 1e-12);
    }
  }
}

TEST(ExpectedSlowdown, OfUniformTimesIsAtItsShareOfTheRange) {
  const Jitter jitter = {.spread = Spread::uniform, .deviation = 0.2};
  for (const double n : {2.0, 9.0, 4096.0}) {
    EXPECT_NEAR(expected_slowdown(jitter, static_cast<std::int64_t>(n)),
                1 + 0.2 * std::sqrt(3.0) * (n - 1) / (n + 1),
                1e-12);
  }
}

// A gamma time of shape 1 is an exponential one.
TEST(ExpectedSlowdown, OfGammaTimesOfShapeOneIsThatOfExponentialOnes) {
  EXPECT_NEAR(expected_slowdown({.spread = Spread::gamma, .deviation = 1}, 100),
              expected_slowdown({.spread = Spread::exponential, .deviation = 1}, 100),
              1e-9);
}

// Far above the shape where the gamma distribution is taken by its near-normal form, both agree.
TEST(ExpectedSlowdown, OfGammaTimesHasNoStepWhereItsFormChanges) {
  const auto at = [](double shape) {
    return expected_slowdown({.spread = Spread::gamma, .deviation = 1 / std::sqrt(shape)}, 1000);
  };
  const double above = (at(1.0001e5) - 1) * std::sqrt(1.0001e5);
  const double below = (at(0.9999e5) - 1) * std::sqrt(0.9999e5);
  EXPECT_NEAR(above, below, 1e-5);
}

TEST(ExpectedSlowdown, IsWhatSamplingFinds) {
  constexpr int samples = 2000;
  struct Case {
    int devices;
    int passes;
  };
  for (const Jitter& jitter : every_jitter()) {
    // Sums of passes are exact, or (lognormal) good, for these.
    const bool has_sums = jitter.spread != Spread::lognormal || jitter.deviation < 0.1;
    for (const Case& one : {Case{4, 1}, Case{32, 1}, Case{16, 12}}) {
      if (one.passes > 1 && !has_sums) {
        continue;
      }
      double sum = 0;
      double squares = 0;
      for (int sample = 0; sample < samples; ++sample) {
        double slowest = 0;
        for (int device = 0; device < one.devices; ++device) {
          double time = 0;
          for (int pass = 0; pass < one.passes; ++pass) {
            DrawName name = draw(pass, static_cast<std::uint32_t>(sample));
            name.device = static_cast<std::uint64_t>(device);
            time += jitter.factor(name);
          }
          slowest = std::max(slowest, time / one.passes);
        }
        sum += slowest;
        squares += slowest * slowest;
      }
      const double mean = sum / samples;
      const double error = std::sqrt((squares / samples - mean * mean) / samples);
      // Four standard errors; a sum of 12 uniforms has lighter tails than the normal it is taken
      // as.
      const double taken =
          jitter.spread == Spread::uniform && one.passes > 1 ? 0.03 * jitter.deviation : 0.0;
      EXPECT_NEAR(mean, expected_slowdown(jitter, one.devices, one.passes), 4 * error + taken)
          << text_of(jitter) << ", " << one.devices << " devices, " << one.passes << " passes";
    }
  }
}

TEST(ExpectedSlowdown, GrowsWithDevicesAndShrinksWithPasses) {
  for (const Jitter& jitter : every_jitter()) {
    EXPECT_LT(expected_slowdown(jitter, 8), expected_slowdown(jitter, 64)) << text_of(jitter);
    EXPECT_GT(expected_slowdown(jitter, 8), expected_slowdown(jitter, 8, 4)) << text_of(jitter);
    EXPECT_GT(expected_slowdown(jitter, 8, 1024), 1.0) << text_of(jitter);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
