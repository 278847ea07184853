#include "titer/whatif/scenario_probe.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "titer/estimate/figures.hpp"
#include "titer/sweep/scenario_fields.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// What a part leaves open follows another: the sequence the model, the data degree and the devices
/// of a node the cluster. In the order of kScenarioParts.
std::vector<ScenarioPart> parts_of(std::span<const Assignment> changes) {
  std::array<bool, kScenarioParts.size()> led{};
  const auto at = [&](ScenarioPart part) -> bool& { return led[static_cast<std::size_t>(part)]; };
  for (const Assignment& change : changes) {
    const auto part = scenario_part(change.path);
    if (!part) {
      throw InputError(change.source + ": " + change.path +
                       ": expected a path into a part of the scenario, such as plan.tensor");
    }
    at(*part) = true;
  }
  at(ScenarioPart::training) |= at(ScenarioPart::model);
  at(ScenarioPart::plan) |= at(ScenarioPart::cluster);
  at(ScenarioPart::conditions) |= at(ScenarioPart::cluster);
  std::vector<ScenarioPart> parts;
  for (const Choice<ScenarioPart>& part : kScenarioParts) {
    if (at(part.value)) {
      parts.push_back(part.value);
    }
  }
  return parts;
}

}  // namespace

std::vector<OutcomeFigure> outcome_figures() {
  std::vector<OutcomeFigure> list;
  for (const ResultFigure& figure : kResultFigures) {
    const bool less = figure.name == "iteration_time_s" || figure.name.starts_with("bubble");
    list.push_back({std::string(figure.name), figure.value, less});
  }
  for (const BreakdownPart& part : kBreakdownParts) {
    list.push_back({std::string(part.name) + "_s", [value = part.value](const StepResult& result) {
                      return (result.breakdown.*value).si();
                    }});
  }
  list.push_back({"memory_peak_bytes", [](const StepResult& r) { return r.memory_peak.si(); }});
  return list;
}

OutcomeFigure outcome_figure(std::string_view name, std::string_view option) {
  const std::vector<OutcomeFigure> known = outcome_figures();
  std::vector<std::string_view> names;
  for (const OutcomeFigure& figure : known) {
    if (figure.name == name) {
      return figure;
    }
    names.emplace_back(figure.name);
  }
  throw InputError(fmt::format("{}: {}: no figure of a result{}",
                               option,
                               name,
                               suggestion(name, names, "; expected one of " + listed(names))));
}

ScenarioProbe::ScenarioProbe(ScenarioSource source, Fidelity fidelity)
    : source_(std::move(source)), fidelity_(fidelity), base_(source_.read()), changed_(base_) {
  evaluate(base_, fidelity_, estimator_, base_result_);
  ++evaluations_;
}

const StepResult* ScenarioProbe::with(std::span<const Assignment> changes) {
  for (const ScenarioPart part : parts_) {
    copy_part(part, base_, changed_);
  }
  parts_ = parts_of(changes);
  std::vector<Assignment> before;
  const bool sound = evaluate_changed(changes, before);
  for (auto change = before.rbegin(); change != before.rend(); ++change) {
    source_.assign(*change);
  }
  return sound ? &result_ : nullptr;
}

/// `before` takes what takes back the changes that were made.
bool ScenarioProbe::evaluate_changed(std::span<const Assignment> changes,
                                     std::vector<Assignment>& before) {
  refusal_.clear();
  try {
    for (const Assignment& change : changes) {
      const Value* old = document().at(change.path);
      Assignment back{change.path, old == nullptr ? Value() : *old, change.source};
      source_.assign(change);
      before.push_back(std::move(back));
    }
    for (const ScenarioPart part : parts_) {
      source_.read_part(part, changed_);
    }
    for (const Violation& violation : validate(changed_)) {
      add_listed(refusal_, violation.text(), "; ");
    }
    if (refusal_.empty()) {
      evaluate(changed_, fidelity_, estimator_, result_);
      ++evaluations_;
    }
  } catch (const InputError& error) {
    refusal_ = listed(error.lines, "; ");
  }
  return refusal_.empty();
}

Seconds rounding_of(const Scenario& scenario) {
  constexpr double terms = 13;  // compute and five kinds of transfers, repeated or not, and a send
  const Plan& plan = scenario.plan;
  const auto passes = static_cast<double>(plan.virtual_stages) *
                      static_cast<double>(scenario.micro_batches() + 2 * plan.pipeline);
  return Seconds::from_si((terms * passes + 64) * 1e-12);
}

}  // namespace titer
