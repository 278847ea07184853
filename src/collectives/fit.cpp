#include "titer/collectives/fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <string>

#include "titer/input/reader.hpp"

namespace titer {

namespace {

void check(std::span<const LinkSample> samples) {
  bool distinct = false;
  for (const LinkSample& sample : samples) {
    if (!(sample.time > Seconds{}) || !(sample.size > Bytes{}) || sample.messages < 1) {
      throw InputError("a link is fitted on positive sizes, times and numbers of messages");
    }
    distinct = distinct || sample.size != samples.front().size;
  }
  if (!distinct) {
    throw InputError(
        "a link is fitted on two or more distinct sizes, to tell latency (alpha) and "
        "bandwidth apart");
  }
}

/// One row per sample: (messages, messages * size) / time, so that every right-hand side is 1 and
/// a residual is a relative error.
Eigen::MatrixX2d rows_of(std::span<const LinkSample> samples) {
  Eigen::MatrixX2d rows(static_cast<Eigen::Index>(samples.size()), 2);
  Eigen::Index row = 0;
  for (const LinkSample& sample : samples) {
    const double weight = sample.messages / sample.time.si();
    rows.row(row++) << weight, weight * sample.size.si();
  }
  return rows;
}

/// (alpha, 1/B) of least squares; alpha is held at zero where the optimum would be negative.
Eigen::Vector2d solve(Eigen::MatrixX2d rows) {
  const Eigen::RowVector2d scale = rows.colwise().norm();  // the columns differ by many decades
  rows.array().rowwise() /= scale.array();
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(rows.rows());
  Eigen::Vector2d solution = rows.colPivHouseholderQr().solve(ones);
  if (solution[0] < 0.0) {
    solution << 0.0, rows.col(1).dot(ones);  // the column is of unit length
  }
  return solution.cwiseQuotient(scale.transpose());
}

}  // namespace

LinkFit fit_link(std::span<const LinkSample> samples) {
  check(samples);
  const Eigen::Vector2d solution = solve(rows_of(samples));
  if (!(solution[1] > 0.0)) {
    throw InputError("the measured times do not grow with the size: no bandwidth explains them");
  }
  LinkFit fit{.link = {.latency = Seconds::from_si(solution[0]),
                       .bandwidth = BytesPerSecond::from_si(1.0 / solution[1])}};
  for (const LinkSample& sample : samples) {
    const double error = std::abs(sample.messages * fit.link.time(sample.size) / sample.time - 1.0);
    fit.mean_error += error / static_cast<double>(samples.size());
    fit.max_error = std::max(fit.max_error, error);
  }
  return fit;
}

}  // namespace titer
