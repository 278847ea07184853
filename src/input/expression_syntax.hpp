#pragma once
// What the text of an expression must not say, though the parser would take it in silence.

#include <optional>
#include <string>
#include <string_view>

namespace titer {

/// Of names.
inline constexpr std::string_view kNameCharacters =
    "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The parser takes "=" for an assignment, and of "a, b" the last alone. What was expected in place
/// of such a text; empty where there is neither.
[[nodiscard]] std::optional<std::string> refused_syntax(std::string_view text);

}  // namespace titer
