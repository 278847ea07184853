#pragma once
// Variables after branches of which nothing in the script tells which one is taken, and what of
// commands that are not followed would matter.

#include <string>
#include <vector>

#include "shell_play.hpp"
#include "shell_script.hpp"
#include "shell_values.hpp"

namespace titer::shell {

[[nodiscard]] inline bool has_flags(const Text& text) {
  return text.chars.find("--") != std::string::npos;
}
/// Whether flags are written anywhere in these commands.
[[nodiscard]] bool writes_flags(const Commands& commands);

/// Whether a condition is about what a loop that is not followed would have set.
[[nodiscard]] bool asks_of(const Commands& condition, const std::vector<PassedOver>& loops);

/// The names of flags in a value, added to those known already.
void add_flags(const Variable* variable, std::vector<std::string>& into);

/// What is set differently at the ends of the branches depends on the question from then on.
[[nodiscard]] Variables joined(const std::vector<Variables>& ends, const Question& question);

/// Names of what is set to something else in `after`, or only there.
[[nodiscard]] std::vector<std::string> names_set(const Variables& before, const Variables& after);

}  // namespace titer::shell
