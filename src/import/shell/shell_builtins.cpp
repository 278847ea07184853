// What a script's commands do to the going through it: calls, sourced files, texts run as commands.

#include <algorithm>
#include <utility>

#include "shell_player.hpp"
#include "titer/input/reader.hpp"

namespace titer::shell {
namespace {

constexpr int kDeepestCall = 30;

}  // namespace

bool Player::builtin(const std::string& head, const std::vector<Text>& words) {
  if (head == "exit") {
    has_left_ = true;
  } else if (head == "return") {
    has_returned_ = true;
  } else if (head == "break" || head == "continue") {
    ends_turn_ = true;
    ends_loop_ = head == "break";
  } else if (head == "unset") {
    for (const Text& word : words) {
      scope_.variables.erase(word.chars);
    }
  } else if (head == "shift") {
    shift(words);
  } else if ((head == "source" || head == ".") && words.size() > 1) {
    source(words[1]);
  } else {
    return false;
  }
  return true;
}

void Player::source(const Text& file) {
  auto found = find_sourced_ && depth_ < kDeepestCall ? find_sourced_(file.chars) : std::nullopt;
  if (!found) {
    play_.sourced.push_back(file);
    return;
  }
  ++depth_;
  play_.sources.push_back(found->name);
  play_.sourced_at.push_back(file.place());
  const int number = static_cast<int>(play_.sources.size()) - 1;
  const Text text = Text::written(found->text, {.source = number, .line = 1, .column = 1});
  std::swap(scope_.source, found->name);
  run(parse_script(text, scope_.source));
  std::swap(scope_.source, found->name);
  has_returned_ = false;
  --depth_;
}

void Player::print(const Command& command, const std::vector<Text>& words) {
  Text made;
  for (std::size_t i = 1; i < words.size() && command.documents.empty(); ++i) {
    made.append(words[i]);
    made.add(' ', words[i].place());
  }
  if (!command.documents.empty()) {
    const HereDocument& document = command.documents.back();
    made = document.expands ? expand_document(scope_, document.text) : document.text;
  }
  printed_ = std::move(made);
}

bool Player::reads_commands(const Command& command, const std::vector<Text>& words) {
  const bool is_shell = is_one_of(words.front().chars, {"bash", "sh", "zsh", "sbatch"}) &&
                        std::all_of(words.begin() + 1, words.end(), [](const Text& word) {
                          return word.at(0) == '-' && word.chars != "-c";
                        });
  if (is_shell && !command.documents.empty()) {
    print(command, words);
  }
  const bool is_given = command.joint == Command::Joint::piped || !command.documents.empty();
  if (!is_shell || !is_given || !printed_) {
    return false;
  }
  const Text text = *std::exchange(printed_, std::nullopt);
  run_inside(text);
  return true;
}

/// More than there are arguments moves none.
void Player::shift(const std::vector<Text>& words) {
  const auto told =
      words.size() > 1 ? calculate(scope_, words[1].chars) : std::optional(std::int64_t{1});
  const auto by = static_cast<std::size_t>(std::clamp<std::int64_t>(told.value_or(1), 0, 1000));
  if (!scope_.arguments) {
    scope_.shifted += by;
  } else if (by <= scope_.arguments->size()) {
    scope_.arguments->erase(scope_.arguments->begin(),
                            scope_.arguments->begin() + static_cast<std::ptrdiff_t>(by));
  }
}

void Player::replace(const Text& word) {
  const char sign = word.at(1);
  if (word.at(0) != 's' || word.size() < 5 || std::isalnum(static_cast<unsigned char>(sign)) != 0) {
    return;
  }
  const std::size_t middle = word.chars.find(sign, 2);
  const std::size_t end = middle == std::string::npos ? middle : word.chars.find(sign, middle + 1);
  const std::string name = word.chars.substr(2, middle - 2);
  if (end != std::string::npos &&
      name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos) {
    play_.replaced[name] = word.part(middle + 1, end);
  }
}

void Player::call(const std::string& name, std::optional<std::vector<Text>> arguments) {
  if (++depth_ <= kDeepestCall) {
    const Commands body = functions_.at(name);
    std::map<std::string, std::optional<Variable>> outer;
    std::swap(arguments, scope_.arguments);
    std::swap(outer, outer_);
    run(body);
    std::swap(outer, outer_);
    std::swap(arguments, scope_.arguments);
    for (auto& [own, before] : outer) {
      scope_.variables.erase(own);
      if (before) {
        scope_.set(own, *std::move(before));
      }
    }
    has_returned_ = false;
  }
  --depth_;
}

void Player::run_inside(const Text& text) {
  if (++depth_ <= kDeepestCall) {
    Commands inside;
    try {
      inside = parse_script(text, scope_.source);
    } catch (const InputError&) {
      inside.clear();
    }
    run(inside);
  }
  --depth_;
}

}  // namespace titer::shell
