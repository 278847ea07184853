#include "sweep_reading.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace titer {
namespace {

constexpr std::size_t kMostKept = 128;  // of a part; a cluster's may take 100 kB

/// A number as a person would write it: whole where it is.
Value number_value(double number) {
  constexpr double most = 9e15;  // exact
  const bool whole = std::abs(number) <= most && std::trunc(number) == number;
  return whole ? Value(static_cast<std::int64_t>(number)) : Value(number);
}

bool leaves_data_open(const ScenarioSource& source) {
  const Value* data = source.document().at("plan.data");
  return data == nullptr || data->kind == Value::Kind::null;
}

}  // namespace

Assignment axis_assignment(const Axis& axis, std::size_t value) {
  return {axis.path, axis.values[value], "axis " + axis.path};
}

Assignment derived_assignment(const DerivedField& field, double number) {
  return {
      field.name,
      field.unit.empty() ? number_value(number) : Value(fmt::format("{} {}", number, field.unit)),
      "derived " + field.name};
}

SweepReading::SweepReading(const Sweep& sweep)
    : sweep_(&sweep), source_(sweep.base), prepared_(sweep.base) {
  list_inputs();
  sample_inputs();
  for (const Choice<ScenarioPart>& part : kScenarioParts) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].field && follows(part.value, inputs_[i].part)) {
        parts_[static_cast<std::size_t>(part.value)].inputs.push_back(i);
      }
    }
  }
  usable_ = succeeds([&] { prepare(); }) && !sizes_follow_plans() &&
            !conditions_follow_plans();  // else points say what is wrong
  prepared_ = source_;
}

/// Whether a cluster's part would have to be read again for another plan: one that takes the place
/// of a cluster of fixed size keeps that size where the plan leaves its replicas open.
bool SweepReading::sizes_follow_plans() const {
  const auto varies = [&](std::string_view path) {
    return std::ranges::any_of(
        inputs_, [&](const Input& input) { return input.path == path && !input.field; });
  };
  const bool is_fixed = sweep_->base.document().at("cluster.nodes") != nullptr;
  return varies("cluster") && (is_fixed || varies("cluster.nodes")) &&
         (varies("plan") || varies("plan.data"));
}

/// Whether the conditions would have to be read again for another plan: they number devices by
/// node, of which plans of different sizes may use different parts.
bool SweepReading::conditions_follow_plans() const {
  return sweep_->base.document().at("conditions") != nullptr &&
         (scenario_.cluster.whole_node || scenario_.cluster.devices_per_node == 0);
}

/// Reads what no axis changes.
void SweepReading::prepare() {
  const std::vector<ScenarioPart> all = each_of(kScenarioParts, &Choice<ScenarioPart>::value);
  source_.read_without(all, scenario_);
  for (const ScenarioPart part : all) {
    if (parts_[static_cast<std::size_t>(part)].inputs.empty()) {
      source_.read_part(part, scenario_);
    }
  }
  open_data_ = leaves_data_open(source_);
}

/// Also those that are columns only: an empty cell would not say why.
bool SweepReading::has_numbers(const SweepRules& rules) {
  problem_.clear();
  for (std::size_t i = 0; i < sweep_->derived.size(); ++i) {
    if (!std::isfinite(rules.derived(i))) {
      const DerivedField& field = sweep_->derived[i];
      add_listed(
          problem_,
          fmt::format("derived {}: {}: expected a finite value", field.name, field.expression),
          "; ");
    }
  }
  return problem_.empty();
}

const Scenario* SweepReading::read(std::span<const std::size_t> at, const SweepRules& rules) {
  if (!has_numbers(rules)) {
    at_.clear();
    return nullptr;
  }
  if (usable_ && read_changes(at, rules)) {
    at_.assign(at.begin(), at.end());
    return &scenario_;
  }
  at_.clear();
  return read_afresh(at, rules);
}

/// False: something is wrong with this point.
bool SweepReading::read_changes(std::span<const std::size_t> at, const SweepRules& rules) {
  PartFlags changed{};
  if (!read_parts(at, rules, changed)) {
    return false;
  }
  for (const Input& input : inputs_) {
    const bool stays = input.is_axis && !at_.empty() && at_[input.index] == at[input.index] &&
                       !changed[static_cast<std::size_t>(input.part)];
    if (input.field && !stays && !put_field(input, at, rules)) {
      return false;
    }
  }
  if (open_data_) {
    derive_data_degree(scenario_);
  }
  scenario_.cluster.use_for(scenario_.plan.devices());
  return true;
}

/// Those whose key is another than at the point before.
bool SweepReading::read_parts(std::span<const std::size_t> at,
                              const SweepRules& rules,
                              PartFlags& changed) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    PartState& state = parts_[i];
    make_key(state, at, rules);
    if (state.inputs.empty() || state.key == key_) {
      continue;
    }
    changed[i] = true;
    state.key.reset();
    if (!take_part(kScenarioParts[i].value, at, rules)) {
      return false;
    }
    state.key = key_;
  }
  return true;
}

void SweepReading::make_key(const PartState& state,
                            std::span<const std::size_t> at,
                            const SweepRules& rules) {
  key_.clear();
  for (const std::size_t i : state.inputs) {
    const Input& input = inputs_[i];
    key_.push_back(input.is_axis ? at[input.index]
                                 : std::bit_cast<std::uint64_t>(rules.derived(input.index)));
  }
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
  const auto known = state.kept.find(key_);
  if (known != state.kept.end()) {
    return take_kept(part, known->second);
  }
  const bool is_read = read_part(part, at, rules);
  if (is_read && part == ScenarioPart::plan) {
    open_data_ = leaves_data_open(source_);
  }
  if (state.kept.size() < kMostKept) {
    std::optional<ReadPart>& place = state.kept[key_];
    if (is_read) {
      state.lent = &place.emplace(ReadPart{.open_data = open_data_});
    }
  }
  return is_read;
}

bool SweepReading::take_kept(ScenarioPart part, std::optional<ReadPart>& kept) {
  if (!kept) {
    return false;
  }
  swap_part(part, kept->scenario, scenario_);
  if (part == ScenarioPart::plan) {
    open_data_ = kept->open_data;
  }
  parts_[static_cast<std::size_t>(part)].lent = &*kept;
  return true;
}

/// From the document, with the point's values in it. False where something is wrong.
bool SweepReading::read_part(ScenarioPart part,
                             std::span<const std::size_t> at,
                             const SweepRules& rules) {
  try {
    for (const Input& input : inputs_) {
      if (input.field || input.part != part) {
        continue;
      }
      if (input.is_axis) {
        source_.assign(axis_assignment(sweep_->axes[input.index], at[input.index]));
      } else {
        source_.assign(
            derived_assignment(sweep_->derived[input.index], rules.derived(input.index)));
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
      source.assign(axis_assignment(sweep_->axes[i], at[i]));
    }
    for (std::size_t i = 0; i < sweep_->derived.size(); ++i) {
      if (scenario_part(sweep_->derived[i].name)) {
        source.assign(derived_assignment(sweep_->derived[i], rules.derived(i)));
      }
    }
    source.read_unchecked(afresh_);
    return &afresh_;
  } catch (const InputError& error) {
    problem_ = listed(error.lines, "; ");
    return nullptr;
  }
}

}  // namespace titer
