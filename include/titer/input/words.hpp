#pragma once
// Words as they are compared, whoever wrote them.

#include <cstddef>
#include <string>
#include <string_view>

namespace titer {

/// With small letters for the capital ones of ASCII.
[[nodiscard]] std::string lower(std::string_view text);

/// Whether it may be part of a name of a variable: a letter or digit of ASCII, or "_".
[[nodiscard]] bool is_of_name(char c);

/// Its first bytes and "…", if it has more than `longest`: what a message shows of a text of any
/// length.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t longest);

/// Whether it would do something to a terminal: a byte of ASCII below the blank, or DEL.
[[nodiscard]] bool is_control(char c);

/// With each control character as \u001b, so that it does nothing to a terminal and breaks no line.
[[nodiscard]] std::string visible(std::string_view text);

}  // namespace titer
