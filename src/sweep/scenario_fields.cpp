#include "titer/sweep/scenario_fields.hpp"

#include <algorithm>
#include <utility>

#include "titer/plan/plan_fields.hpp"

namespace titer {
namespace {

/// The part of a scenario that fields are of.
template <class AnyScenario>
auto& part_of(AnyScenario& scenario, const Field<Plan>* /*field*/) {
  return scenario.plan;
}
template <class AnyScenario>
auto& part_of(AnyScenario& scenario, const Field<Training>* /*field*/) {
  return scenario.training;
}

/// One that stands alone; nullptr if there is none.
template <class T>
const Field<T>* lone_field(std::span<const Field<T>> table, std::string_view key) {
  const Field<T>* field = find_field(table, key);
  return field != nullptr && field->alone ? field : nullptr;
}

/// Hands what a part is in two scenarios to `act`.
template <class AnyScenario, class Act>
void each_value(ScenarioPart part, AnyScenario& one, Scenario& other, const Act& act) {
  switch (part) {
    case ScenarioPart::model:
      return act(one.model, other.model);
    case ScenarioPart::cluster:
      return act(one.cluster, other.cluster);
    case ScenarioPart::stack:
      return act(one.stack, other.stack);
    case ScenarioPart::plan:
      return act(one.plan, other.plan);
    case ScenarioPart::training:
      return act(one.training, other.training);
    case ScenarioPart::formula:
      act(one.formula, other.formula);
      return act(one.e7, other.e7);
    case ScenarioPart::conditions:
      return act(one.conditions, other.conditions);
  }
}

}  // namespace

std::optional<ScenarioField> ScenarioField::at(std::string_view path) {
  const std::string_view key = path.substr(std::min(path.find('.') + 1, path.size()));
  const auto part = scenario_part(path);
  const Field<Plan>* of_plan =
      part == ScenarioPart::plan ? lone_field(plan_fields(), key) : nullptr;
  const Field<Training>* of_training =
      part == ScenarioPart::training ? lone_field(training_fields(), key) : nullptr;
  if (of_plan != nullptr) {
    return ScenarioField(of_plan);
  }
  return of_training == nullptr ? std::nullopt : std::optional(ScenarioField(of_training));
}

void ScenarioField::copy(const Scenario& from, Scenario& to) const {
  std::visit([&](const auto* field) { field->copy(part_of(from, field), part_of(to, field)); },
             of_);
}

bool ScenarioField::is_number() const {
  return std::visit([](const auto* field) { return field->set != nullptr; }, of_);
}

void ScenarioField::set(std::int64_t number, Scenario& to) const {
  std::visit([&](const auto* field) { field->set(number, part_of(to, field)); }, of_);
}

void copy_part(ScenarioPart part, const Scenario& from, Scenario& to) {
  each_value(part, from, to, [](const auto& value, auto& other) { other = value; });
}

void swap_part(ScenarioPart part, Scenario& one, Scenario& other) {
  each_value(part, one, other, [](auto& value, auto& of_other) { std::swap(value, of_other); });
}

bool follows(ScenarioPart part, ScenarioPart other) {
  return part == other || (part == ScenarioPart::training && other == ScenarioPart::model) ||
         (part == ScenarioPart::conditions && other == ScenarioPart::cluster);
}

}  // namespace titer
