#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/question_options.hpp"
#include "titer/ask/network.hpp"

namespace titer {
namespace {

struct CollectiveCommand {
  RequestOptions<CollectiveRequest> options;
  std::string format = "text";
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

int collective_command(const CollectiveCommand& command) {
  const Format format = chosen("--format", command.format, kFormats);
  return print(format, ask(command.options.request()), *command.report);
}

}  // namespace

Command add_collective(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "collective", "What a collective takes among some devices of a cluster, and why");
  const auto command = std::make_shared<CollectiveCommand>(
      CollectiveCommand{.options = {*app, collective_options()}});
  add_format(*app, command->format, *command->report);
  command->report->add_plot_to(*app);
  return {app, [command] { return collective_command(*command); }, command->report};
}

}  // namespace titer
