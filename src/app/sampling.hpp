#pragma once
// `--samples` and `--seed`: a step with noise, many times over.

#include <cstdint>
#include <optional>

#include "command.hpp"
#include "titer/simulate/samples.hpp"

namespace titer {

struct SamplingOptions {
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> seed;
  unsigned jobs = 0;  // 0: all cores

  void add_to(CLI::App& app);
  /// Puts the seed in the scenario, as `--set conditions.seed` does.
  void put_seed(ScenarioSource& source) const;
  /// Throws InputError where there is nothing random to sample.
  void check(const Scenario& scenario) const;
};

/// The samples' statistics by the event engine, on all cores. REQUIRES `samples`, and that `check`
/// found nothing.
[[nodiscard]] SampleStatistics sample_step(const Scenario& scenario,
                                           const SamplingOptions& options);

}  // namespace titer
