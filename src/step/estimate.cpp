#include "titer/step/estimate.hpp"

#include <algorithm>
#include <vector>

namespace titer {
namespace {

/// Rounded one by one, as the tasks of the event simulation are.
Ticks pass_ticks(const PassCost& cost, Seconds send) {
  return to_ticks(cost.compute) + to_ticks(cost.comm) + to_ticks(send);
}

void fill_ticks(const StepCosts& costs, PassTicks& ticks) {
  const int stages = costs.shape.stages * costs.shape.virtual_stages;
  ticks.clear();
  for (int stage = 0; stage < stages; ++stage) {
    const BlockCost cost = costs.chunk(stage);
    ticks.push_back(pass_ticks(cost.forward, costs.send_after(stage, false)));
    ticks.push_back(to_ticks(cost.recompute.compute) + to_ticks(cost.recompute.comm) +
                    pass_ticks(cost.backward, costs.send_after(stage, true)));
  }
}

Seconds rounded(Seconds time) { return to_seconds(to_ticks(time)); }

/// The busy parts of stage `rank`; what is left of the iteration is its bubble.
void fill_breakdown(const StepCosts& costs, int rank, StepResult& result) {
  Breakdown& parts = result.breakdown;
  CommunicationTotal& total = result.comm_total;
  parts = {};
  total = {};
  const double m = costs.shape.micro_batches;
  for (int chunk = 0; chunk < costs.shape.virtual_stages; ++chunk) {
    const int stage = chunk * costs.shape.stages + rank;
    const BlockCost cost = costs.chunk(stage);
    parts.forward += m * rounded(cost.forward.compute);
    parts.backward += m * rounded(cost.backward.compute);
    parts.recompute += m * rounded(cost.recompute.compute);
    parts.tensor_comm += m * (rounded(cost.forward.comm) + rounded(cost.backward.comm) +
                              rounded(cost.recompute.comm));
    parts.pipeline_comm +=
        m * (rounded(costs.send_after(stage, false)) + rounded(costs.send_after(stage, true)));
    total.tensor +=
        m * (cost.forward.comm_total + cost.backward.comm_total + cost.recompute.comm_total);
  }
  const StageTail& tail = costs.tails[static_cast<std::size_t>(rank)];
  parts.optimizer = rounded(tail.optimizer);
  parts.data_comm = rounded(tail.gradient_sync) + rounded(tail.parameter_sync);
  if (rank == 0 || rank == costs.shape.stages - 1) {
    parts.pipeline_comm += rounded(costs.embedding_sync);
  }
  total.pipeline = parts.pipeline_comm;
  total.data = parts.data_comm;
  fill_bubble(result);
}

Grade worse(Grade a, Grade b) { return std::max(a, b); }

/// The weakest evidence of their efficiencies; the best there is when there are none.
Grade weakest(const std::vector<Protocol>& protocols) {
  Grade grade{};
  for (const Protocol& protocol : protocols) {
    grade = worse(grade, protocol.grade);
  }
  return grade;
}

/// The weakest evidence among the figures that this scenario's time rests on.
Grade grade_of(const Scenario& scenario) {
  const Chip& chip = scenario.cluster.chip;
  Grade grade = worse(chip.rate(scenario.training.precision)->grade, chip.memory.grade);
  if (scenario.plan.devices() > 1) {
    grade = worse(grade, weakest(scenario.cluster.node_protocols));
    grade = worse(grade, weakest(scenario.cluster.node_switch_protocols));
  }
  if (scenario.plan.devices() > scenario.cluster.devices_per_node) {
    grade = worse(grade, weakest(scenario.cluster.network_protocols));
    grade = worse(grade, weakest(scenario.cluster.network_switch_protocols));
  }
  return grade;
}

void fill_rates(const Scenario& scenario, StepResult& result) {
  const auto batch = static_cast<double>(scenario.training.global_batch);
  const std::int64_t s = scenario.training.sequence;
  result.devices = scenario.plan.devices();
  const auto devices = static_cast<double>(result.devices);
  const double seconds = result.iteration_time.si();
  result.tokens_per_s = batch * static_cast<double>(s) / seconds;
  result.tokens_per_s_per_device = result.tokens_per_s / devices;

  const ForwardFlops forward = forward_flops(scenario.model, batch, s, AttentionCount::full);
  const Flops model = 3.0 * forward.total();
  const Flops causal = model_flops(scenario.model, batch, s, AttentionCount::causal);
  Flops repeated;
  if (scenario.plan.recompute == Recompute::full) {
    repeated = forward.layers + forward.core_attention;
  } else if (scenario.plan.recompute == Recompute::selective) {
    repeated = forward.core_attention;
  }
  const FlopsPerSecond peak = scenario.cluster.chip.rate(scenario.training.precision)->peak;
  const auto utilization = [&](Flops flops) {
    return flops / result.iteration_time / devices / peak;
  };
  result.model_flops_per_device = model / result.iteration_time / devices;
  result.mfu = utilization(model);
  result.mfu_causal = utilization(causal);
  result.hfu = utilization(model + repeated);
}

}  // namespace

void fill_bubble(StepResult& result) {
  result.breakdown.bubble = {};
  const Seconds idle = result.iteration_time - result.breakdown.total();
  // Both are whole ticks: what is less than half a tick is the rounding of the sum.
  result.breakdown.bubble = to_seconds(to_ticks(std::max(Seconds{}, idle)));
}

void add_tails(const StepCosts& costs, std::vector<Ticks>& finish) {
  if (costs.embedding_sync > Seconds{}) {
    const Ticks together = std::max(finish.front(), finish.back()) + to_ticks(costs.embedding_sync);
    finish.front() = together;
    finish.back() = together;
  }
  for (std::size_t s = 0; s < finish.size(); ++s) {
    const StageTail& tail = costs.tails[s];
    finish[s] +=
        to_ticks(tail.gradient_sync) + to_ticks(tail.optimizer) + to_ticks(tail.parameter_sync);
  }
}

void fill_derived(const Scenario& scenario, const ModelOperations& operations, StepResult& result) {
  fill_rates(scenario, result);
  result.bubble_ratio = result.breakdown.bubble / result.iteration_time;
  result.bubble_overhead =
      result.breakdown.bubble / (result.iteration_time - result.breakdown.bubble);
  const MemoryNeeds needs{
      .model = &scenario.model,
      .operations = &operations,
      .slice = scenario.slice(),
      .shape = scenario.shape(),
      .parameter = parameter_bytes(
          scenario.training.optimizer, scenario.training.precision, scenario.gradient_type()),
      .runtime = scenario.stack.runtime_memory};
  stage_memory(scenario.plan, needs, result.memory);
  result.memory_peak = result.peak_stage().total();
  result.memory_capacity = scenario.cluster.chip.memory.capacity;
  result.grade = grade_of(scenario);
}

void Estimator::estimate(const Scenario& scenario, StepResult& result) {
  step_costs(scenario, costs_);
  fill_ticks(costs_, ticks_);
  pipeline_.run(scenario.plan.schedule, costs_.shape, ticks_, finish_);
  add_tails(costs_, finish_);
  const auto last = std::max_element(finish_.begin(), finish_.end());
  result.reference_stage = static_cast<int>(last - finish_.begin());
  result.iteration_time = to_seconds(*last);
  fill_breakdown(costs_, result.reference_stage, result);
  fill_derived(scenario, costs_.operations, result);
}

StepResult estimate(const Scenario& scenario) {
  Estimator estimator;
  StepResult result;
  estimator.estimate(scenario, result);
  return result;
}

}  // namespace titer
