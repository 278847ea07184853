#include "titer/view/text_view.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "titer/units/number_text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr std::size_t kHanging = 4;     // blanks more than the line that goes on
constexpr std::size_t kLeastRoom = 20;  // characters of a column's text, to go on below it
constexpr std::size_t kLeastWidth =
    40;  // of a terminal on which folding makes anything easier to read
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

/// Those that people read.
std::vector<const Figure*> labelled(const Figures& figures) {
  std::vector<const Figure*> list;
  for (const Figure& figure : figures) {
    if (!figure.label.empty()) {
      list.push_back(&figure);
    }
  }
  return list;
}

/// Whether a table has a column: some row has its figure, or each must.
bool is_shown(const std::vector<std::vector<const Figure*>>& rows, std::size_t column) {
  return !rows.front()[column]->if_any || std::ranges::any_of(rows, [&](const auto& row) {
    return column < row.size() && row[column]->datum.exists();
  });
}

/// The first bytes of a text that are at most so many characters.
std::size_t bytes_of(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool begins = (text[end] & 0xC0) != 0x80;
    if (begins && characters-- == 0) {
      break;
    }
  }
  return end;
}

/// A line in as many as it needs, those after the first indented; a word that is longer than a line
/// stays whole.
std::string folded(std::string_view line, std::size_t width, std::size_t indent) {
  std::string text;
  std::size_t room = width;
  while (width_of(line) > room) {
    const std::size_t inside = line.find_first_not_of(' ');
    std::size_t end = line.rfind(' ', bytes_of(line, room));
    if (end == line.npos || end <= inside) {
      end = line.find(' ', inside);
    }
    if (end == line.npos) {
      break;
    }
    const std::size_t words = line.find_last_not_of(' ', end);
    text += std::string(line.substr(0, words + 1)) + "\n" + std::string(indent, ' ');
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    room = width - indent;
  }
  return text + std::string(line);
}

/// Every line by itself; those that go on do so a little farther in, where there is room for it.
std::string folded_lines(std::string_view lines, std::size_t width) {
  std::string text;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t indent = own + kHanging + kLeastRoom <= width ? own + kHanging : 0;
    text += folded(line, width, indent);
    lines.remove_prefix(line.size());
    if (!lines.empty()) {
      text += '\n';
      lines.remove_prefix(1);
    }
  }
  return text;
}

/// Where the last column begins.
std::size_t last_column(const std::vector<Row>& rows, std::string_view indent) {
  const std::vector<std::size_t> widths = column_widths(rows);
  return widths.empty()
             ? 0
             : std::accumulate(
                   widths.begin(), widths.end() - 1, indent.size() + 2 * (widths.size() - 1));
}

/// Columns that a line has room for, the first of all among them, and those of the next lines.
std::vector<std::vector<std::size_t>> columns_by_line(const std::vector<Row>& rows,
                                                      std::size_t room) {
  const std::vector<std::size_t> widths = column_widths(rows);
  std::vector<std::vector<std::size_t>> lines;
  std::size_t taken = room;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    if (lines.empty() || (taken + 2 + widths[i] > room && lines.back().size() > 1)) {
      lines.push_back({0});
      taken = widths[0];
    }
    lines.back().push_back(i);
    taken += 2 + widths[i];
  }
  return lines;
}

/// Some columns of each row; one that is too short is blank there.
std::vector<Row> cells_of(const std::vector<Row>& rows, const std::vector<std::size_t>& columns) {
  std::vector<Row> some(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::size_t column : columns) {
      some[i].push_back(column < rows[i].size() ? rows[i][column] : "");
    }
  }
  return some;
}

/// A table whose last column goes on below itself; where there is no room for that its lines go on.
std::string folded_table(const std::string& text, std::size_t begin, std::size_t width) {
  if (begin + kLeastRoom > width) {
    return folded_lines(text, width);
  }
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    all += folded(std::string_view(text).substr(at, end - at), width, begin) + "\n";
    at = end + 1;
  }
  return all;
}

}  // namespace

TextStyle style_of(const TerminalSettings& terminal) {
  const std::size_t width = number_of_text<std::size_t>(terminal.columns).value_or(terminal.width);
  return {.width = width < kLeastWidth ? 0 : width,
          .in_colour = terminal.no_colour.empty() && terminal.kind != "dumb"};
}

TextView& TextView::add(std::string lines) {
  if (!blocks_.empty() && std::holds_alternative<std::string>(blocks_.back())) {
    std::get<std::string>(blocks_.back()) += lines;  // perhaps the rest of a line
  } else if (!lines.empty()) {
    blocks_.emplace_back(std::move(lines));
  }
  return *this;
}

TextView& TextView::table(const FigureRows& rows,
                          std::string_view aligns,
                          std::string_view indent) {
  if (rows.empty()) {
    return *this;
  }
  std::vector<std::vector<const Figure*>> cells;
  std::ranges::transform(rows, std::back_inserter(cells), labelled);
  std::vector<Row> lines(1 + rows.size());
  for (std::size_t column = 0; column < cells.front().size(); ++column) {
    if (!is_shown(cells, column)) {
      continue;
    }
    const std::string& label = cells.front()[column]->label;
    lines.front().push_back(label == kNoHeading ? "" : label);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      lines[i + 1].push_back(column < cells[i].size() ? cells[i][column]->datum.words() : "");
    }
  }
  const bool has_heading =
      std::ranges::any_of(lines.front(), [](const std::string& label) { return !label.empty(); });
  if (!has_heading) {
    lines.erase(lines.begin());
  }
  blocks_.emplace_back(Table{.rows = std::move(lines),
                             .aligns = std::string(aligns),
                             .indent = std::string(indent),
                             .has_heading = has_heading});
  return *this;
}

TextView& TextView::pairs(const Figures& figures, std::string_view indent) {
  std::vector<Row> rows;
  for (const Figure* figure : labelled(figures)) {
    if (figure->datum.exists()) {
      rows.push_back({figure->label, figure->datum.words()});
    }
  }
  return lines(std::move(rows), "ll", indent);
}

TextView& TextView::lines(std::vector<Row> rows, std::string_view aligns, std::string_view indent) {
  blocks_.emplace_back(
      Table{.rows = std::move(rows), .aligns = std::string(aligns), .indent = std::string(indent)});
  return *this;
}

TextView& TextView::append(const TextView& other) {
  for (const auto& block : other.blocks_) {
    if (const auto* lines = std::get_if<std::string>(&block)) {
      add(*lines);
    } else {
      blocks_.push_back(block);
    }
  }
  return *this;
}

std::string TextView::written(const Table& table, const TextStyle& style) {
  std::string text = text_table(table.rows, table.aligns, table.indent);
  if (style.width > 0) {
    text = folded_table(text, last_column(table.rows, table.indent), style.width);
  }
  if (!style.in_colour || !table.has_heading) {
    return text;
  }
  const std::size_t end = text.find('\n');
  return std::string(kBold) + text.substr(0, end) + std::string(kPlain) + text.substr(end);
}

/// As it is, or as several of some of its columns where a line has no room for the last.
std::string TextView::split(const Table& table, const TextStyle& style) {
  if (style.width == 0 || !table.has_heading ||
      last_column(table.rows, table.indent) + kLeastRoom <= style.width) {
    return written(table, style);
  }
  std::string text;
  for (const auto& columns : columns_by_line(table.rows, style.width - table.indent.size())) {
    Table part{.rows = cells_of(table.rows, columns),
               .aligns = {},
               .indent = table.indent,
               .has_heading = true};
    for (const std::size_t column : columns) {
      part.aligns += column < table.aligns.size() ? table.aligns[column] : 'r';
    }
    text += (text.empty() ? "" : "\n") + written(part, style);
  }
  return text;
}

std::string TextView::write(const TextStyle& style) const {
  std::string text;
  for (const auto& block : blocks_) {
    if (const auto* table = std::get_if<Table>(&block)) {
      text += split(*table, style);
      continue;
    }
    const std::string& lines = std::get<std::string>(block);
    text += style.width > 0 ? folded_lines(lines, style.width) : lines;
  }
  return text;
}

}  // namespace titer
