#include "least_squares.hpp"

#include <Eigen/QR>
#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {

Line fit_line(std::span<const LinePoint> points, double least_slope) {
  ensure(!points.empty(), "a line is fitted on points");
  // Every right-hand side is 1, so that a residual is a relative error.
  Eigen::MatrixX2d rows(static_cast<Eigen::Index>(points.size()), 2);
  Eigen::Index row = 0;
  for (const LinePoint& point : points) {
    rows.row(row++) << point.start / point.time, point.x / point.time;
  }
  const Eigen::RowVector2d scale = rows.colwise().norm();  // the columns differ by many decades
  rows.array().rowwise() /= scale.array();
  const double least = least_slope * scale[1];
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(rows.rows());
  Eigen::Vector2d best = rows.colPivHouseholderQr().solve(ones);
  if (best[0] < 0.0 || best[1] < least) {
    // The optimum is on one of the two bounds. The columns are of unit length.
    const Eigen::Vector2d no_start(0.0, std::max(least, rows.col(1).dot(ones)));
    const Eigen::Vector2d steep(std::max(0.0, rows.col(0).dot(ones - least * rows.col(1))), least);
    const auto misfit = [&](const Eigen::Vector2d& at) { return (rows * at - ones).squaredNorm(); };
    best = misfit(no_start) < misfit(steep) ? no_start : steep;
  }
  best = best.cwiseQuotient(scale.transpose());
  return {.start = best[0], .slope = best[1]};
}

}  // namespace titer
