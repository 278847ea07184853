#pragma once
// A line t = start + slope x through measured times, by relative errors and within bounds.

#include <span>

namespace titer {

/// x: what costs grow with (bytes); start: how often the start is paid for it (messages, or 1).
struct LinePoint {
  double x = 0.0;
  double start = 1.0;
  double time = 0.0;
};
struct Line {
  double start = 0.0;
  double slope = 0.0;
};

/// The start >= 0 and slope >= least_slope that minimise the sum of squared relative errors of
/// start * point.start + slope * x. REQUIRES points with positive x, start and time.
[[nodiscard]] Line fit_line(std::span<const LinePoint> points, double least_slope);

}  // namespace titer
