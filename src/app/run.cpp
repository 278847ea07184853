#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "output_file.hpp"
#include "sampling.hpp"
#include "titer/report/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/events_beside.hpp"
#include "trace_file.hpp"

namespace titer {
namespace {

struct RunOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string fidelity;
  std::string fail_on;
  bool every_rank = false;
  std::string trace;
  SamplingOptions sampling;
};

enum class FailOn { out_of_memory };
constexpr std::array<Choice<FailOn>, 1> kFailOn = {{{"out-of-memory", FailOn::out_of_memory}}};

using MaybeSamples = std::optional<SampleStatistics>;

/// The one that was asked for; otherwise the closed form, where it can answer.
Fidelity fidelity_of(const RunOptions& options, const Scenario& scenario) {
  const bool wants_events = options.every_rank || !options.trace.empty();
  if (options.fidelity.empty()) {
    return wants_events ? Fidelity::event : usual_fidelity(scenario);
  }
  const Fidelity fidelity = chosen("--fidelity", options.fidelity, kFidelities);
  if (wants_events && fidelity == Fidelity::closed) {
    throw InputError(
        fmt::format("{}: expected --fidelity event: the closed form follows no single rank",
                    options.every_rank ? "--every-rank" : "--trace"));
  }
  if (options.every_rank && fidelity == Fidelity::network) {
    throw InputError(
        "--every-rank: expected --fidelity event: on the links of the network one device of each "
        "pipeline rank stands for all of them");
  }
  return fidelity;
}

/// Evaluates the scenario, and writes its timeline if one is wanted. The file is opened first: a
/// path that cannot be written is told before any work.
StepResult answer(const RunOptions& options, const Scenario& scenario) {
  const Fidelity fidelity = fidelity_of(options, scenario);
  const SimulationOptions simulation{.every_rank = options.every_rank,
                                     .record = !options.trace.empty(),
                                     .network = fidelity == Fidelity::network};
  if (!simulation.record) {
    Estimator estimator;
    StepResult result;
    evaluate(scenario, fidelity, estimator, result, simulation);
    if (fidelity == Fidelity::closed) {
      result.events = events_beside(scenario, result);
    }
    return result;
  }
  check_fidelity(scenario, fidelity);
  OutputFile file(options.trace);
  const Simulation step = simulate(scenario, simulation);
  write_trace(file, step.timeline, step_title(scenario));
  file.finish();
  return step.result;
}

int run_command(const RunOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  if (!options.fidelity.empty()) {
    static_cast<void>(chosen("--fidelity", options.fidelity, kFidelities));
  }
  if (!options.fail_on.empty()) {
    static_cast<void>(chosen("--fail-on", options.fail_on, kFailOn));
  }
  ScenarioSource source = options.scenario.source();
  options.sampling.put_seed(source);
  const Scenario scenario = source.read();
  options.sampling.check(scenario);
  const StepResult result = answer(options, scenario);
  const MaybeSamples samples = options.sampling.samples
                                   ? MaybeSamples(sample_step(scenario, options.sampling))
                                   : std::nullopt;
  const std::vector<FitAdvice> advice = fit_advice(scenario, result);
  print(format, step_view(scenario, result, advice, answer_notes(source, scenario), samples));
  return !options.fail_on.empty() && !result.fits() ? kNo : kSuccess;
}

}  // namespace

Command add_run(CLI::App& program) {
  CLI::App* app = program.add_subcommand("run", "Predict one iteration of a scenario");
  app->footer(
      "Examples:\n"
      "  titer run gpt3-175b-64xa100\n"
      "  titer run my-run.json --set plan.micro_batch=2 --format json\n"
      "  titer run gpt3-175b-64xa100 --formula e7 --set formula.utilization=0.45");
  const auto options = std::make_shared<RunOptions>();
  options->scenario.add_to(*app);
  add_format(*app, options->format);
  app->add_option(
         "--fidelity",
         options->fidelity,
         "closed (closed form), event (event engine) or network (events whose transfers share "
         "the links of the cluster)")
      ->default_str("closed; event where devices differ, with --every-rank and --trace")
      ->type_name("NAME");
  app->add_flag("--every-rank",
                options->every_rank,
                "simulate every device by itself, not one for those that do the same");
  app->add_option("--trace",
                  options->trace,
                  "write the timeline to this file, for Perfetto (ui.perfetto.dev) and Chrome")
      ->type_name("FILE");
  options->sampling.add_to(*app);
  app->add_option("--fail-on", options->fail_on, "out-of-memory: exit 1 if the plan does not fit")
      ->type_name("WHAT");
  return {app, [options] { return run_command(*options); }};
}

}  // namespace titer
