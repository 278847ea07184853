#pragma once
// Words of a command that change a configuration.

#include <optional>

#include "shell_text.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer::shell {

/// What "model.layers=4" tells, also with + or ~ before it as Hydra has them; a name that begins
/// with a large letter is of a variable. None: another word.
[[nodiscard]] std::optional<ArgumentOverride> override_of(const Text& word);

}  // namespace titer::shell
