// Which axes and derived fields of a sweep stand by themselves, and their values read beforehand.

#include <algorithm>
#include <cmath>

#include "sweep_reading.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostValuesTried = 64;  // of an axis

bool has_experts(const Value* rank_order) {
  return rank_order != nullptr && rank_order->text.find("ep") != std::string::npos;
}

/// A rank order that places experts is refused for some expert degrees.
bool places_experts(const Sweep& sweep) {
  if (has_experts(sweep.base.document().at("plan.rank_order"))) {
    return true;
  }
  return std::ranges::any_of(sweep.axes, [](const Axis& axis) {
    return axis.path == "plan.rank_order" &&
           std::ranges::any_of(axis.values, [](const Value& value) { return has_experts(&value); });
  });
}

}  // namespace

std::optional<std::int64_t> settable(double number) {
  const bool is_whole =
      number >= 1.0 && number <= static_cast<double>(kMostSet) && std::trunc(number) == number;
  return is_whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

void SweepReading::list_inputs() {
  for (std::size_t i = 0; i < sweep_->axes.size(); ++i) {
    const std::string& path = sweep_->axes[i].path;
    inputs_.push_back({.path = path, .part = *scenario_part(path), .is_axis = true, .index = i});
  }
  for (std::size_t i = 0; i < sweep_->derived.size(); ++i) {
    const std::string& path = sweep_->derived[i].name;
    if (const auto part = scenario_part(path)) {
      inputs_.push_back({.path = path, .part = *part, .is_axis = false, .index = i});
    }
  }
}

/// Whether nothing that varies replaces it, and it replaces nothing.
bool SweepReading::stands_alone(const Input& input) const {
  if (!ScenarioField::at(input.path) || (input.path == "plan.expert" && places_experts(*sweep_))) {
    return false;
  }
  return std::ranges::none_of(inputs_, [&](const Input& other) {
    return is_inside(input.path, other.path) || is_inside(other.path, input.path) ||
           (&other != &input && other.path == input.path);
  });
}

/// Numbers first: without them the rest of a part may not be read.
void SweepReading::sample_inputs() {
  for (const bool numbers : {true, false}) {
    for (Input& input : inputs_) {
      if (!stands_alone(input) || numbers != ScenarioField::at(input.path)->is_number()) {
        continue;
      }
      if (input.is_axis) {
        sample_axis(input);
      } else {
        sample_derived(input);
      }
    }
  }
}

/// Makes a field of a derived number that can be one.
void SweepReading::sample_derived(Input& input) {
  const auto field = ScenarioField::at(input.path);
  if (field->is_number() && sweep_->derived[input.index].unit.empty()) {
    input.field = field;
    source_.assign({input.path, Value(1), ""});
  }
}

/// Makes a field of an axis where at least one of its values can be one.
void SweepReading::sample_axis(Input& input) {
  const auto field = ScenarioField::at(input.path);
  const Axis& axis = sweep_->axes[input.index];
  if (!field->is_number() && axis.values.size() > kMostValuesTried) {
    return;
  }
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    const Value& value = axis.values[i];
    FieldValue& known = input.values.emplace_back();
    if (!field->is_number()) {
      known.sample = read_sample(input, value);
    } else if (value.kind == Value::Kind::number) {
      known.number = settable(value.number);
    }
    const bool is_first = !input.field && (known.number || known.sample);
    if (is_first) {
      input.field = field;
      source_.assign(
          axis_assignment(axis, i));  // a value that can be read, for all others of its part
    }
  }
}

/// Reads the part with this value in it. Where that fails the value's points are read from scratch.
std::optional<std::size_t> SweepReading::read_sample(const Input& input, const Value& value) {
  if (has_experts(&value)) {
    return std::nullopt;
  }
  Scenario scenario;
  const bool is_read = succeeds([&] {
    ScenarioSource source = source_;
    source.assign({input.path, value, ""});
    source.read_part(input.part, scenario);
  });
  if (!is_read || (input.path == "plan.sharding" && scenario.plan.shard)) {
    return std::nullopt;  // "hsdp" needs it
  }
  samples_.push_back(std::move(scenario));
  return samples_.size() - 1;
}

}  // namespace titer
