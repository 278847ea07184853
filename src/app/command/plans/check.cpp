#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/run.hpp"

namespace titer {

Command add_check(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "check", "Say whether a scenario is sound (else exit 2) and fits in memory (else exit 1)");
  return question_command(*app, check_options());
}

}  // namespace titer
