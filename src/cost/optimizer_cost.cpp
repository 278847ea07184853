// What the optimizer step reads and writes.

#include <algorithm>

#include "titer/cost/sync_cost.hpp"

namespace titer {

OptimizerTraffic optimizer_traffic(const Scenario& scenario) {
  const Training& training = scenario.training;
  const TensorTypes types = scenario.tensor_types();
  const Bytes gradient = size_of(types.gradient);
  const Bytes weight = size_of(types.weight);
  const Bytes master = std::max(weight, size_of(types.master));
  const Bytes states = moment_bytes(training.optimizer, types);
  // Read the gradient; read and write the fp32 weights and the states; write the weights that the
  // model uses, where they are a copy. Before that every gradient is read for its norm, and after
  // it every gradient is set to zero.
  const OptimizerRule& rule = training.optimizer;
  const OptimizerPasses& passes = training.fused_optimizer ? rule.fused : rule.unfused;
  const Bytes own = (training.fused_optimizer ? 2.0 * (master + states) : Bytes{}) +
                    passes.numbers * size_of(DataType::fp32);
  return {.per_updated = passes.gradient_reads * gradient + own + written_copies(types),
          .per_gradient = 2.0 * gradient,
          .kernels = passes.kernels};
}

}  // namespace titer
