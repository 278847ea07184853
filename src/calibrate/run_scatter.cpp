#include "run_scatter.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

#include "titer/calibrate/posterior.hpp"

namespace titer {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Of logarithms: sizes that differ by this factor's logarithm share exp(-1/2) of an error.
constexpr double kNear = 1.5;

/// Sizes that kernels and transfers follow, as logarithms; those that matter less count half.
std::array<double, 8> sizes_of(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  const double tokens = static_cast<double>(plan.micro_batch) *
                        static_cast<double>(std::max<std::int64_t>(1, scenario.training.sequence)) /
                        static_cast<double>(plan.context);
  const auto degree = [](std::int64_t of) { return std::log(static_cast<double>(of)); };
  return {0.5 * degree(parameters(scenario)),
          std::log(tokens),
          degree(plan.tensor),
          degree(plan.pipeline),
          degree(plan.data),
          degree(plan.expert),
          degree(plan.context),
          0.5 * degree(std::max<std::int64_t>(1, scenario.micro_batches()))};
}

/// Choices that are not the same.
int differences(const Scenario& a, const Scenario& b) {
  const auto count = [](auto... differs) { return (0 + ... + (differs ? 1 : 0)); };
  return count(a.model.name() != b.model.name(),
               a.training.precision != b.training.precision,
               a.plan.recompute != b.plan.recompute || a.plan.recomputed != b.plan.recomputed,
               a.plan.sharding != b.plan.sharding,
               a.plan.cuda_graph != b.plan.cuda_graph);
}

double square(double x) { return x * x; }

}  // namespace

double likeness(const Scenario& a, const Scenario& b) {
  if (a.stack.name != b.stack.name || a.cluster.chip.name != b.cluster.chip.name) {
    return 0.0;
  }
  const auto sizes = sizes_of(a);
  const auto others = sizes_of(b);
  double distance = differences(a, b);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    distance += square((sizes[i] - others[i]) / kNear);
  }
  return std::exp(-0.5 * distance);
}

struct RunScatter::Factor {
  Eigen::LLT<MatrixXd> of_runs;
};

RunScatter::~RunScatter() = default;

RunScatter::RunScatter(std::span<const MeasuredRun> runs,
                       std::span<const std::size_t> order,
                       const Scenario* asked)
    : factor_(std::make_unique<Factor>()), order_(order.begin(), order.end()) {
  const auto n = static_cast<Index>(runs.size());
  const double shared = square(kRunScatter) - square(kRunNoise);
  const auto run = [&](Index i) -> const Scenario& {
    return runs[order_[static_cast<std::size_t>(i)]].scenario;
  };
  VectorXd to_asked = VectorXd::Zero(n);
  MatrixXd between(n, n);
  for (Index i = 0; i < n; ++i) {
    to_asked(i) = asked == nullptr ? 0.0 : shared * likeness(run(i), *asked);
    for (Index j = 0; j <= i; ++j) {
      between(i, j) = between(j, i) = shared * likeness(run(i), run(j));
    }
  }
  MatrixXd covariance = between;
  covariance.diagonal().array() += square(kRunNoise);
  left_ = square(kRunScatter) - to_asked.dot(covariance.llt().solve(to_asked));
  double of_asked = shared;
  if (asked == nullptr) {
    to_asked = between.rowwise().mean();
    of_asked = between.mean();
  }
  covariance.colwise() -= to_asked;  // of e - e(asked)
  covariance.rowwise() -= to_asked.transpose();
  covariance.array() += of_asked;
  factor_->of_runs.compute(covariance);
}

void RunScatter::standardise(std::span<double> logarithms) const {
  VectorXd ordered(static_cast<Index>(logarithms.size()));
  for (std::size_t i = 0; i < order_.size(); ++i) {
    ordered(static_cast<Index>(i)) = logarithms[order_[i]];
  }
  factor_->of_runs.matrixL().solveInPlace(ordered);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    logarithms[i] = ordered(static_cast<Index>(i));
  }
}

}  // namespace titer
