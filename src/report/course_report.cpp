#include "titer/report/course_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "course_figures.hpp"
#include "memory_report.hpp"
#include "titer/report/step_report.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

struct AsText {
  std::string operator()(std::monostate /*none*/) const { return "-"; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::int64_t count) const { return std::to_string(count); }
  std::string operator()(double number) const {
    return number >= 1 ? fmt::format("{:.10g}", std::round(number * 1e3) / 1e3)
                       : fmt::format("{:.4g}", number);
  }
  std::string operator()(Seconds time) const { return format(time); }
  std::string operator()(Bytes bytes) const { return format(bytes); }
  std::string operator()(CourseShare share) const {
    return fmt::format("{:.1f} %", 100 * share.value);
  }
  std::string operator()(DeviceHours hours) const {
    return fmt::format("{:.4g}", hours.time / kHour);
  }
};

struct AsValue {
  Value operator()(std::monostate /*none*/) const { return {}; }
  Value operator()(const std::string& text) const { return {text}; }
  Value operator()(std::int64_t count) const { return {count}; }
  Value operator()(double number) const { return {number}; }
  Value operator()(Seconds time) const { return {time.si()}; }
  Value operator()(Bytes bytes) const { return json_bytes(bytes); }
  Value operator()(CourseShare share) const { return {share.value}; }
  Value operator()(DeviceHours hours) const { return {hours.time / kHour}; }
};

std::string text_of(const CourseFigureValue& value) { return std::visit(AsText{}, value); }

std::string cell_of(const CourseFigureValue& value) {
  const Value json = std::visit(AsValue{}, value);
  if (json.kind == Value::Kind::null) {
    return "";
  }
  return json.kind == Value::Kind::text ? json.text : to_json(json, 0);
}

/// "change" of a time: "change_s".
std::string key_of(const CourseFigure& figure, const CourseFigureTable& table) {
  const auto is_unit = [&](const CourseFigure& other) {
    return other.name == figure.name && !std::holds_alternative<std::monostate>(other.value);
  };
  const CourseFigure* known = &figure;  // a row may lack what another has
  for (const CourseFigures& row : table.rows) {
    const auto found = std::find_if(row.begin(), row.end(), is_unit);
    known = found == row.end() ? known : &*found;
  }
  std::string key(figure.name);
  if (std::holds_alternative<Seconds>(known->value)) {
    key += "_s";
  } else if (std::holds_alternative<Bytes>(known->value)) {
    key += "_bytes";
  }
  return key;
}

std::string label_of(std::string_view name) {
  std::string label(name);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

Value object_of(const CourseFigures& figures, const CourseFigureTable& table) {
  Value json = Value::make_object();
  for (const CourseFigure& figure : figures) {
    json.add(key_of(figure, table), std::visit(AsValue{}, figure.value));
  }
  return json;
}

std::string rows_text(const CourseFigureTable& table) {
  std::vector<Row> rows(1);
  for (const CourseFigure& figure : table.rows.front()) {
    if (figure.in_text) {
      rows.front().push_back(label_of(figure.name));
    }
  }
  for (const CourseFigures& figures : table.rows) {
    Row row;
    for (const CourseFigure& figure : figures) {
      if (figure.in_text) {
        row.push_back(text_of(figure.value));
      }
    }
    rows.push_back(std::move(row));
  }
  return text_table(rows);
}

}  // namespace

std::string course_text(const Course& course, const CourseResult& result) {
  const CourseFigureTable table = course_figures(result);
  std::vector<Row> all;
  for (const CourseFigure& figure : table.all) {
    all.push_back({label_of(figure.name), text_of(figure.value)});
  }
  std::string text = course.title + "\n\n" + rows_text(table) + "\nin all\n" +
                     text_table(all, {Align::left, Align::left});
  for (const std::string& line : too_large(result)) {
    text += line + "\n";
  }
  return text;
}

std::string course_csv(const CourseResult& result) {
  const CourseFigureTable table = course_figures(result);
  Row columns;
  const auto add_columns = [&](const CourseFigures& figures) {
    for (const CourseFigure& figure : figures) {
      const std::string key = key_of(figure, table);
      if (std::find(columns.begin(), columns.end(), key) == columns.end()) {
        columns.push_back(key);
      }
    }
  };
  add_columns(table.rows.front());
  add_columns(table.all);
  const auto line = [&](const CourseFigures& figures, std::string_view first) {
    Row row(columns.size());
    row.front() = first;
    for (const CourseFigure& figure : figures) {
      const auto at = std::find(columns.begin(), columns.end(), key_of(figure, table));
      row[static_cast<std::size_t>(at - columns.begin())] = cell_of(figure.value);
    }
    return csv_line(row);
  };
  std::string text = csv_line(columns);
  for (const CourseFigures& figures : table.rows) {
    text += line(figures, "");
  }
  return text + line(table.all, "all");
}

Value course_json(const Course& course, const CourseResult& result) {
  const CourseFigureTable table = course_figures(result);
  Value rows = Value::make_array();
  for (const CourseFigures& figures : table.rows) {
    rows.push(object_of(figures, table));
  }
  Value problems = Value::make_array();
  for (const std::string& line : too_large(result)) {
    problems.push(Value(line));
  }
  Value json = Value::make_object();
  json.add("format_version", Value(kFormatVersion));
  json.add("title", Value(course.title));
  json.add("kind", Value(table.kind));
  json.add("rows", std::move(rows));
  json.add("all", object_of(table.all, table));
  json.add("does_not_fit", std::move(problems));
  return json;
}

}  // namespace titer
