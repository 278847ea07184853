// What explain() says of a schedule's bubble in closed form.

#include <fmt/format.h>

#include <algorithm>

#include "explain_parts.hpp"

namespace titer {
namespace {

/// Of a rank whose share of the layers is the mean.
PassTimes mean_times(const StepCosts& costs) {
  BlockCost middle;
  std::vector<double> all(costs.kinds.size());
  count_kinds(costs.blocks.order, 0, layers_of(costs.blocks), all);
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    middle += all[kind] / costs.shape.stages * costs.kinds[kind];
  }
  const auto busy = [](const PassCost& cost) { return cost.busy(); };
  const Seconds backward = busy(middle.recompute) + busy(middle.backward);
  const Seconds weight = std::min(backward, busy(middle.weight_gradient));
  return {.forward = busy(middle.forward),
          .input_gradient = backward - weight,
          .weight_gradient = weight,
          .pair = {}};
}

/// The two ratios of a bubble of so much idle time.
void add_ratio_terms(const Scenario& scenario,
                     const PassTimes& times,
                     Seconds idle,
                     Section& section) {
  const PipelineShape shape = scenario.shape();
  const Seconds ideal = shape.micro_batches * (times.forward + times.backward());
  const bool plain = scenario.plan.schedule.entry().has_plain_ratio;
  const std::string numbers =
      plain ? fmt::format(
                  "p = {}, v = {}, m = {}", shape.stages, shape.virtual_stages, shape.micro_batches)
            : fmt::format("I = {}, m = {}", format(idle), shape.micro_batches);
  section.terms.push_back(
      {"its bubble ratio (idle / total)",
       plain ? "(p-1) / (v m + p - 1)" : "I / (I + m (F + B + W))",
       numbers,
       fmt::format("{:.4f}", plain ? bubble_ratio(shape) : idle / (idle + ideal)),
       "seeds E8"});
  section.terms.push_back({"its bubble overhead (idle / ideal)",
                           plain ? "(p-1) / (v m)" : "I / (m (F + B + W))",
                           numbers,
                           fmt::format("{:.4f}", plain ? bubble_overhead(shape) : idle / ideal),
                           "Narayanan et al. 2021"});
}

}  // namespace

void add_bubble_terms(const Scenario& scenario,
                      const StepCosts& costs,
                      const StepResult& result,
                      Section& section) {
  const PipelineShape shape = scenario.shape();
  const Schedule& schedule = scenario.plan.schedule;
  const PassTimes times = mean_times(costs);
  const auto idle = bubble(schedule, shape, times);
  section.terms.push_back(
      {fmt::format(
           "bubble{} if all stages were alike and sending free",
           schedule.entry().bubble_of_span ? " of a rank between its first pass and its last" : ""),
       std::string(bubble_formula(schedule)),
       fmt::format("p = {}, v = {}; per rank and micro-batch F = {}, B = {}, W = {}",
                   shape.stages,
                   shape.virtual_stages,
                   format(times.forward),
                   format(times.input_gradient),
                   format(times.weight_gradient)),
       idle ? format(*idle)
            : fmt::format(
                  "not known: no formula holds here; followed pass by pass, the bubble is {}",
                  format(result.breakdown.bubble)),
       std::string(source(schedule))});
  if (idle && !schedule.entry().bubble_of_span) {
    add_ratio_terms(scenario, times, *idle, section);
  }
}

}  // namespace titer
