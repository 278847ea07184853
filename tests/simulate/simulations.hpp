#pragma once
// Steps of round durations for tests of the simulation, and what views print of a result.

#include <algorithm>
#include <numeric>
#include <string>

#include "cost/blocks.hpp"
#include "scenario/plain.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer::simulations {

/// Everything that a result says, as views print it.
inline std::string all_of(const Scenario& scenario, const StepResult& result) {
  return to_json(step_view(scenario, result).as_json()) + step_view(scenario, result).as_text() +
         step_view(scenario, result).as_csv();
}

inline constexpr Seconds kForward = 10_us;
inline constexpr Seconds kBackward = 20_us;
inline constexpr Seconds kSend = 3_us;
inline constexpr Seconds kOptimizer = 5_us;

/// One layer for every stage of the model, and no more.
struct RoundStep {
  Scenario scenario;
  StepCosts costs;

  explicit RoundStep(const Plan& plan, int micro_batches = 2) : scenario(plain::scenario(plan)) {
    const auto* listed = std::get_if<std::vector<std::int64_t>>(&plan.layers);
    scenario.model.transformer().order.clear();
    scenario.model.transformer().layers =
        listed != nullptr ? std::accumulate(listed->begin(), listed->end(), std::int64_t{0})
                          : plan.pipeline * plan.virtual_stages;
    scenario.stack.pipeline_send = PipelineSend::blocking;
    scenario.stack.overlap_slowdown = 1;
    scenario.training.global_batch = micro_batches * plan.data * plan.micro_batch;
    step_costs(scenario, costs);
    costs.kinds = {{.forward = pass_cost(kForward),
                    .backward = pass_cost(kBackward),
                    .recompute = {},
                    .input_gradient = pass_cost(kBackward / 2),
                    .weight_gradient = pass_cost(kBackward / 2)}};
    costs.embedding = {};
    costs.head = {};
    costs.embedding_sync = {};
    std::fill(costs.send.begin(), costs.send.end(), kSend);
    for (StageTail& tail : costs.tails) {
      tail = {.gradient_sync = {}, .optimizer = kOptimizer, .parameter_sync = {}};
    }
    costs.buckets.clear();
  }

  [[nodiscard]] Simulation run(const SimulationOptions& options = {}) const {
    return simulate(scenario, costs, options);
  }
  [[nodiscard]] StepResult result() const { return run().result; }
};

inline Ticks ticks(Seconds time) { return to_ticks(time); }

}  // namespace titer::simulations
