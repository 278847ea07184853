// The flags of the command that a shell script is there to run.

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "script/command/chosen_command.hpp"
#include "script/command/processes.hpp"
#include "script/shell/shell_batch.hpp"
#include "script/shell/shell_play.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/script/foreign_text.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

using shell::BatchOptions;
using shell::PlayedCommand;
using shell::Question;
using shell::Text;

constexpr std::size_t kLongestLine = 60;  // of a script that is shown

/// "-N", but no negative number.
bool is_short_flag(const Text& word) {
  return word.size() > 1 && word.at(0) == '-' &&
         std::isalpha(static_cast<unsigned char>(word.at(1))) != 0;
}

bool is_script(const Text& word) { return word.chars.ends_with(".py"); }

/// The first script, or the first behind "--", where one launcher is given the command of another.
std::vector<Text>::const_iterator program_in(const std::vector<Text>& words) {
  const auto last = std::find_if(
      words.rbegin(), words.rend(), [](const Text& word) { return word.chars == "--"; });
  const auto behind = std::find_if(last.base(), words.end(), is_script);
  return behind == words.end() ? std::ranges::find_if(words, is_script) : behind;
}

/// "llava/train/train.py" of llava.train.train.
std::string file_of_module(std::string module) {
  std::ranges::replace(module, '.', '/');
  return module + ".py";
}

/// The name in a word that is nothing but ${NAME}; "" for another.
std::string_view name_in(const Text& word) {
  const std::string_view chars = word.chars;
  const bool is_reference = chars.starts_with("${") &&
                            shell::end_of_name(chars, 2) + 1 == chars.size() &&
                            chars.ends_with('}');
  return is_reference ? chars.substr(2, chars.size() - 3) : std::string_view();
}

/// Whether a variable of this name would hold words rather than a value.
bool sounds_like_words(std::string_view name) {
  constexpr std::array<std::string_view, 6> parts = {"arg", "opt", "flag", "cmd", "extra", "param"};
  const std::string small = lower(name);
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return small.find(part) != std::string::npos; });
}

bool is_same(const PlayedCommand& a, const PlayedCommand& b) {
  return std::ranges::equal(a.words, b.words, {}, &Text::chars, &Text::chars);
}

/// Flags and their values out of the words of a command.
class Flags {
 public:
  explicit Flags(const shell::Play& play) : play_(play) {
    into_.flags.root = Value::make_object();
    into_.flags.root.origin = {.source = 0, .line = 1, .column = 1};
    into_.flags.sources = play.sources;
  }

  void read(const std::vector<Text>& words) {
    const auto script = program_in(words);
    std::for_each(
        words.begin(), script == words.end() ? words.begin() : script, [&](const Text& word) {
          if (is_flag(word)) {
            into_.of_launcher.push_back(word.chars.substr(0, word.chars.find('=')));
          }
        });
    for (std::size_t i = 0; i < words.size();) {
      add_module(words, i);
      if (is_flag(words[i])) {
        i = add_flag(words, i);
        continue;
      }
      if (is_script(words[i])) {
        into_.scripts.push_back(words[i].chars);
      } else if (auto change = shell::override_of(words[i])) {
        into_.overrides.push_back(*std::move(change));
      } else if (!name_in(words[i]).empty()) {
        stands_for_words(words[i], true);
      }
      ++i;
    }
  }

  /// The program behind -m or deepspeed's --module.
  void add_module(const std::vector<Text>& words, std::size_t i) {
    const bool has_next = i + 1 < words.size() && !is_flag(words[i + 1]);
    const bool is_module = words[i].chars == "-m" || words[i].chars == "--module";
    if (has_next && is_module && words[i + 1].chars.find('.') != std::string::npos &&
        !is_script(words[i + 1])) {
      into_.scripts.push_back(file_of_module(words[i + 1].chars));
    }
  }

  /// Of what launches the program, where it starts a process for each device.
  void add_processes(const std::vector<Text>& words, const BatchOptions& batch) {
    const auto script = program_in(words);
    put_processes(script == words.end() ? std::nullopt
                                        : launched_processes({words.begin(), script}, batch));
  }

  /// Of a program that starts its own processes, by what its environment is set to.
  void add_environment(const PlayedCommand* command) {
    constexpr std::array<std::string_view, 5> programs = {
        "swift", "megatron", "llamafactory-cli", "trl", "litgpt"};
    const bool starts_own = command == nullptr || includes(programs, command->words.front().chars);
    if (command != nullptr && starts_own && command->words.size() > 1) {
      into_.program = command->words[0].chars + " " + command->words[1].chars;
      const bool has_subject = command->words.size() > 2 && !is_flag(command->words[2]);
      into_.subject = has_subject ? command->words[2].chars : "";
    }
    const auto told =
        processes_of_environment(command == nullptr ? play_.variables : command->environment);
    // Python by itself is one process, which a trainer gives all devices that it sees.
    const bool is_alone = command != nullptr && command->words.size() > 1 &&
                          command->words.front().chars.starts_with("python") &&
                          is_script(command->words[1]) && told && told->chars == "1";
    put_processes(starts_own || is_alone ? told : std::nullopt);
  }

  void add_option(const BatchOptions::Option& option) {
    if (option.name.starts_with("--")) {
      put_of_launcher(option.name, option.value);
    }
  }

  void assume(Origin at, const std::string& what) {
    if (said_.insert(what).second) {
      into_.assumed.push_back(where(at) + what);
    }
  }

  void assume_guesses() {
    for (const Question& question : play_.taken_as_false) {
      assume(question.at, shown(question.condition) + ": taken as false");
    }
    for (std::size_t i = 0; i < play_.sourced_at.size(); ++i) {
      assume(play_.sourced_at[i], "is gone through as " + play_.sources[i + 1]);
    }
    for (const Text& file : play_.sourced) {
      assume(file.place(), shown(file.chars) + ": is not read, and sets nothing");
    }
    for (const shell::PassedOver& loop : play_.passed_over) {
      assume(loop.at,
             shown(loop.loop) + ": is not followed, and what it sets stays as it is before it: " +
                 shortened(listed(loop.variables), kLongestLine));
    }
  }

  /// What is taken of the command that is read.
  void assume_of(const PlayedCommand& command) {
    if (command.if_only) {
      assume(command.if_only->at,
             shown(command.if_only->condition) + ": taken to lead to the command read");
    }
    if (command.passes) {
      assume(*command.passes, "the script's own arguments are taken as none");
    }
    const auto others = std::ranges::count_if(play_.commands, [&](const PlayedCommand& other) {
      return 2 * flags_of(other.words) > flags_of(command.words) && !is_same(other, command);
    });
    if (others > 0) {
      assume(command.words.front().place(),
             "this command is read, the first of those with the most flags; " +
                 std::to_string(others) + (others == 1 ? " other is not" : " others are not"));
    }
  }

  void set_tool(std::string name) { into_.tool = std::move(name); }

  ArgumentText finish() {
    for (const Text& file : play_.started) {
      into_.started.push_back(file.chars);
    }
    for (const Text& file : play_.sourced) {
      into_.sourced.push_back(file.chars);
    }
    for (const auto& [name, text] : play_.documents) {
      into_.documents[name] = text.chars;
    }
    for (const auto& [name, text] : play_.replaced) {
      into_.replaced[name] = text.chars;
    }
    return std::move(into_);
  }

 private:
  [[nodiscard]] std::string where(Origin at) const {
    const std::string& source = play_.sources[static_cast<std::size_t>(std::max(at.source, 0))];
    return source + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
  }

  static std::string shown(const std::string& condition) {
    return shortened(condition, kLongestLine);
  }

  /// The flag with the words up to the next flag or script; after an equals sign none but its own.
  std::size_t add_flag(const std::vector<Text>& words, std::size_t i) {
    const Text& flag = words[i++];
    const std::size_t equals = flag.chars.find('=');
    const bool is_whole = equals != std::string::npos;
    Value value = is_whole ? Value(flag.chars.substr(equals + 1)) : Value(true);
    for (; !is_whole && i < words.size(); ++i) {
      const bool has_value = value.kind != Value::Kind::boolean;
      if ((has_value && shell::override_of(words[i])) || is_flag(words[i]) ||
          is_short_flag(words[i]) || is_script(words[i]) || is_launcher(words[i])) {
        break;
      }
      if (stands_for_words(words[i], has_value)) {
        continue;
      }
      Value next(words[i].chars);
      next.origin = words[i].place();
      if (!has_value) {
        value = std::move(next);
      } else if (value.kind == Value::Kind::array) {
        value.push(std::move(next));
      } else {
        value = Value::make_array().push(std::move(value)).push(std::move(next));
      }
    }
    value.origin = flag.place();
    put(flag.chars.substr(0, equals), std::move(value), flag.place());
    return i;
  }

  /// ${NAME} that the script does not tell and that stands for flags, not for a value of one.
  bool stands_for_words(const Text& word, bool has_value) {
    const std::string_view name = name_in(word);
    if (name.empty()) {
      return false;
    }
    const auto found = play_.variables.find(name);
    const bool depends = found != play_.variables.end() && found->second.depends_on;
    if (depends && !found->second.flags.empty()) {
      ask(found->second, name);
      return true;
    }
    if (!depends && (has_value || sounds_like_words(name))) {
      if (!is_passed_over(name)) {
        assume(word.place(), std::string(name) + ": is not set, taken as empty");
      }
      return true;
    }
    return false;
  }

  /// Of which the line about a loop says so.
  [[nodiscard]] bool is_passed_over(std::string_view name) const {
    return std::ranges::any_of(play_.passed_over, [&](const shell::PassedOver& loop) {
      return includes(loop.variables, name);
    });
  }

  void ask(const shell::Variable& variable, std::string_view name) {
    const Question& question = *variable.depends_on;
    if (!said_.insert(question.variable).second) {
      return;
    }
    const std::string answers = listed_to_last(question.answers, " or ");
    std::string line = where(question.at) + shown(question.condition) +
                       ": is not told by the file, and the flags in " + std::string(name) +
                       " depend on it; --define " + question.variable + "=VALUE tells it";
    line += answers.empty() ? "" : ": " + answers;
    into_.choices.push_back({.line = std::move(line), .flags = variable.flags});
  }

  void put_processes(const std::optional<Text>& processes) {
    if (processes) {
      put_of_launcher("--num_processes", *processes);
    }
  }

  /// What the command itself says stays.
  void put_of_launcher(const std::string& name, const Text& text) {
    if (members_.count(name) == 0) {
      Value value = text.empty() ? Value(true) : Value(text.chars);
      value.origin = text.place();
      put(name, std::move(value), text.place());
      into_.of_launcher.push_back(name);
    }
  }

  void put(std::string name, Value value, Origin origin) {
    Value& root = into_.flags.root;
    const auto [known, is_new] = members_.emplace(name, root.members.size());
    if (is_new) {
      root.members.emplace_back(std::move(name), Value());
      root.key_origins.emplace_back();
    }
    root.members[known->second].second = std::move(value);
    root.key_origins[known->second] = origin;
  }

  const shell::Play& play_;
  std::set<std::string> said_;
  std::map<std::string, std::size_t, std::less<>> members_;  // of the flags, by name
  ArgumentText into_;
};

}  // namespace

ArgumentText parse_arguments(std::string_view text,
                             const std::string& source_name,
                             const Defines& defines,
                             const FindSourced& find_sourced) {
  BatchOptions batch(text);
  const Text script = shell::Text::written(text, {.source = 0, .line = 1, .column = 1});
  const shell::Play play =
      shell::play_script(script, source_name, batch.variables(), defines, find_sourced);
  batch.add(play.batch);
  const ChosenCommand chosen = chosen_command(play);
  Flags flags(play);
  flags.assume_guesses();
  for (const std::vector<Text>& words : chosen.words) {
    flags.read(words);
  }
  for (const BatchOptions::Option& option : batch.all()) {
    flags.add_option(option);
  }
  flags.add_environment(chosen.command);
  if (chosen.command != nullptr) {
    flags.add_processes(chosen.command->words, batch);
    flags.assume_of(*chosen.command);
    flags.set_tool(tool_of(*chosen.command));
  }
  return flags.finish();
}

}  // namespace titer
