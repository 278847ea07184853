#include "sweep_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace titer {
namespace {

constexpr std::size_t kMostSamples = 64;  // of an axis
constexpr std::size_t kMostKept = 128;    // of a part; a cluster's may take 100 kB

/// A number as a person would write it: whole where it is.
Value number_value(double number) {
  constexpr double most = 9e15;  // exact
  const bool whole = std::abs(number) <= most && std::trunc(number) == number;
  return whole ? Value(static_cast<std::int64_t>(number)) : Value(number);
}

std::optional<std::int64_t> settable(double number) {
  const bool is_whole =
      number >= 1.0 && number <= static_cast<double>(kMostSet) && std::trunc(number) == number;
  return is_whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

bool is_inside(std::string_view path, std::string_view outer) {
  return path.size() > outer.size() && path.starts_with(outer) && path[outer.size()] == '.';
}

bool has_experts(const Value* rank_order) {
  return rank_order != nullptr && rank_order->text.find("ep") != std::string::npos;
}

/// A rank order that places experts is refused for some expert degrees.
bool places_experts(const Sweep& sweep) {
  if (has_experts(sweep.base.document().at("plan.rank_order"))) {
    return true;
  }
  return std::any_of(sweep.axes.begin(), sweep.axes.end(), [](const Axis& axis) {
    return axis.path == "plan.rank_order" &&
           std::any_of(axis.values.begin(), axis.values.end(), [](const Value& value) {
             return has_experts(&value);
           });
  });
}

bool leaves_data_open(const ScenarioSource& source) {
  const Value* data = source.document().at("plan.data");
  return data == nullptr || data->kind == Value::Kind::null;
}

}  // namespace

void put_axis(const Axis& axis, std::size_t value, ScenarioSource& source) {
  source.assign({axis.path, axis.values[value], "axis " + axis.path});
}

void put_derived(const DerivedField& field, double number, ScenarioSource& source) {
  const std::string origin = "derived " + field.name;
  if (!std::isfinite(number)) {
    throw InputError(origin + ": " + field.expression + ": expected a finite value");
  }
  source.assign(
      {field.name,
       field.unit.empty() ? number_value(number) : Value(fmt::format("{} {}", number, field.unit)),
       origin});
}

SweepReading::SweepReading(const Sweep& sweep)
    : sweep_(&sweep), source_(sweep.base), prepared_(sweep.base) {
  list_inputs();
  // Numbers first: without them the rest of a part may not be read.
  for (const bool numbers : {true, false}) {
    for (Input& input : inputs_) {
      if (stands_alone(input) && numbers == (scenario_field(input.path)->set != nullptr)) {
        sample(input);
      }
    }
  }
  for (const Choice<ScenarioPart>& part : kScenarioParts) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].field == nullptr && follows(part.value, inputs_[i].part)) {
        parts_[static_cast<std::size_t>(part.value)].inputs.push_back(i);
      }
    }
  }
  try {
    prepare();
    prepared_ = source_;
    usable_ = true;
  } catch (const InputError&) {
    usable_ = false;  // every point is wrong, and says so itself
  }
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
  if (scenario_field(input.path) == nullptr ||
      (input.path == "plan.expert" && places_experts(*sweep_))) {
    return false;
  }
  return std::none_of(inputs_.begin(), inputs_.end(), [&](const Input& other) {
    return is_inside(input.path, other.path) || is_inside(other.path, input.path) ||
           (&other != &input && other.path == input.path);
  });
}

/// Makes a field of an input where at least one of its values can be one.
void SweepReading::sample(Input& input) {
  const ScenarioField* field = scenario_field(input.path);
  if (!input.is_axis) {
    input.field =
        field->set != nullptr && sweep_->derived[input.index].unit.empty() ? field : nullptr;
    if (input.field != nullptr) {
      source_.assign({input.path, Value(1), ""});
    }
    return;
  }
  const Axis& axis = sweep_->axes[input.index];
  if (field->set == nullptr && axis.values.size() > kMostSamples) {
    return;
  }
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    const Value& value = axis.values[i];
    FieldValue& known = input.values.emplace_back();
    if (field->set != nullptr) {
      known.number = value.kind == Value::Kind::number ? settable(value.number) : std::nullopt;
    } else {
      known.sample = read_sample(input, value);
    }
    if ((known.number || known.sample) && input.field == nullptr) {
      input.field = field;
      put_axis(axis, i, source_);  // a value that can be read, for all others of its part
    }
  }
}

/// Reads the part with this value in it.
std::optional<std::size_t> SweepReading::read_sample(const Input& input, const Value& value) {
  if (has_experts(&value)) {
    return std::nullopt;
  }
  Scenario scenario;
  try {
    ScenarioSource source = source_;
    source.assign({input.path, value, ""});
    source.read_part(input.part, scenario);
  } catch (const InputError&) {
    return std::nullopt;
  }
  if (input.path == "plan.sharding" && scenario.plan.shard) {
    return std::nullopt;  // "hsdp" needs it
  }
  samples_.push_back(std::move(scenario));
  return samples_.size() - 1;
}

/// Reads what no axis changes.
void SweepReading::prepare() {
  std::vector<ScenarioPart> all;
  for (const Choice<ScenarioPart>& part : kScenarioParts) {
    all.push_back(part.value);
  }
  source_.read_without(all, scenario_);
  for (const ScenarioPart part : all) {
    if (parts_[static_cast<std::size_t>(part)].inputs.empty()) {
      source_.read_part(part, scenario_);
    }
  }
  open_data_ = leaves_data_open(source_);
}

const Scenario* SweepReading::read(std::span<const std::size_t> at, const SweepRules& rules) {
  if (usable_ && read_changes(at, rules)) {
    at_.assign(at.begin(), at.end());
    return &scenario_;
  }
  at_.clear();
  return read_afresh(at, rules);
}

/// False: something is wrong with this point.
bool SweepReading::read_changes(std::span<const std::size_t> at, const SweepRules& rules) {
  std::array<bool, kScenarioParts.size()> changed{};
  for (const Choice<ScenarioPart>& part : kScenarioParts) {
    const auto index = static_cast<std::size_t>(part.value);
    PartState& state = parts_[index];
    if (state.inputs.empty()) {
      continue;
    }
    key_.clear();
    for (const std::size_t i : state.inputs) {
      const Input& input = inputs_[i];
      key_.push_back(input.is_axis ? at[input.index]
                                   : std::bit_cast<std::uint64_t>(rules.derived(input.index)));
    }
    changed[index] = state.key != key_;
    if (changed[index] && !take_part(part.value, at, rules)) {
      state.key.reset();
      return false;
    }
  }
  for (const Input& input : inputs_) {
    const bool stays = input.is_axis && !at_.empty() && at_[input.index] == at[input.index] &&
                       !changed[static_cast<std::size_t>(input.part)];
    if (input.field != nullptr && !stays && !put_field(input, at, rules)) {
      return false;
    }
  }
  if (open_data_) {
    derive_data_degree(scenario_);
  }
  return true;
}

/// The part with the key that was just made. Parts are large, so they change places.
bool SweepReading::take_part(ScenarioPart part,
                             std::span<const std::size_t> at,
                             const SweepRules& rules) {
  PartState& state = parts_[static_cast<std::size_t>(part)];
  if (state.lent != nullptr) {
    swap_part(part, state.lent->scenario, scenario_);
    state.lent = nullptr;
  }
  auto known = state.kept.find(key_);
  if (known != state.kept.end()) {
    if (!known->second) {
      return false;
    }
    swap_part(part, known->second->scenario, scenario_);
  } else {
    const bool is_read = read_part(part, at, rules);
    if (state.kept.size() < kMostKept) {
      known = state.kept.try_emplace(key_).first;
    }
    if (!is_read) {
      return false;
    }
    if (part == ScenarioPart::plan) {
      open_data_ = leaves_data_open(source_);
    }
    if (known != state.kept.end()) {
      known->second.emplace(ReadPart{.open_data = open_data_});
    }
  }
  if (known != state.kept.end()) {
    state.lent = &*known->second;
    open_data_ = part == ScenarioPart::plan ? state.lent->open_data : open_data_;
  }
  state.key = key_;
  return true;
}

/// From the document, with the point's values in it. False where something is wrong.
bool SweepReading::read_part(ScenarioPart part,
                             std::span<const std::size_t> at,
                             const SweepRules& rules) {
  try {
    for (const Input& input : inputs_) {
      if (input.field != nullptr || input.part != part) {
        continue;
      }
      if (input.is_axis) {
        put_axis(sweep_->axes[input.index], at[input.index], source_);
      } else {
        put_derived(sweep_->derived[input.index], rules.derived(input.index), source_);
      }
    }
    source_.read_part(part, scenario_);
    return true;
  } catch (const InputError&) {
    source_ = prepared_;  // a name that is not known would be met again in any other part
    return false;
  }
}

bool SweepReading::put_field(const Input& input,
                             std::span<const std::size_t> at,
                             const SweepRules& rules) {
  if (!input.is_axis) {
    const auto number = settable(rules.derived(input.index));
    if (number) {
      input.field->set(*number, scenario_);
    }
    return number.has_value();
  }
  const FieldValue& value = input.values[at[input.index]];
  if (value.number) {
    input.field->set(*value.number, scenario_);
  } else if (value.sample) {
    input.field->copy(samples_[*value.sample], scenario_);
  }
  return value.number || value.sample;
}

const Scenario* SweepReading::read_afresh(std::span<const std::size_t> at,
                                          const SweepRules& rules) {
  try {
    ScenarioSource source = sweep_->base;
    for (std::size_t i = 0; i < at.size(); ++i) {
      put_axis(sweep_->axes[i], at[i], source);
    }
    for (std::size_t i = 0; i < sweep_->derived.size(); ++i) {
      if (scenario_part(sweep_->derived[i].name)) {
        put_derived(sweep_->derived[i], rules.derived(i), source);
      }
    }
    source.read_unchecked(afresh_);
    return &afresh_;
  } catch (const InputError& error) {
    problem_.clear();
    for (const std::string& line : error.lines) {
      problem_ += (problem_.empty() ? "" : "; ") + line;
    }
    return nullptr;
  }
}

}  // namespace titer
