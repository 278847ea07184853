#include "chosen_command.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <utility>

#include "titer/input/words.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

using shell::PlayedCommand;
using shell::Text;
using Groups = std::vector<std::vector<Text>>;

std::size_t changes_of(const std::vector<Text>& words) {
  return static_cast<std::size_t>(std::ranges::count_if(
      words, [](const Text& word) { return shell::override_of(word).has_value(); }));
}

/// Names of programs that work on checkpoints, data or answers rather than train.
bool names_tool(std::string_view word) {
  constexpr std::array<std::string_view, 8> kinds = {
      "convert", "preprocess", "tokenize", "merge", "generat", "inference", "evaluat", "download"};
  constexpr std::array<std::string_view, 3> trainings = {"train", "tune", "sft"};
  const std::string name = lower(word.substr(word.rfind('/') + 1));
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  return name.ends_with(".py") && std::ranges::any_of(kinds, has) &&
         std::ranges::none_of(trainings, has);
}

/// "swift rollout": of a program with commands one that trains by no step that is modelled.
bool is_other_subcommand(const std::vector<Text>& words) {
  constexpr std::array<std::string_view, 4> programs = {
      "swift", "megatron", "llamafactory-cli", "trl"};
  constexpr std::array<std::string_view, 4> trainings = {"sft", "pt", "train", "pretrain"};
  const auto among = [](const auto& names, const std::string& word) {
    return includes(names, word);
  };
  return words.size() > 1 && among(programs, words[0].chars) && !among(trainings, words[1].chars);
}

/// Those that train before others, of these the one that tells the most.
const PlayedCommand* command_of(const shell::Play& play) {
  const auto found = std::ranges::max_element(play.commands, [](const auto& a, const auto& b) {
    const std::pair of_a(!is_tool(a), flags_of(a.words) + changes_of(a.words));
    const std::pair of_b(!is_tool(b), flags_of(b.words) + changes_of(b.words));
    return of_a < of_b;
  });
  return found == play.commands.end() ? nullptr : &*found;
}

std::vector<Text> words_of(const std::string& name, const shell::Variable& variable) {
  std::vector<Text> words;
  if (variable.depends_on && !variable.flags.empty()) {
    words.push_back(Text::made("${" + name + "}", variable.depends_on->at));
  }
  for (const Text& item : variable.items) {
    if (item.chars.find("--") != std::string::npos) {
      std::vector<Text> parts = shell::split_words(item);
      shell::end_command(parts);
      words.insert(words.end(), parts.begin(), parts.end());
    } else if (variable.is_array) {
      words.push_back(item);
    }
  }
  return words;
}

/// All that variables hold of flags.
Groups words_of_variables(const shell::Play& play) {
  Groups groups;
  for (const std::string& name : play.order) {
    const auto found = play.variables.find(name);
    if (found != play.variables.end()) {
      groups.push_back(words_of(name, found->second));
    }
  }
  return groups;
}

/// One variable's flags often stand in another one, too, and all in the one that is run.
std::size_t different_flags(const Groups& groups) {
  std::set<std::string> names;
  for (const std::vector<Text>& words : groups) {
    for (const Text& word : words) {
      if (is_flag(word)) {
        names.insert(word.chars.substr(0, word.chars.find('=')));
      }
    }
  }
  return names.size();
}

}  // namespace

std::string tool_of(const PlayedCommand& command) {
  const auto found =
      std::ranges::find_if(command.words, [](const Text& word) { return names_tool(word.chars); });
  return found == command.words.end() ? "" : found->chars;
}

bool is_tool(const PlayedCommand& command) {
  return is_other_subcommand(command.words) || !tool_of(command).empty();
}

bool is_flag(const Text& word) {
  return word.size() > 2 && word.chars.starts_with("--") &&
         std::isalpha(static_cast<unsigned char>(word.at(2))) != 0;
}

std::size_t flags_of(const std::vector<Text>& words) {
  return static_cast<std::size_t>(std::ranges::count_if(words, is_flag));
}

ChosenCommand chosen_command(const shell::Play& play) {
  const PlayedCommand* const command = command_of(play);
  Groups in_variables = words_of_variables(play);
  const bool is_sourced =
      command == nullptr || (changes_of(command->words) == 0 &&
                             2 * flags_of(command->words) < different_flags(in_variables));
  return is_sourced ? ChosenCommand{.words = std::move(in_variables)}
                    : ChosenCommand{.command = command, .words = {command->words}};
}

}  // namespace titer
