#pragma once
// What HuggingFace's configurations of decoders have in common.

#include <initializer_list>
#include <string_view>
#include <vector>

#include "model/transformer/transformer_reading.hpp"

namespace titer {

inline constexpr std::string_view kChosen = "num_experts_per_tok";
inline constexpr LatentKeys kLatentKeys = {.q_rank = "q_lora_rank",
                                           .kv_rank = "kv_lora_rank",
                                           .nope_dim = "qk_nope_head_dim",
                                           .rope_dim = "qk_rope_head_dim",
                                           .value_dim = "v_head_dim"};

/// What a file calls its shape; "" for what it does not tell.
struct DecoderKeys {
  ShapeKeys shape = {.layers = "num_hidden_layers",
                     .hidden = "hidden_size",
                     .heads = "num_attention_heads",
                     .kv_heads = "num_key_value_heads",
                     .head_dim = "head_dim"};
  std::string_view ffn = "intermediate_size";
  std::string_view vocabulary = "vocab_size";
  std::string_view max_sequence = "max_position_embeddings";
};

/// What a class takes for keys that a file leaves out.
struct HuggingFaceDefaults {
  bool tied = false;
  bool dropout = false;
  std::int64_t layers = 0;        // 0: has to be told
  std::int64_t hidden = 0;        // 0: has to be told
  std::int64_t ffn = 0;           // times the hidden size; 0: has to be told
  std::int64_t ffn_width = 0;     // the same, as a width
  std::int64_t heads = 0;         // 0: has to be told
  std::int64_t kv_heads = 0;      // 0: as many as heads
  std::int64_t head_dim = 0;      // 0: hidden size / heads
  std::int64_t vocabulary = 0;    // 0: has to be told
  std::int64_t max_sequence = 0;  // 0: has to be told
};

/// The first of these names of the same key that is written, else the first.
[[nodiscard]] std::string_view written(const Reader& in,
                                       std::initializer_list<std::string_view> names);
/// Reads keys that tell nothing about time or memory.
void skip(Reader& in, std::initializer_list<std::string_view> keys);
/// Whether the key is there with the value null, which is not the same as left out.
[[nodiscard]] bool is_null(Reader& in, std::string_view key);
/// The numbers of a list; a missing one is empty.
[[nodiscard]] std::vector<std::int64_t> integers(Reader& in, std::string_view key);
/// Whether any probability of a dropout is above zero; where none is written, as the class has it.
[[nodiscard]] bool has_dropout(Reader& in, bool otherwise);

/// Layers, widths, vocabulary and length.
void read_shape(Reader& in,
                const DecoderKeys& keys,
                const HuggingFaceDefaults& defaults,
                Transformer& model);
/// Key-value heads and the width of a head, after the shape.
void read_heads(Reader& in,
                const ShapeKeys& keys,
                const HuggingFaceDefaults& defaults,
                Transformer& model);

/// Llama's shape and what followed it: RMSNorm, rotary positions, a gated MLP, no biases, no
/// dropout unless told.
void read_decoder(Reader& in, const HuggingFaceDefaults& defaults, Transformer& model);
/// The same, but for the widths of heads.
void read_decoder_without_heads(Reader& in,
                                const HuggingFaceDefaults& defaults,
                                Transformer& model);

/// As many heads of keys as of queries, as wide as the hidden size has it.
[[nodiscard]] ShapeKeys heads_by(std::string_view key);

/// A model's layers one by one.
using LayerKinds = std::vector<LayerKind>;
[[nodiscard]] LayerKinds all_layers(const Transformer& model, bool experts = false);
/// Sets them; a model none of whose layers has experts has none itself.
void set_layers_with_experts(Transformer& model, const LayerKinds& kinds);

/// Every n-th layer has experts, but for those listed.
[[nodiscard]] LayerKinds read_sparse_layers(Reader& in, const Transformer& model);

/// Reports a list of that key that has not one for each of so many layers; whether it has, or is
/// not there.
bool expect_one_each(Reader& in, std::string_view key, std::size_t told, std::size_t layers);

/// Windows of the layers by "layer_types", where that is written; returns whether it is.
bool read_layer_types(Reader& in, LayerKinds& kinds);
/// The window called "sliding_window"; 0 where there is none.
[[nodiscard]] std::int64_t read_window(Reader& in, std::int64_t otherwise);
/// Gives layers first, first + 1, ... a window, if it is one.
void slide_from(std::int64_t first, std::int64_t window, LayerKinds& kinds);
/// Gives it to all but every n-th layer.
void slide_but_every(std::int64_t nth, std::int64_t window, LayerKinds& kinds);
/// Which have rotary positions: those whose number in "no_rope_layers" is 1. Returns whether what
/// is written can be right.
[[nodiscard]] bool mark_rotary(Reader& in, LayerKinds& kinds);

}  // namespace titer
