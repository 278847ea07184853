#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "titer/report/explain_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace {

struct ExplainOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string fidelity = "closed";
};

/// The terms of the closed form and, on the links of the network, what is chosen there.
std::vector<Section> sections_of(const Scenario& scenario, Fidelity fidelity) {
  std::vector<Section> sections = explain(scenario);
  if (fidelity == Fidelity::network) {
    check_fidelity(scenario, fidelity);
    sections.push_back(algorithms_section(simulate(scenario, {.network = true}).result));
  }
  return sections;
}

int explain_command(const ExplainOptions& options) {
  constexpr std::array<Choice<Fidelity>, 2> fidelities = {
      {{"closed", Fidelity::closed}, {"network", Fidelity::network}}};
  const Format format = chosen("--format", options.format, kFormats);
  const Fidelity fidelity = chosen("--fidelity", options.fidelity, fidelities);
  const ScenarioSource source = options.scenario.source();
  const Scenario scenario = source.read();
  if (const auto key = scenario.unlike()) {
    throw InputError(fmt::format(
        "{}: expected none: the terms are those of the closed form, in which all devices are alike "
        "and nothing is random (--set {}=null leaves them out)",
        *key,
        *key));
  }
  const std::vector<Section> sections = sections_of(scenario, fidelity);
  print(format, explain_view(sections), answer_notes(source, scenario));
  return kSuccess;
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
  add_format(*app, options->format);
  return {app, [options] { return explain_command(*options); }};
}

}  // namespace titer
