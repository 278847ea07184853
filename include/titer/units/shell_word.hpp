#pragma once
// Commands to be copied into a shell.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace titer {

/// A word as the shell takes it: in quotes where it has to be.
[[nodiscard]] std::string shell_word(std::string_view word);

/// The words of a command, as a shell gives them to a program. Nothing where a quote is left open,
/// or something stands there that a shell would act upon: variables, other commands, redirections.
[[nodiscard]] std::optional<std::vector<std::string>> shell_words(std::string_view command);

}  // namespace titer
