#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "titer/ask/explain.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace {

struct ExplainOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string fidelity = "closed";
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

int explain_command(const ExplainOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  const Fidelity fidelity = chosen("--fidelity", options.fidelity, kFidelities);
  return print(format,
               ask(ExplainRequest{.scenario = options.scenario.asked(),
                                  .fidelity = fidelity,
                                  .for_report = options.report->is_wanted()}),
               *options.report);
}

}  // namespace

Command add_explain(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "explain", "Show every term of a prediction: formula, numbers, value and source");
  const auto options = std::make_shared<ExplainOptions>();
  options->scenario.add_to(*app);
  app->add_option("--fidelity",
                  options->fidelity,
                  "closed (the terms) or network (also the algorithms that the links choose)")
      ->type_name("NAME");
  add_format(*app, options->format, *options->report);
  return {app, [options] { return explain_command(*options); }, options->report};
}

}  // namespace titer
