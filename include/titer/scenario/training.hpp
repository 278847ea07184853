#pragma once
// How a model is trained: batch, number formats, optimizer, what of it stays as it is.

#include <cstdint>
#include <optional>

#include "titer/hardware/chip.hpp"
#include "titer/model/adapters.hpp"
#include "titer/model/frozen.hpp"
#include "titer/model/model.hpp"
#include "titer/plan/memory/optimizer.hpp"

namespace titer {

struct Training {
  std::int64_t global_batch = 0;  // gb, sequences
  std::int64_t sequence = 0;      // s, tokens
  // Documents packed into a sequence attend to themselves only: sum L^2 / sum L of their lengths.
  std::optional<double> attended_length{};
  DataType precision = DataType::bf16;  // of products
  OptimizerRule optimizer = kAdam;
  std::optional<DataType> gradient_precision;  // otherwise the stack's for this precision
  // Otherwise: weights as activations are, states and the copy that is updated in fp32.
  std::optional<DataType> weight_precision{};
  std::optional<DataType> state_precision{};
  std::optional<DataType> master_precision{};
  // Of messages over the data-parallel group, where they are quantised.
  std::optional<DataType> gradient_messages{};
  std::optional<DataType> weight_messages{};
  std::optional<NarrowWeights> narrow_weights{};  // of narrow products; otherwise the stack's
  NarrowScaling narrow_scaling = NarrowScaling::tensor;
  bool transposes_narrow_weights = false;  // for each backward product: no transposed copy is kept
  bool narrow_logits = false;              // the output layer's product is as narrow as the others
  bool fp8_attention = false;              // products of fused attention, too
  bool fp8_activation_inputs = false;      // of activation functions, from the forward pass on
  bool fused_optimizer = true;
  // Samples per second that each host reads and prepares, beside the step; otherwise enough.
  std::optional<double> input_rate{};
  FrozenLayers frozen{};
  std::optional<Adapters> adapters{};  // are trained instead of all weights
  // Of a model with a tower in front of it: what it gets with each sequence, and whether it is
  // trained; its projector always is.
  std::optional<std::int64_t> images{};
  std::optional<std::int64_t> image_size{};
  bool frozen_tower = false;

  /// A transposed copy of such numbers has the same ones.
  [[nodiscard]] bool scales_fp8_by_tensor() const {
    return precision == DataType::fp8 && narrow_scaling == NarrowScaling::tensor;
  }
  /// As software calls it on the chip: there are words of its own for scales of blocks, which fp4
  /// always has.
  [[nodiscard]] std::string_view precision_name(const Chip& chip) const {
    const bool in_blocks = precision == DataType::fp8 && narrow_scaling == NarrowScaling::block;
    return in_blocks ? "mxfp8" : precision == DataType::fp4 ? chip.fp4_name() : name(precision);
  }
  [[nodiscard]] bool narrow_products() const { return is_of_products(precision); }
  /// Of a number that such products read, with its part of a scale.
  [[nodiscard]] Bytes narrow_number() const { return narrow_bytes(precision, narrow_scaling); }
  /// Of activations, and of all that is no product with weights.
  [[nodiscard]] DataType base_type() const {
    return narrow_products() ? DataType::bf16 : precision;
  }
  [[nodiscard]] DataType weight_type() const { return weight_precision.value_or(base_type()); }
};

[[nodiscard]] std::span<const Field<Training>> training_fields();
[[nodiscard]] Training read_training(Reader& in, const Model& model);

}  // namespace titer
