// The plan of a capacity question for a number of devices.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "titer/campaign/capacity.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// The scenario on so many devices, its plan otherwise as it is; or why not.
std::string scale(BatchRule rule, std::int64_t devices, Scenario& scenario) {
  Plan& plan = scenario.plan;
  const std::int64_t of_replica =
      counted_product(counted_product(plan.tensor, plan.context), plan.pipeline);
  if (devices % of_replica != 0) {
    return fmt::format("expected a multiple of tensor x context x pipeline = {} x {} x {} = {}",
                       plan.tensor,
                       plan.context,
                       plan.pipeline,
                       of_replica);
  }
  const std::int64_t replicas = devices / of_replica;
  std::int64_t& batch = scenario.training.global_batch;
  if (rule == BatchRule::scaled) {
    const std::int64_t sequences = counted_product(batch, replicas);
    if (sequences % plan.data != 0) {
      return fmt::format(
          "batch {} of {} replicas cannot be scaled to {}", batch, plan.data, replicas);
    }
    batch = sequences / plan.data;
  }
  if (batch % replicas != 0) {
    return fmt::format("batch {} is not shared out evenly among {} replicas", batch, replicas);
  }
  plan.data = replicas;
  scenario.cluster.use_for(devices);
  if (scenario.cluster.nodes) {
    const bool fills = devices % scenario.cluster.devices_per_node == 0;
    scenario.cluster.nodes = fills ? std::optional(plan_nodes(scenario)) : std::nullopt;
  }
  return "";
}

/// The plan with other virtual stages, micro-batches and recomputations, as it is the first. None
/// recomputes what its software cannot.
class Variants {
 public:
  Variants(const Scenario& scenario, const Abilities& abilities)
      : scenario_(scenario), plan_(scenario.plan) {
    constexpr std::int64_t largest = 16;
    for (std::int64_t size = 1; size <= std::max(largest, plan_.micro_batch); size *= 2) {
      if (size != plan_.micro_batch) {
        micro_batches_.push_back(size);
      }
    }
    if (plan_.recompute == Recompute::none) {
      recomputations_.emplace_back(Recompute::selective, 0);
      recomputations_.emplace_back(Recompute::modules, bit(Module::mlp));
    }
    if (plan_.recompute != Recompute::full) {
      recomputations_.emplace_back(Recompute::full, 0);
    }
    if (is_able(abilities, plan_, PlanPart::layer)) {
      std::erase_if(recomputations_, [&](const Recomputation& recomputation) {
        std::tie(scenario_.plan.recompute, scenario_.plan.recomputed) = recomputation;
        return !is_able(abilities, scenario_.plan, PlanPart::layer);
      });
    }
  }

  /// The fastest that fits with the most virtual stages that any fits with.
  PlannedStep best() {
    for (std::int64_t virtual_stages = plan_.virtual_stages; virtual_stages > 0; --virtual_stages) {
      if (plan_.virtual_stages % virtual_stages == 0 && !best_.scenario) {
        try_all(virtual_stages);
      }
    }
    if (best_.scenario) {
      best_.problem.clear();
      best_.over_memory = false;
    }
    return best_;
  }

 private:
  void try_all(std::int64_t virtual_stages) {
    for (const auto& [recompute, modules] : recomputations_) {
      for (const std::int64_t micro_batch : micro_batches_) {
        scenario_.plan = plan_;
        scenario_.plan.virtual_stages = virtual_stages;
        scenario_.plan.recompute = recompute;
        scenario_.plan.recomputed = modules;
        scenario_.plan.micro_batch = micro_batch;
        try_one();
      }
    }
  }

  void try_one() {
    if (const auto violations = validate(scenario_); !violations.empty()) {
      best_.problem = best_.problem.empty() ? violations.front().text() : best_.problem;
      return;
    }
    evaluate(scenario_, usual_fidelity(scenario_), estimator_, step_);
    if (!step_.fits()) {
      if (!least_peak_ || step_.memory_peak < *least_peak_) {
        least_peak_ = step_.memory_peak;
        best_.problem = memory_sentence(step_);
        best_.over_memory = true;
      }
    } else if (!best_.scenario || step_.iteration_time < best_.step.iteration_time) {
      best_.scenario = scenario_;
      best_.step = step_;
    }
  }

  Scenario scenario_;
  Plan plan_;
  std::vector<std::int64_t> micro_batches_ = {plan_.micro_batch};
  std::vector<Recomputation> recomputations_ = {{plan_.recompute, plan_.recomputed}};
  Estimator estimator_;
  StepResult step_;
  std::optional<Bytes> least_peak_;  // of those that do not fit
  PlannedStep best_;
};

/// The batch nearest to the scenario's of which so many devices have a plan that fits, half as
/// large to twice.
std::optional<std::int64_t> nearest_batch(const CapacityQuestion& question, std::int64_t devices) {
  constexpr std::int64_t most_tried = 32;
  const Scenario& asked = question.scenario;
  const Plan& plan = asked.plan;
  const std::int64_t of_replica =
      counted_product(counted_product(plan.tensor, plan.context), plan.pipeline);
  if (devices % of_replica != 0) {
    return std::nullopt;
  }
  const std::int64_t replicas = devices / of_replica;
  const std::int64_t batch = asked.training.global_batch;
  std::int64_t below = batch / replicas * replicas;
  std::int64_t above = below + replicas;
  for (std::int64_t tried = 0; tried < most_tried; ++tried) {
    const bool is_below = batch - below <= above - batch;
    const std::int64_t next = is_below ? below : above;
    (is_below ? below : above) += is_below ? -replicas : replicas;
    if (next < (batch + 1) / 2 || next > 2 * batch) {
      return std::nullopt;
    }
    Scenario scenario = asked;
    scenario.training.global_batch = next;
    if (scale(BatchRule::fixed, devices, scenario).empty() &&
        Variants(scenario, question.abilities).best().scenario) {
      return next;
    }
  }
  return std::nullopt;
}

}  // namespace

PlannedStep scaled_plan(const CapacityQuestion& question, std::int64_t devices) {
  Scenario scenario = question.scenario;
  std::string problem = scale(question.batch, devices, scenario);
  if (problem.empty()) {
    return Variants(scenario, question.abilities).best();
  }
  const auto batch =
      question.batch == BatchRule::fixed ? nearest_batch(question, devices) : std::nullopt;
  if (batch && std::abs(static_cast<double>(*batch - scenario.training.global_batch)) <=
                   question.batch_slack * static_cast<double>(scenario.training.global_batch)) {
    scenario.training.global_batch = *batch;
    problem = scale(question.batch, devices, scenario);
    ensure(problem.empty(), "a batch that was found to have a plan has one");
    return Variants(scenario, question.abilities).best();
  }
  problem += offer_of_batch(scenario.training.global_batch, batch);
  return {.scenario = {}, .step = {}, .problem = std::move(problem)};
}

}  // namespace titer
