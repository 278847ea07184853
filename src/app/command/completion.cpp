#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "app/question_command.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/campaign/capacity.hpp"
#include "titer/campaign/course.hpp"
#include "titer/campaign/file_schemas.hpp"
#include "titer/input/schema.hpp"
#include "titer/scenario/data_schema.hpp"
#include "titer/search/search.hpp"
#include "titer/search/search_schema.hpp"
#include "titer/sweep/sweep_schema.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

// The scripts ask the program that is completed, so that they know its commands, options, names and
// keys as they are, those of one's own data too. Where it knows nothing, they offer files.
constexpr std::string_view kBash = R"sh(# bash: eval "$(titer completion bash)"
_titer() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o default -F _titer titer
)sh";
constexpr std::string_view kZsh = R"sh(#compdef titer
# zsh: eval "$(titer completion zsh)"
_titer() {
  local -a found
  found=("${(@f)$("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z ${found[1]} ]]; then
    _files
  elif [[ ${found[1]} == *= ]]; then
    compadd -S '' -- "${found[@]}"
  else
    compadd -- "${found[@]}"
  fi
}
if [[ ${funcstack[1]} == _titer ]]; then
  _titer "$@"
else
  compdef _titer titer
fi
)sh";
constexpr std::string_view kFish = R"sh(# fish: titer completion fish | source
function __titer_words
  set -l words (commandline -opc) (commandline -ct)
  $words[1] completion words -- $words[2..-1] 2>/dev/null
end
complete -c titer -a '(__titer_words)'
)sh";

enum class Shell { bash, zsh, fish, words };
constexpr std::array<Choice<Shell>, 4> kShells = {
    {{"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}, {"words", Shell::words}}};

using Words = std::vector<std::string>;

/// What an argument of this type means: a name of a kind, and the keys of its files.
struct ArgumentType {
  std::string_view type;
  DataKind kind;
  Value (*schema)();
};
constexpr std::array<ArgumentType, 8> kArgumentTypes = {
    {{"SCENARIO", kRunData, run_schema},
     {"SWEEP", kSweepData, sweep_schema},
     {"SEARCH", kSearchData, search_schema},
     {"CAPACITY", kCapacityData, capacity_schema},
     {"COURSE", kCourseData, course_schema},
     {"REPORT", kReportData, nullptr},
     {"CLUSTER", kClusterData, cluster_file_schema},
     {"TOPOLOGY", kTopologyData, nullptr}}};

const ArgumentType* argument_type(const std::string& type) {
  return first_with(kArgumentTypes, type, &ArgumentType::type);
}

/// The choices that a description begins with: "text, csv or json", "closed (…), event (…) or …".
Words choices_in(std::string_view description) {
  Words found;
  std::size_t at = 0;
  const auto skip = [&](std::string_view what) {
    const bool there = description.substr(at).starts_with(what);
    at += there ? what.size() : 0;
    return there;
  };
  while (at < description.size()) {
    const std::size_t begin = at;
    while (at < description.size() &&
           (std::isalnum(static_cast<unsigned char>(description[at])) != 0 ||
            description[at] == '-')) {
      ++at;
    }
    found.emplace_back(description.substr(begin, at - begin));
    if (skip(" (")) {
      at = std::min(description.find(')', at), description.size() - 1) + 1;
    }
    const bool last = found.size() > 1 && description.substr(0, begin).ends_with(" or ");
    if (found.back().empty() || last || !(skip(", or ") || skip(" or ") || skip(", "))) {
      break;
    }
  }
  const bool is_list = found.size() > 1 && !found.back().empty();
  return is_list ? found : Words();
}

/// Keys of what the command is asked of, each with the sign that a value follows.
Words keys_of(const CLI::App& command) {
  Words keys;
  for (const CLI::Option* option : command.get_options(nullptr)) {
    const ArgumentType* type = argument_type(option->get_type_name());
    if (!option->get_positional() || type == nullptr || type->schema == nullptr) {
      continue;
    }
    for (const schema::Row& row : schema::rows(type->schema())) {
      const bool fixed = std::ranges::all_of(row.path, [](char c) {
        return c == '.' || c == '_' || std::islower(static_cast<unsigned char>(c)) != 0 ||
               std::isdigit(static_cast<unsigned char>(c)) != 0;
      });
      if (fixed) {
        keys.push_back(row.path + "=");
      }
    }
  }
  return keys;
}

/// What may stand for an option's value, or a positional argument.
Words values_of(const CLI::App& command, const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == "PATH=VALUE") {
    return keys_of(command);
  }
  if (const ArgumentType* known = argument_type(type)) {
    return shipped_names(known->kind);
  }
  if (type == "COMMAND") {
    return each_of(command.get_parent()->get_subcommands(nullptr),
                   [&](const CLI::App* sub) { return sub->get_name(); });
  }
  Words all = choices_in(option.get_description());
  if (all.empty() && type == "NAME" && option.get_positional()) {
    for (const Choice<const DataKind*>& kind : data_kinds()) {
      const Words names = shipped_names(*kind.value);
      all.insert(all.end(), names.begin(), names.end());
    }
  }
  return all;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// The options of a command, by all their names.
Words options_of(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options(nullptr)) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      names.push_back("-" + name);
    }
  }
  return names;
}

/// Nothing where the command has none of that name.
const CLI::App* command_called(const CLI::App& of, const std::string& name) {
  for (const CLI::App* sub : of.get_subcommands(nullptr)) {
    if (sub->get_name() == name) {
      return sub;
    }
  }
  return nullptr;
}

const CLI::Option* option_called(const CLI::App& command, const std::string& word) {
  return word.starts_with("-") ? command.get_option_no_throw(word) : nullptr;
}

/// The positional argument after the words of a command, if there is one more.
const CLI::Option* next_positional(const CLI::App& command, const Words& words) {
  std::size_t before = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const CLI::Option* option = option_called(command, words[i]);
    if (option != nullptr && takes_value(*option)) {
      ++i;
    } else if (option == nullptr) {
      ++before;
    }
  }
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option : command.get_options(nullptr)) {
    if (option->get_positional()) {
      last = option;
      if (before == 0) {
        return option;
      }
      --before;
    }
  }
  return last != nullptr && last->get_items_expected_max() > 1 ? last : nullptr;
}

/// All that may stand in place of the last word.
Words candidates(const CLI::App& program, Words words) {
  std::erase(words, "=");  // which shells cut off
  if (words.empty()) {
    words.emplace_back();
  }
  const CLI::App* command = &program;
  while (words.size() > 1 && !words.front().starts_with("-")) {
    const CLI::App* const sub = command_called(*command, words.front());
    if (sub == nullptr) {
      break;
    }
    command = sub;
    words.erase(words.begin());
  }
  const CLI::Option* before =
      words.size() > 1 ? option_called(*command, words[words.size() - 2]) : nullptr;
  if (before != nullptr && takes_value(*before)) {
    return values_of(*command, *before);
  }
  if (words.back().starts_with("-")) {
    return options_of(*command);
  }
  Words all = each_of(command->get_subcommands(nullptr),
                      [&](const CLI::App* sub) { return sub->get_name(); });
  if (const CLI::Option* positional = next_positional(*command, words)) {
    const Words values = values_of(*command, *positional);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::string completions(const CLI::App& program, const Words& words) {
  Words all = candidates(program, words);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::string text;
  for (const std::string& word : all) {
    if (word.starts_with(words.empty() ? "" : words.back())) {
      text += word + "\n";
    }
  }
  return text;
}

struct CompletionOptions {
  std::string shell;
  Words words;
};
constexpr std::array kCompletionOptions = {
    options::text<&CompletionOptions::shell>(
        "shell", "SHELL", "bash, zsh or fish; words: what those ask")
        .needed()
        .first(),
    options::texts<&CompletionOptions::words>(
        "words", "WORDS", "of a command line, after --; the last one is completed")
        .first()};

}  // namespace

Command add_completion(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("completion", "Print the script by which a shell completes commands");
  app->footer(
      "Examples:\n"
      "  eval \"$(titer completion bash)\"\n"
      "  titer completion fish | source");
  return own_command(*app, kCompletionOptions, [&program](const CompletionOptions& options) {
    switch (chosen("completion", options.shell, kShells)) {
      case Shell::bash:
        print(kBash);
        break;
      case Shell::zsh:
        print(kZsh);
        break;
      case Shell::fish:
        print(kFish);
        break;
      case Shell::words:
        print(completions(program, options.words));
        break;
    }
    return kSuccess;
  });
}

}  // namespace titer
