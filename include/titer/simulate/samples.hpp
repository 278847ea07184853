#pragma once
// A step with noise, many times over: how its time spreads.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "titer/units/quantity.hpp"

namespace titer {

inline constexpr std::int64_t kMostSamples = 10'000'000;

/// What the samples of a step's time say. A percentile is a sample: the least one that this share
/// of all samples does not exceed (nearest rank).
struct SampleStatistics {
  std::size_t count = 0;
  Seconds quiet;  // the same step without noise
  Seconds mean;
  std::optional<Seconds> deviation;  // standard, over n - 1; none of a single sample
  Seconds least;
  Seconds p50;
  Seconds p95;
  Seconds most;
  // Of the slowest of the devices, were they equal and waited for each other once a step.
  std::optional<double> expected_slowdown;

  [[nodiscard]] double slowdown() const { return mean / quiet; }
  /// Of the mean: deviation / sqrt(n).
  [[nodiscard]] std::optional<Seconds> standard_error() const;
};

/// REQUIRES a sample, and a quiet time above zero.
[[nodiscard]] SampleStatistics statistics(std::span<const Seconds> times, Seconds quiet);

struct SampleOptions {
  std::uint32_t count = 1;
  unsigned threads = 1;
};

/// The times of samples 0, 1, …; `time` is called on any thread, once for each sample, `progress`
/// with the number of samples done on this thread only. The same times for any number of threads.
[[nodiscard]] std::vector<Seconds> sample_times(
    const SampleOptions& options,
    const std::function<Seconds(std::uint32_t sample)>& time,
    const std::function<void(std::size_t done)>& progress);

}  // namespace titer
