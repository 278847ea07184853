#pragma once
// A CSV table with a header row: cells by column name, numbers checked, mistakes with their place.
// Fields may be quoted ("" is a quote inside), and a quoted field may hold line ends. Where the
// header has no comma, what it has of ";", a tab and "|" is between them. A line with "#" in front
// and another number of fields is none.

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/reader.hpp"

namespace titer {

class CsvTable {
 public:
  /// Throws InputError with every row that has more or fewer fields than the header, for a column
  /// named twice or not at all, a quote that is not closed, or no header.
  [[nodiscard]] static CsvTable parse(std::string_view text, std::string source_name);
  /// An unreadable file is an InputError naming the path.
  [[nodiscard]] static CsvTable load(const std::filesystem::path& path);

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  /// REQUIRES a column of that number, and none of that name.
  void rename(std::size_t column, std::string name);
  [[nodiscard]] bool has(std::string_view column) const;
  [[nodiscard]] bool has_all(std::initializer_list<std::string_view> columns) const;

  /// The cell's text, blanks around it cut; "" when it is empty. Throws InputError, with the
  /// closest name, for a column that the table has not. REQUIRES row < rows().
  [[nodiscard]] std::string_view text(std::size_t row, std::string_view column) const;
  /// The cell as a finite number in [least, most], and empty when the cell is; reports what is not.
  [[nodiscard]] std::optional<double> maybe_number(std::size_t row,
                                                   std::string_view column,
                                                   double least,
                                                   double most,
                                                   Problems& problems) const;
  /// "table.csv:7: time_us".
  [[nodiscard]] std::string where(std::size_t row, std::string_view column) const;

 private:
  struct Row {
    int line = 0;
    std::vector<std::string> cells;
  };
  [[nodiscard]] std::size_t index_of(std::string_view column) const;

  std::string source_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

}  // namespace titer
