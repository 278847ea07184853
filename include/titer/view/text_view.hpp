#pragma once
// What people read of an answer: lines, and tables between them.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "titer/view/figure.hpp"

namespace titer {

/// Where a text is read.
struct TextStyle {
  std::size_t width = 0;  // characters of a line; 0: no line is too long
  bool in_colour = false;
};

/// What is known of a terminal.
struct TerminalSettings {
  std::size_t width = 0;       // 0: not known
  std::string_view columns{};  // COLUMNS, NO_COLOR and TERM of the environment, "" if not there
  std::string_view no_colour{};
  std::string_view kind{};
};
[[nodiscard]] TextStyle style_of(const TerminalSettings& terminal);

/// The cells of a table, from left to right.
using Row = std::vector<std::string>;

/// The label of a column that needs no heading.
inline constexpr const char* kNoHeading = " ";

class TextView {
 public:
  struct Table {
    std::vector<Row> rows;
    std::string aligns;
    std::string indent;
    bool has_heading = false;
  };
  using Block = std::variant<std::string, Table>;

  TextView() = default;
  TextView(std::string lines) { add(std::move(lines)); }  // NOLINT: lines are a text

  /// Lines with their ends.
  TextView& add(std::string lines);
  /// A table of the figures that have labels, which head its columns; nothing where there is no
  /// row. `aligns`: of text_table().
  TextView& table(const FigureRows& rows,
                  std::string_view aligns = "l",
                  std::string_view indent = "  ");
  /// A line for each figure that has a label and is there: the label, then its value.
  TextView& pairs(const Figures& figures, std::string_view indent = "  ");
  /// A table without headings.
  TextView& lines(std::vector<Row> rows,
                  std::string_view aligns = "l",
                  std::string_view indent = "  ");
  TextView& append(const TextView& other);

  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  /// Lines and tables by turns. Lines from one empty one to the next belong together; the last
  /// before a table, or before lines that are farther in, is a heading.
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  /// Lines that are too long go on in the next, below what they tell of; of a table that is too
  /// wide some columns stand below the others.
  [[nodiscard]] std::string write(const TextStyle& style = {}) const;

 private:
  static std::string written(const Table& table, const TextStyle& style);
  static std::string split(const Table& table, const TextStyle& style);

  std::vector<Block> blocks_;
};

}  // namespace titer
