#pragma once
// What questions have in common: changes, and the command line that asks the same.

#include <string>

#include "titer/study/question.hpp"

namespace titer {

/// The member "set".
[[nodiscard]] Changes read_changes(Reader& in);
/// " --set plan.tensor=8 --set …"
[[nodiscard]] std::string set_options(const Changes& changes);
/// Without the places where it was written, to be put into a document of its own.
[[nodiscard]] Value without_places(Value value);
/// In quotes where a shell would not take it as it is.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace titer
