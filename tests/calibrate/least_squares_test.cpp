// The fitter on problems whose answers are known.
#include "titer/calibrate/least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Values = std::span<const double>;
using Residuals = std::span<double>;

const FitOptions kSquares = {.huber = std::nullopt};

/// Noise that is the same everywhere: the golden ratio's multiples are spread evenly in (-1, 1).
double noise(std::size_t i) {
  const double share = 0.618033988749895 * static_cast<double>(i + 1);
  return 2.0 * (share - std::floor(share)) - 1.0;
}

TEST(LeastSquares, GoesDownRosenbrocksValley) {
  const std::vector<FitParameter> parameters = {{"x", -1.2, -10, 10}, {"y", 1.0, -10, 10}};
  const auto valley = [](Values v, Residuals r) {
    r[0] = 10.0 * (v[1] - v[0] * v[0]);
    r[1] = 1.0 - v[0];
    r[2] = 0.0;  // more rows than parameters
  };
  const FitResult fit = fit_least_squares(parameters, 3, valley, kSquares);
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(fit.values[0], 1.0, 1e-6);
  EXPECT_NEAR(fit.values[1], 1.0, 1e-6);
}

TEST(LeastSquares, FindsADecayInSpiteOfOutliers) {
  constexpr std::size_t rows = 60;
  std::vector<double> data(rows);
  const auto decay = [](double amplitude, double rate, std::size_t i) {
    return amplitude * std::exp(-rate * 0.1 * static_cast<double>(i));
  };
  for (std::size_t i = 0; i < rows; ++i) {
    data[i] = std::log(decay(5.0, 0.7, i)) + 0.01 * noise(i);
    if (i % 7 == 3) {
      data[i] += 2.0;  // a stall
    }
  }
  const auto residuals = [&](Values v, Residuals r) {
    for (std::size_t i = 0; i < rows; ++i) {
      r[i] = std::log(decay(v[0], v[1], i)) - data[i];
    }
  };
  const std::vector<FitParameter> parameters = {{"amplitude", 1.0, 1e-3, 100},
                                                {"rate", 0.1, 0.0, 10}};
  const FitResult robust = fit_least_squares(parameters, rows, residuals);
  EXPECT_TRUE(robust.converged);
  EXPECT_NEAR(robust.values[0], 5.0, 0.03);
  EXPECT_NEAR(robust.values[1], 0.7, 0.003);
  EXPECT_LT(robust.scale, 0.02);  // of the noise, not of the outliers
  const FitResult squares = fit_least_squares(parameters, rows, residuals, kSquares);
  EXPECT_GT(squares.values[0] / 5.0, 1.1);  // every seventh point pulls
}

TEST(LeastSquares, StopsAtABoundAndSaysSo) {
  // (x - 3)^2 + (y - 1)^2 with x <= 2: x stays at 2, y is free.
  const auto residuals = [](Values v, Residuals r) {
    r[0] = v[0] - 3.0;
    r[1] = v[1] - 1.0;
    r[2] = v[1] - 1.2;
  };
  const std::vector<FitParameter> parameters = {{"x", 0.5, 0, 2}, {"y", 0.0, -5, 5}};
  const FitResult fit = fit_least_squares(parameters, 3, residuals, kSquares);
  EXPECT_EQ(fit.values[0], 2.0);
  EXPECT_NEAR(fit.values[1], 1.1, 1e-7);
  EXPECT_TRUE(fit.at_bound[0]);
  EXPECT_FALSE(fit.at_bound[1]);
  EXPECT_FALSE(fit.errors[0].has_value());
  EXPECT_TRUE(fit.errors[1].has_value());
  EXPECT_FALSE(fit.correlation(0, 1).has_value());
}

TEST(LeastSquares, SaysWhatTheDataCannotTell) {
  // a and b only as their sum, d not at all.
  constexpr std::size_t rows = 10;
  const auto residuals = [](Values v, Residuals r) {
    for (std::size_t i = 0; i < rows; ++i) {
      r[i] = v[0] + v[1] + v[2] * static_cast<double>(i) - 4.0 - 2.0 * static_cast<double>(i) +
             0.1 * noise(i);
    }
  };
  const std::vector<FitParameter> parameters = {
      {"a", 1, -10, 10}, {"b", 1, -10, 10}, {"c", 1, -10, 10}, {"d", 1, -10, 10}};
  const FitResult fit = fit_least_squares(parameters, rows, residuals, kSquares);
  EXPECT_EQ(fit.determined, (std::vector<bool>{false, false, true, false}));
  EXPECT_FALSE(fit.errors[0].has_value());
  EXPECT_TRUE(fit.errors[2].has_value());
  EXPECT_NEAR(fit.values[0] + fit.values[1], 4.0, 0.1);
  EXPECT_NEAR(fit.values[2], 2.0, 0.02);
  EXPECT_EQ(fit.values[3], 1.0);
}

TEST(LeastSquares, HasTheTextbooksCovarianceForALine) {
  constexpr std::size_t rows = 25;
  constexpr double n = rows;
  const auto residuals = [](Values v, Residuals r) {
    for (std::size_t i = 0; i < rows; ++i) {
      const auto x = static_cast<double>(i);
      r[i] = v[0] + v[1] * x - (3.0 + 0.5 * x + 0.2 * noise(i));
    }
  };
  const std::vector<FitParameter> parameters = {{"start", 0, -100, 100}, {"slope", 0, -100, 100}};
  const FitResult fit = fit_least_squares(parameters, rows, residuals, kSquares);
  double sum = 0;
  double squares = 0;
  double rest = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    sum += static_cast<double>(i);
    squares += static_cast<double>(i * i);
    rest += fit.residuals[i] * fit.residuals[i];
  }
  const double s2 = rest / (n - 2);
  const double determinant = n * squares - sum * sum;
  EXPECT_NEAR(fit.covariance[0] / (s2 * squares / determinant), 1.0, 1e-6);
  EXPECT_NEAR(fit.covariance[1] / (-s2 * sum / determinant), 1.0, 1e-6);
  EXPECT_NEAR(fit.covariance[3] / (s2 * n / determinant), 1.0, 1e-6);
  EXPECT_NEAR(fit.errors[1].value(), std::sqrt(s2 * n / determinant), 1e-8);
  EXPECT_NEAR(fit.correlation(0, 1).value(), -sum / std::sqrt(n * squares), 1e-6);
  EXPECT_NEAR(fit.cost, rest / 2, 1e-12);
}

TEST(LeastSquares, DescribesWhereItIsWithoutMoving) {
  const auto residuals = [](Values v, Residuals r) {
    for (std::size_t i = 0; i < r.size(); ++i) {
      r[i] = v[0] - noise(i);
    }
  };
  const FitResult still =
      describe_fit(std::vector<FitParameter>{{"x", 0.25, -1, 1}}, 20, residuals, kSquares);
  EXPECT_EQ(still.values[0], 0.25);
  EXPECT_GT(still.errors[0].value(), 0.0);
}

TEST(LeastSquares, RefusesMoreParametersThanData) {
  const auto residuals = [](Values v, Residuals r) { r[0] = v[0] + v[1]; };
  const std::vector<FitParameter> parameters = {{"a", 1, 0, 2}, {"b", 1, 0, 2}};
  EXPECT_THROW((void)fit_least_squares(parameters, 1, residuals), InputError);
  const std::vector<FitParameter> outside = {{"a", 3, 0, 2}};
  EXPECT_THROW((void)fit_least_squares(outside, 4, residuals), Defect);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
