#include "titer/input/csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "titer/input/file.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

/// Cuts a text into records of fields.
class Scanner {
 public:
  Scanner(std::string_view text, char separator, const std::string& source)
      : text_(text), ends_{separator, '\n'}, source_(source) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] int line() const { return line_; }

  /// The fields up to the next line end outside quotes.
  [[nodiscard]] std::vector<std::string> record() {
    std::vector<std::string> fields;
    bool more = true;
    while (more) {
      fields.push_back(next_is('"') ? quoted() : plain());
      more = next_is(ends_[0]);
      at_ += more ? 1 : 0;
    }
    skip_line_end();
    return fields;
  }

 private:
  [[nodiscard]] bool next_is(char wanted) const { return !done() && text_[at_] == wanted; }

  [[nodiscard]] std::string plain() {
    const std::size_t end = std::min(
        text_.find_first_of(std::string_view(ends_.data(), ends_.size()), at_), text_.size());
    std::string field(trimmed(text_.substr(at_, end - at_)));
    at_ = end;
    return field;
  }

  [[nodiscard]] std::string quoted() {
    const int opened = line_;
    std::string field;
    for (++at_; !done(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        if (!next_is('"')) {
          refuse_text_after_quote();
          return field;
        }
      }
      line_ += text_[at_] == '\n' ? 1 : 0;
      field += text_[at_];
    }
    throw InputError(source_ + ":" + std::to_string(opened) + ": a quote is not closed");
  }

  void refuse_text_after_quote() {
    const std::string rest = plain();
    if (!rest.empty()) {
      throw InputError(source_ + ":" + std::to_string(line_) + ": " + rest + ": expected " +
                       (ends_[0] == ',' ? std::string("a comma") : std::string(1, ends_[0])) +
                       " or the end of the line after a quoted field");
    }
  }

  void skip_line_end() {
    if (!done()) {
      ++at_;  // plain() and quoted() stop at nothing else
      ++line_;
    }
  }

  std::string_view text_;
  std::array<char, 2> ends_;  // of a field, and of the last one
  const std::string& source_;
  std::size_t at_ = 0;
  int line_ = 1;
};

bool is_blank(const std::vector<std::string>& fields) {
  return fields.size() == 1 && fields.front().empty();
}

bool is_comment(std::string_view line) { return line.starts_with('#'); }

/// Of the header: a comma, or what else spreadsheets write where it has none.
char separator_of(std::string_view text) {
  while (is_comment(text) && text.find('\n') != std::string_view::npos) {
    text.remove_prefix(text.find('\n') + 1);
  }
  const std::string_view header = text.substr(0, text.find('\n'));
  for (const char separator : {',', ';', '\t', '|'}) {
    if (header.find(separator) != std::string_view::npos) {
      return separator;
    }
  }
  return ',';
}

void check_header(const std::vector<std::string>& columns,
                  const std::string& source,
                  Problems& problems) {
  for (auto column = columns.begin(); column != columns.end(); ++column) {
    if (column->empty()) {
      problems.add(source + ":1: a column without a name");
    } else if (std::find(columns.begin(), column, *column) != column) {
      problems.add(source + ":1: " + *column + ": a column of this name was there already");
    }
  }
}

}  // namespace

CsvTable CsvTable::parse(std::string_view text, std::string source_name) {
  if (text.starts_with("\xef\xbb\xbf")) {
    text.remove_prefix(3);  // a byte order mark, as spreadsheets write it
  }
  CsvTable table;
  table.source_ = std::move(source_name);
  Scanner scanner(text, separator_of(text), table.source_);
  if (scanner.done()) {
    throw InputError(table.source_ + ": expected a header row, found nothing");
  }
  Problems problems;
  table.columns_ = scanner.record();
  while (!scanner.done()) {
    Row row{.line = scanner.line(), .cells = scanner.record()};
    const bool has_other_length = row.cells.size() != table.columns_.size();
    if (table.rows_.empty() && has_other_length && is_comment(table.columns_.front())) {
      table.columns_ = std::move(row.cells);  // the header was none
      continue;
    }
    if (is_blank(row.cells) || (has_other_length && is_comment(row.cells.front()))) {
      continue;
    }
    if (row.cells.size() != table.columns_.size()) {
      problems.add(table.source_ + ":" + std::to_string(row.line) + ": " +
                   std::to_string(row.cells.size()) + " fields, but the header has " +
                   std::to_string(table.columns_.size()));
    }
    table.rows_.push_back(std::move(row));
  }
  check_header(table.columns_, table.source_, problems);
  problems.raise();
  return table;
}

CsvTable CsvTable::load(const std::filesystem::path& path) {
  return parse(read_text(path), path.string());
}

void CsvTable::rename(std::size_t column, std::string name) {
  ensure(column < columns_.size(), "a table renames its own columns");
  columns_[column] = std::move(name);
}

bool CsvTable::has(std::string_view column) const { return includes(columns_, column); }

bool CsvTable::has_all(std::initializer_list<std::string_view> columns) const {
  return std::ranges::all_of(columns, [&](std::string_view column) { return has(column); });
}

std::size_t CsvTable::index_of(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  if (found == columns_.end()) {
    const std::vector<std::string_view> names(columns_.begin(), columns_.end());
    const std::string_view near = closest(column, names);
    throw InputError(source_ + ":1: expected a column \"" + std::string(column) + "\"" +
                     (near.empty() ? "" : "; is it \"" + std::string(near) + "\"?"));
  }
  return static_cast<std::size_t>(found - columns_.begin());
}

std::string_view CsvTable::text(std::size_t row, std::string_view column) const {
  ensure(row < rows_.size(), "a table is asked for its own rows");
  return rows_[row].cells[index_of(column)];
}

std::optional<double> CsvTable::maybe_number(
    std::size_t row, std::string_view column, double least, double most, Problems& problems) const {
  const std::string_view cell = text(row, column);
  if (cell.empty()) {
    return std::nullopt;
  }
  const auto value = number_of_text<double>(cell);
  if (!value || !std::isfinite(*value)) {
    problems.add(where(row, column) + ": " + std::string(cell) + ": expected a number");
    return std::nullopt;
  }
  if (*value < least || *value > most) {
    problems.add(where(row, column) + ": " + std::string(cell) + ": out of range");
    return std::nullopt;
  }
  return value;
}

std::string CsvTable::where(std::size_t row, std::string_view column) const {
  ensure(row < rows_.size(), "a table is asked for its own rows");
  return source_ + ":" + std::to_string(rows_[row].line) + ": " + std::string(column);
}

}  // namespace titer
