#pragma once
// Programs in Python over HuggingFace's trainer.

#include <string>
#include <string_view>
#include <vector>

#include "titer/import/imported.hpp"
#include "titer/input/document.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {

/// Whether the text is a program that trains with it: that gives settings to one of its classes, or
/// to those of TRL or Unsloth.
[[nodiscard]] bool is_hf_program(std::string_view text);

/// The settings that it gives these classes, by the names that they have on a command line: of
/// TrainingArguments and SFTConfig as they are, "model_name_or_path" of from_pretrained, "lora_r"
/// of LoraConfig … Arguments of its own count with their defaults, unless the options define them.
/// Constants that it imports from files of its own are those files', where `find_sourced` finds
/// them. Nothing is run: what a condition or a call would tell stays as "$(…)". Throws InputError
/// for a program that is told all of it.
[[nodiscard]] Document parse_hf_program(std::string_view text,
                                        const std::string& file,
                                        const ImportOptions& options,
                                        std::vector<std::string>& assumed,
                                        const FindSourced& find_sourced = {});

}  // namespace titer
