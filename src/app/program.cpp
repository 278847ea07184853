#include "program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <span>

#include "titer/ask/shipped.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// "; `titer new` and `titer search` know it": of an option, the other subcommands that have it.
std::string where_known(const CLI::App& program, const std::string& option) {
  std::vector<std::string> names;
  for (const CLI::App* sub : program.get_subcommands(nullptr)) {
    if (option.starts_with("--") && sub->get_option_no_throw(option) != nullptr) {
      names.push_back("`titer " + sub->get_name() + "`");
    }
  }
  return names.empty() ? ""
                       : "; " + listed_to_last(names, " and ") +
                             (names.size() == 1 ? " knows it" : " know it");
}

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
  for (const std::string& extra : program.remaining(true)) {
    const std::string help = scope == &program ? "" : " " + scope->get_name();
    return extra + ": not known here" +
           suggestion(extra, known, fmt::format("; `titer{} --help` lists what is", help)) +
           where_known(program, extra.substr(0, extra.find('=')));
  }
  return error.what();
}

/// Of words that a shell made of variables without a value: an option that says nothing would be as
/// one that is not there, and the answer one to another question. Empty where all say something;
/// behind "--" are words to be completed.
std::string said_nothing(std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      return word.substr(0, word.size() - 1) + ": empty; expected a value";
    }
    if (word.empty()) {
      const bool is_value = i > 0 && words[i - 1].starts_with("--");
      return (is_value ? words[i - 1] + ": empty" : "an empty word") + "; expected a value";
    }
  }
  return "";
}

bool is_help(const CLI::ParseError& error) { return error.get_exit_code() == 0; }  // --version, too

}  // namespace

Program::Program()
    : app_(std::make_unique<CLI::App>(
          "Predicts the time and memory of one training iteration on a cluster", "titer")) {
  app_->set_version_flag("-V,--version", "titer " + std::string(version()));
  app_->require_subcommand(1);
  for (Command (*const add)(CLI::App&) :
       {add_run,        add_check,       add_explain,   add_list,    add_sweep,    add_merge,
        add_search,     add_collective,  add_topology,  add_traffic, add_timeline, add_export,
        add_import,     add_validate,    add_calibrate, add_trace,   add_seeds,    add_course,
        add_capacity,   add_sensitivity, add_diff,      add_schema,  add_compare,  add_show,
        add_completion, add_help,        add_version,   add_tune,    add_new,      add_doctor,
        add_replay,     add_ask,         add_serve,     add_support, add_report}) {
    commands_.push_back(add(*app_));
  }
}

Program::~Program() = default;

int Program::run(int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (const std::string nothing = said_nothing(words); !nothing.empty()) {
    std::fprintf(stderr, "titer: %s\n", nothing.c_str());
    return kUserError;
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (is_help(error)) {
      return app_->exit(error);
    }
    std::fprintf(stderr, "titer: %s\n", with_suggestion(*app_, error).c_str());
    return kUserError;
  }
  const Command* command = chosen();
  if (command->report) {
    command->report->made_by(command_line(argc, argv));
    command->report->open();
  }
  return command->run();
}

const Command& Program::choose(const std::vector<std::string>& words) {
  if (const std::string nothing = said_nothing(words); !nothing.empty()) {
    throw InputError(nothing);
  }
  try {
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    throw InputError(is_help(error) ? "expected a command that answers a question"
                                    : with_suggestion(*app_, error));
  }
  return *chosen();
}

std::vector<std::string> Program::reporting() const {
  std::vector<std::string> names;
  for (const Command& command : commands_) {
    if (command.report) {
      names.push_back(command.app->get_name());
    }
  }
  std::ranges::sort(names);
  return names;
}

const Command* Program::chosen() const {
  const auto found =
      std::ranges::find_if(commands_, [](const Command& command) { return command.app->parsed(); });
  ensure(found != commands_.end(), "a subcommand is required");
  return &*found;
}

}  // namespace titer
