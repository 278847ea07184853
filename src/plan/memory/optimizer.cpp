#include "titer/plan/memory/optimizer.hpp"

namespace titer {

Bytes moment_bytes(const OptimizerRule& rule, const TensorTypes& types) {
  const double share = rule.quantised ? 1.0 : size_of(types.state) / size_of(DataType::fp32);
  return Bytes::from_si(rule.state_bytes * share);
}

ParameterBytes parameter_bytes(const OptimizerRule& rule, const TensorTypes& types) {
  const Bytes weight = size_of(types.weight);
  const Bytes copies = types.narrow_products ? 2.0 * size_of(types.product) : Bytes{};
  const bool needs_master = weight < size_of(types.master);
  const Bytes master = needs_master ? size_of(types.master) : Bytes{};
  return {.weight = weight + copies,
          .gradient = size_of(types.gradient),
          .optimizer = moment_bytes(rule, types) + master,
          .gathered = weight + copies,
          .matrix = rule.orthogonal ? std::optional(momentum_bytes(types) + master) : std::nullopt};
}

ParameterBytes parameter_bytes(const OptimizerRule& rule, DataType precision, DataType gradient) {
  return parameter_bytes(rule, TensorTypes{.weight = precision, .gradient = gradient});
}

}  // namespace titer
