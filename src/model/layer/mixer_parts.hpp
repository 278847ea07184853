#pragma once
// What the operations of mixers are made of.
//
// Kernels of chunks multiply small matrices on the chip, with decays between the products, as fused
// attention does with its softmax: they go at the rate of attention. What is made of a chunk's
// inputs in the backward pass again is not kept: states, and scores.

#include <algorithm>

#include "model/layer_builder.hpp"

namespace titer {

/// All of a mixer is of this module, none of core attention: selective recomputation leaves it, as
/// its kernels repeat by themselves what is large.
inline constexpr Modules kMixer = bit(Module::attention);

/// A mixer's sizes on one rank.
class MixerParts {
 public:
  MixerParts(LayerBuilder& layer, const Mixer& mixer)
      : builder(layer),
        shape(mixer),
        part(layer.slice()),
        local_tokens(layer.tokens()),
        local_heads(local(mixer.heads)),
        key_dim(static_cast<double>(mixer.key_dim)),
        value_dim(static_cast<double>(mixer.head_dim)),
        chunk_tokens(static_cast<double>(std::min(mixer.chunk, part.sequence))),
        value_bytes(bytes(local(mixer.value_width()))),
        key_bytes(copies() * bytes(local(mixer.key_width()))) {}

 protected:
  /// Of so many columns or heads those of one tensor-parallel rank.
  [[nodiscard]] double local(std::int64_t all) const {
    return static_cast<double>(all) / builder.tensor();
  }
  [[nodiscard]] Bytes bytes(double columns) const {
    return local_tokens * columns * builder.element();
  }
  [[nodiscard]] Bytes wide_bytes(double columns) const {
    return local_tokens * columns * size_of(DataType::fp32);
  }
  [[nodiscard]] static Operation begin(std::string_view name) {
    return {.name = name, .modules = kMixer, .freed_by = kMixer};
  }
  void add_memory(Operation op, Bytes forward, Bytes backward) {
    op.forward = LayerBuilder::memory(forward, KernelMaker::mixer);
    op.input_gradient = LayerBuilder::memory(backward, KernelMaker::mixer);
    builder.add(op);
  }
  /// Ranks with parts of a sequence share its heads out; keys of fewer heads are copied.
  /// [Megatron-Core, ssm/mamba_context_parallel.py]
  [[nodiscard]] double copies() const {
    const double own = std::max(1.0, local(shape.key_heads));
    return std::max(1.0, static_cast<double>(part.context) / own);
  }
  /// Products of chunks, so many multiply-adds per token: two gradients of each, and before them
  /// `repeated` of the forward pass.
  [[nodiscard]] Operation products(std::string_view name,
                                   double forward,
                                   double repeated,
                                   Bytes moved) const {
    Operation op = begin(name);
    const auto kernel = [&](double each, Bytes of) {
      return Kernel{.kind = KernelKind::attention,
                    .flops = Flops::from_si(2.0 * local_tokens * each),
                    .bytes = of,
                    .maker = KernelMaker::mixer};
    };
    op.forward = kernel(forward, moved);
    op.input_gradient = kernel(2.0 * forward + repeated, 3.0 * moved);
    return op;
  }
  /// One state per chunk and head.
  [[nodiscard]] Bytes states(Bytes element) const {
    return local_tokens / chunk_tokens * local_heads * key_dim * value_dim * element;
  }
  /// Back to the hidden state.
  void add_output(bool shares_transfers = false) {
    builder.row_product({.name = "mixer output",
                         .inner = static_cast<double>(shape.value_width()),
                         .columns = builder.hidden(),
                         .modules = kMixer,
                         .freed_by = kMixer,
                         .shares_transfers = shares_transfers});
  }

  LayerBuilder& builder;
  const Mixer& shape;
  const Slice& part;
  double local_tokens;
  double local_heads;
  double key_dim;
  double value_dim;
  double chunk_tokens;
  Bytes value_bytes;
  Bytes key_bytes;  // or queries, with their copies
};

/// The operations of RWKV.
void add_rwkv(LayerBuilder& layer, const Mixer& mixer, bool first);

}  // namespace titer
