#include "titer/search/unsearched.hpp"

#include <fmt/format.h>

#include <variant>

#include "titer/estimate/estimate.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr double kLeastGain = 0.005;

/// The plan by the other rule, where it has one and stages to share the layers out over.
std::optional<Plan> other_plan(const Plan& plan) {
  const auto* rule = std::get_if<LayerRule>(&plan.layers);
  if (rule == nullptr || plan.pipeline == 1) {
    return std::nullopt;
  }
  Plan other = plan;
  other.layers = *rule == LayerRule::even ? LayerRule::lighter_ends : LayerRule::even;
  return other;
}

}  // namespace

std::optional<UnsearchedGain> unsearched_gain(const Scenario& scenario,
                                              const StepResult& step,
                                              const Abilities& abilities,
                                              double memory_margin) {
  if (scenario.unlike() || scenario.formula != Formula::titer) {
    return std::nullopt;
  }
  const std::optional<Plan> plan = other_plan(scenario.plan);
  if (!plan) {
    return std::nullopt;
  }
  Scenario other = scenario;
  other.plan = *plan;
  if (!missing_abilities(abilities, *plan).empty() || !validate(other).empty()) {
    return std::nullopt;
  }
  StepResult result;
  Estimator().estimate(other, result);
  const Bytes most = (1 - memory_margin) * step.memory_capacity;
  const double gain = 1 - result.iteration_time / step.iteration_time;
  if (gain < kLeastGain || !result.fits() || result.memory_peak > most) {
    return std::nullopt;
  }
  const std::string path = "plan.layers";
  return UnsearchedGain{.change = {path, find_field(plan_fields(), "layers")->write(*plan), path},
                        .time = result.iteration_time,
                        .gain = gain};
}

std::string unsearched_words(const UnsearchedGain& gain) {
  return fmt::format(
      "searches do not vary layers: where the software can, with{} the plan takes {}, {:.1f} % "
      "less, and a search may find a faster one",
      set_options({gain.change}),
      format(gain.time),
      100 * gain.gain);
}

}  // namespace titer
