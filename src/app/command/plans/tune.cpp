#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/whatif.hpp"

namespace titer {

Command add_tune(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "tune", "Find which knobs of a run to turn, on the same devices with the same batch");
  app->footer(
      "Examples:\n"
      "  titer tune gpt3-175b-64xa100\n"
      "  titer tune my-run.json --measured 16.5s\n"
      "  titer tune llama3-70b-64xh100 --set stack=megatron-core --format csv");
  return question_command(*app, tune_options(), {.has_plot = true});
}

}  // namespace titer
