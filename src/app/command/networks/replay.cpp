#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/network.hpp"

namespace titer {

Command add_replay(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "replay", "Follow a GOAL schedule or Chakra traces of other programs on a cluster");
  app->footer(
      "Examples:\n"
      "  titer replay step.goal --cluster dgx-h100\n"
      "  titer replay step.*.et comm_group.json --cluster dgx-b200 --compute-scale 0.5");
  return question_command(*app, replay_options());
}

}  // namespace titer
