#pragma once
// Text and numbers inside SVG and HTML.

#include <string>
#include <string_view>

namespace titer {

/// Any text as it may stand between tags and in quoted attributes: characters that mean something
/// else there written out, control characters as \u001b, bytes that are no UTF-8 as U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// Tenths, and no zero that nobody needs: a picture is mostly numbers.
[[nodiscard]] std::string tenths(double value);

/// The distance of marks on an axis: 1, 2 or 5 times a power of ten, at least `least`.
[[nodiscard]] double mark_distance(double least);

}  // namespace titer
