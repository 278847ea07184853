#pragma once
// Pictures as PNG, drawn by librsvg where the machine has it. It is loaded when a PNG is asked for:
// with the forty libraries that it brings, a program that is linked to it takes twice as long to
// start.

#include <string>
#include <string_view>

namespace titer {

/// Throws InputError where this machine, or this build, cannot draw a PNG.
void expect_png();

/// A picture of SVG as PNG, on white, with two pixels for each of its own, fewer where that is many
/// millions.
[[nodiscard]] std::string png_of(std::string_view svg);

}  // namespace titer
