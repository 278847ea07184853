#pragma once
// Least squares with bounds that a few outliers do not pull away, of any function that can be
// evaluated, and how well the data determine what was found.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace titer {

/// One number to find. REQUIRES least < most, and start between them.
struct FitParameter {
  std::string name;
  double start = 0;
  double least = 0;
  double most = 0;
  // A change that matters; else that of the start's own size, or of a thousandth of its range.
  std::optional<double> scale{};
};

/// Writes what is left between model and data for the values of all parameters, in their order.
using ResidualFunction =
    std::function<void(std::span<const double> values, std::span<double> residuals)>;

struct FitOptions {
  // Huber's width in robust standard deviations: a residual beyond it counts by its size, not by
  // its square. Empty: by its square always.
  std::optional<double> huber = 1.345;
  int iterations = 100;              // at most, each with one Jacobian
  double tolerance = 1e-8;           // of the sum, and of the values over their scales
  std::optional<double> variance{};  // of a residual, where it is known; else what they show
  std::function<void(int iteration)> watch{};
};

struct FitResult {
  std::vector<double> values;
  std::vector<double> residuals;
  double cost = 0;                            // half the sum of squares; less where beyond width
  std::optional<double> width{};              // Huber's, in units of the residuals
  double scale = 0;                           // robust standard deviation of the residuals
  std::vector<double> covariance;             // row by row; zero for what is held or not determined
  std::vector<std::optional<double>> errors;  // standard errors; empty likewise
  std::vector<bool> at_bound;                 // on a bound, where the data would go further
  std::vector<bool> determined;               // false: the data cannot tell it (from others)
  int iterations = 0;
  bool converged = false;

  /// Of two parameters; empty where either has no standard error.
  [[nodiscard]] std::optional<double> correlation(std::size_t a, std::size_t b) const;
  /// The cost that other residuals have with the same width.
  [[nodiscard]] double cost_of(std::span<const double> others) const;
};

/// Levenberg and Marquardt's method with steps projected into the bounds and central differences;
/// the width follows the median absolute residual. A trial with residuals that are not finite is
/// taken back. Throws InputError when there are no more residuals than parameters.
/// REQUIRES finite residuals at the start.
[[nodiscard]] FitResult fit_least_squares(std::span<const FitParameter> parameters,
                                          std::size_t rows,
                                          const ResidualFunction& residuals,
                                          const FitOptions& options = {});

/// What fit_least_squares() says of a minimum, said of the starts as they are: they are not moved.
/// Covariance: Huber's, s^2 (J'J)^-1 with s^2 = (sum psi^2 / (n - p)) / mean(psi')^2, of what is
/// not held at a bound; in the linear case without outliers the textbook's.
[[nodiscard]] FitResult describe_fit(std::span<const FitParameter> parameters,
                                     std::size_t rows,
                                     const ResidualFunction& residuals,
                                     const FitOptions& options = {});

}  // namespace titer
