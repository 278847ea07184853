#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "titer/report/step_report.hpp"

namespace titer {
namespace {

struct RunOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string fidelity = "closed";
  std::string fail_on;
};

enum class FailOn { out_of_memory };
constexpr std::array<Choice<FailOn>, 1> kFailOn = {{{"out-of-memory", FailOn::out_of_memory}}};

std::string view(Format format, const Scenario& scenario, const StepResult& result) {
  switch (format) {
    case Format::text:
      return step_text(scenario, result);
    case Format::csv:
      return step_csv(scenario, result);
    case Format::json:
      return to_json(step_json(scenario, result)) + "\n";
  }
  return {};
}

int run_command(const RunOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  const Fidelity fidelity = chosen("--fidelity", options.fidelity, kFidelities);
  if (!options.fail_on.empty()) {
    static_cast<void>(chosen("--fail-on", options.fail_on, kFailOn));
  }
  const Scenario scenario = options.scenario.source().read();
  Estimator estimator;
  StepResult result;
  evaluate(scenario, fidelity, estimator, result);
  print(view(format, scenario, result));
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
  app->add_option("--fidelity", options->fidelity, "closed (closed form) or event (event engine)")
      ->default_str("closed")
      ->type_name("NAME");
  app->add_option("--fail-on", options->fail_on, "out-of-memory: exit 1 if the plan does not fit")
      ->type_name("WHAT");
  return {app, [options] { return run_command(*options); }};
}

}  // namespace titer
