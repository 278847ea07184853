#include "titer/estimate/e7.hpp"

#include <algorithm>

#include "titer/collectives/algorithm/torus.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/estimate/step_length.hpp"
#include "titer/plan/place/placement.hpp"

namespace titer {
namespace {

/// The most that a channel's protocols reach with long messages.
BytesPerSecond long_message_bandwidth(const Channel& channel) {
  BytesPerSecond best;
  for (const Link& link : channel.links()) {
    best = std::max(best, link.bandwidth);
  }
  return best;
}

/// The bandwidth that a group's ring runs at: of the network if it leaves the node, of one wire on
/// a torus.
BytesPerSecond group_bandwidth(const Scenario& scenario, PlanGroup of) {
  const GroupPlace group = place(scenario.plan, of, scenario.cluster);
  const Fabric fabric = group.fabric(scenario.cluster);
  if (is_torus(group.group)) {
    return long_message_bandwidth(fabric.wire);
  }
  return long_message_bandwidth(group.group.nodes > 1 ? fabric.network : fabric.node);
}

}  // namespace

E7Terms e7_terms(const Scenario& scenario) {
  const auto p = static_cast<double>(scenario.plan.pipeline);
  const auto t = static_cast<double>(scenario.plan.tensor);
  const auto d = static_cast<double>(scenario.plan.data);
  const auto l = static_cast<double>(scenario.model.layers());
  const auto b = static_cast<double>(scenario.plan.micro_batch);
  const auto s = static_cast<double>(scenario.training.sequence);
  const auto h = static_cast<double>(scenario.model.transformer().hidden);
  const Bytes activation = 2.0 * b * s * h * 1_B;  // 2 b s h

  E7Terms terms;
  terms.micro_batches = static_cast<double>(scenario.micro_batches());
  terms.parameters = static_cast<double>(parameters(scenario));
  terms.utilization = scenario.e7.utilization.value_or(1.0);
  terms.peak = scenario.cluster.chip.rate(scenario.training.precision)->peak;
  const double per_device = terms.parameters / (p * t);  // N / (p t)

  terms.micro_batch_flops = Flops::from_si(8.0 * per_device * b * s);
  const Seconds compute = terms.micro_batch_flops / (terms.utilization * terms.peak);
  Seconds tensor;
  Seconds pipeline;
  if (t > 1) {
    terms.tensor_bandwidth =
        scenario.e7.tensor_bandwidth.value_or(group_bandwidth(scenario, PlanGroup::tensor));
    tensor = l / p * 4.0 * 1.5 * (2.0 * (t - 1.0) / t) * activation / terms.tensor_bandwidth;
  }
  if (p > 1) {
    terms.pipeline_bandwidth =
        scenario.e7.pipeline_bandwidth.value_or(group_bandwidth(scenario, PlanGroup::pipeline));
    pipeline = 2.0 * activation / terms.pipeline_bandwidth;
  }
  if (d > 1) {
    terms.data_bandwidth =
        scenario.e7.data_bandwidth.value_or(group_bandwidth(scenario, PlanGroup::replicas));
    terms.data = 2.0 * per_device * (2.0 * (d - 1.0) / d) * 1_B / terms.data_bandwidth;
  }
  terms.compute = terms.micro_batches * compute;
  terms.tensor = terms.micro_batches * tensor;
  terms.pipeline = terms.micro_batches * pipeline;
  terms.bubble = (p - 1.0) * (compute + pipeline + tensor);
  return terms;
}

void e7_estimate(const Scenario& scenario, StepResult& result) {
  const E7Terms terms = e7_terms(scenario);
  result.iteration_time = terms.iteration();
  if (result.iteration_time > kLongestStep) {
    refuse_length(result.iteration_time);
  }
  result.reference_stage = 0;  // "any GPU of stage 1"
  result.breakdown = {};
  result.breakdown.forward = terms.compute * (2.0 / 8.0);
  result.breakdown.backward = terms.compute * (4.0 / 8.0);
  result.breakdown.recompute = terms.compute * (2.0 / 8.0);
  result.breakdown.tensor_comm = terms.tensor;
  result.breakdown.pipeline_comm = terms.pipeline;
  result.breakdown.data_comm = terms.data;
  result.breakdown.bubble = terms.bubble;
  result.comm_total = {.tensor = terms.tensor,
                       .context = {},
                       .expert = {},
                       .pipeline = terms.pipeline,
                       .data = terms.data,
                       .host = {}};
  ModelBlocks blocks;
  list_blocks(scenario.model, scenario.slice(), blocks);
  MemoryFinder memory;
  fill_derived(scenario, blocks, memory, result);
  result.grade = Grade::given;  // u is the user's
}

}  // namespace titer
