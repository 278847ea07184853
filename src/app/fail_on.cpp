#include "fail_on.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "titer/campaign/capacity.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::string_view kOutOfMemory = "out-of-memory";
constexpr std::string_view kFits = "fits";

FigureLimit limit_of(const std::string& text) {
  const std::size_t sign = text.find_first_of("<>");
  const auto blank = [](char c) { return c == ' '; };
  FigureLimit limit{.text = text};
  if (sign != text.npos) {
    limit = {.text = text,
             .figure = text.substr(0, sign),
             .above = text[sign] == '>',
             .value = text.substr(sign + 1)};
    std::erase_if(limit.figure, blank);
    std::erase_if(limit.value, blank);
  }
  if (limit.figure.empty() || limit.value.empty()) {
    throw InputError(fmt::format(
        "--fail-on: {}: expected out-of-memory, or a figure and its limit, such as \"time>12s\" "
        "or \"mfu<40%\"{}",
        text,
        suggestion(text, std::array{kOutOfMemory})));
  }
  return limit;
}

bool is_number(const Figure& figure) {
  return figure.datum.value().kind == Value::Kind::number && !figure.key.empty();
}

/// The columns that some row has a number in.
std::vector<std::string_view> columns_with_numbers(const FigureRows& rows) {
  std::vector<std::string_view> columns;
  for (const Figures& row : rows) {
    for (const Figure& figure : row) {
      if (is_number(figure) && !includes(columns, figure.key)) {
        columns.push_back(figure.key);
      }
    }
  }
  return columns;
}

/// The column that is called so, with its unit or without.
std::string_view column_of(const FigureLimit& limit, std::span<const std::string_view> columns) {
  for (const std::string_view form :
       {"{}", "{}_s", "{}_bytes", "iteration_{}_s", "{}_peak_bytes"}) {
    const std::string name = fmt::format(fmt::runtime(form), limit.figure);
    const auto found = std::ranges::find(columns, name);
    if (found != columns.end()) {
      return *found;
    }
  }
  throw InputError(fmt::format(
      "--fail-on: {}: no number of this answer is called {}{}",
      limit.text,
      limit.figure,
      suggestion(limit.figure, columns, "; expected one of its columns: " + listed(columns))));
}

bool is_time(std::string_view column) {
  return column.ends_with("_s") && !column.ends_with("_per_s");
}

double value_of(const FigureLimit& limit, std::string_view column) {
  std::optional<double> value;
  std::string_view example = "0.4 or 40%";
  if (is_time(column)) {
    example = "12s";
    if (const auto time = parse<Seconds>(limit.value)) {
      value = time->si();
    }
  } else if (column.ends_with("_bytes")) {
    example = "70GiB";
    if (const auto size = parse<Bytes>(limit.value)) {
      value = size->si();
    }
  } else if (limit.value.ends_with('%')) {
    value = number_of_text<double>(std::string_view(limit.value).substr(0, limit.value.size() - 1));
    value = value ? std::optional(*value / 100) : value;
  } else {
    value = parse_count(limit.value);
  }
  if (!value) {
    throw InputError(fmt::format("--fail-on: {}: {}: expected a value of {}, such as {}",
                                 limit.text,
                                 limit.value,
                                 column,
                                 example));
  }
  return *value;
}

const Figure* number_in(const Figures& row, std::string_view column) {
  const auto found = std::ranges::find(row, column, &Figure::key);
  return found != row.end() && is_number(*found) ? &*found : nullptr;
}

bool fits(const Figures& row) {
  const auto found = std::ranges::find(row, kFits, &Figure::key);
  return found == row.end() || found->datum.value().boolean;
}

/// A limit with its column.
struct ColumnLimit {
  const FigureLimit* limit = nullptr;
  std::string_view column;
  double value = 0;

  [[nodiscard]] bool is_kept(const Figures& row) const {
    const Figure* figure = number_in(row, column);
    return figure != nullptr && (limit->above ? figure->datum.value().number <= value
                                              : figure->datum.value().number >= value);
  }
};

/// Of a limit that no row keeps: "--fail-on time>12s: iteration_time_s is 14.78 s".
void tell(const ColumnLimit& own, const FigureRows& rows) {
  const Figure* nearest = nullptr;
  for (const Figures& row : rows) {
    const Figure* figure = number_in(row, own.column);
    if (figure == nullptr) {
      continue;
    }
    const double number = figure->datum.value().number;
    const bool is_nearer =
        nearest == nullptr || (own.limit->above ? number < nearest->datum.value().number
                                                : number > nearest->datum.value().number);
    nearest = is_nearer ? figure : nearest;
  }
  fmt::print(stderr,
             "--fail-on {}: {} is {}{}\n",
             own.limit->text,
             own.column,
             is_time(own.column) ? format(Seconds::from_si(nearest->datum.value().number))
                                 : nearest->datum.words(),
             rows.size() > 1 ? fmt::format(", the best of {} rows", rows.size()) : "");
}

}  // namespace

FailOn::FailOn(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text == kOutOfMemory) {
      on_memory_ = true;
    } else {
      limits_.push_back(limit_of(text));
    }
  }
}

void FailOn::expect_in(std::span<const std::string_view> columns) const {
  for (const FigureLimit& limit : limits_) {
    static_cast<void>(value_of(limit, column_of(limit, columns)));
  }
}

bool FailOn::fails(const FigureRows& rows) const {
  if (rows.empty() || !is_asked()) {
    return is_asked();
  }
  const std::vector<std::string_view> columns = columns_with_numbers(rows);
  std::vector<ColumnLimit> limits;
  for (const FigureLimit& limit : limits_) {
    const std::string_view column = column_of(limit, columns);
    limits.push_back({.limit = &limit, .column = column, .value = value_of(limit, column)});
  }
  const auto keeps_all = [&](const Figures& row) {
    return (!on_memory_ || fits(row)) &&
           std::ranges::all_of(limits, [&](const ColumnLimit& own) { return own.is_kept(row); });
  };
  if (std::ranges::any_of(rows, keeps_all)) {
    return false;
  }
  bool told = false;
  for (const ColumnLimit& own : limits) {
    const auto keeps = [&](const Figures& row) { return own.is_kept(row); };
    if (std::ranges::none_of(rows, keeps)) {
      tell(own, rows);
      told = true;
    }
  }
  if (!told && limits.size() > 1) {
    fmt::print(stderr,
               "--fail-on: no row keeps all of these limits, though each is kept by some\n");
  }
  return true;
}

}  // namespace titer
