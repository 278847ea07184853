#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/campaign.hpp"

namespace titer {

Command add_course(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "course",
      "Follow training over time: phases on changing devices, jobs that share devices, federated "
      "rounds, or devices that follow queries (exit 1 where something does not fit in memory)");
  app->footer(
      "Examples:\n"
      "  titer course elastic-2-then-6\n"
      "  titer course federated --set rounds.local_steps=1 --format json");
  return question_command(*app, course_options());
}

}  // namespace titer
