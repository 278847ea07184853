#pragma once
// Text and numbers inside SVG.

#include <string>
#include <string_view>

namespace titer {

/// With the characters that mean something else there written out.
[[nodiscard]] std::string svg_escaped(std::string_view text);

/// Tenths, and no zero that nobody needs: a picture is mostly numbers.
[[nodiscard]] std::string tenths(double value);

}  // namespace titer
