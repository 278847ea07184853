#include "titer/search/unsearched.hpp"

#include <fmt/format.h>

#include <array>
#include <variant>

#include "titer/estimate/estimate.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr double kLeastGain = 0.005;
constexpr std::array<std::string_view, 3> kUnsearchedKeys = {
    "expert_dispatch", "expert_overlap", "layers"};

/// The plan itself and each other that differs in what these keys say.
std::vector<Plan> others(const Scenario& scenario) {
  std::vector<Plan> plans = {scenario.plan};
  const auto vary = [&](const auto& change) {
    const std::size_t before = plans.size();
    for (std::size_t i = 0; i < before; ++i) {
      Plan plan = plans[i];
      change(plan);
      plans.push_back(std::move(plan));
    }
  };
  if (has_own_expert_groups(scenario.plan)) {
    if (scenario.expert_dispatch() == ExpertDispatch::all_to_all) {
      vary([](Plan& plan) { plan.expert_dispatch = ExpertDispatch::deduplicated; });
    }
    if (!scenario.plan.expert_overlap) {
      vary([](Plan& plan) { plan.expert_overlap = true; });
    }
  }
  const auto* rule = std::get_if<LayerRule>(&scenario.plan.layers);
  if (rule != nullptr && scenario.plan.pipeline > 1) {
    vary([&](Plan& plan) {
      plan.layers = *rule == LayerRule::even ? LayerRule::lighter_ends : LayerRule::even;
    });
  }
  return plans;
}

std::vector<Assignment> changes_between(const Plan& before, const Plan& after) {
  std::vector<Assignment> changes;
  for (const std::string_view key : kUnsearchedKeys) {
    const Field<Plan>& field = *find_field(plan_fields(), key);
    if (!field.same(before, after)) {
      const std::string path = "plan." + std::string(key);
      changes.push_back({path, field.write(after), path});
    }
  }
  return changes;
}

}  // namespace

std::optional<UnsearchedGain> unsearched_gain(const Scenario& scenario,
                                              const StepResult& step,
                                              const Abilities& abilities,
                                              double memory_margin) {
  if (scenario.unlike() || scenario.formula != Formula::titer) {
    return std::nullopt;
  }
  const Bytes most = (1 - memory_margin) * step.memory_capacity;
  Scenario other = scenario;
  Estimator estimator;
  StepResult result;
  const Plan* best = nullptr;
  Seconds time = (1 - kLeastGain) * step.iteration_time;
  const std::vector<Plan> plans = others(scenario);
  for (const Plan& plan : plans) {
    other.plan = plan;
    if (!missing_abilities(abilities, plan).empty() || !validate(other).empty()) {
      continue;
    }
    estimator.estimate(other, result);
    if (result.iteration_time < time && result.fits() && result.memory_peak <= most) {
      best = &plan;
      time = result.iteration_time;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  return UnsearchedGain{.changes = changes_between(scenario.plan, *best),
                        .time = time,
                        .gain = 1 - time / step.iteration_time};
}

std::string unsearched_words(const UnsearchedGain& gain) {
  const auto key = [](const Assignment& change) { return change.path.substr(5); };
  return fmt::format(
      "searches do not vary {}: where the software can, with{} the plan takes {}, {:.1f} % "
      "less, and a search may find a faster one",
      listed(gain.changes, key),
      set_options(gain.changes),
      format(gain.time),
      100 * gain.gain);
}

}  // namespace titer
