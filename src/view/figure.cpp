#include "titer/view/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "titer/units/blanks.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

/// A column of a table for programs.
struct Column {
  std::string name;
  std::string path;  // its figure's key, and what of it
};

std::vector<Column> named_columns(std::string_view names) {
  std::vector<Column> columns;
  for (const std::string_view word : words_of(names)) {
    const std::size_t equals = word.find('=');
    columns.push_back({std::string(word.substr(0, equals)),
                       std::string(equals == word.npos ? word : word.substr(equals + 1))});
  }
  return columns;
}

bool is_nested(const Datum& datum) {
  const Value::Kind kind = datum.value().kind;
  return kind == Value::Kind::array || kind == Value::Kind::object;
}

std::string cell(const Figures& row, std::string_view path) {
  const std::string_view key = path.substr(0, path.find('.'));
  const auto found = std::ranges::find(row, key, &Figure::key);
  if (found == row.end()) {
    return "";
  }
  const Value& value = found->datum.value();
  const Value* const at = key == path ? &value : value.at(path.substr(key.size() + 1));
  return at == nullptr ? "" : csv_cell(*at);
}

/// A column of a table, which needs none that each row may be without, and is.
struct NotedColumn {
  std::string_view name;
  bool is_needed = false;
};

void note(const Figure& figure, std::vector<NotedColumn>& columns) {
  auto known = std::ranges::find(columns, figure.key, &NotedColumn::name);
  if (known == columns.end()) {
    known = columns.insert(known, {.name = figure.key});
  }
  known->is_needed = known->is_needed || !figure.if_any || figure.datum.exists();
}

}  // namespace

template <class Q>
std::string in_units(double si) {
  return format(Q::from_si(si));
}
template std::string in_units<Seconds>(double si);
template std::string in_units<Bytes>(double si);
template std::string in_units<Flops>(double si);
template std::string in_units<Joules>(double si);
template std::string in_units<BytesPerSecond>(double si);
template std::string in_units<FlopsPerSecond>(double si);
template std::string in_units<Watts>(double si);

Datum::Datum(const Figures& figures) : value_(json_of(figures)) {}

std::string Datum::words() const {
  if (words_) {
    return *words_;
  }
  switch (value_.kind) {
    case Value::Kind::null:
      return "-";
    case Value::Kind::text:
      return value_.text;
    case Value::Kind::boolean:
      return value_.boolean ? "yes" : "no";
    case Value::Kind::number:
      break;
    default:
      return to_json(value_, 0);
  }
  if (style_.unit != nullptr) {
    return style_.unit(value_.number);
  }
  if (!style_.format.empty()) {
    return fmt::format(fmt::runtime(style_.format), style_.scale * value_.number);
  }
  return value_.is_integer ? std::to_string(value_.integer) : fmt::format("{:.4g}", value_.number);
}

Datum whole_bytes(Bytes bytes) { return {std::int64_t{std::llround(bytes.si())}, kUnitsOf<Bytes>}; }

Datum said(const std::string& text) { return text.empty() ? Datum() : Datum(text); }

Datum or_blank(Datum datum) { return datum.exists() ? std::move(datum) : Datum(Value(), ""); }

Figure if_any(Figure figure) {
  figure.if_any = true;
  return figure;
}

Figure if_known(Figure figure) {
  figure.key = figure.datum.exists() ? figure.key : "";
  return figure;
}

Figures joined(Figures first, const Figures& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Value json_of(const Figures& figures) {
  Value json = Value::make_object();
  for (const Figure& figure : figures) {
    if (!figure.key.empty() && (figure.datum.exists() || !figure.if_any)) {
      json.add(figure.key, figure.datum.value());
    }
  }
  return json;
}

std::string column_names(const FigureRows& rows) {
  std::vector<NotedColumn> columns;
  for (const Figures& row : rows) {
    for (const Figure& figure : row) {
      if (!figure.key.empty() && !is_nested(figure.datum)) {
        note(figure, columns);
      }
    }
  }
  std::erase_if(columns, [](const NotedColumn& column) { return !column.is_needed; });
  return listed(columns, &NotedColumn::name, " ");
}

std::string csv_of(const FigureRows& rows, std::string_view columns, const Figures& all_rows) {
  const std::vector<Column> wanted =
      named_columns(columns.empty() ? column_names(rows) : std::string(columns));
  Row names;
  Row cells;
  for (const Figure& figure : all_rows) {
    if (!includes(wanted, figure.key, &Column::name)) {
      names.push_back(figure.key);
      cells.push_back(csv_cell(figure.datum.value()));
    }
  }
  const auto begin = static_cast<std::ptrdiff_t>(cells.size());
  for (const Column& column : wanted) {
    names.push_back(column.name);
  }
  cells.resize(names.size());
  std::string text = csv_line(names);
  for (const Figures& row : rows) {
    std::ranges::transform(wanted, cells.begin() + begin, [&](const Column& column) {
      return cell(row, column.path);
    });
    text += csv_line(cells);
  }
  return text;
}

}  // namespace titer
