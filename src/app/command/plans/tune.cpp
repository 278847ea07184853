#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "titer/ask/whatif.hpp"

namespace titer {
namespace {

struct TuneCommand {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string fidelity;
  TuneRequest request;
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

int tune_command(const TuneCommand& command) {
  const Format format = chosen("--format", command.format, kFormats);
  TuneRequest request = command.request;
  if (!command.fidelity.empty()) {
    request.fidelity = chosen("--fidelity", command.fidelity, kFidelities);
  }
  request.scenario = command.scenario.asked();
  return print(format, ask(request), *command.report);
}

}  // namespace

Command add_tune(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "tune", "Find which knobs of a run to turn, on the same devices with the same batch");
  app->footer(
      "Examples:\n"
      "  titer tune gpt3-175b-64xa100\n"
      "  titer tune my-run.json --measured 16.5s\n"
      "  titer tune llama3-70b-64xh100 --set stack=megatron-core --format csv");
  const auto command = std::make_shared<TuneCommand>();
  command->scenario.add_to(*app);
  add_format(*app, command->format, *command->report);
  app->add_option("--fidelity", command->fidelity, "closed, event or network")
      ->default_str("closed; event where devices differ")
      ->type_name("NAME");
  app->add_option("--measured",
                  command->request.measured,
                  "what an iteration of the run was measured to take: gains are shares of it")
      ->type_name("TIME");
  app->add_option("--top", command->request.top, "how many changes the text shows")
      ->default_str("10")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  return {app, [command] { return tune_command(*command); }, command->report};
}

}  // namespace titer
