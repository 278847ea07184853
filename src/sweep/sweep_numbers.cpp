#include "sweep_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "titer/estimate/figures.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

/// Degrees that are 1 where a scenario does not say.
constexpr std::array<std::string_view, 5> kOnes = {
    "plan.pipeline", "plan.tensor", "plan.context", "plan.expert", "plan.micro_batch"};
/// What follows from others where a scenario does not say.
constexpr std::array<std::string_view, 3> kOpen = {
    "plan.data", "plan.virtual_stages", "training.sequence"};

/// In the order of result_names().
double result_number(const StepResult& result, std::size_t column) {
  if (column < kResultFigures.size()) {
    return kResultFigures[column].value(result);
  }
  column -= kResultFigures.size();
  if (column < kBreakdownParts.size()) {
    return (result.breakdown.*kBreakdownParts[column].value).si();
  }
  column -= kBreakdownParts.size();
  if (column < kCommunicationParts.size()) {
    return (result.comm_total.*kCommunicationParts[column].value).si();
  }
  column -= kCommunicationParts.size();
  const std::array<double, 4> others = {result.memory_peak.si(),
                                        result.memory_capacity.si(),
                                        result.fits() ? 1.0 : 0.0,
                                        static_cast<double>(result.peak_stage().stage)};
  return others[column];
}

/// Every number below `value`, by its path.
void list_numbers(const Value& value, const std::string& path, std::vector<std::string>& names) {
  if (number_of(value)) {
    names.push_back(path);
    return;
  }
  for (const auto& [key, member] : value.members) {
    list_numbers(member, join_path(path, key), names);
  }
}

bool leads_to(std::string_view path, std::string_view name) {
  return name == path || is_inside(name, path) || path == std::string(name) + ".value";
}

}  // namespace

bool is_inside(std::string_view path, std::string_view outer) {
  return path.size() > outer.size() && path.starts_with(outer) && path[outer.size()] == '.';
}

std::vector<std::string> result_names() {
  std::vector<std::string> names =
      each_of(kResultFigures, [](const ResultFigure& figure) { return std::string(figure.name); });
  for (const BreakdownPart& part : kBreakdownParts) {
    names.push_back(fmt::format("{}_s", part.name));
  }
  for (const CommunicationPart& part : kCommunicationParts) {
    names.push_back(fmt::format("{}_total_s", part.name));
  }
  names.insert(names.end(), {"memory_peak_bytes", "memory_capacity_bytes", "fits", "peak_stage"});
  return names;
}

std::optional<double> number_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::number:
      return value.number;
    case Value::Kind::boolean:
      return value.boolean ? 1.0 : 0.0;
    case Value::Kind::text: {
      const auto quantity = parse_any(value.text);
      return quantity ? std::optional(si_of(*quantity)) : std::nullopt;
    }
    case Value::Kind::object: {
      const Value* inner = value.find("value");
      return inner == nullptr ? std::nullopt : number_of(*inner);
    }
    default:
      return std::nullopt;
  }
}

SweepNumbers::Known SweepNumbers::add(const std::string& name, double value, std::size_t level) {
  names_.push_back(name);
  values_.push_back(value);
  levels_.push_back(level);
  return {.slot = names_.size() - 1, .level = level};
}

SweepNumbers::Known SweepNumbers::add_derived(const std::string& name, std::size_t level) {
  return add(name, 1.0, level);
}

/// The last whose values replace what was there.
std::optional<std::size_t> SweepNumbers::axis_of(std::string_view name) const {
  for (std::size_t i = sweep_->axes.size(); i-- > 0;) {
    if (leads_to(sweep_->axes[i].path, name)) {
      return i;
    }
  }
  return std::nullopt;
}

std::vector<double> SweepNumbers::along(std::size_t axis,
                                        const std::string& name,
                                        std::string_view begin) const {
  const Axis& varied = sweep_->axes[axis];
  std::vector<double> numbers;
  numbers.reserve(varied.values.size());
  for (const Value& value : varied.values) {
    std::optional<double> number = number_of(value);
    if (name.size() > varied.path.size()) {
      ScenarioSource source = sweep_->base;
      source.assign({varied.path, value, "axis " + varied.path});
      const Value* inner = source.document().at(name);
      number = inner == nullptr ? std::nullopt : number_of(*inner);
    }
    if (!number) {
      throw InputError(fmt::format("{}: expected {} to be a number everywhere, not with {} = {}",
                                   begin,
                                   name,
                                   varied.path,
                                   to_json(value, 0)));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

SweepNumbers::Known SweepNumbers::find(const std::string& name, std::string_view begin) {
  const auto known = std::ranges::find(names_, name);
  if (known != names_.end()) {
    const auto slot = static_cast<std::size_t>(known - names_.begin());
    return {.slot = slot, .level = levels_[slot]};
  }
  if (const auto axis = axis_of(name)) {
    std::vector<double> numbers = along(*axis, name, begin);
    const Known added = add(name, numbers.front(), *axis + 1);
    along_.push_back({.axis = *axis, .slot = added.slot, .by_value = std::move(numbers)});
    return added;
  }
  const Value* value = sweep_->base.document().at(name);
  if (const auto number = value == nullptr ? std::nullopt : number_of(*value)) {
    return add(name, *number, 0);
  }
  if (includes(kOnes, name)) {
    return add(name, 1.0, 0);
  }
  const std::vector<std::string> columns = result_names();
  const auto column = std::ranges::find(columns, name);
  if (!has_results_ || column == columns.end()) {
    throw InputError(std::string(begin) + ": " + refusal(name));
  }
  const Known added = add(name, 1.0, kResultLevel);
  results_.emplace_back(added.slot, column - columns.begin());
  return added;
}

bool SweepNumbers::is_truth(std::string_view name) const {
  const auto is_boolean = [](const Value& value) { return value.kind == Value::Kind::boolean; };
  if (const auto axis = axis_of(name)) {
    const Axis& varied = sweep_->axes[*axis];
    return varied.path == name && std::ranges::all_of(varied.values, is_boolean);
  }
  const Value* value = sweep_->base.document().at(name);
  return value == nullptr ? name == "fits" : is_boolean(*value);
}

std::string SweepNumbers::refusal(const std::string& name) const {
  if (includes(kOpen, name)) {
    return fmt::format(
        "expected {} to be written in the scenario, as an axis or as a derived field; where it is "
        "left open it has no number here",
        name);
  }
  std::vector<std::string> numbers = names_;
  list_numbers(sweep_->base.document().root, "", numbers);
  for (const Axis& axis : sweep_->axes) {
    numbers.push_back(axis.path);
  }
  if (has_results_) {
    const std::vector<std::string> columns = result_names();
    numbers.insert(numbers.end(), columns.begin(), columns.end());
  }
  return fmt::format("expected names of numbers, found {}{}", name, suggestion(name, numbers));
}

std::vector<std::size_t> SweepNumbers::axes() const {
  std::vector<std::size_t> found = each_of(along_, &AlongAxis::axis);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void SweepNumbers::put(std::span<const std::size_t> at, std::size_t first) {
  for (const AlongAxis& one : along_) {
    if (one.axis >= first) {
      values_[one.slot] = one.by_value[at[one.axis]];
    }
  }
}

void SweepNumbers::put(const StepResult& result) {
  for (const auto& [slot, column] : results_) {
    values_[slot] = result_number(result, column);
  }
}

}  // namespace titer
