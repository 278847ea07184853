#pragma once
// Words as they are compared, whoever wrote them.

#include <string>
#include <string_view>

namespace titer {

/// With small letters for the capital ones of ASCII.
[[nodiscard]] std::string lower(std::string_view text);

/// Whether it may be part of a name of a variable: a letter or digit of ASCII, or "_".
[[nodiscard]] bool is_of_name(char c);

}  // namespace titer
