#include "titer/view/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "titer/input/document.hpp"
#include "titer/input/words.hpp"

namespace titer {

/// Code points: every byte that does not continue one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::size_t> column_widths(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  return widths;
}

std::string text_table(const std::vector<Row>& rows,
                       std::string_view aligns,
                       std::string_view indent) {
  const std::vector<std::size_t> widths = column_widths(rows);
  std::string text;
  for (const Row& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      const bool left = i < aligns.size() && aligns[i] != 'r';
      line += (i == 0 ? "" : "  ") + (left ? row[i] + padding : padding + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    // Names in measured tables, traces and logs are whatever their authors wrote.
    text += visible(line) + "\n";
  }
  return text;
}

std::string csv_line(const Row& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    line += line.empty() && &cell == &cells.front() ? "" : ",";
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
      line += cell;
      continue;
    }
    line += '"';
    for (const char c : cell) {
      line += c == '"' ? "\"\"" : std::string(1, c);
    }
    line += '"';
  }
  return line + "\n";
}

std::string number_text(double value) { return fmt::format("{}", value); }

std::string csv_cell(const Value& value) {
  switch (value.kind) {
    case Value::Kind::text:
      return value.text;
    case Value::Kind::null:
      return {};
    case Value::Kind::number:
      return value.is_integer ? std::to_string(value.integer) : number_text(value.number);
    default:
      return to_json(value, 0);
  }
}

std::string grouped_digits(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string bar_text(double share, char mark) {
  const double marks = std::clamp(share, 0.0, 1.0) * static_cast<double>(kBarMarks);
  return std::string(static_cast<std::size_t>(std::lround(marks)), mark);
}

}  // namespace titer
