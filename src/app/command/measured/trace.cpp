#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/evidence.hpp"

namespace titer {

Command add_trace(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "trace", "Where the time of a measured step went, beside the prediction");
  app->footer(
      "Examples:\n"
      "  titer trace rank0.pt.trace.json.gz\n"
      "  titer trace rank*.json.gz\n"
      "  titer trace rank0.pt.trace.json.gz --scenario my-run.json --format json\n"
      "  titer trace train.log --scenario my-run.json");
  return question_command(*app, trace_options());
}

}  // namespace titer
