#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/question_options.hpp"
#include "titer/ask/evidence.hpp"

namespace titer {
namespace {

struct TraceCommand {
  RequestOptions<TraceRequest> options;
  std::string format = "text";
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

}  // namespace

Command add_trace(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "trace", "Where the time of a measured step went, beside the prediction");
  app->footer(
      "Examples:\n"
      "  titer trace rank0.pt.trace.json.gz\n"
      "  titer trace rank*.json.gz\n"
      "  titer trace rank0.pt.trace.json.gz --scenario my-run.json --format json\n"
      "  titer trace train.log --scenario my-run.json");
  const auto command =
      std::make_shared<TraceCommand>(TraceCommand{.options = {*app, trace_options()}});
  add_format(*app, command->format, *command->report);
  return {app,
          [command] {
            const Format format = chosen("--format", command->format, kFormats);
            return print(format, ask(command->options.request()), *command->report);
          },
          command->report};
}

}  // namespace titer
