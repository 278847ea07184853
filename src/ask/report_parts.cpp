#include "report_parts.hpp"

#include <fmt/format.h>

#include "titer/explain/explain.hpp"
#include "titer/report/step/explain_report.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/command_text.hpp"

namespace titer {

std::string words_of(const Asked& asked) {
  std::string words;
  if (const auto* name = std::get_if<std::string>(&asked.what)) {
    words = *name;
  } else {
    const Document& document = std::get<Document>(asked.what);
    for (const std::string_view key : {"title", "name"}) {
      const Value* said = document.root.find(key);
      words = words.empty() && said != nullptr ? said->text : words;
    }
  }
  return words + set_options(asked.changes);
}

void add_asked(const Asked& asked, const Figures& columns, View& view) {
  view.asked = joined({{"asked", words_of(asked)}}, columns);
}

void add_asked(const Asked& asked, const Scenario& scenario, View& view) {
  add_asked(asked, asked_columns(scenario), view);
}

void note_other_batch(const TrainingLog& log, double samples, const StepResult& step, View& view) {
  const double tokens = step.tokens_per_s_per_device * step.iteration_time.si();
  if (const std::string other = other_batch(log, samples, tokens); !other.empty()) {
    add_notes({log.source + ": " + other}, view);
  }
}

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
