#include "titer/plan/memory/optimizer.hpp"

namespace titer {

ParameterBytes parameter_bytes(const OptimizerRule& rule, const TensorTypes& types) {
  const Bytes weight = size_of(types.weight);
  const Bytes copies = types.narrow_products ? 2.0 * size_of(types.product) : Bytes{};
  const bool needs_master = weight < size_of(types.master);
  const double states = rule.state_bytes * (size_of(types.state) / size_of(DataType::fp32));
  return {.weight = weight + copies,
          .gradient = size_of(types.gradient),
          .optimizer = Bytes::from_si(states) + (needs_master ? size_of(types.master) : Bytes{}),
          .gathered = weight + copies};
}

ParameterBytes parameter_bytes(const OptimizerRule& rule, DataType precision, DataType gradient) {
  return parameter_bytes(rule, TensorTypes{.weight = precision, .gradient = gradient});
}

}  // namespace titer
