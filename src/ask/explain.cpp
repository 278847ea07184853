#include "titer/ask/run.hpp"

#include <fmt/format.h>

#include "learned.hpp"
#include "report_parts.hpp"
#include "scenario_options.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/report/step/explain_report.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace {

constexpr std::array kExplainOptions = options::with_scenario<&ExplainRequest::scenario>(
    std::array{options::measured<&ExplainRequest::measured>(),
               options::choice<&ExplainRequest::fidelity, kFidelities>(
                   "fidelity",
                   "NAME",
                   "closed (the terms) or network (also the algorithms that the links choose)")
                   .or_else("closed")});

/// The terms of the closed form and, on the links of the network, what is chosen there.
std::vector<Section> sections_of(const Scenario& scenario, Fidelity fidelity) {
  std::vector<Section> sections = explain(scenario);
  if (fidelity == Fidelity::network) {
    check_fidelity(scenario, fidelity);
    sections.push_back(algorithms_section(simulate(scenario, {.network = true}).result));
  }
  return sections;
}

/// What the terms come to, as a run has it.
void add_result(const Scenario& scenario, Fidelity fidelity, View& view) {
  Estimator estimator;
  StepResult result;
  evaluate(scenario, fidelity, estimator, result);
  View step = step_view(scenario, result);
  view.headline = std::move(step.headline);
  view.plots = std::move(step.plots);
}

}  // namespace

std::span<const Option<ExplainRequest>> explain_options() { return kExplainOptions; }

Answer ask(const ExplainRequest& request) {
  if (request.fidelity == Fidelity::event) {
    throw InputError("--fidelity: event: expected closed or network: an event has no terms");
  }
  Asked asked = request.scenario;
  const Learned learned = learn_from(request.measured, kRunData, asked);
  const ScenarioSource source = source_of(asked);
  const Scenario scenario = source.read();
  if (const auto key = scenario.unlike()) {
    throw InputError(fmt::format(
        "{}: expected none: the terms are those of the closed form, in which all devices are alike "
        "and nothing is random (--set {}=null leaves them out)",
        *key,
        *key));
  }
  View view = explain_view(sections_of(scenario, request.fidelity));
  add_notes(learned.notes, view);
  add_notes(answer_notes(source, scenario), view);
  add_asked(request.scenario, scenario, view);
  view.title = "Every term of " + step_title(scenario);
  if (request.for_report) {
    add_result(scenario, request.fidelity, view);
    add_inputs(source, "the scenario", view);
  }
  return {.view = std::move(view)};
}

}  // namespace titer
