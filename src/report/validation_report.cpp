#include "titer/report/validation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/report/table.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostReasons = 20;  // listed in text

/// A figure of a group by its JSON name, its heading in text, and how it is written.
struct GroupFigure {
  std::string_view name;
  std::string_view heading;
  std::optional<double> ErrorStatistics::*value;
  double scale;           // of percent 100
  std::string_view text;  // format
};
constexpr std::array<GroupFigure, 9> kFigures = {
    {{"bias_pct", "bias %", &ErrorStatistics::bias, 100, "{:+.1f}"},
     {"median_error_pct", "", &ErrorStatistics::median_signed, 100, "{:+.1f}"},
     {"median_ape_pct", "median %", &ErrorStatistics::median, 100, "{:.1f}"},
     {"mape_pct", "mean %", &ErrorStatistics::mean, 100, "{:.1f}"},
     {"p90_ape_pct", "p90 %", &ErrorStatistics::p90, 100, "{:.1f}"},
     {"max_ape_pct", "max %", &ErrorStatistics::most, 100, "{:.1f}"},
     {"spearman", "rank corr.", &ErrorStatistics::spearman, 1, "{:.3f}"},
     {"regret_pct", "regret %", &ErrorStatistics::regret, 100, "{:.1f}"},
     {"coverage80", "in 80 % bars", &ErrorStatistics::coverage80, 1, "{:.2f}"}}};

Value or_null(const std::optional<double>& value, double scale = 1.0) {
  return value ? Value(scale * *value) : Value();
}

/// Whether some group has the figure: a column of nothing is left out of text.
bool is_known(const GroupFigure& figure,
              std::span<const GroupStatistics> groups,
              ErrorStatistics GroupStatistics::*of) {
  return !figure.heading.empty() &&
         std::any_of(groups.begin(), groups.end(), [&](const GroupStatistics& group) {
           return (group.*of.*figure.value).has_value();
         });
}

std::string groups_text(std::span<const GroupStatistics> groups,
                        ErrorStatistics GroupStatistics::*of) {
  std::vector<Row> table = {{"group", "n", "skipped"}};
  std::vector<const GroupFigure*> known;
  for (const GroupFigure& figure : kFigures) {
    if (is_known(figure, groups, of)) {
      known.push_back(&figure);
      table.front().emplace_back(figure.heading);
    }
  }
  for (const GroupStatistics& group : groups) {
    const ErrorStatistics& errors = group.*of;
    if (errors.n + errors.skipped == 0) {
      continue;
    }
    Row row = {group.name, std::to_string(errors.n), std::to_string(errors.skipped)};
    for (const GroupFigure* figure : known) {
      const std::optional<double>& value = errors.*figure->value;
      row.push_back(value ? fmt::format(fmt::runtime(figure->text), figure->scale * *value) : "-");
    }
    table.push_back(std::move(row));
  }
  return text_table(table);
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? format(Seconds::from_si(*seconds)) : "-";
}

/// The columns of rows in text.
Row row_heading() { return {"row", "family", "chip", "measured", "predicted", "error %"}; }
Row row_cells(const Comparison& row) {
  const auto error = row.relative_error();
  return {row.case_id,
          row.family,
          row.chip,
          seconds_text(row.measured),
          seconds_text(row.predicted),
          error ? fmt::format("{:+.1f}", 100 * *error) : "-"};
}
std::vector<Align> row_aligns() {
  return {Align::left, Align::left, Align::left, Align::right, Align::right, Align::right};
}

std::string worst_text(const ValidationView& view) {
  std::vector<const Comparison*> compared;
  for (const Comparison& row : view.rows) {
    if (row.relative_error()) {
      compared.push_back(&row);
    }
  }
  const std::size_t shown = std::min(view.worst, compared.size());
  if (shown == 0) {
    return {};
  }
  std::stable_sort(compared.begin(), compared.end(), [](const Comparison* a, const Comparison* b) {
    return std::abs(*a->relative_error()) > std::abs(*b->relative_error());
  });
  std::vector<Row> table = {row_heading()};
  for (std::size_t i = 0; i < shown; ++i) {
    table.push_back(row_cells(*compared[i]));
  }
  return fmt::format("\nfarthest off: {}\n", counted_text(shown, "row")) +
         text_table(table, row_aligns());
}

std::string reasons_text(const GroupStatistics& all) {
  if (all.reasons.empty()) {
    return {};
  }
  std::vector<Row> table;
  std::size_t rest = 0;
  for (const SkipReason& reason : all.reasons) {
    if (table.size() < kMostReasons) {
      table.push_back({std::to_string(reason.rows), reason.reason});
    } else {
      rest += reason.rows;
    }
  }
  if (rest > 0) {
    table.push_back({std::to_string(rest),
                     fmt::format("for {}, which csv and json list",
                                 counted_text(all.reasons.size() - kMostReasons, "other reason"))});
  }
  return fmt::format("\nskipped: {}\n", counted_text(all.time.skipped, "row")) +
         text_table(table, {Align::right, Align::left});
}

std::string bytes_text(const std::optional<double>& bytes) {
  return bytes ? format(Bytes::from_si(*bytes)) : "-";
}

std::string rows_text(std::span<const Comparison> rows) {
  const bool with_memory = std::any_of(rows.begin(), rows.end(), [](const Comparison& row) {
    return row.memory_measured.has_value();
  });
  std::vector<Align> aligns = row_aligns();
  std::vector<Row> table = {row_heading()};
  if (with_memory) {
    table.front().insert(table.front().end(), {"memory", "predicted"});
    aligns.insert(aligns.end(), {Align::right, Align::right});
  }
  table.front().emplace_back("skipped because");
  aligns.push_back(Align::left);
  for (const Comparison& row : rows) {
    table.push_back(row_cells(row));
    if (with_memory) {
      table.back().push_back(bytes_text(row.memory_measured));
      table.back().push_back(bytes_text(row.memory_predicted));
    }
    table.back().push_back(skip_reason(row));
  }
  return "\nrows\n" + text_table(table, aligns);
}

using RowFigures = std::vector<std::pair<std::string_view, Value>>;

/// A row, by the names that CSV and JSON share.
RowFigures figures_of(const Comparison& row) {
  const std::optional<double> error = row.relative_error();
  const auto of_interval = [&](double Interval::*end) {
    return row.interval ? Value(row.interval.value().*end) : Value();
  };
  std::optional<double> memory_error;
  if (row.memory_measured && row.memory_predicted) {
    memory_error = *row.memory_predicted / *row.memory_measured - 1.0;
  }
  return {{"case_id", row.case_id},
          {"family", row.family},
          {"chip", row.chip},
          {"stack", row.stack},
          {"grade", row.grade},
          {"sweep", row.sweep},
          {"measured_s", or_null(row.measured)},
          {"predicted_s", or_null(row.predicted)},
          {"error_pct", or_null(error, 100)},
          {"ape_pct", error ? Value(100 * std::abs(*error)) : Value()},
          {"low_s", of_interval(&Interval::low)},
          {"high_s", of_interval(&Interval::high)},
          {"memory_measured_bytes", or_null(row.memory_measured)},
          {"memory_predicted_bytes", or_null(row.memory_predicted)},
          {"memory_error_pct", or_null(memory_error, 100)},
          {"skip_reason", skip_reason(row)}};
}

void add_figures(const ErrorStatistics& errors, Value& json) {
  json.add("n", Value(static_cast<std::int64_t>(errors.n)))
      .add("skipped", Value(static_cast<std::int64_t>(errors.skipped)));
  for (const GroupFigure& figure : kFigures) {
    json.add(std::string(figure.name), or_null(errors.*figure.value, figure.scale));
  }
  json.add("sweeps", Value(static_cast<std::int64_t>(errors.sweeps)));
}

Value group_json(const GroupStatistics& group) {
  Value json = Value::make_object();
  json.add("group", Value(group.name));
  add_figures(group.time, json);
  Value memory = Value::make_object();
  add_figures(group.memory, memory);
  json.add("memory", std::move(memory));
  Value reasons = Value::make_object();
  for (const SkipReason& reason : group.reasons) {
    reasons.add(reason.reason, Value(static_cast<std::int64_t>(reason.rows)));
  }
  return json.add("skip_reasons", std::move(reasons));
}

}  // namespace

std::string validation_text(const ValidationView& view) {
  const GroupStatistics& all = view.groups.front();
  std::string text = fmt::format("{}: {} compared, {} skipped\n\ntime\n",
                                 counted_text(view.rows.size(), "row"),
                                 all.time.n,
                                 all.time.skipped);
  text += groups_text(view.groups, &GroupStatistics::time);
  if (all.memory.n + all.memory.skipped > 0) {
    text += "\nmemory\n" + groups_text(view.groups, &GroupStatistics::memory);
  }
  text += worst_text(view) + reasons_text(all);
  return view.every_row ? text + rows_text(view.rows) : text;
}

std::string validation_csv(std::span<const Comparison> rows) {
  Row heading;
  for (const auto& [column, value] : figures_of(Comparison{})) {
    heading.emplace_back(column);
  }
  std::string text = csv_line(heading);
  for (const Comparison& row : rows) {
    Row cells;
    for (const auto& [column, value] : figures_of(row)) {
      cells.push_back(csv_cell(value));
    }
    text += csv_line(cells);
  }
  return text;
}

// Rows are written one by one: a tree of all of them would need a hundred times their memory.
std::string validation_json(const ValidationView& view) {
  std::string text = "{\n  \"format_version\": 1,\n  \"groups\": [";
  std::string_view between = "\n    ";
  for (const GroupStatistics& group : view.groups) {
    text += fmt::format("{}{}", between, to_json(group_json(group), 0));
    between = ",\n    ";
  }
  text += "\n  ],\n  \"rows\": [";
  between = "\n    ";
  for (const Comparison& row : view.rows) {
    Value json = Value::make_object();
    for (auto& [figure, value] : figures_of(row)) {
      json.add(std::string(figure), std::move(value));
    }
    text += fmt::format("{}{}", between, to_json(json, 0));
    between = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

}  // namespace titer
