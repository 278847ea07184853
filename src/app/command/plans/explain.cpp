#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/run.hpp"

namespace titer {

Command add_explain(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "explain", "Show every term of a prediction: formula, numbers, value and source");
  return question_command(*app, explain_options());
}

}  // namespace titer
