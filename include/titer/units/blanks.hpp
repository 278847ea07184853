#pragma once
// Blanks before, behind and between words.

#include <string_view>
#include <vector>

namespace titer {

inline constexpr std::string_view kBlanks = " \t\r\n";

/// Without the blanks before and behind it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// What is between blanks.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);
/// Whether these two characters come first, whatever blanks are before and between them.
[[nodiscard]] bool begins_as(std::string_view text, std::string_view pair);

}  // namespace titer
