#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/whatif.hpp"

namespace titer {

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
  return question_command(*app, sensitivity_options(), {.has_plot = true});
}

}  // namespace titer
