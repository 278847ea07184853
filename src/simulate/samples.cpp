#include "titer/simulate/samples.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <thread>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// REQUIRES sorted samples.
Seconds percentile(const std::vector<Seconds>& sorted, std::size_t percent) {
  const std::size_t rank = (percent * sorted.size() + 99) / 100;  // from 1, rounded up
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

std::optional<Seconds> SampleStatistics::standard_error() const {
  return deviation ? std::optional(*deviation / std::sqrt(static_cast<double>(count)))
                   : std::nullopt;
}

SampleStatistics statistics(std::span<const Seconds> times, Seconds quiet) {
  ensure(!times.empty() && quiet > Seconds{}, "statistics are of a sample or more, of some time");
  std::vector<Seconds> sorted(times.begin(), times.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  // Sums of the differences from the least: equal samples give their own value, and no deviation.
  const Seconds least = sorted.front();
  Seconds sum;
  for (const Seconds time : sorted) {
    sum += time - least;
  }
  const Seconds mean = least + sum / n;
  double squares = 0;
  for (const Seconds time : sorted) {
    const double from_mean = (time - mean) / quiet;
    squares += from_mean * from_mean;
  }
  SampleStatistics found;
  found.count = sorted.size();
  found.quiet = quiet;
  found.mean = mean;
  if (sorted.size() > 1) {
    found.deviation = std::sqrt(squares / (n - 1)) * quiet;
  }
  found.least = least;
  found.p50 = percentile(sorted, 50);
  found.p95 = percentile(sorted, 95);
  found.most = sorted.back();
  return found;
}

std::vector<Seconds> sample_times(const SampleOptions& options,
                                  const std::function<Seconds(std::uint32_t sample)>& time,
                                  const std::function<void(std::size_t done)>& progress) {
  std::vector<Seconds> times(options.count);
  const unsigned threads = std::clamp(options.threads, 1U, std::max(options.count, 1U));
  std::atomic<std::uint32_t> next = 0;
  std::atomic<std::size_t> done = 0;
  std::vector<std::exception_ptr> failures(threads);
  const auto work = [&](unsigned worker) {
    try {
      for (std::uint32_t i = next++; i < options.count; i = next++) {
        times[i] = time(i);
        ++done;
        if (worker == 0) {
          progress(done);
        }
      }
    } catch (...) {
      failures[worker] = std::current_exception();
      next = options.count;  // the others stop after their sample
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned w = 1; w < threads; ++w) {
      others.emplace_back(work, w);
    }
    work(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
  return times;
}

}  // namespace titer
