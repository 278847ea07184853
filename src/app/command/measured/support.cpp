#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/evidence.hpp"

namespace titer {

Command add_support(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "support", "What was measured of which model, chip, software and precision, and how far off");
  app->footer(
      "Errors are of |predicted / measured - 1|, in percent; bias: the mean with its sign. What "
      "was\n"
      "never measured is predicted all the same, by the figures of its parts.\n"
      "Examples:\n"
      "  titer support\n"
      "  titer support --scenario llama3-70b-64xh100\n"
      "  titer support my-runs.csv --format csv");
  return question_command(*app, support_options());
}

}  // namespace titer
