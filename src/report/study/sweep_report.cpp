#include "titer/report/study/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/step/step_remarks.hpp"
#include "titer/estimate/figures.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/units/lists.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

/// Text that needs no care in JSON.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

void append_json_text(std::string_view value, std::string& text) {
  if (is_plain(value)) {
    text += '"';
    text += value;
    text += '"';
  } else {
    text += to_json(Value(value), 0);
  }
}

void append_csv_text(std::string_view value, std::string& text) {
  const bool needs_quotes = std::ranges::any_of(
      value, [](char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; });
  if (!needs_quotes) {
    text += value;
    return;
  }
  text += '"';
  for (std::size_t quote = value.find('"'); quote != std::string_view::npos;
       quote = value.find('"')) {
    text += value.substr(0, quote + 1);
    text += '"';
    value.remove_prefix(quote + 1);
  }
  text += value;
  text += '"';
}

void append_axis_value(const Value& value, RowFormat format, std::string& text) {
  if (format == RowFormat::json_lines) {
    text += to_json(value, 0);
  } else {
    append_csv_text(bare_text(value), text);
  }
}

template <class T>
void append_plain(T number, std::string& text) {
  if (number == T{} && !std::signbit(static_cast<double>(number))) {
    text += '0';  // as most parts of a breakdown are
    return;
  }
  std::array<char, 32> buffer{};
  char* const end = fmt::format_to(buffer.data(), "{}", number);
  text.append(buffer.data(), end);
}

/// What all rows have in common, but for parts that an axis replaces.
std::vector<std::pair<std::string, std::string>> same_cells(const Sweep& sweep) {
  std::vector<std::pair<std::string, std::string>> cells = {{"sweep", sweep.name}};
  for (const std::string part : {"model", "cluster", "stack"}) {
    const Value* name = sweep.base.document().at(part + ".name");
    if (!includes(sweep.axes, part, &Axis::path)) {
      cells.emplace_back(part, name == nullptr ? "" : name->text);
    }
  }
  return cells;
}

/// Nothing where there is no result.
std::string asked_text(SweepColumn column, const SweepPoint& point) {
  if (!has_result(point.status)) {
    return {};
  }
  return column == SweepColumn::algorithms ? algorithms_text(point.result) : point.beyond;
}

/// What stands in a row before the cells of these columns.
std::vector<std::string> beginnings(const std::vector<std::string>& columns, bool is_json) {
  std::vector<std::string> begins;
  begins.reserve(columns.size());
  for (const std::string& column : columns) {
    std::string& begin = begins.emplace_back(begins.empty() ? (is_json ? "{" : "") : ",");
    if (is_json) {
      append_json_text(column, begin);
      begin += ':';
    }
  }
  return begins;
}

}  // namespace

SweepRows::SweepRows(const Sweep& sweep, RowFormat format)
    : format_(format), asked_(sweep.columns) {
  if (format == RowFormat::csv) {
    for (const auto& [column, value] : same_cells(sweep)) {
      names_.push_back(column);
      append_csv_text(value, same_);
      same_ += ',';
    }
  }
  for (const Axis& axis : sweep.axes) {
    columns_.push_back(axis.path);
    std::vector<std::string>& cells = cells_.emplace_back();
    cells.reserve(axis.values.size());
    for (const Value& value : axis.values) {
      append_axis_value(value, format, cells.emplace_back());
    }
  }
  for (const DerivedField& field : sweep.derived) {
    columns_.push_back(field.name);
  }
  derived_ = sweep.derived.size();
  columns_.emplace_back("status");
  const Row results = result_columns();
  columns_.insert(columns_.end(), results.begin(), results.end());
  reason_ = columns_.size();
  columns_.emplace_back("reason");
  for (const SweepColumn column : asked_) {
    columns_.emplace_back(name(column));
  }
  begins_ = beginnings(columns_, format == RowFormat::json_lines);
  for (std::size_t i = 0; i < results.size(); ++i) {
    append_text(reason_ - results.size() + i, "", no_result_);
  }
}

std::string SweepRows::header() const {
  Row all = names_;
  all.insert(all.end(), columns_.begin(), columns_.end());
  return format_ == RowFormat::csv ? csv_line(all) : "";
}

void SweepRows::begin_cell(std::size_t column, std::string& text) const { text += begins_[column]; }

void SweepRows::append_number(std::size_t column,
                              double number,
                              KeptCells& kept,
                              std::string& text) const {
  text += kept.text(
      column, number, [&](double n, std::string& into) { write_number(column, n, into); });
}

void SweepRows::write_number(std::size_t column, double number, std::string& text) const {
  const bool is_result = column >= cells_.size() + derived_;
  begin_cell(column, text);
  if (std::isfinite(number)) {
    const std::size_t begin = text.size();
    append_plain(number, text);
    // A column of fractions has no whole numbers among them.
    if (is_result && format_ == RowFormat::json_lines &&
        text.find_first_of(".e", begin) == std::string::npos) {
      text += ".0";
    }
  } else if (format_ == RowFormat::json_lines) {
    text += "null";
  }
}

void SweepRows::append_text(std::size_t column, std::string_view value, std::string& text) const {
  begin_cell(column, text);
  if (format_ == RowFormat::csv) {
    append_csv_text(value, text);
  } else if (value.empty()) {
    text += "null";
  } else {
    append_json_text(value, text);
  }
}

void SweepRows::append(const SweepPoint& point, KeptCells& kept, std::string& text) const {
  std::size_t column = 0;
  text += same_;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    begin_cell(column++, text);
    text += cells_[i][point.at[i]];
  }
  for (const double number : point.derived) {
    append_number(column++, number, kept, text);
  }
  append_text(column++, name(point.status), text);
  if (has_result(point.status)) {
    append_result(point, column, kept, text);
  } else {
    text += no_result_;
  }
  append_text(reason_, point.reason, text);
  column = reason_;
  for (const SweepColumn asked : asked_) {
    append_text(++column, asked_text(asked, point), text);
  }
  text += format_ == RowFormat::json_lines ? "}\n" : "\n";
}

/// The cells of result_cells(), one after another.
void SweepRows::append_result(const SweepPoint& point,
                              std::size_t column,
                              KeptCells& kept,
                              std::string& text) const {
  const StepResult& result = point.result;
  for (const ResultFigure& figure : kResultFigures) {
    append_number(column++, figure.value(result), kept, text);
  }
  for (const BreakdownPart& part : kBreakdownParts) {
    append_number(column++, (result.breakdown.*part.value).si(), kept, text);
  }
  for (const CommunicationPart& part : kCommunicationParts) {
    append_number(column++, (result.comm_total.*part.value).si(), kept, text);
  }
  for (const Bytes bytes : {result.memory_peak, result.memory_capacity}) {
    begin_cell(column++, text);
    append_plain(std::llround(bytes.si()), text);
  }
  begin_cell(column++, text);
  text += result.fits() ? "true" : "false";
  begin_cell(column++, text);
  append_plain(result.peak_stage().stage, text);
  append_text(column, name(result.grade), text);
}

}  // namespace titer
