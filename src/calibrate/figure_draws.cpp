#include "titer/calibrate/figure_draws.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "prior_figures.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/scenario/draws.hpp"

namespace titer {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Standard deviations of the figures' logarithms, as a matrix whose product with independent
/// standard normal numbers has their covariance.
MatrixXd spreads_of(const std::vector<PlacedPrior>& placed, const Posterior* told) {
  const auto n = static_cast<Index>(placed.size());
  MatrixXd covariance = MatrixXd::Zero(n, n);
  std::vector<std::size_t> learned;  // where the posterior has them
  const std::size_t all = told == nullptr ? 0 : told->figures.size();
  learned.reserve(placed.size());
  for (const PlacedPrior& one : placed) {
    learned.push_back(told == nullptr ? 0 : find_prior(told->figures, one.prior));
  }
  for (Index a = 0; a < n; ++a) {
    const std::size_t row = learned[static_cast<std::size_t>(a)];
    if (row >= all) {
      const double spread = placed[static_cast<std::size_t>(a)].prior.spread;
      covariance(a, a) = spread * spread;
      continue;
    }
    for (Index b = 0; b < n; ++b) {
      const std::size_t column = learned[static_cast<std::size_t>(b)];
      covariance(a, b) = column < all ? told->covariance[row * all + column] : 0.0;
    }
  }
  // Not Cholesky's: a figure at its bound has no spread.
  const Eigen::SelfAdjointEigenSolver<MatrixXd> parts(covariance);
  return parts.eigenvectors() * parts.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// Standard normal numbers, a row for every second draw; the others have the opposite signs. Made
/// uncorrelated and of deviation 1 in this very sample, so that what is linear in the figures has
/// its spread exactly.
MatrixXd standard_normals(Index figures) {
  constexpr auto rows = static_cast<Index>(kFigureDraws / 2);
  MatrixXd numbers(rows, figures);
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < figures; ++i) {
      const UniformPair pair = uniform_pair(
          {.sample = static_cast<std::uint32_t>(row), .number = static_cast<std::uint64_t>(i)});
      numbers(row, i) = normal_quantile_above(pair.first);
    }
  }
  const MatrixXd covariance = numbers.transpose() * numbers / static_cast<double>(rows);
  return covariance.llt().matrixL().solve(numbers.transpose()).transpose();
}

/// Of the logarithms of times over their own.
double deviation(std::span<const double> ratios) {
  double sum = 0;
  for (const double ratio : ratios) {
    sum += std::log(ratio) * std::log(ratio);
  }
  return std::sqrt(sum / static_cast<double>(ratios.size()));
}

/// The same of measured over predicted times, of which four of five are within the bar.
double deviation(const ErrorBar& bar) {
  return std::log(bar.high / bar.low) / (2 * normal_quantile_above(0.1));
}

/// Times of plans by figures that are drawn.
class Drawer {
 public:
  Drawer(const ScenarioSource& source, const Scenario& scenario, const Posterior* told)
      : moved_(source, scenario), scenario_(scenario) {
    const auto figures = static_cast<Index>(moved_.priors().size());
    logs_ = standard_normals(figures) * spreads_of(moved_.priors(), told).transpose();
  }

  /// With the scenario's figures.
  [[nodiscard]] std::vector<double> own(std::span<const Plan> plans) {
    moved_.put(std::vector<double>(moved_.priors().size(), 1.0));
    moved_.give(scenario_);
    return times_of(plans);
  }
  /// Of the plan that was estimated last.
  [[nodiscard]] const std::optional<ErrorBar>& bar() const { return result_.error_bar; }

  /// For each plan kFigureDraws of its times over its `own`; `share` of the figures' spreads.
  [[nodiscard]] std::vector<std::vector<double>> drawn(std::span<const Plan> plans,
                                                       std::span<const double> own,
                                                       double share) {
    std::vector<std::vector<double>> ratios(plans.size());
    for (std::size_t draw = 0; draw < kFigureDraws; ++draw) {
      moved_.put(factors(draw, share));
      moved_.give(scenario_);
      const std::vector<double> times = times_of(plans);
      for (std::size_t i = 0; i < plans.size(); ++i) {
        ratios[i].push_back(times[i] / own[i]);
      }
    }
    return ratios;
  }

 private:
  [[nodiscard]] std::vector<double> factors(std::size_t draw, double share) const {
    const double sign = draw % 2 == 0 ? share : -share;
    std::vector<double> factors;
    for (std::size_t k = 0; k < moved_.priors().size(); ++k) {
      const PriorFigure& prior = moved_.priors()[k].prior;
      const double log = logs_(static_cast<Index>(draw / 2), static_cast<Index>(k));
      factors.push_back(std::clamp(std::exp(sign * log), prior.least, prior.most));
    }
    return factors;
  }
  [[nodiscard]] std::vector<double> times_of(std::span<const Plan> plans) {
    std::vector<double> times;
    Changed changed = Changed::anything;
    for (const Plan& plan : plans) {
      scenario_.plan = plan;
      estimator_.estimate(scenario_, std::exchange(changed, Changed::plan), result_);
      times.push_back(result_.iteration_time.si());
    }
    return times;
  }

  MovedParts moved_;
  Scenario scenario_;
  MatrixXd logs_;  // of the factors, a row for every second draw
  Estimator estimator_;
  StepResult result_;
};

}  // namespace

std::vector<std::vector<double>> drawn_times(const ScenarioSource& source,
                                             const Scenario& scenario,
                                             std::span<const Plan> plans,
                                             const Posterior* told) {
  if (plans.empty()) {
    return {};
  }
  Drawer drawer(source, scenario, told);
  const std::span<const Plan> first = plans.first(1);
  const std::vector<double> own_of_first = drawer.own(first);
  double share = 1;
  if (const std::optional<ErrorBar> bar = drawer.bar()) {
    const double whole = deviation(drawer.drawn(first, own_of_first, 1).front());
    share = std::min(1.0, deviation(*bar) / whole);
  }
  return drawer.drawn(plans, drawer.own(plans), share);
}

}  // namespace titer
