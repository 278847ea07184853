#pragma once
// Which of a script's commands is the training.

#include <cstddef>
#include <vector>

#include "import/shell/shell_play.hpp"

namespace titer {

[[nodiscard]] bool is_flag(const shell::Text& word);
[[nodiscard]] std::size_t flags_of(const std::vector<shell::Text>& words);

struct ChosenCommand {
  const shell::PlayedCommand* command = nullptr;  // none of a file that another one is to source
  std::vector<std::vector<shell::Text>> words;    // of the command; or of each variable
};

/// The command with the most flags and changes, of several the first; of a script that runs none
/// with as much as half of the flags that its variables hold, these. `play` must outlive it.
[[nodiscard]] ChosenCommand chosen_command(const shell::Play& play);

}  // namespace titer
