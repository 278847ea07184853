#include "titer/calibrate/least_squares.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kGaussian = 1.4826;  // standard deviation over median absolute deviation
// Of the scaled Jacobian: what differences of double precision cannot tell from zero.
constexpr double kSingular = 1e-6;
// Beside this share of a parameter in a direction that the data leave open it is not determined.
constexpr double kOpenShare = 1e-3;

double scale_of(const FitParameter& parameter) {
  const double range = parameter.most - parameter.least;
  const double own = parameter.start != 0.0 ? std::abs(parameter.start) : 1e-3 * range;
  return parameter.scale.value_or(own);
}

/// The problem with bounds and scales as vectors.
class Problem {
 public:
  Problem(std::span<const FitParameter> parameters,
          std::size_t rows,
          const ResidualFunction& residuals)
      : rows_(static_cast<Index>(rows)), residuals_(residuals) {
    const auto n = static_cast<Index>(parameters.size());
    start.resize(n);
    least.resize(n);
    most.resize(n);
    scale.resize(n);
    for (Index i = 0; i < n; ++i) {
      const FitParameter& parameter = parameters[static_cast<std::size_t>(i)];
      ensure(parameter.least < parameter.most && parameter.start >= parameter.least &&
                 parameter.start <= parameter.most,
             "a parameter starts between its bounds");
      start[i] = parameter.start;
      least[i] = parameter.least;
      most[i] = parameter.most;
      scale[i] = scale_of(parameter);
    }
  }

  [[nodiscard]] Index parameters() const { return start.size(); }
  [[nodiscard]] Index rows() const { return rows_; }

  [[nodiscard]] VectorXd residuals(const VectorXd& values) const {
    VectorXd result(rows_);
    residuals_({values.data(), static_cast<std::size_t>(values.size())},
               {result.data(), static_cast<std::size_t>(rows_)});
    return result;
  }

  /// By central differences, one-sided at a bound.
  [[nodiscard]] MatrixXd jacobian(const VectorXd& values) const {
    const double step = std::cbrt(std::numeric_limits<double>::epsilon());
    MatrixXd result(rows_, parameters());
    for (Index i = 0; i < parameters(); ++i) {
      const double width = step * std::max(std::abs(values[i]), scale[i]);
      VectorXd low = values;
      VectorXd high = values;
      low[i] = std::max(values[i] - width, least[i]);
      high[i] = std::min(values[i] + width, most[i]);
      result.col(i) = (residuals(high) - residuals(low)) / (high[i] - low[i]);
    }
    return result.allFinite() ? result : MatrixXd::Zero(rows_, parameters());
  }

  VectorXd start;
  VectorXd least;
  VectorXd most;
  VectorXd scale;

 private:
  Index rows_;
  const ResidualFunction& residuals_;
};

double robust_deviation(const VectorXd& residuals) {
  std::vector<double> sizes(static_cast<std::size_t>(residuals.size()));
  for (Index i = 0; i < residuals.size(); ++i) {
    sizes[static_cast<std::size_t>(i)] = std::abs(residuals[i]);
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return kGaussian * *middle;
}

/// Huber's function with one width.
struct Huber {
  double width = std::numeric_limits<double>::infinity();

  [[nodiscard]] double cost(const VectorXd& residuals) const {
    double sum = 0;
    for (const double r : residuals) {
      const double size = std::abs(r);
      sum += size <= width ? 0.5 * r * r : width * (size - 0.5 * width);
    }
    return sum;
  }
  [[nodiscard]] double weight(double residual) const {
    const double size = std::abs(residual);
    return size <= width ? 1.0 : width / size;
  }
  [[nodiscard]] VectorXd weights(const VectorXd& residuals) const {
    return residuals.unaryExpr([this](double r) { return weight(r); });
  }
};

Huber huber_of(const VectorXd& residuals, const FitOptions& options) {
  if (!options.huber) {
    return {};
  }
  // Of data that the model meets exactly: still a width, and no outlier but what is far off.
  return {.width = std::max(*options.huber * robust_deviation(residuals), 1e-9)};
}

/// Whether the bound keeps a value from going down the gradient.
bool is_held(const Problem& problem, const VectorXd& values, const VectorXd& gradient, Index i) {
  return (values[i] <= problem.least[i] && gradient[i] > 0.0) ||
         (values[i] >= problem.most[i] && gradient[i] < 0.0);
}

/// Where the search is.
struct FitPlace {
  VectorXd values;
  VectorXd residuals;
  double cost = 0;
};

/// One search for a minimum with a fixed width.
class Search {
 public:
  Search(const Problem& problem, const FitOptions& options) : problem_(problem), opts_(options) {}

  /// Moves `place` to a minimum; false when the iterations ran out.
  bool run(FitPlace& place, const Huber& huber, int& iterations) {
    place.cost = huber.cost(place.residuals);
    double damping = 1e-3;
    while (iterations < opts_.iterations) {
      ++iterations;
      if (opts_.watch) {
        opts_.watch(iterations);
      }
      linearise(place, huber);
      if (!step(place, huber, damping)) {
        return true;
      }
    }
    return false;
  }

 private:
  void linearise(const FitPlace& place, const Huber& huber) {
    const MatrixXd jacobian = problem_.jacobian(place.values);
    const VectorXd weights = huber.weights(place.residuals);
    const MatrixXd weighted = weights.asDiagonal() * jacobian;
    normal_ = jacobian.transpose() * weighted;
    gradient_ = weighted.transpose() * place.residuals;
    for (Index i = 0; i < problem_.parameters(); ++i) {
      if (is_held(problem_, place.values, gradient_, i)) {
        normal_.row(i).setZero();
        normal_.col(i).setZero();
        gradient_[i] = 0.0;
      }
    }
  }

  [[nodiscard]] VectorXd trial(const VectorXd& values, double damping) const {
    MatrixXd damped = normal_;
    for (Index i = 0; i < problem_.parameters(); ++i) {
      const double own = normal_(i, i);
      damped(i, i) = own > 0.0 ? own * (1.0 + damping) : 1.0;
    }
    const VectorXd change = damped.ldlt().solve(-gradient_);
    return (values + change).cwiseMax(problem_.least).cwiseMin(problem_.most);
  }

  /// Goes to a better place; false where there is none worth going to.
  bool step(FitPlace& place, const Huber& huber, double& damping) const {
    constexpr double most_damping = 1e12;
    while (damping < most_damping) {
      FitPlace next{.values = trial(place.values, damping), .residuals = {}, .cost = 0};
      if (!next.values.allFinite()) {
        damping *= 4.0;
        continue;
      }
      const double moved =
          ((next.values - place.values).array() / problem_.scale.array()).abs().maxCoeff();
      if (moved <= opts_.tolerance * 1e-2) {
        return false;
      }
      next.residuals = problem_.residuals(next.values);
      next.cost = huber.cost(next.residuals);
      if (next.residuals.allFinite() && next.cost < place.cost) {
        const double gain = place.cost - next.cost;
        const bool is_worth = gain > opts_.tolerance * place.cost || moved > 1e-3;
        place = std::move(next);
        damping = std::max(damping / 10.0, 1e-12);
        return is_worth && place.cost > 0.0;
      }
      damping *= 4.0;
    }
    return false;
  }

  const Problem& problem_;
  const FitOptions& opts_;
  MatrixXd normal_;
  VectorXd gradient_;
};

/// s^2 of the covariance: of residuals beyond the width only the width counts.
double variance(const VectorXd& residuals, const Huber& huber, Index parameters) {
  double squares = 0;
  double inside = 0;
  for (const double r : residuals) {
    const double psi = huber.weight(r) * r;
    squares += psi * psi;
    inside += std::abs(r) <= huber.width ? 1.0 : 0.0;
  }
  const auto rows = static_cast<double>(residuals.size());
  const double share = inside / rows;
  return squares / (rows - static_cast<double>(parameters)) / (share * share);
}

/// (J'J)^-1 in the directions that the data tell; of the others how far they go along each
/// parameter.
struct Inverse {
  MatrixXd known;
  VectorXd open;
};
/// REQUIRES columns of length 1, or 0.
Inverse inverse_of(const MatrixXd& unit) {
  const Index n = unit.cols();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(unit.transpose() * unit);
  Inverse inverse{.known = MatrixXd::Zero(n, n), .open = VectorXd::Zero(n)};
  for (Index k = 0; k < n; ++k) {
    const VectorXd direction = eigen.eigenvectors().col(k);
    const double square = eigen.eigenvalues()[k];
    if (square > kSingular * kSingular * static_cast<double>(n) && square > 1e-12) {
      inverse.known += direction * direction.transpose() / square;
    } else {
      inverse.open = inverse.open.cwiseMax(direction.cwiseAbs());
    }
  }
  return inverse;
}

/// The covariance of the parameters that are free, and which of them the data determine.
void add_covariance(const MatrixXd& jacobian, double s2, const VectorXd& scale, FitResult& result) {
  const Index n = jacobian.cols();
  MatrixXd scaled = jacobian * scale.asDiagonal();
  for (Index i = 0; i < n; ++i) {
    if (result.at_bound[static_cast<std::size_t>(i)]) {
      scaled.col(i).setZero();
    }
  }
  // A column far smaller than the others is of a parameter that hardly matters, not an unknown one.
  VectorXd norms = scaled.colwise().norm();
  const double floor = 1e-9 * std::max(norms.maxCoeff(), 1e-300);
  norms = norms.unaryExpr([floor](double norm) { return norm > floor ? norm : 0.0; });
  const VectorXd per_norm = norms.unaryExpr([](double x) { return x > 0.0 ? 1.0 / x : 0.0; });
  const Inverse inverse = inverse_of(scaled * per_norm.asDiagonal());
  const VectorXd factor = (scale.array() * per_norm.array()).matrix();
  MatrixXd covariance = s2 * factor.asDiagonal() * inverse.known * factor.asDiagonal();
  for (Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    result.determined[at] = result.at_bound[at] || (norms[i] > 0.0 && inverse.open[i] < kOpenShare);
    if (!result.determined[at] || result.at_bound[at]) {
      covariance.row(i).setZero();
      covariance.col(i).setZero();
    } else {
      result.errors[at] = std::sqrt(covariance(i, i));
    }
  }
  // Row by row, which is column by column: it is symmetric.
  result.covariance.assign(covariance.data(), covariance.data() + covariance.size());
}

FitResult described(const Problem& problem, const FitPlace& place, const FitOptions& options) {
  const auto n = static_cast<std::size_t>(problem.parameters());
  const Huber huber = huber_of(place.residuals, options);
  FitResult result{.values = {place.values.begin(), place.values.end()},
                   .residuals = {place.residuals.begin(), place.residuals.end()},
                   .cost = huber.cost(place.residuals),
                   .width = {},
                   .scale = robust_deviation(place.residuals),
                   .covariance = {},
                   .errors = std::vector<std::optional<double>>(n),
                   .at_bound = std::vector<bool>(n),
                   .determined = std::vector<bool>(n)};
  if (options.huber) {
    result.width = huber.width;
  }
  const MatrixXd jacobian = problem.jacobian(place.values);
  const VectorXd weighted = huber.weights(place.residuals).cwiseProduct(place.residuals);
  const VectorXd gradient = jacobian.transpose() * weighted;
  for (std::size_t i = 0; i < n; ++i) {
    result.at_bound[i] = is_held(problem, place.values, gradient, static_cast<Index>(i));
  }
  const double s2 =
      options.variance.value_or(variance(place.residuals, huber, problem.parameters()));
  add_covariance(jacobian, s2, problem.scale, result);
  return result;
}

/// The start, with its residuals.
FitPlace begin_at_start(const Problem& problem) {
  if (problem.rows() <= problem.parameters()) {
    throw InputError("to fit " + std::to_string(problem.parameters()) +
                     " parameters, expected more measurements than that, found " +
                     std::to_string(problem.rows()));
  }
  FitPlace place{.values = problem.start, .residuals = problem.residuals(problem.start), .cost = 0};
  ensure(place.residuals.allFinite(), "a fit starts where every residual is finite");
  return place;
}

}  // namespace

std::optional<double> FitResult::correlation(std::size_t a, std::size_t b) const {
  if (!errors[a] || !errors[b] || !(*errors[a] > 0.0) || !(*errors[b] > 0.0)) {
    return std::nullopt;
  }
  return covariance[a * values.size() + b] / (*errors[a] * *errors[b]);
}

double FitResult::cost_of(std::span<const double> others) const {
  const Huber huber{.width = width.value_or(std::numeric_limits<double>::infinity())};
  return huber.cost(Eigen::Map<const VectorXd>(others.data(), static_cast<Index>(others.size())));
}

FitResult fit_least_squares(std::span<const FitParameter> parameters,
                            std::size_t rows,
                            const ResidualFunction& residuals,
                            const FitOptions& options) {
  constexpr int most_widths = 20;
  const Problem problem(parameters, rows, residuals);
  FitPlace place = begin_at_start(problem);
  Search search(problem, options);
  int iterations = 0;
  bool converged = false;
  double width = 0;
  for (int round = 0; round < most_widths; ++round) {
    const Huber huber = huber_of(place.residuals, options);
    if (std::abs(huber.width - width) <= 1e-4 * width || (round > 0 && !options.huber)) {
      break;
    }
    width = huber.width;
    converged = search.run(place, huber, iterations);
  }
  FitResult result = described(problem, place, options);
  result.iterations = iterations;
  result.converged = converged;
  return result;
}

FitResult describe_fit(std::span<const FitParameter> parameters,
                       std::size_t rows,
                       const ResidualFunction& residuals,
                       const FitOptions& options) {
  const Problem problem(parameters, rows, residuals);
  return described(problem, begin_at_start(problem), options);
}

}  // namespace titer
