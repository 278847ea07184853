#pragma once
// What the importers of this room share: a file's text, and what a user adds to it.

#include <string>
#include <string_view>
#include <vector>

#include "titer/topology/import/imports.hpp"

namespace titer {

/// All of a file; one that cannot be read is an InputError naming it.
[[nodiscard]] std::string file_text(const std::string& path);

/// The lines of a text, without what ends them.
[[nodiscard]] std::vector<std::string_view> text_lines(std::string_view text);
/// The words of a line, without the terminal's underlining.
[[nodiscard]] std::vector<std::string> text_words(std::string_view line);
/// Throws InputError with the line of the file.
[[noreturn]] void refuse_line(std::string_view source, int line, const std::string& what);

/// Whether a name comes before another, the numbers in them by value: "node9" before "node10".
[[nodiscard]] bool before_by_number(std::string_view a, std::string_view b);

/// The keys "link_bandwidth", "pcie_bandwidth" and "socket_bandwidth".
[[nodiscard]] LinkFigures read_link_figures(Reader& in);

}  // namespace titer
