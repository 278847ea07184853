#include "titer/collectives/curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Curve kTrue{.below = {.start = 20_us, .bandwidth = 100_GBps},
                      .above = {.start = 90_us, .bandwidth = 200_GBps},
                      .split = 16_MiB,
                      .least = 1_KiB,
                      .most = 1_GiB};

Bytes power_of_two(int power) { return Bytes::from_si(std::ldexp(1.0, power)); }

/// 1 KiB to 1 GiB in powers of two, times of the curve with a relative error of at most `noise`.
std::vector<CurveSample> samples_of(const Curve& curve, double noise) {
  std::mt19937 random(5);
  std::vector<CurveSample> samples;
  for (int power = 10; power <= 30; ++power) {
    const double draw = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    const Bytes size = power_of_two(power);
    samples.push_back({.size = size, .time = curve.time(size) * (1 + noise * (2 * draw - 1))});
  }
  return samples;
}

double squared_errors(const Curve& curve, const std::vector<CurveSample>& samples) {
  double sum = 0.0;
  for (const CurveSample& sample : samples) {
    sum += std::pow(curve.time(sample.size) / sample.time - 1, 2);
  }
  return sum;
}

TEST(Curve, IsItsPiecesOnEachSideOfTheSplit) {
  EXPECT_DOUBLE_EQ(kTrue.time(16_MiB).si(), 20e-6 + 16 * 1048576 / 100e9);
  EXPECT_DOUBLE_EQ(kTrue.time(64_MiB).si(), 90e-6 + 64 * 1048576 / 200e9);
}

TEST(Curve, NeverDecreasesWhereThePiecesDoNotMeet) {
  Curve curve = kTrue;
  curve.above.start = 1_us;  // 85 us less than `below` has at the split
  Seconds last{};
  for (int power = 10; power <= 30; ++power) {
    for (const double part : {1.0, 1.01, 1.3, 1.9}) {
      const Seconds time = curve.time(part * power_of_two(power));
      EXPECT_GE(time, last);
      last = time;
    }
  }
  EXPECT_EQ(curve.time(16_MiB + 1_B), curve.time(16_MiB));
}

TEST(Curve, IsExtrapolatedOutsideTheSizesThatWereMeasured) {
  EXPECT_EQ(kTrue.grade(1_KiB), Grade::fitted);
  EXPECT_EQ(kTrue.grade(1_GiB), Grade::fitted);
  EXPECT_EQ(kTrue.grade(512_B), Grade::extrapolated);
  EXPECT_EQ(kTrue.grade(2_GiB), Grade::extrapolated);
}

TEST(FitCurve, RecoversACurveFromExactTimes) {
  const Curve fit = fit_curve(samples_of(kTrue, 0.0));
  EXPECT_EQ(fit.split, 16_MiB);
  EXPECT_EQ(fit.least, 1_KiB);
  EXPECT_EQ(fit.most, 1_GiB);
  EXPECT_NEAR(fit.below.start.si(), 20e-6, 1e-12);
  EXPECT_NEAR(fit.below.bandwidth->si(), 100e9, 1.0e3);
  EXPECT_NEAR(fit.above.start.si(), 90e-6, 1e-12);
  EXPECT_NEAR(fit.above.bandwidth->si(), 200e9, 1.0e3);
  EXPECT_LT(fit.max_error, 1e-9);
  // Only the split itself, when left out, falls to the other piece.
  const double missed = kTrue.above.time(16_MiB) / kTrue.below.time(16_MiB) - 1;
  EXPECT_NEAR(fit.left_out_error, std::abs(missed) / 21, 1e-9);
}

TEST(FitCurve, ReportsItsErrorsInSampleAndLeftOut) {
  const std::vector<CurveSample> samples = samples_of(kTrue, 0.1);
  const Curve fit = fit_curve(samples);
  double sum = 0.0;
  double most = 0.0;
  for (const CurveSample& sample : samples) {
    const double error = std::abs(fit.time(sample.size) / sample.time - 1);
    sum += error;
    most = std::max(most, error);
  }
  EXPECT_DOUBLE_EQ(fit.mean_error, sum / 21);
  EXPECT_DOUBLE_EQ(fit.max_error, most);
  EXPECT_GT(fit.left_out_error, fit.mean_error);  // a size helps the fit that has seen it
  EXPECT_LT(fit.left_out_error, 0.1);
}

TEST(FitCurve, IsNoWorseThanItsNeighbours) {
  const std::vector<CurveSample> samples = samples_of(kTrue, 0.2);
  const Curve best = fit_curve(samples);
  const double least = squared_errors(best, samples);
  for (const double factor : {0.99, 1.01}) {
    for (CurvePiece Curve::*piece : {&Curve::below, &Curve::above}) {
      Curve start = best;
      (start.*piece).start = factor * (start.*piece).start;
      EXPECT_GE(squared_errors(start, samples), least);
      Curve rate = best;
      (rate.*piece).bandwidth = factor * *(rate.*piece).bandwidth;
      EXPECT_GE(squared_errors(rate, samples), least);
    }
  }
}

TEST(FitCurve, APieceThatDoesNotGrowHasNoBandwidth) {
  std::vector<CurveSample> samples;
  for (int power = 3; power <= 12; ++power) {
    samples.push_back({.size = power_of_two(power), .time = (20 - 0.5 * power) * 1_us});
  }
  for (int power = 13; power <= 24; ++power) {
    samples.push_back({.size = power_of_two(power), .time = 15_us + power_of_two(power) / 1_GBps});
  }
  const Curve fit = fit_curve(samples);
  EXPECT_FALSE(fit.below.bandwidth.has_value());
  EXPECT_EQ(fit.below.time(8_B), fit.below.time(4_KiB));
  EXPECT_NEAR(fit.above.bandwidth->si(), 1e9, 0.01e9);
}

TEST(FitCurve, AFewSizesMakeOnePiece) {
  std::vector<CurveSample> samples = samples_of(kTrue, 0.0);
  samples.resize(5);
  const Curve fit = fit_curve(samples);
  EXPECT_EQ(fit.split, fit.most);
  EXPECT_NEAR(fit.below.start.si(), 20e-6, 1e-10);
}

TEST(FitCurve, TheOrderOfTheSamplesIsNothing) {
  std::vector<CurveSample> samples = samples_of(kTrue, 0.1);
  const Curve forward = fit_curve(samples);
  std::reverse(samples.begin(), samples.end());
  const Curve backward = fit_curve(samples);
  EXPECT_EQ(forward.below.start, backward.below.start);
  EXPECT_EQ(forward.above.bandwidth, backward.above.bandwidth);
  EXPECT_EQ(forward.split, backward.split);
}

TEST(FitCurve, RefusesWhatItCannotFit) {
  const std::vector<CurveSample> three(3, {.size = 1_MB, .time = 1_us});
  EXPECT_THROW((void)fit_curve({}), InputError);
  EXPECT_THROW((void)fit_curve(std::vector<CurveSample>(9, three.front())), InputError);
  std::vector<CurveSample> samples = samples_of(kTrue, 0.0);
  samples[3].time = Seconds{};
  EXPECT_THROW((void)fit_curve(samples), InputError);
  samples[3] = {.size = Bytes{}, .time = 1_us};
  EXPECT_THROW((void)fit_curve(samples), InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
