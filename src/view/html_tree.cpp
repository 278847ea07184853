#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "html_parts.hpp"
#include "titer/units/lists.hpp"
#include "titer/view/svg.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostTreeRows = 200;  // of a list

bool is_list_of_objects(const Value& value) {
  return value.kind == Value::Kind::array && !value.items.empty() &&
         std::ranges::all_of(value.items,
                             [](const Value& item) { return item.kind == Value::Kind::object; });
}

/// Key and value of each member that is none of the tables of its own.
TextView::Table members_table(const Value& object) {
  TextView::Table table{.rows = {}, .aligns = "ll", .indent = "", .has_heading = false};
  for (const auto& [key, member] : object.members) {
    if (!is_list_of_objects(member) && member.kind != Value::Kind::object) {
      table.rows.push_back({key, csv_cell(member)});
    }
  }
  return table;
}

/// A heading with the keys that some object has; numbers to the right.
TextView::Table heading_of(std::span<const Value> objects) {
  TextView::Table table{.rows = {{}}, .aligns = "", .indent = "", .has_heading = true};
  Row& heading = table.rows.front();
  for (const Value& object : objects) {
    for (const auto& [key, member] : object.members) {
      if (!includes(heading, key)) {
        heading.push_back(key);
        table.aligns += member.kind == Value::Kind::number ? 'r' : 'l';
      }
    }
  }
  return table;
}

/// A column for each key, a row for each object.
TextView::Table objects_table(const Value& list) {
  const std::span<const Value> objects =
      std::span(list.items).first(std::min(list.items.size(), kMostTreeRows));
  TextView::Table table = heading_of(objects);
  const Row keys = table.rows.front();
  for (const Value& object : objects) {
    Row row;
    for (const std::string& key : keys) {
      const Value* member = object.find(key);
      row.push_back(member == nullptr ? "" : csv_cell(*member));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_branch(const std::string& path, const Value& value, std::string& text) {
  if (is_list_of_objects(value)) {
    text += fmt::format("<h3>{}</h3>\n", escaped(path)) + table_element(objects_table(value), path);
    if (value.items.size() > kMostTreeRows) {
      text += fmt::format("<p>and {} more, which --format json has</p>\n",
                          value.items.size() - kMostTreeRows);
    }
    return;
  }
  const TextView::Table own = members_table(value);
  if (!own.rows.empty()) {
    text += (path.empty() ? "" : fmt::format("<h3>{}</h3>\n", escaped(path))) +
            table_element(own, path.empty() ? "figures" : path);
  }
  for (const auto& [key, member] : value.members) {
    if (member.kind == Value::Kind::object || is_list_of_objects(member)) {
      add_branch(path.empty() ? key : fmt::format("{}.{}", path, key), member, text);
    }
  }
}

}  // namespace

std::string tree_elements(const Figures& figures) {
  std::string text;
  add_branch("", json_of(figures), text);
  return text;
}

}  // namespace titer
