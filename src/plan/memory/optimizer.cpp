#include "titer/plan/memory/optimizer.hpp"

namespace titer {
namespace {

/// Of weights that take `wide` in their own type.
Bytes held(const TensorTypes& types, Bytes wide) {
  if (!types.narrow) {
    return wide;
  }
  switch (types.narrow->held) {
    case NarrowWeights::cast:
    case NarrowWeights::gathered:
      break;
    case NarrowWeights::beside:
      return wide + types.narrow->bytes();
    case NarrowWeights::instead:
      return types.narrow->bytes();
  }
  return wide;
}

}  // namespace

Bytes moment_bytes(const OptimizerRule& rule, const TensorTypes& types) {
  const double share = rule.quantised ? 1.0 : size_of(types.state) / size_of(DataType::fp32);
  return Bytes::from_si(rule.state_bytes * share);
}

Bytes written_copies(const TensorTypes& types) {
  const bool is_copy = size_of(types.weight) < size_of(types.master);
  const Bytes weight = is_copy ? size_of(types.weight) : Bytes{};
  return held(types, weight);
}

ParameterBytes parameter_bytes(const OptimizerRule& rule, const TensorTypes& types) {
  const bool needs_master = types.are_narrow() || size_of(types.weight) < size_of(types.master);
  const Bytes master = needs_master ? size_of(types.master) : Bytes{};
  return {.weight = held(types, size_of(types.weight)),
          .gradient = size_of(types.gradient),
          .optimizer = moment_bytes(rule, types) + master,
          .gathered = (types.narrow && types.narrow->held == NarrowWeights::gathered)
                          ? types.narrow->bytes()
                          : held(types, size_of(types.gathered.value_or(types.weight))),
          .matrix = rule.by_matrix() ? std::optional((rule.orthogonal ? momentum_bytes(types)
                                                                      : moment_bytes(rule, types)) +
                                                     master)
                                     : std::nullopt,
          .sides = rule.preconditioner};
}

}  // namespace titer
