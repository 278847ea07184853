#pragma once
// A transformer (GPT, Llama, mixtures of experts, encoder and decoder): its shape, its parameters
// and the FLOPs of its training.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/model/blocks.hpp"
#include "titer/model/parameter_count.hpp"
#include "titer/model/slice.hpp"
#include "titer/model/transformer/mixer.hpp"
#include "titer/model/transformer/transformer_parts.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

struct Tower;
struct Denoiser;

struct Transformer {
  std::string name;
  std::string title;
  std::string source;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // fewer than heads: grouped-query attention
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;                    // of dense layers
  bool gated = false;                      // SwiGLU-like: three matrices instead of two
  std::int64_t activation_parameters = 0;  // that the MLP's activation learns
  Norm norm = Norm::layernorm;
  Biases biases{};
  bool dropout = true;
  Positions positions = Positions::learned;
  bool tied_embeddings = true;
  std::int64_t vocabulary = 0;
  std::int64_t vocabulary_multiple = 1;  // padded to a multiple of this times t
  std::int64_t max_sequence = 0;
  // Of the table of learned positions, a hidden size each; of relative ones, a number per head that
  // all layers add to their scores.  [T5 2020]
  std::int64_t position_rows = 0;
  std::int64_t token_types = 0;  // rows of a table of them, added to the tokens'  [BERT 2019]
  std::int64_t input_rows = 0;   // further rows of the vocabulary's table that no logit is of
  AttentionKernel attention = AttentionKernel::flash;
  bool causal = true;
  // Norms of a layer: two; four with ones behind attention and MLP too; one where both read the
  // same. `parallel`: attention and MLP read the layer's input, and their results are added once.
  int norms = 2;
  NormPlace norm_place = NormPlace::input;  // of two norms
  bool parallel = false;
  bool qk_norm = false;  // of queries and keys
  QkNorm qk_norm_of = QkNorm::head;
  std::optional<Norm> qk_norm_type{};  // otherwise as the other norms
  bool embedding_norm = false;         // behind the embedding
  bool final_norm = true;
  bool head_transform = false;  // a product, an activation and a norm before the output matrix
  // An encoder has positions, a norm behind the embedding and a final norm as the decoder has.
  bool encoder_ends = false;
  bool clamped = false;         // gate and up, before they are multiplied
  bool sinks = false;           // a parameter per head, in the softmax's denominator
  bool attention_gate = false;  // beside the queries; weighs what the heads return
  // Hidden states that layers hand on side by side: each branch reads a mix of them, and what it
  // returns is added to a mix of them.  [Xie 2026, manifold-constrained hyper-connections]
  std::int64_t streams = 1;
  std::optional<LatentAttention> latent{};
  std::optional<SharedHead> shared_head{};
  std::optional<Indexer> indexer{};
  std::optional<Experts> experts{};
  std::optional<Mixer> mixer{};       // of layers without attention
  std::int64_t predicted_tokens = 0;  // multi-token prediction: so many more layers with heads
  std::optional<LayerKind> predicted_layer{};  // their kind; none: that of the last layer
  bool predicted_by_one = false;               // one module predicts all of them in turn
  std::vector<LayerKind> kinds = {{}};
  std::vector<LayerRun> order{};               // empty: all layers are of the first kind
  std::shared_ptr<const Tower> tower{};        // in front of the layers, and none of them
  std::shared_ptr<const Denoiser> denoiser{};  // in the place of a vocabulary

  /// Columns of the query projection (a * head_dim), and of key or value (k * head_dim).
  [[nodiscard]] std::int64_t query_width() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t kv_width() const { return kv_heads * head_dim; }
  /// Whether there are more tensor-parallel ranks than key-value heads: each needs a whole one.
  [[nodiscard]] bool shares_kv_heads(std::int64_t tensor) const {
    return !latent && !shared_head && has_attention() && kv_heads < tensor;
  }
  /// Whether an indexer picks what a layer attends to.
  [[nodiscard]] bool picks(const LayerKind& kind) const {
    return indexer && (!shared_head || kind.picks_entries);
  }
  /// Whether any layer has attention. A model without has no heads.
  [[nodiscard]] bool has_attention() const;
  /// Of queries and keys.
  [[nodiscard]] Norm query_key_norm() const { return qk_norm_type.value_or(norm); }
  /// Vocabulary rows after padding to a multiple of vocabulary_multiple * t.
  [[nodiscard]] std::int64_t padded_vocabulary(std::int64_t tensor) const;
  /// The kind of the layer in a module that predicts a further token.
  [[nodiscard]] const LayerKind& prediction_kind() const;
  /// The layers in order, also where all are of one kind.
  [[nodiscard]] std::vector<LayerRun> runs() const;
};

/// From an object in this program's own keys; one with "model_type" or "architectures" is a
/// HuggingFace configuration.
[[nodiscard]] Transformer read_transformer(Reader& in);

/// One layer: attention or mixer, MLP or experts, norms.
[[nodiscard]] ParameterCount layer_parameters(const Transformer& model, const LayerKind& kind);
/// The token table (padded for t) and learned positions, on the first stage.
[[nodiscard]] ParameterCount embedding_parameters(const Transformer& model, std::int64_t tensor);
/// The final norm, unless tied the output matrix, and modules for further tokens, on the last
/// stage.
[[nodiscard]] ParameterCount head_parameters(const Transformer& model, std::int64_t tensor);
/// The modules that predict further tokens (multi-token prediction), each a layer of
/// prediction_kind() behind a projection of two hidden states to one; tables are the model's own.
/// Part of head_parameters().  [DeepSeek-V3 2024, section 2.2]
[[nodiscard]] ParameterCount prediction_parameters(const Transformer& model);
/// The whole model with its vocabulary as published: unpadded, and without prediction_parameters(),
/// which are left out of published counts and of inference.
[[nodiscard]] std::int64_t parameters(const Transformer& model);
/// The same, of experts only those that a token goes through.
[[nodiscard]] std::int64_t active_parameters(const Transformer& model);

/// Two published ways to count attention: every pair of tokens, s^2, or only the causal half,
/// s^2/2. Of a window of w <= s tokens: s w and s w - w^2/2. Of chunks: the same as of so many
/// sequences. Tokens picked by an indexer are a window of that many, and its own scores are counted
/// too.
enum class AttentionCount { full, causal };

/// Forward FLOPs: 2 per multiply-add, matrix products only (embedding look-ups are none), logits
/// with the unpadded vocabulary.
struct ForwardFlops {
  Flops layers{};          // all layers' products with weights
  Flops core_attention{};  // all layers' QK^T and AV, and products of mixers' chunks
  Flops logits{};          // and what is before them

  [[nodiscard]] Flops total() const { return layers + core_attention + logits; }
  ForwardFlops& operator+=(const ForwardFlops& other) {
    layers += other.layers;
    core_attention += other.core_attention;
    logits += other.logits;
    return *this;
  }
};
/// Of `sequences` sequences of `length` tokens, modules for further tokens included. Each token
/// goes through the router, the experts chosen for it and those shared. Cross-attention is to an
/// encoder's sequences of the same length, or to the images that a tower has encoded.
[[nodiscard]] ForwardFlops forward_flops(const Transformer& model,
                                         double sequences,
                                         std::int64_t length,
                                         AttentionCount count,
                                         const Images& images = {});

}  // namespace titer
