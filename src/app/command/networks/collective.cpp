#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/network.hpp"

namespace titer {

Command add_collective(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "collective", "What a collective takes among some devices of a cluster, and why");
  return question_command(*app, collective_options(), {.has_plot = true, .has_fail_on = true});
}

}  // namespace titer
