// What the optimizer step reads and writes.

#include <algorithm>

#include "titer/cost/sync_cost.hpp"

namespace titer {

namespace {

/// Read the gradient; read and write the fp32 weights and the states; write the weights that the
/// model uses, where they are a copy.
Bytes updated_bytes(const Scenario& scenario, bool fused) {
  const OptimizerRule& rule = scenario.training.optimizer;
  const OptimizerPasses& passes = fused ? rule.fused : rule.unfused;
  const TensorTypes types = scenario.tensor_types();
  const Bytes master = std::max(size_of(types.weight), size_of(types.master));
  const Bytes own = (fused ? 2.0 * (master + moment_bytes(rule, types)) : Bytes{}) +
                    passes.numbers * size_of(DataType::fp32);
  return passes.gradient_reads * size_of(types.gradient) + own + written_copies(types);
}

}  // namespace

Bytes update_bytes(const Scenario& scenario) { return updated_bytes(scenario, true); }

/// Before the update every gradient is read for its norm, and after it every gradient is set to
/// zero.
OptimizerTraffic optimizer_traffic(const Scenario& scenario) {
  const Training& training = scenario.training;
  const Bytes gradient = size_of(scenario.tensor_types().gradient);
  const Offload& offload = scenario.plan.offload;
  const Bytes norms = offload.gradients ? Bytes{} : 2.0 * gradient;
  if (offload.updates_on_host()) {
    return {.per_updated = {}, .per_gradient = norms, .kernels = 1};
  }
  const bool fused = training.fused_optimizer;
  return {.per_updated = updated_bytes(scenario, fused),
          .per_gradient = norms,
          .kernels = (fused ? training.optimizer.fused : training.optimizer.unfused).kernels};
}

}  // namespace titer
