#pragma once
// A sweep as a table: its axes, derived fields, what became of each point, and the point's results.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/study/sweep.hpp"

namespace titer {

enum class RowFormat {
  csv,         // a header, then a line for each row
  json_lines,  // an object for each row, the columns its keys; null where there is nothing
};
inline constexpr std::array<Choice<RowFormat>, 2> kRowFormats = {
    {{"csv", RowFormat::csv}, {"jsonl", RowFormat::json_lines}}};

/// Makes the text of rows; any number of threads may share it.
class SweepRows {
 public:
  SweepRows(const Sweep& sweep, RowFormat format);

  /// With its end of line; "" where the format has none.
  [[nodiscard]] std::string header() const;
  /// Appends a row with its end of line.
  void append(const SweepPoint& point, std::string& text) const;

 private:
  void append_result(const SweepPoint& point, std::size_t column, std::string& text) const;
  void append_number(std::size_t column, double number, std::string& text) const;
  void append_text(std::size_t column, std::string_view value, std::string& text) const;
  void begin_cell(std::size_t column, std::string& text) const;

  RowFormat format_;
  std::vector<std::string> columns_;
  std::vector<std::string> begins_;              // of the cells, by column: `,` or `,"mfu":`
  std::vector<std::vector<std::string>> cells_;  // by axis and value
  std::size_t derived_ = 0;                      // columns of derived fields
  std::string no_result_;                        // the cells of a result where there is none
};

/// "where.0: plan.tensor <= 8: leaves out 12 of 64 points": a line for each constraint that left
/// some out, of so many points.
[[nodiscard]] std::vector<std::string> left_out_lines(const Sweep& sweep,
                                                      std::span<const std::uint64_t> left_out);
/// Throws InputError with these lines: nothing is left.
[[noreturn]] void refuse_empty(const Sweep& sweep, std::span<const std::uint64_t> left_out);

}  // namespace titer
