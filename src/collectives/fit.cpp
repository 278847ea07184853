#include "titer/collectives/fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <string>

#include "least_squares.hpp"
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

/// As fast as the wire at most.
Link fit_within(std::span<const LinkSample> samples, BytesPerSecond wire) {
  std::vector<LinePoint> points;
  points.reserve(samples.size());
  for (const LinkSample& sample : samples) {
    points.push_back({.x = sample.messages * sample.size.si(),
                      .start = static_cast<double>(sample.messages),
                      .time = sample.time.si()});
  }
  const Line line = fit_line(points, 1.0 / wire.si());
  return {.latency = Seconds::from_si(line.start),
          .bandwidth = BytesPerSecond::from_si(1.0 / line.slope)};
}

double squared_errors(const ProtocolFit& fit, std::span<const LinkSample> samples) {
  double sum = 0.0;
  for (const LinkSample& sample : samples) {
    const double error = fit.time(sample.messages, sample.size) / sample.time - 1.0;
    sum += error * error;
  }
  return sum;
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

Seconds ProtocolFit::time(int messages, Bytes size) const {
  Channel channel;
  for (const Link& link : links) {
    channel.add(link);
  }
  return channel.time(messages, size);
}

ProtocolFit fit_protocols(std::span<const LinkSample> samples, BytesPerSecond wire) {
  constexpr std::size_t least_each = 3;
  check(samples);
  std::vector<LinkSample> ordered(samples.begin(), samples.end());
  std::stable_sort(
      ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  const std::span<const LinkSample> all(ordered);
  ProtocolFit best{
      .links = {fit_within(all, wire)}, .least = ordered.front().size, .most = ordered.back().size};
  double least = squared_errors(best, all);
  for (std::size_t k = least_each; k + least_each <= ordered.size(); ++k) {
    ProtocolFit two = best;
    two.links = {fit_within(all.first(k), wire), fit_within(all.subspan(k), wire)};
    const double errors = squared_errors(two, all);
    if (errors < least) {
      least = errors;
      best = two;
    }
  }
  for (const LinkSample& sample : all) {
    const double error = std::abs(best.time(sample.messages, sample.size) / sample.time - 1.0);
    best.mean_error += error / static_cast<double>(all.size());
    best.max_error = std::max(best.max_error, error);
  }
  return best;
}

}  // namespace titer
