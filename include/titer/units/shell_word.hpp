#pragma once
// Commands to be copied into a shell.

#include <string>
#include <string_view>

namespace titer {

/// A word as the shell takes it: in quotes where it has to be.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace titer
