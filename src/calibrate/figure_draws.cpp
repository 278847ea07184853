#include "titer/calibrate/figure_draws.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
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

}  // namespace

std::vector<std::vector<double>> drawn_times(const ScenarioSource& source,
                                             const Scenario& scenario,
                                             std::span<const Plan> plans,
                                             const Posterior* told) {
  MovedParts moved(source, scenario);
  const std::vector<PlacedPrior>& priors = moved.priors();
  const MatrixXd logs =
      standard_normals(static_cast<Index>(priors.size())) * spreads_of(priors, told).transpose();
  Scenario with = scenario;
  Estimator estimator;
  StepResult result;
  const auto put_times = [&](std::vector<double>& times) {
    Changed changed = Changed::anything;
    for (const Plan& plan : plans) {
      with.plan = plan;
      estimator.estimate(with, std::exchange(changed, Changed::plan), result);
      times.push_back(result.iteration_time.si());
    }
  };
  std::vector<double> own;
  put_times(own);
  std::vector<std::vector<double>> drawn(plans.size());
  for (std::size_t draw = 0; draw < kFigureDraws; ++draw) {
    const double sign = draw % 2 == 0 ? 1 : -1;
    std::vector<double> factors;
    for (std::size_t k = 0; k < priors.size(); ++k) {
      const double log = logs(static_cast<Index>(draw / 2), static_cast<Index>(k));
      factors.push_back(
          std::clamp(std::exp(sign * log), priors[k].prior.least, priors[k].prior.most));
    }
    moved.put(factors);
    moved.give(with);
    std::vector<double> times;
    put_times(times);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      drawn[i].push_back(times[i] / own[i]);
    }
  }
  return drawn;
}

}  // namespace titer
