#pragma once
// Which of a script's commands is the training.

#include <cstddef>
#include <string>
#include <vector>

#include "script/shell/shell_play.hpp"

namespace titer {

[[nodiscard]] bool is_flag(const shell::Text& word);
[[nodiscard]] std::size_t flags_of(const std::vector<shell::Text>& words);

/// Whether a command converts, generates or evaluates, by the program's name or by its subcommand.
[[nodiscard]] bool is_tool(const shell::PlayedCommand& command);
/// The program of such a name; "" for none.
[[nodiscard]] std::string tool_of(const shell::PlayedCommand& command);

struct ChosenCommand {
  const shell::PlayedCommand* command = nullptr;  // none of a file that another one is to source
  std::vector<std::vector<shell::Text>> words;    // of the command; or of each variable
};

/// Of the commands that train the one with the most flags and changes, of several the first; of a
/// script that runs none with as much as half of the flags that its variables hold, these. `play`
/// must outlive it.
[[nodiscard]] ChosenCommand chosen_command(const shell::Play& play);

}  // namespace titer
