#pragma once
// What questions have in common: changes, and the command line that asks the same.

#include "titer/scenario/command_text.hpp"
#include "titer/seeds/question.hpp"
#include "titer/units/shell_word.hpp"

namespace titer {

/// The member "set".
[[nodiscard]] Changes read_changes(Reader& in);
/// Without the places where it was written, to be put into a document of its own.
[[nodiscard]] Value without_places(Value value);

}  // namespace titer
