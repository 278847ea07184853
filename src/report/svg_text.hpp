#pragma once
// Text inside SVG.

#include <string>
#include <string_view>

namespace titer {

/// With the characters that mean something else there written out.
[[nodiscard]] std::string svg_escaped(std::string_view text);

}  // namespace titer
