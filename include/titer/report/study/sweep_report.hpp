#pragma once
// A sweep as a table: its axes, derived fields, what became of each point, and the point's results.

#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/sweep/sweep.hpp"
#include "titer/view/table.hpp"

namespace titer {

enum class RowFormat {
  csv,         // a header, then a line for each row
  json_lines,  // an object for each row, the columns its keys; null where there is nothing
};
inline constexpr std::array<Choice<RowFormat>, 2> kRowFormats = {
    {{"csv", RowFormat::csv}, {"jsonl", RowFormat::json_lines}}};

/// The text of each column's number in the row before: in most rows most numbers are the same
/// again, and finding the shortest digits of one takes longer than comparing it.
class KeptCells {
 public:
  /// The text of a column's cell, by `write` (number, text) if it is not the number kept.
  template <class Write>
  [[nodiscard]] std::string_view text(std::size_t column, double number, const Write& write) {
    if (column >= cells_.size()) {
      cells_.resize(column + 1);
    }
    Cell& cell = cells_[column];
    const auto bits = std::bit_cast<std::uint64_t>(number);
    if (cell.text.empty() || cell.bits != bits) {
      cell.bits = bits;
      cell.text.clear();
      write(number, cell.text);
    }
    return cell.text;
  }

 private:
  struct Cell {
    std::uint64_t bits = 0;
    std::string text;
  };
  std::vector<Cell> cells_;
};

/// Makes the text of rows. Those of CSV begin with the names of the sweep and of its scenario's
/// model, cluster and stack where no axis has them, so that tables can stand below one another. Any
/// number of threads may share it, each with its own KeptCells.
class SweepRows {
 public:
  SweepRows(const Sweep& sweep, RowFormat format);

  /// With its end of line; "" where the format has none.
  [[nodiscard]] std::string header() const;
  /// Appends a row with its end of line.
  void append(const SweepPoint& point, KeptCells& kept, std::string& text) const;

 private:
  void append_result(const SweepPoint& point,
                     std::size_t column,
                     KeptCells& kept,
                     std::string& text) const;
  void append_number(std::size_t column, double number, KeptCells& kept, std::string& text) const;
  void write_number(std::size_t column, double number, std::string& text) const;
  void append_text(std::size_t column, std::string_view value, std::string& text) const;
  void begin_cell(std::size_t column, std::string& text) const;

  RowFormat format_;
  Row names_;               // of the columns that are the same in all rows
  std::string same_;        // what every row begins with, their cells
  std::size_t reason_ = 0;  // its column; those that are asked for come after
  std::vector<SweepColumn> asked_;
  std::vector<std::string> columns_;
  std::vector<std::string> begins_;              // of the cells, by column: `,` or `,"mfu":`
  std::vector<std::vector<std::string>> cells_;  // by axis and value
  std::size_t derived_ = 0;                      // columns of derived fields
  std::string no_result_;                        // the cells of a result where there is none
};

/// Rows of a table that a defect of the program left without a result, as its status column says.
struct WrittenDefects {
  std::size_t rows = 0;  // all that there are
  std::size_t count = 0;
  std::size_t first = 0;  // of the rows, from 1
  std::string reason{};   // of the first
};
[[nodiscard]] WrittenDefects written_defects(const std::filesystem::path& path, RowFormat format);

}  // namespace titer
