#include "search_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/step/notes.hpp"

namespace titer {

std::string shown(const Value& value) {
  switch (value.kind) {
    case Value::Kind::text:
      return value.text;
    case Value::Kind::null:
      return "-";
    case Value::Kind::boolean:
      return value.boolean ? "yes" : "no";
    case Value::Kind::object: {
      std::string text;
      for (const auto& [key, member] : value.members) {
        text += (text.empty() ? "" : "+") + key;
      }
      return text;
    }
    default:
      return to_json(value, 0);
  }
}

std::vector<std::pair<std::string, Value>> asked_of(const Search& search,
                                                    const SearchAnswer& answer) {
  const Scenario& scenario = searched(search, answer).scenario;
  const Training& training = scenario.training;
  const std::string model = scenario.model.name();
  return {{"model", Value(answer.model.empty() ? model : answer.model)},
          {"cluster", Value(scenario.cluster.name)},
          {"chip", Value(scenario.cluster.chip.name)},
          {"stack", Value(scenario.stack.name)},
          {"global_batch", Value(training.global_batch)},
          {"sequence", Value(training.sequence)},
          {"tokens_per_step", Value(counted_product(training.global_batch, training.sequence))},
          {"precision", Value(name(training.precision))}};
}

std::string plan_difference(const Plan& plan, const Plan& other) {
  std::string text;
  for (const SearchKey& key : search_keys()) {
    const std::string own = shown(key.value(plan));
    if (own != shown(key.value(other))) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key.name, own);
    }
  }
  return text;
}

std::string alike_keys(const FoundPlan& found) {
  std::string text;
  for (const SearchKey& key : search_keys()) {
    const std::string own = shown(key.value(found.plan));
    const bool differs = std::any_of(found.alike.begin(), found.alike.end(), [&](const Plan& plan) {
      return shown(key.value(plan)) != own;
    });
    if (differs) {
      text += (text.empty() ? "" : ", ") + std::string(key.name);
    }
  }
  return text;
}

std::vector<std::string> leaving_software(const Search& search, const SearchAnswer& beyond) {
  Scenario scenario = searched(search, beyond).scenario;
  scenario.plan = beyond.plans.front().plan;
  return beyond_software(searched(search, beyond).abilities, scenario);
}

}  // namespace titer
