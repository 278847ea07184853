#include "titer/collectives/curve.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "least_squares.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::size_t kLeastSizes = 4;
constexpr std::size_t kLeastPerPiece = 3;

std::vector<CurveSample> sorted(std::span<const CurveSample> samples) {
  std::vector<CurveSample> result(samples.begin(), samples.end());
  std::stable_sort(
      result.begin(), result.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  return result;
}

/// Where each distinct size starts in the sorted samples, and the end.
std::vector<std::size_t> starts_of_sizes(const std::vector<CurveSample>& samples) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i == 0 || samples[i].size != samples[i - 1].size) {
      starts.push_back(i);
    }
  }
  starts.push_back(samples.size());
  return starts;
}

CurvePiece fit_piece(std::span<const CurveSample> samples) {
  std::vector<LinePoint> points = each_of(samples, [](const CurveSample& sample) {
    return LinePoint{.x = sample.size.si(), .time = sample.time.si()};
  });
  const Line line = fit_line(points, 0.0);
  CurvePiece piece{.start = Seconds::from_si(line.start)};
  if (line.slope > 0.0) {
    piece.bandwidth = BytesPerSecond::from_si(1.0 / line.slope);
  }
  return piece;
}

double error_of(const Curve& curve, const CurveSample& sample) {
  return std::abs(curve.time(sample.size) / sample.time - 1.0);
}

double squared_errors(const Curve& curve, const std::vector<CurveSample>& samples) {
  double sum = 0.0;
  for (const CurveSample& sample : samples) {
    const double error = error_of(curve, sample);
    sum += error * error;
  }
  return sum;
}

/// Without its errors. The samples are sorted.
Curve best_curve(const std::vector<CurveSample>& samples) {
  const std::vector<std::size_t> starts = starts_of_sizes(samples);
  const std::size_t sizes = starts.size() - 1;
  const std::span<const CurveSample> all(samples);
  Curve best;
  best.below = best.above = fit_piece(all);
  best.least = samples.front().size;
  best.split = best.most = samples.back().size;
  double least = squared_errors(best, samples);
  for (std::size_t k = kLeastPerPiece; k + kLeastPerPiece <= sizes; ++k) {
    Curve curve = best;
    curve.below = fit_piece(all.first(starts[k]));
    curve.above = fit_piece(all.subspan(starts[k]));
    curve.split = samples[starts[k] - 1].size;
    const double errors = squared_errors(curve, samples);
    if (errors < least) {
      least = errors;
      best = curve;
    }
  }
  return best;
}

double left_out_error(const std::vector<CurveSample>& samples) {
  const std::vector<std::size_t> starts = starts_of_sizes(samples);
  double sum = 0.0;
  for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
    const auto first = samples.begin() + static_cast<std::ptrdiff_t>(starts[k]);
    const auto last = samples.begin() + static_cast<std::ptrdiff_t>(starts[k + 1]);
    std::vector<CurveSample> others(samples.begin(), first);
    others.insert(others.end(), last, samples.end());
    const Curve curve = best_curve(others);
    for (auto sample = first; sample != last; ++sample) {
      sum += error_of(curve, *sample);
    }
  }
  return sum / static_cast<double>(samples.size());
}

}  // namespace

Curve fit_curve(std::span<const CurveSample> samples) {
  for (const CurveSample& sample : samples) {
    if (!(sample.size > Bytes{}) || !(sample.time > Seconds{})) {
      throw InputError("a curve is fitted on positive sizes and times");
    }
  }
  const std::vector<CurveSample> ordered = sorted(samples);
  if (starts_of_sizes(ordered).size() - 1 < kLeastSizes) {
    throw InputError("a curve is fitted on four or more distinct sizes");
  }
  Curve curve = best_curve(ordered);
  for (const CurveSample& sample : ordered) {
    const double error = error_of(curve, sample);
    curve.mean_error += error / static_cast<double>(ordered.size());
    curve.max_error = std::max(curve.max_error, error);
  }
  curve.left_out_error = left_out_error(ordered);
  return curve;
}

}  // namespace titer
