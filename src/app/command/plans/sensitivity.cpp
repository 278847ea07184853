#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "titer/ask/whatif.hpp"

namespace titer {
namespace {

struct SensitivityCommand {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string fidelity = "closed";
  SensitivityRequest request;
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

int sensitivity_command(const SensitivityCommand& command) {
  const Format format = chosen("--format", command.format, kFormats);
  SensitivityRequest request = command.request;
  request.fidelity = chosen("--fidelity", command.fidelity, kFidelities);
  request.scenario = command.scenario.asked();
  request.for_report = command.report->is_wanted();
  return print(format, ask(request), *command.report);
}

}  // namespace

Command add_sensitivity(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "sensitivity", "Show what a scenario depends on, how much, and where that changes");
  app->footer(
      "Examples:\n"
      "  titer sensitivity gpt3-175b-64xa100\n"
      "  titer sensitivity gpt3-175b-64xa100 --reach 12s\n"
      "  titer sensitivity gpt3-175b-64xa100 --of mfu --format csv\n"
      "  titer sensitivity gpt3-175b-64xa100 --cost cluster.chip.memory.bandwidth=200 "
      "--cost cluster.node.nic_bandwidth=50");
  const auto command = std::make_shared<SensitivityCommand>();
  command->scenario.add_to(*app);
  add_format(*app, command->format, *command->report);
  command->report->add_plot_to(*app);
  app->add_option("--fidelity", command->fidelity, "closed, event or network")
      ->default_str("closed")
      ->type_name("NAME");
  app->add_option("--of",
                  command->request.of,
                  "the figure of the result: iteration_time_s, mfu, tokens_per_s, data_comm_s, "
                  "memory_peak_bytes, ...")
      ->default_str("iteration_time_s")
      ->type_name("NAME");
  app->add_option("--by", command->request.by, "the largest step of a figure")
      ->default_str("1%")
      ->type_name("PERCENT");
  app->add_option("--reach",
                  command->request.reach,
                  "what each figure alone must be for this: 12s of the iteration time, or mfu=0.5")
      ->type_name("TARGET");
  app->add_option("--cost",
                  command->request.costs,
                  "what a tenth more of a figure costs, in dollars; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=DOLLARS");
  return {app, [command] { return sensitivity_command(*command); }, command->report};
}

}  // namespace titer
