// titer: the command line. Exit codes: 0 success, 1 the answer is no, 2 the user's input, 3 a
// defect of the program, 130 interrupted so that it can be gone on with.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <system_error>

#include "command.hpp"
#include "titer/ask/version.hpp"

namespace titer {
[[nodiscard]] Command add_tune(CLI::App& program);  // TEMPORARY
namespace {

/// The word that CLI11 could not place, with the subcommand or option it resembles.
std::string with_suggestion(const CLI::App& program, const CLI::ParseError& error) {
  std::vector<std::string> known;
  const CLI::App* scope = &program;
  for (const CLI::App* chosen : program.get_subcommands()) {
    scope = chosen;
  }
  for (const CLI::App* sub : scope->get_subcommands(nullptr)) {
    known.push_back(sub->get_name());
  }
  for (const CLI::Option* option : scope->get_options(nullptr)) {
    known.push_back(option->get_name());
  }
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  for (const std::string& extra : program.remaining(true)) {
    const std::string_view near = closest(extra, candidates);
    return extra + ": not known here; " +
           (near.empty() ? "`titer --help` lists what is"
                         : "did you mean \"" + std::string(near) + "\"?");
  }
  return error.what();
}

int usage_error(const CLI::App& program, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help, --version
    return program.exit(error);
  }
  std::fprintf(stderr, "titer: %s\n", with_suggestion(program, error).c_str());
  return kUserError;
}

int run_chosen(const std::vector<Command>& commands, const std::string& line) {
  for (const Command& command : commands) {
    if (command.app->parsed()) {
      if (command.report) {
        command.report->made_by(line);
        command.report->open();
      }
      return command.run();
    }
  }
  return kUserError;
}

int main_with_errors(int argc, char** argv) {
  CLI::App program("Predicts the time and memory of one training iteration on a cluster", "titer");
  program.set_version_flag("-V,--version", "titer " + std::string(version()));
  program.require_subcommand(1);
  const std::vector<Command> commands = {
      add_run(program),        add_check(program),       add_explain(program),
      add_list(program),       add_sweep(program),       add_merge(program),
      add_search(program),     add_collective(program),  add_topology(program),
      add_traffic(program),    add_timeline(program),    add_export(program),
      add_import(program),     add_validate(program),    add_calibrate(program),
      add_trace(program),      add_seeds(program),       add_course(program),
      add_capacity(program),   add_sensitivity(program), add_diff(program),
      add_schema(program),     add_compare(program),     add_show(program),
      add_completion(program), add_help(program),        add_version(program),
      add_tune(program),       add_new(program),         add_doctor(program),
      add_replay(program),     add_ask(program),         add_serve(program),
      add_support(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(program, error);
  }
  try {
    return run_chosen(commands, command_line(argc, argv));
  } catch (const InputError& error) {
    for (const std::string& line : error.lines) {
      std::fprintf(stderr, "%s\n", line.c_str());
    }
    return kUserError;
  }
}

}  // namespace
}  // namespace titer

int main(int argc, char** argv) {
  try {
    return titer::main_with_errors(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs(
        "titer: this machine's memory, or the limit on it, is too small for what was asked\n",
        stderr);
    return titer::kUserError;
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "titer: the system refuses a thread or a file: %s\n", error.what());
    return titer::kUserError;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "titer: a defect of the program, please report it: %s\n", error.what());
    return titer::kDefect;
  }
}
