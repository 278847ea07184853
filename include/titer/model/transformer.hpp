#pragma once
// A decoder-only transformer (GPT, Llama): its shape, its parameters and the FLOPs of its training.

#include <array>
#include <cstdint>
#include <string>

#include "titer/input/reader.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

enum class Norm { layernorm, rmsnorm };
enum class Positions { learned, rotary };
/// Whether the s x s attention scores go through memory, or stay inside one fused kernel.
enum class AttentionKernel { materialised, flash };

inline constexpr std::array<Choice<AttentionKernel>, 2> kAttentionKernels = {
    {{"materialised", AttentionKernel::materialised}, {"flash", AttentionKernel::flash}}};

[[nodiscard]] constexpr std::string_view name(AttentionKernel kernel) {
  return kAttentionKernels[static_cast<std::size_t>(kernel)].name;
}

struct Transformer {
  std::string name;
  std::string title;
  std::string source;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // fewer than heads: grouped-query attention
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;
  bool gated = false;  // SwiGLU-like: three matrices instead of two
  Norm norm = Norm::layernorm;
  bool bias = true;  // in every linear layer
  bool dropout = true;
  Positions positions = Positions::learned;
  bool tied_embeddings = true;
  std::int64_t vocabulary = 0;
  std::int64_t vocabulary_multiple = 1;  // padded to a multiple of this times t
  std::int64_t max_sequence = 0;
  AttentionKernel attention = AttentionKernel::flash;
  bool causal = true;

  /// Columns of the query projection (a * head_dim), and of key or value (k * head_dim).
  [[nodiscard]] std::int64_t query_width() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t kv_width() const { return kv_heads * head_dim; }
  /// Vocabulary rows after padding to a multiple of vocabulary_multiple * t.
  [[nodiscard]] std::int64_t padded_vocabulary(std::int64_t tensor) const;
};

[[nodiscard]] Transformer read_transformer(Reader& in);

/// Parameters by how tensor parallelism treats them: split over its ranks, or held by each.
struct ParameterCount {
  std::int64_t split = 0;
  std::int64_t replicated = 0;

  [[nodiscard]] std::int64_t total() const { return split + replicated; }
  ParameterCount& operator+=(const ParameterCount& other);
  friend ParameterCount operator*(std::int64_t factor, const ParameterCount& count) {
    return {factor * count.split, factor * count.replicated};
  }
};

/// One layer: attention, MLP, two norms.
[[nodiscard]] ParameterCount layer_parameters(const Transformer& model);
/// The token table (padded for t) and learned positions, on the first stage.
[[nodiscard]] ParameterCount embedding_parameters(const Transformer& model, std::int64_t tensor);
/// The final norm and, unless tied, the output matrix, on the last stage.
[[nodiscard]] ParameterCount head_parameters(const Transformer& model, std::int64_t tensor);
/// The whole model with its vocabulary as published (unpadded).
[[nodiscard]] std::int64_t parameters(const Transformer& model);

/// Two published ways to count attention: every pair of tokens, or only the causal half.
enum class AttentionCount { full, causal };

/// Forward FLOPs of `sequences` sequences of `length` tokens: 2 per multiply-add, matrix products
/// only (embedding look-ups are none), logits with the unpadded vocabulary.
struct ForwardFlops {
  Flops layers;          // all layers' products with weights
  Flops core_attention;  // all layers' QK^T and AV
  Flops logits;

  [[nodiscard]] Flops total() const { return layers + core_attention + logits; }
};
[[nodiscard]] ForwardFlops forward_flops(const Transformer& model,
                                         double sequences,
                                         std::int64_t length,
                                         AttentionCount count);

/// Model FLOPs of a training step: three times the forward FLOPs, no recomputation. For a GPT with
/// f = 4h and full attention this is 72 B s l h^2 (1 + s/(6h) + V/(12 l h)).  [Narayanan 2021,
/// eq.3]
[[nodiscard]] Flops model_flops(const Transformer& model,
                                double sequences,
                                std::int64_t length,
                                AttentionCount count);

}  // namespace titer
