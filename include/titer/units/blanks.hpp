#pragma once
// Blanks before, behind and between words, and what else divides texts.

#include <string_view>
#include <vector>

namespace titer {

inline constexpr std::string_view kBlanks = " \t\r\n";

/// Without the blanks before and behind it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// What is between blanks, or others of these.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text,
                                                     std::string_view between = kBlanks);
/// The lines of a text, or what else ends in one of these: of "a,,b" and "a,,b," alike a, nothing
/// and b.
[[nodiscard]] std::vector<std::string_view> divided(std::string_view text, std::string_view ends);
/// Whether these two characters come first, whatever blanks are before and between them.
[[nodiscard]] bool begins_as(std::string_view text, std::string_view pair);

}  // namespace titer
