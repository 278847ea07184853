#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/view/view.hpp"

namespace titer {

Command add_check(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "check", "Say whether a scenario is sound (else exit 2) and fits in memory (else exit 1)");
  const auto options = std::make_shared<ScenarioOptions>();
  options->add_to(*app);
  return {app, [options] {
            const ScenarioSource source = options->source();
            const Scenario scenario = source.read();
            Estimator estimator;
            StepResult result;
            evaluate(scenario, usual_fidelity(scenario), estimator, result);
            print(notes_text(answer_notes(source, scenario)) + memory_sentence(result) + "\n");
            return result.fits() ? kSuccess : kNo;
          }};
}

}  // namespace titer
