// What differs between two documents.

#include "input_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "titer/units/lists.hpp"
#include "titer/whatif/difference.hpp"
#include "titer/whatif/scenario_figures.hpp"

namespace titer {
namespace {

/// No figure, and no choice.
constexpr std::array<std::string_view, 8> kRemarks = {
    "$schema", "sources", "source", "notes", "calibration", "title", "year", "vendor"};
/// Only labels: assigning to them is refused, or changes nothing.
constexpr std::array<std::string_view, 4> kLabels = {
    "model.name", "cluster.name", "cluster.chip.name", "stack.name"};

bool is_remark(std::string_view key, std::string_view path) {
  return includes(kRemarks, key) || path == "name" || includes(kLabels, path);
}

/// The value itself where it is written with its source.
const Value* bare(const Value* value) {
  if (value == nullptr || value->kind == Value::Kind::null) {
    return nullptr;
  }
  const Value* inner = value->find("value");
  return inner == nullptr ? value : inner;
}

bool same_text(const Value& a, const Value& b) {
  if (a.text == b.text) {
    return true;
  }
  Document document;
  document.root = Value::make_object();
  document.root.add("a", a).add("b", b);
  const std::vector<ScenarioFigure> figures = scenario_figures(document);
  return figures.size() == 2 && figures[0].kind == figures[1].kind &&
         figures[0].value == figures[1].value;
}

bool same_leaf(const Value& a, const Value& b) {
  if (a.kind != b.kind) {
    return false;
  }
  switch (a.kind) {
    case Value::Kind::number:
      return a.number == b.number;
    case Value::Kind::boolean:
      return a.boolean == b.boolean;
    case Value::Kind::text:
      return same_text(a, b);
    default:
      return true;
  }
}

}  // namespace

bool is_branch(const Value* value) {
  return value != nullptr && value->kind == Value::Kind::object && value->find("value") == nullptr;
}

std::vector<std::string> branch_keys(const Value& a, const Value& b, std::string_view path) {
  std::vector<std::string> keys;
  for (const Value* side : {&a, &b}) {
    for (const auto& [key, member] : side->members) {
      const std::string inner = path.empty() ? key : fmt::format("{}.{}", path, key);
      const bool has_path = key.find('.') == std::string::npos;
      if (has_path && !is_remark(key, inner) && !includes(keys, key)) {
        keys.push_back(key);
      }
    }
  }
  return keys;
}

namespace {

void collect(const Value* a,
             const Value* b,
             const std::string& path,
             std::vector<InputChange>& into);

/// Whether both are lists of as many objects.
bool are_alike_lists(const Value& a, const Value& b) {
  const auto objects = [](const Value& list) {
    return list.kind == Value::Kind::array &&
           std::ranges::all_of(list.items,
                               [](const Value& item) { return item.kind == Value::Kind::object; });
  };
  return a.items.size() == b.items.size() && objects(a) && objects(b);
}

void collect_members(const Value& a,
                     const Value& b,
                     const std::string& path,
                     std::vector<InputChange>& into) {
  for (const std::string& key : branch_keys(a, b, path)) {
    collect(a.find(key), b.find(key), path.empty() ? key : fmt::format("{}.{}", path, key), into);
  }
}

void collect_lists(const Value& a,
                   const Value& b,
                   const std::string& path,
                   std::vector<InputChange>& into) {
  if (are_alike_lists(a, b)) {
    for (std::size_t i = 0; i < a.items.size(); ++i) {
      collect(&a.items[i], &b.items[i], fmt::format("{}.{}", path, i), into);
    }
  } else if (to_json(a, 0) != to_json(b, 0)) {
    into.push_back({path, a, b});
  }
}

void collect(const Value* a,
             const Value* b,
             const std::string& path,
             std::vector<InputChange>& into) {
  a = bare(a);
  b = bare(b);
  if (a == nullptr || b == nullptr) {
    if (a != b) {
      into.push_back({path, a == nullptr ? Value() : *a, b == nullptr ? Value() : *b});
    }
  } else if (is_branch(a) && is_branch(b)) {
    collect_members(*a, *b, path, into);
  } else if (a->kind == Value::Kind::array && b->kind == Value::Kind::array) {
    collect_lists(*a, *b, path, into);
  } else if (!same_leaf(*a, *b)) {
    into.push_back({path, *a, *b});
  }
}

}  // namespace

std::vector<InputChange> input_changes(const Value& a, const Value& b) {
  std::vector<InputChange> changes;
  collect(&a, &b, "", changes);
  return changes;
}

}  // namespace titer
