#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/campaign.hpp"

namespace titer {

Command add_capacity(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "capacity",
      "Find how many devices a training run needs for a deadline or a budget, with failures, cost, "
      "energy and carbon (exit 1 where none will do)");
  app->footer(
      "Examples:\n"
      "  titer capacity llama3-405b\n"
      "  titer capacity gpt3-175b --search --devices 512,1024\n"
      "  titer capacity llama3-70b-64xh100 --tokens 1T --deadline \"60 days\" --reliability "
      "assumed");
  return question_command(*app,
                          capacity_options(),
                          {.threads = "threads of the search; default: all cores",
                           .counted = "numbers of devices",
                           .has_plot = true,
                           .has_fail_on = true});
}

}  // namespace titer
