// What a sweep's table that was written before says of its rows.

#include <algorithm>
#include <fstream>

#include "titer/input/csv.hpp"
#include "titer/report/study/sweep_report.hpp"

namespace titer {
namespace {

/// Status and reason of a row.
struct WrittenRow {
  std::string status;
  std::string reason;
};

WrittenRow read_row(const std::string& header, const std::string& row, RowFormat format) {
  if (format == RowFormat::csv) {
    const CsvTable table = CsvTable::parse(header + row, "row");
    return {std::string(table.text(0, "status")), std::string(table.text(0, "reason"))};
  }
  const Document document = parse_json(row, "row");
  const auto text = [&](std::string_view key) {
    const Value* value = document.at(key);
    return value == nullptr ? "" : value->text;
  };
  return {text("status"), text("reason")};
}

/// The next row with its end of line; false at the end. A cell of CSV in quotes may have lines.
bool next_row(std::ifstream& file, RowFormat format, std::string& row) {
  row.clear();
  std::ptrdiff_t quotes = 0;
  for (std::string line; std::getline(file, line);) {
    quotes += std::ranges::count(line, '"');
    row += line + "\n";
    if (format == RowFormat::json_lines || quotes % 2 == 0) {
      return true;
    }
  }
  return !row.empty();
}

}  // namespace

WrittenDefects written_defects(const std::filesystem::path& path, RowFormat format) {
  std::ifstream file(path, std::ios::binary);
  std::string header;
  if (format == RowFormat::csv) {
    static_cast<void>(next_row(file, format, header));
  }
  WrittenDefects found;
  for (std::string row; next_row(file, format, row);) {
    ++found.rows;
    if (row.find(name(PointStatus::defect)) == std::string::npos) {
      continue;  // taking the cells of every row apart would take longer
    }
    WrittenRow read = read_row(header, row, format);
    if (read.status != name(PointStatus::defect)) {
      continue;
    }
    if (++found.count == 1) {
      found.first = found.rows;
      found.reason = std::move(read.reason);
    }
  }
  return found;
}

}  // namespace titer
