#include "sampling.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <thread>

#include "progress.hpp"

namespace titer {
namespace {

Seconds time_of(const Scenario& scenario, std::uint32_t sample) {
  Estimator unused;
  StepResult result;
  evaluate(scenario, Fidelity::event, unused, result, {.sample = sample});
  return result.iteration_time;
}

/// The law of the slowest device, where nothing but its assumption holds: equal devices, and noise
/// of compute alone. A forward and a backward pass count as two of the same length.
std::optional<double> law(const Scenario& scenario) {
  const Conditions& conditions = scenario.conditions;
  if (!conditions.compute_jitter || conditions.transfer_jitter || conditions.stragglers ||
      !conditions.devices.empty()) {
    return std::nullopt;
  }
  const std::int64_t passes = 2 * scenario.micro_batches() * scenario.plan.virtual_stages;
  return expected_slowdown(*conditions.compute_jitter, scenario.plan.devices(), passes);
}

}  // namespace

void SamplingOptions::add_to(CLI::App& app) {
  app.add_option(
         "--samples",
         samples,
         "simulate so many steps with the noise of the conditions, and tell how they spread")
      ->check(CLI::Range(std::int64_t{1}, kMostSamples))
      ->type_name("N");
  app.add_option("--seed", seed, "of the noise; otherwise the scenario's conditions.seed, or 1")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  app.add_option("--jobs", jobs, "threads that simulate samples; default: all cores")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
}

void SamplingOptions::put_seed(ScenarioSource& source) const {
  if (seed) {
    source.assign({"conditions.seed", Value(*seed), "--seed " + std::to_string(*seed)});
  }
}

void SamplingOptions::check(const Scenario& scenario) const {
  if (scenario.conditions.noisy() || (!samples && !seed)) {
    return;
  }
  throw InputError(
      (samples ? "--samples " + std::to_string(*samples) : "--seed " + std::to_string(*seed)) +
      ": expected a scenario whose conditions have a compute_jitter, a "
      "transfer_jitter or stragglers: without noise every step takes the same");
}

SampleStatistics sample_step(const Scenario& scenario, const SamplingOptions& options) {
  Scenario quiet = scenario;
  quiet.conditions = scenario.conditions.quiet();
  const Seconds quiet_time = time_of(quiet, 0);
  const auto count = static_cast<std::uint32_t>(*options.samples);
  const unsigned jobs = options.jobs > 0 ? options.jobs : std::thread::hardware_concurrency();
  Progress progress("samples", count);
  const std::vector<Seconds> times = sample_times(
      {.count = count, .threads = jobs},
      [&](std::uint32_t sample) { return time_of(scenario, sample); },
      [&](std::size_t done) { progress.update(done); });
  SampleStatistics found = statistics(times, quiet_time);
  found.expected_slowdown = law(scenario);
  return found;
}

}  // namespace titer
