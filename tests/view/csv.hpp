#pragma once
// A reader of CSV by RFC 4180, written apart from the writer that it checks.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace titer::testing {

using CsvRows = std::vector<std::vector<std::string>>;

/// All rows; a text that is not CSV fails the test.
inline CsvRows parse_csv(std::string_view text) {
  CsvRows rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      row.back() += '"';
      ++i;
    } else if (c == '"') {
      EXPECT_TRUE(quoted || row.back().empty()) << "a quote within a bare cell";
      quoted = !quoted;
    } else if (quoted) {
      row.back() += c;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      rows.push_back(row);
      row.assign(1, "");
    } else {
      row.back() += c;
    }
  }
  EXPECT_FALSE(quoted) << "a quoted cell without an end";
  EXPECT_EQ(row, std::vector<std::string>(1)) << "a last line without its newline";
  return rows;
}

/// The rows of a sweep without what all of them have in common: sweep, model, cluster and stack.
inline CsvRows parse_points(std::string_view text) {
  CsvRows rows = parse_csv(text);
  for (std::vector<std::string>& row : rows) {
    row.erase(row.begin(), row.begin() + std::min<std::ptrdiff_t>(4, std::ssize(row)));
  }
  return rows;
}

/// All rows without what says which question they answer: from this column on, notes left out.
inline CsvRows parse_answer(std::string_view text, std::string_view first_column) {
  CsvRows rows = parse_csv(text);
  EXPECT_FALSE(rows.empty());
  if (rows.empty()) {
    return rows;
  }
  const auto first = std::find(rows[0].begin(), rows[0].end(), first_column) - rows[0].begin();
  const bool has_notes = rows[0].back() == "notes";
  EXPECT_LT(first, std::ssize(rows[0])) << "a column " << first_column;
  for (std::vector<std::string>& row : rows) {
    row.erase(row.begin(), row.begin() + std::min(first, std::ssize(row)));
    if (has_notes && !row.empty()) {
      row.pop_back();
    }
  }
  return rows;
}

/// The cells of a header and one row, by column.
inline std::map<std::string, std::string> only_row(std::string_view text) {
  const CsvRows rows = parse_csv(text);
  std::map<std::string, std::string> cells;
  EXPECT_EQ(rows.size(), 2u);
  if (rows.size() == 2) {
    EXPECT_EQ(rows[0].size(), rows[1].size());
    for (std::size_t i = 0; i < std::min(rows[0].size(), rows[1].size()); ++i) {
      EXPECT_TRUE(cells.emplace(rows[0][i], rows[1][i]).second) << rows[0][i] << " twice";
    }
  }
  return cells;
}

}  // namespace titer::testing
