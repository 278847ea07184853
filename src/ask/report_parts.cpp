#include "report_parts.hpp"

#include <fmt/format.h>

#include "titer/explain/explain.hpp"
#include "titer/report/step/explain_report.hpp"

namespace titer {

void add_terms(const Scenario& scenario, View& view) {
  if (!scenario.unlike()) {
    view.appendices.push_back({.title = "Every term: formula, numbers, value and source",
                               .text = explain_view(explain(scenario)).text});
  }
}

void add_inputs(const ScenarioSource& source, const std::string& name, View& view) {
  view.appendices.push_back(
      {.title = fmt::format("Inputs: {} with every figure and its source, as a file", name),
       .text = {},
       .file = to_json(source.document().root)});
}

}  // namespace titer
