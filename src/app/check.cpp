#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"

namespace titer {

Command add_check(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "check", "Say whether a scenario is sound (else exit 2) and fits in memory (else exit 1)");
  const auto options = std::make_shared<ScenarioOptions>();
  options->add_to(*app);
  return {app, [options] {
            const Scenario scenario = options->source().read();
            Estimator estimator;
            StepResult result;
            evaluate(scenario, usual_fidelity(scenario), estimator, result);
            print(memory_sentence(result) + "\n");
            return result.fits() ? kSuccess : kNo;
          }};
}

}  // namespace titer
