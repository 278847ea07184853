#pragma once
// Rows as text for people and as CSV for programs.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "titer/units/number_text.hpp"
#include "titer/view/text_view.hpp"

namespace titer {

/// A table in columns two blanks apart, each line indented; the first row is the heading. `aligns`:
/// an l or r for each column, to the left or right, or b where its cells are of bar_text(); columns
/// beyond them are aligned right. Widths count characters, not bytes, of UTF-8.
[[nodiscard]] std::string text_table(const std::vector<Row>& rows,
                                     std::string_view aligns = "l",
                                     std::string_view indent = "  ");
/// Characters, not bytes, of UTF-8.
[[nodiscard]] std::size_t width_of(std::string_view text);
/// Of each column, its widest cell.
[[nodiscard]] std::vector<std::size_t> column_widths(const std::vector<Row>& rows);

/// One CSV line with its newline; cells quoted where RFC 4180 asks for it.
[[nodiscard]] std::string csv_line(const Row& cells);

/// The shortest text that reads back as the same double: for CSV cells.
[[nodiscard]] std::string number_text(double value);
/// A value as a CSV cell: texts as they are, nothing for null.
[[nodiscard]] std::string csv_cell(const Value& value);
/// "8,030,261,248".
[[nodiscard]] std::string grouped_digits(std::int64_t number);
inline constexpr std::size_t kBarMarks = 40;  // for the whole
/// Marks side by side, kBarMarks for the whole; none for less than nothing.
[[nodiscard]] std::string bar_text(double share, char mark = '#');

}  // namespace titer
