#pragma once
// Configurations that Python's json writes, which puts words for numbers that JSON has not.

#include <optional>
#include <string>
#include <string_view>

namespace titer {

/// The text of a model's configuration (one with "model_type" or "architectures") with Infinity,
/// -Infinity and NaN as texts of the same length: what reads such a key as a number refuses it, and
/// all others stay where they are. Nothing for other texts, whose authors are told.
[[nodiscard]] std::optional<std::string> with_quoted_words(std::string_view text);

}  // namespace titer
