#include <CLI/CLI.hpp>

#include "app/output/output_folder.hpp"
#include "app/question_command.hpp"
#include "man_page.hpp"

namespace titer {
namespace {

struct HelpOptions {
  std::string name;
  std::string manual;
};
constexpr std::array kHelpOptions = {
    options::text<&HelpOptions::name>("command", "COMMAND", "nothing: all commands").first(),
    options::text<&HelpOptions::manual>(
        "man", "FOLDER", "write the manual pages of all commands to this folder")};

void write_manual(const CLI::App& program, const HelpOptions& options) {
  if (!options.name.empty()) {
    throw InputError("--man: expected no command beside it: all have their pages");
  }
  OutputFolder folder(options.manual);
  folder.write(man_name(program) + ".1", man_page(program));
  for (const CLI::App* sub : program.get_subcommands(nullptr)) {
    folder.write(man_name(*sub) + ".1", man_page(*sub));
  }
  folder.finish();
}

}  // namespace

Command add_version(CLI::App& program) {
  CLI::App* app = program.add_subcommand("version", "Print the program's version");
  return {app, [&program] {
            print(program.version() + "\n");
            return kSuccess;
          }};
}

Command add_help(CLI::App& program) {
  CLI::App* app = program.add_subcommand("help", "Print what a command does and takes");
  return own_command(*app, kHelpOptions, [&program](const HelpOptions& options) {
    if (!options.manual.empty()) {
      write_manual(program, options);
      return kSuccess;
    }
    std::vector<Choice<const CLI::App*>> choices;
    for (const CLI::App* sub : program.get_subcommands(nullptr)) {
      choices.push_back({sub->get_name(), sub});
    }
    // Of itself the program would give the help of the command that was chosen: this one.
    print(options.name.empty() ? program.get_formatter()->make_help(
                                     &program, program.get_name(), CLI::AppFormatMode::Normal)
                               : chosen("help", options.name, choices)->help(program.get_name()));
    return kSuccess;
  });
}

}  // namespace titer
