// What commands are told beside their words, and what they write for others.

#include "shell_player.hpp"

namespace titer::shell {

bool Player::sets_for_itself(const Command& command) {
  return !command.assignments.empty() && !command.words.empty() &&
         !is_one_of(command.words.front().chars,
                    {"export", "declare", "typeset", "local", "readonly", "eval"});
}

Variables Player::of_devices() const {
  Variables found;
  for (const std::string_view name : kOfDevices) {
    if (const Variable* const variable = scope_.find(name)) {
      found.emplace(name, *variable);
    }
  }
  return found;
}

void Player::restore(Variables of_devices) {
  for (const std::string_view name : kOfDevices) {
    scope_.variables.erase(std::string(name));
  }
  scope_.variables.merge(of_devices);
}

void Player::write(const Command& command, const Text& printed) {
  Text& document = play_.documents[expand_text(scope_, command.writes_to).chars];
  if (!command.appends) {
    document = {};
  }
  check({document, printed});
  document.append(printed);
  document.add('\n', printed.place());
}

}  // namespace titer::shell
