#pragma once
// What a transformer may be made of.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "titer/model/routing/routing.hpp"

namespace titer {

/// Layernorms have a weight and a bias per element, weights only, or neither.
enum class Norm { layernorm, layernorm_without_bias, layernorm_without_weights, rmsnorm };
inline constexpr std::array<Choice<Norm>, 4> kNorms = {
    {{"layernorm", Norm::layernorm},
     {"layernorm_without_bias", Norm::layernorm_without_bias},
     {"layernorm_without_weights", Norm::layernorm_without_weights},
     {"rmsnorm", Norm::rmsnorm}}};
/// Parameters of a norm over `width` elements.
[[nodiscard]] constexpr std::int64_t norm_parameters(Norm norm, std::int64_t width) {
  switch (norm) {
    case Norm::layernorm:
      return 2 * width;
    case Norm::layernorm_without_weights:
      return 0;
    case Norm::layernorm_without_bias:
    case Norm::rmsnorm:
      break;
  }
  return width;
}
/// Where the norms of attention and MLP are: before them, behind them, or behind the addition of
/// what they return.  [Vaswani 2017; Xiong 2020; OLMo 2 2025, section 3.2]
enum class NormPlace { input, output, sum };
inline constexpr std::array<Choice<NormPlace>, 3> kNormPlaces = {
    {{"input", NormPlace::input}, {"output", NormPlace::output}, {"sum", NormPlace::sum}}};
/// What a norm of queries and keys is over: a head, with weights that all heads share or each has
/// for itself (without biases), or all heads at once.
enum class QkNorm { head, each_head, all_heads };
inline constexpr std::array<Choice<QkNorm>, 3> kQkNorms = {
    {{"head", QkNorm::head}, {"each_head", QkNorm::each_head}, {"all_heads", QkNorm::all_heads}}};
enum class Positions { learned, rotary, alibi, relative, none };
inline constexpr std::array<Choice<Positions>, 5> kPositions = {{{"learned", Positions::learned},
                                                                 {"rotary", Positions::rotary},
                                                                 {"alibi", Positions::alibi},
                                                                 {"relative", Positions::relative},
                                                                 {"none", Positions::none}}};

/// What files call one of these.
template <class E, std::size_t n>
[[nodiscard]] constexpr std::string_view name_in(const std::array<Choice<E>, n>& names, E value) {
  return names[static_cast<std::size_t>(value)].name;
}

/// Multi-head latent attention: queries, keys and values are projected up from narrow latents; a
/// part of each head, shared among the keys, carries the rotary positions.  [DeepSeek-V2 2024]
/// A model with it has as many key-value heads as heads, of nope_dim + rope_dim each.
struct LatentAttention {
  std::int64_t q_rank = 0;  // 0: queries come straight from the hidden state
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;
  std::int64_t rope_dim = 0;
  std::int64_t value_dim = 0;
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Attention to one head that is key and value of all: queries are projected up from a latent; what
/// groups of heads return goes through a latent for each. Beside a window of tokens it is to
/// entries that sum up several tokens each, weighed by what is projected with them (LayerKind).
/// [DeepSeek-V4 2026, section 2.3]
struct SharedHead {
  std::int64_t q_rank = 0;
  std::int64_t rope_dim = 0;  // of a head's columns, of keys and queries and of what comes back
  std::int64_t output_groups = 1;
  std::int64_t output_rank = 0;  // of each group's latent
  friend bool operator==(const SharedHead&, const SharedHead&) = default;
};

/// A small attention of its own that picks the tokens that each query attends to. Its queries come
/// from the queries' latent, its one key per token, or per entry of a shared head, from the hidden
/// state.  [DeepSeek-V3.2 2025, section 2.1; DeepSeek-V4 2026, section 2.3.1]
struct Indexer {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t top_k = 0;
  friend bool operator==(const Indexer&, const Indexer&) = default;
};

/// The experts of a layer, all alike; gated and with biases as the model's dense MLPs are.
struct Experts {
  std::int64_t count = 0;
  std::int64_t per_token = 0;   // k of top-k
  std::int64_t ffn = 0;         // width of one
  std::int64_t latent = 0;      // width that tokens are projected to before they go; 0: their own
  std::int64_t shared_ffn = 0;  // width of those that every token goes through, together
  bool shared_gate = false;     // these are weighed by a gate of h parameters
  bool router_bias = false;     // a parameter per expert
  Routing routing{};

  /// What an expert multiplies by its matrices, and returns.  [Nemotron 3 2025, LatentMoE]
  [[nodiscard]] std::int64_t token_width(std::int64_t hidden) const {
    return latent > 0 ? latent : hidden;
  }
  friend bool operator==(const Experts&, const Experts&) = default;
};

/// What mixes the tokens of a layer: attention, the model's mixer, or nothing.
enum class TokenMixing : std::uint8_t { attention, mixer, none };

/// What layers may differ in.
struct LayerKind {
  bool experts = false;
  std::optional<std::int64_t> window{};  // tokens that a query sees: itself and those just before
  // Of a shared head: tokens from one entry to the next, of those that a query sees whole, beside
  // the window; 0: none. Entries that an indexer picks from sum up the tokens of the one before,
  // too.
  std::int64_t entry_tokens = 0;
  bool picks_entries = false;
  bool chunked = false;          // the window is a fixed chunk of the sequence that it is in
  bool bidirectional = false;    // of an encoder: attention is not causal
  bool cross_attention = false;  // of a decoder: attends to the encoder's output too
  bool rotary = true;            // where the model has rotary positions
  TokenMixing tokens = TokenMixing::attention;
  bool mlp = true;            // or experts
  bool parallel = false;      // attention and MLP read one norm and are added once
  bool two_streams = false;   // texts and images have weights of their own, and attend to all
  bool text_ends = false;     // of two streams: the text is attended to, and goes no further
  bool first_values = false;  // of RWKV-7: its values are mixed into those of the other layers

  [[nodiscard]] bool is_dense() const { return mlp && !experts; }

  friend bool operator==(const LayerKind&, const LayerKind&) = default;
};

/// Which linear layers have a bias.
struct Biases {
  bool qkv = false;
  bool output = false;  // attention's
  bool mlp = false;
  bool head = false;     // the output matrix
  bool keyless = false;  // of queries, keys and values: keys have none
  friend bool operator==(const Biases&, const Biases&) = default;
};

}  // namespace titer
