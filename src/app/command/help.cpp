#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"

namespace titer {

Command add_version(CLI::App& program) {
  CLI::App* app = program.add_subcommand("version", "Print the program's version");
  return {app, [&program] {
            print(program.version() + "\n");
            return kSuccess;
          }};
}

Command add_help(CLI::App& program) {
  CLI::App* app = program.add_subcommand("help", "Print what a command does and takes");
  const auto name = std::make_shared<std::string>();
  app->add_option("command", *name, "nothing: all commands")->type_name("COMMAND");
  return {app, [&program, name] {
            std::vector<Choice<const CLI::App*>> choices;
            for (const CLI::App* sub : program.get_subcommands(nullptr)) {
              choices.push_back({sub->get_name(), sub});
            }
            // Of itself the program would give the help of the command that was chosen: this one.
            print(name->empty() ? program.get_formatter()->make_help(
                                      &program, program.get_name(), CLI::AppFormatMode::Normal)
                                : chosen("help", *name, choices)->help(program.get_name()));
            return kSuccess;
          }};
}

}  // namespace titer
