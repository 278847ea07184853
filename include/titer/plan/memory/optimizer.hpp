#pragma once
// What training keeps and moves of every parameter: the optimizer's rule, and the types of tensors.

#include <array>
#include <cstdint>
#include <string_view>

#include "titer/hardware/data_type.hpp"

namespace titer {

/// Memory traffic of one update beyond the weights' own: how often the gradient is read, and fp32
/// numbers read and written per parameter where every step of the rule is a pass over memory.
struct OptimizerPasses {
  double gradient_reads = 1;
  double numbers = 0;
  int kernels = 1;
  friend bool operator==(const OptimizerPasses&, const OptimizerPasses&) = default;
};

/// The optimizer's state per parameter, and what one step reads and writes of it.
///
/// Fused, one kernel reads the gradient, reads and writes weights and states. Otherwise each step
/// of the rule is a kernel over all parameters, as torch's foreach functions are:
///   Adam: m lerp 2+g (of m: read, write), v mul 2, v addcmul 2+g, sqrt 2, div 2, add 2, addcdiv 4
///   SGD with momentum: mul 2, add 2+g, update 3; plain: 1 read and write with g
///   Adafactor: square 1+g, means over rows and columns 2, estimate 1, scale 2+g, norm 1, clip 2,
///   update 3
/// (numbers; g: the gradient).
struct OptimizerRule {
  std::string_view name;
  double state_bytes = 0;  // fp32 moments; the fp32 copy of low-precision weights comes on top
  // The second moment of an n x m matrix is kept as n + m numbers instead of n m.
  // [Shazeer & Stern 2018]
  bool factored = false;
  OptimizerPasses fused{};
  OptimizerPasses unfused{};
  friend bool operator==(const OptimizerRule&, const OptimizerRule&) = default;
};
inline constexpr OptimizerRule kAdam{.name = "adam",
                                     .state_bytes = 8.0,
                                     .unfused = {.gradient_reads = 2, .numbers = 16, .kernels = 7}};
inline constexpr OptimizerRule kMomentumSgd{
    .name = "sgd",
    .state_bytes = 4.0,
    .unfused = {.gradient_reads = 1, .numbers = 7, .kernels = 3}};
inline constexpr OptimizerRule kPlainSgd{
    .name = "sgd-plain",
    .state_bytes = 0.0,
    .unfused = {.gradient_reads = 1, .numbers = 2, .kernels = 1}};
/// Statistics, the norm of the update and the update itself need a look at the gradient each.
inline constexpr OptimizerRule kAdafactor{
    .name = "adafactor",
    .state_bytes = 0.0,
    .factored = true,
    .fused = {.gradient_reads = 3, .numbers = 0, .kernels = 3},
    .unfused = {.gradient_reads = 2, .numbers = 12, .kernels = 8}};

/// fp32 bytes of a factored moment per parameter, of matrices that are `width` wide and no less
/// high: 4 (1/n + 1/m) at most.
[[nodiscard]] constexpr double factored_bytes(double width) { return 4.0 * 2.0 / width; }

/// Bytes per parameter by role, for one training precision.
struct ParameterBytes {
  Bytes weight;
  Bytes gradient;
  Bytes optimizer;   // states, and the master copy when the weights are narrower
  Bytes gathered{};  // of a parameter that passes need whole, where its weight is split or away
};

/// Types of tensors, where they are not what the precision says.
struct TensorTypes {
  DataType weight = DataType::bf16;
  DataType gradient = DataType::fp32;
  DataType state = DataType::fp32;
  DataType master = DataType::fp32;  // no copy where the weights are as wide
  bool narrow_products = false;  // weights are kept in the products' type too, twice: products of
                                 // both passes read them in rows [TransformerEngine]
  DataType product = DataType::bf16;
};
[[nodiscard]] ParameterBytes parameter_bytes(const OptimizerRule& rule, const TensorTypes& types);
[[nodiscard]] ParameterBytes parameter_bytes(const OptimizerRule& rule,
                                             DataType precision,
                                             DataType gradient);

/// A number of a message: quantised ones travel with an fp32 scale for every 128 of them.
[[nodiscard]] constexpr Bytes message_bytes(DataType type) {
  constexpr double scaled = 128;
  const Bytes bytes = size_of(type);
  return bytes < size_of(DataType::bf16) ? bytes + size_of(DataType::fp32) / scaled : bytes;
}

}  // namespace titer
