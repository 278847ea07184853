#pragma once
// Which of the programs over HuggingFace's trainer a command starts, and what for.

#include <string>
#include <string_view>

#include "import/import_parts.hpp"

namespace titer {

/// Reports a training by preferences or rewards, by its own settings or by its program's name.
[[nodiscard]] bool is_of_preferences(const ImportTask& task);
/// Whether one of the words is in the name of a script, as "lora" is in train_lora.py.
[[nodiscard]] bool is_program(const ImportTask& task, std::string_view words);
/// The class that a program in Python gives the settings to, in small letters.
[[nodiscard]] std::string class_of(const ImportTask& task, std::string_view key);
/// TRL's own program, whose defaults are others than the trainer's.
[[nodiscard]] bool is_trl(const ImportTask& task);

}  // namespace titer
