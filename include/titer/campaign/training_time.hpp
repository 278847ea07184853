#pragma once
// From one step to the whole run: a job that breaks, followed from failure to failure.

#include <cstdint>
#include <optional>

#include "titer/campaign/goodput.hpp"
#include "titer/estimate/result.hpp"

namespace titer {

/// When runs are through: on average, and 10 % and 90 % of them.
struct TrainingTime {
  Seconds mean;
  Seconds low;
  Seconds high;
  std::optional<double> in_time{};  // the share of runs that keep to TrainingSamples::deadline
};

struct TrainingSamples {
  std::uint32_t samples = 200;
  std::uint64_t seed = 1;
  /// Of the iteration time over its error bar's ends; every sample draws one factor for its whole
  /// run, normal in its logarithm, with 10 % below `low` and 10 % above `high`.
  double low = 1;
  double high = 1;
  std::optional<Seconds> deadline{};
};

/// The ends of a step's error bar over its iteration time, for samples.
[[nodiscard]] TrainingSamples samples_of(const StepResult& step);

/// Where nothing fails, or too much to follow it: the mean, as far off as the step's error bar.
[[nodiscard]] TrainingTime time_of_steps(const TrainingSamples& samples, Seconds mean);

/// Follows the job until it has done `useful`: failures, plans and devices becoming slow come at
/// random while it trains, failures also while it starts again; repairs take an exponential time.
/// The same seed gives the same times. Samples are fewer (20 or more) where each has many failures;
/// beyond 25,000 of these the times are goodput()'s with the step's error bar alone. Empty where
/// hardly any of the time would be useful (under 1 %).
[[nodiscard]] std::optional<TrainingTime> simulate_training(const BreakingJob& job,
                                                            Seconds useful,
                                                            const TrainingSamples& samples);

}  // namespace titer
