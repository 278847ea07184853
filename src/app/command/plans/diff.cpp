#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/whatif.hpp"

namespace titer {

Command add_diff(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "diff", "Show term by term why one scenario is faster than another, and by which inputs");
  app->footer(
      "Examples:\n"
      "  titer diff gpt3-175b-64xa100 gpt3-175b-64xa100 --set-b plan.recompute=full\n"
      "  titer diff a.json b.json --format json");
  return question_command(*app, diff_options(), {.has_plot = true});
}

}  // namespace titer
