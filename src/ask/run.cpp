#include "titer/ask/run.hpp"

#include "learned.hpp"
#include "report_parts.hpp"
#include "scenario_options.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/measured/support.hpp"
#include "titer/report/evidence/support_report.hpp"
#include "titer/report/step/step_drawing.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/simulate/events_beside.hpp"
#include "titer/simulate/samples.hpp"

namespace titer {
namespace {

constexpr std::array kRunOptions = options::with_scenario<&RunRequest::scenario>(std::array{
    options::measured<&RunRequest::measured>(),
    options::fidelity<&RunRequest::fidelity>().or_else(
        "closed; event where devices differ, with --every-rank and --trace"),
    options::flag<&RunRequest::every_rank>(
        "every_rank", "simulate every device by itself, not one for those that do the same"),
    options::integer<&RunRequest::samples>(
        "samples",
        "N",
        "simulate so many steps with the noise of the conditions, and tell how they spread")
        .within({1, kMostSamples}),
    options::integer<&RunRequest::seed>(
        "seed", "N", "of the noise; otherwise the scenario's conditions.seed, or 1")});

constexpr std::array kCheckOptions =
    options::with_scenario<&CheckRequest::scenario>(std::array<Option<CheckRequest>, 0>());

/// The one that was asked for; otherwise the closed form, where it can answer.
Fidelity fidelity_of(const RunRequest& request, const Scenario& scenario) {
  const bool wants_events = request.every_rank || request.record;
  const Fidelity fidelity =
      request.fidelity.value_or(wants_events ? Fidelity::event : usual_fidelity(scenario));
  if (wants_events && fidelity == Fidelity::closed) {
    throw InputError(std::string(request.every_rank ? "--every-rank" : "--trace") +
                     ": expected --fidelity event: the closed form follows no single rank");
  }
  if (request.every_rank && fidelity == Fidelity::network) {
    throw InputError(
        "--every-rank: expected --fidelity event: on the links of the network one device of each "
        "pipeline rank stands for all of them");
  }
  return fidelity;
}

StepResult result_of(const RunRequest& request, const Scenario& scenario) {
  const Fidelity fidelity = fidelity_of(request, scenario);
  const SimulationOptions simulation{.every_rank = request.every_rank,
                                     .record = static_cast<bool>(request.record),
                                     .network = fidelity == Fidelity::network};
  if (simulation.record) {
    check_fidelity(scenario, fidelity);
    const Simulation step = simulate(scenario, simulation);
    request.record(step.timeline, step_title(scenario));
    return step.result;
  }
  Estimator estimator;
  StepResult result;
  evaluate(scenario, fidelity, estimator, result, simulation);
  if (fidelity == Fidelity::closed) {
    result.events = events_beside(scenario, result);
  }
  return result;
}

/// A number is for scenarios with noise.
void check_samples(const RunRequest& request, const Scenario& scenario) {
  if (scenario.conditions.noisy() || (!request.samples && !request.seed)) {
    return;
  }
  throw InputError((request.samples ? "--samples " + std::to_string(*request.samples)
                                    : "--seed " + std::to_string(*request.seed)) +
                   ": expected a scenario whose conditions have a compute_jitter, a "
                   "transfer_jitter or stragglers: without noise every step takes the same");
}

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

std::optional<SampleStatistics> sampled(const RunRequest& request, const Scenario& scenario) {
  if (!request.samples) {
    return std::nullopt;
  }
  Scenario quiet = scenario;
  quiet.conditions = scenario.conditions.quiet();
  const Seconds quiet_time = time_of(quiet, 0);
  const std::vector<Seconds> times = sample_times(
      {.count = static_cast<std::uint32_t>(*request.samples), .threads = request.threads},
      [&](std::uint32_t sample) { return time_of(scenario, sample); },
      [&](std::size_t done) {
        if (request.progress) {
          request.progress(done, static_cast<std::size_t>(*request.samples));
        }
      });
  SampleStatistics found = statistics(times, quiet_time);
  found.expected_slowdown = law(scenario);
  return found;
}

}  // namespace

std::span<const Option<RunRequest>> run_options() { return kRunOptions; }

Answer ask(const RunRequest& request) {
  Asked asked = request.scenario;
  const Learned learned = learn_from(request.measured, kRunData, asked);
  ScenarioSource source = source_of(asked);
  if (const auto& seed = request.seed) {
    source.assign({"conditions.seed", Value(*seed), "--seed " + std::to_string(*seed)});
  }
  const Scenario scenario = source.read();
  check_samples(request, scenario);
  const StepResult result = result_of(request, scenario);
  View view = step_view(scenario,
                        result,
                        fit_advice(scenario, result),
                        answer_notes(source, scenario),
                        sampled(request, scenario));
  add_support(shipped_support(), combination_of(scenario), view);
  add_asked(asked, scenario, view);
  if (request.for_report) {
    if (auto drawing = step_drawing(scenario)) {
      view.drawings.push_back(std::move(*drawing));
    }
    add_terms(scenario, view);
    add_inputs(source, "the scenario", view);
  }
  add_notes(learned.notes, view);
  return {.view = std::move(view), .good = result.fits()};
}

std::span<const Option<CheckRequest>> check_options() { return kCheckOptions; }

Answer ask(const CheckRequest& request) {
  const ScenarioSource source = source_of(request.scenario);
  const Scenario scenario = source.read();
  Estimator estimator;
  StepResult result;
  evaluate(scenario, usual_fidelity(scenario), estimator, result);
  const std::vector<std::string> notes = answer_notes(source, scenario);
  View view = check_view(scenario, result, notes);
  add_asked(request.scenario, scenario, view);
  if (request.for_report) {
    add_inputs(source, "the scenario", view);
  }
  return {.view = std::move(view), .good = result.fits()};
}

}  // namespace titer
