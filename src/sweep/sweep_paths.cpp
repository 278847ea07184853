// Whether the paths of a sweep lead anywhere.

#include <algorithm>

#include "sweep_axes.hpp"
#include "sweep_numbers.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// What is wrong with the key that a path leads to, for a value; empty where it is known.
std::optional<std::string> unknown_key(ScenarioSource source, const Assignment& assignment) {
  try {
    source.assign(assignment);
    Scenario ignored;
    source.read_part(*scenario_part(assignment.path), ignored);
  } catch (const InputError& error) {
    for (const std::string& line : error.lines) {
      const bool is_here = line.starts_with(assignment.source + ": ");
      const auto says = [&](std::string_view words) {
        return line.find(words) != std::string::npos;
      };
      if (is_here && (says(": unknown key") || says(": expected a path of object keys") ||
                      says(": a name is only a label"))) {
        return line;
      }
    }
  }
  return std::nullopt;
}

constexpr std::size_t kMostTried = 64;  // values of an axis

/// The base with a value of each axis in it, where that can be put in.
ScenarioSource with_values(const Sweep& sweep, std::size_t other, std::size_t value) {
  ScenarioSource source = sweep.base;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    const Axis& axis = sweep.axes[i];
    if (axis.values.empty()) {
      continue;
    }
    try {
      source.assign({axis.path, axis.values[i == other ? value : 0], ""});
    } catch (const InputError&) {
      continue;  // a row says so
    }
  }
  return source;
}

/// Another axis may bring along what the path leads to.
std::optional<std::string> problem_of_path(const Sweep& sweep, const Assignment& assignment) {
  const std::string& path = assignment.path;
  Sweep others{.base = sweep.base, .axes = {}};
  for (const Axis& axis : sweep.axes) {
    if (axis.path != path && scenario_part(axis.path) == scenario_part(path)) {
      const auto tried = static_cast<std::ptrdiff_t>(std::min(kMostTried, axis.values.size()));
      others.axes.push_back(
          {.path = axis.path, .values = {axis.values.begin(), axis.values.begin() + tried}});
    }
  }
  auto problem = unknown_key(with_values(others, 0, 0), assignment);
  for (std::size_t i = 0; problem && i < others.axes.size(); ++i) {
    for (std::size_t v = 1; v < others.axes[i].values.size(); ++v) {
      if (!unknown_key(with_values(others, i, v), assignment)) {
        return std::nullopt;
      }
    }
  }
  return problem;
}

/// What varies in the scenario, in the order in which it is put in.
struct VariedPath {
  std::string_view path;
  std::string where;           // with the path
  const Axis* axis = nullptr;  // or a derived field
};

std::vector<VariedPath> varied_paths(const Sweep& sweep) {
  std::vector<VariedPath> varied = each_of(sweep.axes, [](const Axis& axis) {
    return VariedPath{.path = axis.path, .where = axis.where + ": " + axis.path, .axis = &axis};
  });
  for (const DerivedField& field : sweep.derived) {
    if (scenario_part(field.name)) {
      varied.push_back({.path = field.name, .where = field.where});
    }
  }
  return varied;
}

/// Whether a value of the axis says itself what `path`, inside the axis's own, leads to. A name
/// does not: its figures are there to be varied.
const Value* value_that_sets(const Axis& axis, std::string_view path) {
  path.remove_prefix(axis.path.size() + 1);
  for (const Value& value : axis.values) {
    const Value* inner = &value;
    for (const std::string_view key : divided(path, ".")) {
      inner = inner == nullptr ? nullptr : inner->find(key);
    }
    if (inner != nullptr) {
      return &value;
    }
  }
  return nullptr;
}

/// What is wrong with two of them, the first put in before the second; empty where both can hold.
std::string overlap_problem(const VariedPath& first, const VariedPath& second) {
  if (is_inside(first.path, second.path)) {
    return second.where + ": expected it before " + std::string(first.path) +
           ", which it would replace";
  }
  if (first.axis == nullptr || !is_inside(second.path, first.path)) {
    return "";
  }
  const Value* value = value_that_sets(*first.axis, second.path);
  return value == nullptr
             ? ""
             : first.where + ": " + to_json(*value, 0) + ": expected a value without " +
                   std::string(second.path) + ", which varies by itself";
}

}  // namespace

void check_overlaps(const Sweep& sweep, Problems& problems) {
  const std::vector<VariedPath> varied = varied_paths(sweep);
  for (auto second = varied.begin(); second != varied.end(); ++second) {
    for (auto first = varied.begin(); first != second; ++first) {
      if (const std::string problem = overlap_problem(*first, *second); !problem.empty()) {
        problems.add(problem);
      }
    }
  }
}

void check_paths(const Sweep& sweep, Problems& problems) {
  for (const Axis& axis : sweep.axes) {
    const Assignment first = {axis.path, axis.values.front(), axis.where};
    if (const auto problem = problem_of_path(sweep, first)) {
      problems.add(*problem);
    }
  }
  for (const DerivedField& field : sweep.derived) {
    if (!scenario_part(field.name)) {
      continue;
    }
    const Assignment one = {
        field.name, field.unit.empty() ? Value(1) : Value("1 " + field.unit), field.where};
    if (const auto problem = problem_of_path(sweep, one)) {
      problems.add(*problem);
    }
  }
}

}  // namespace titer
