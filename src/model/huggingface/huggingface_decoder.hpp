#pragma once
// What one class of HuggingFace's decoders differs in from others: a row of a table, read by one
// reader.

#include <array>
#include <span>
#include <string_view>

#include "huggingface_keys.hpp"

namespace titer::huggingface {

/// A key that says whether some linear layers have a bias.
struct BiasKey {
  std::string_view key;
  bool otherwise = false;
  Biases of{};
};

/// The key of every n-th layer's having no window.
inline constexpr std::string_view kPatternKey = "sliding_window_pattern";
/// Which layers attend to the last tokens only, where the file does not list their types.
struct WindowRule {
  enum class Layers { none, from, but_every } layers = Layers::none;
  std::int64_t number = 0;  // from this layer on; all but every so many
  std::string_view number_key = "";
  std::int64_t otherwise = 0;  // the window where the file does not tell; 0: none
  bool switched = false;       // only with "use_sliding_window"
  bool rotary_inside = false;  // layers without a window have no positions
};

struct Decoder {
  std::string_view type;  // "model_type"
  DecoderKeys keys{};
  HuggingFaceDefaults otherwise{};
  Norm norm = Norm::rmsnorm;
  int norms = 2;
  NormPlace norm_place = NormPlace::input;
  bool parallel = false;
  bool gated = true;
  std::int64_t activation_parameters = 0;
  Positions positions = Positions::rotary;
  std::int64_t further_positions = 0;  // rows of the table that the class adds to those told
  Biases biases{};
  std::array<BiasKey, 3> bias_keys{};
  std::optional<QkNorm> qk_norm{};
  std::string_view qk_norm_key = "";  // switches it; "": always on
  bool qk_norm_otherwise = false;     // where that key is not written
  WindowRule windows{};
  // Reads the model's experts, and tells which layers have them.
  LayerKinds (*experts)(Reader& in, Transformer& model) = nullptr;
  // Whatever else the class has, after all of this.
  void (*more)(Reader& in, Transformer& model, LayerKinds& kinds) = nullptr;
};

/// The same under another name: the language model of one that sees, too.
[[nodiscard]] constexpr Decoder named(Decoder decoder, std::string_view type) {
  decoder.type = type;
  return decoder;
}

/// The tables: of the time of GPT, of the time of Llama, mixtures of experts, encoders.
[[nodiscard]] std::span<const Decoder> gpt_decoders();
[[nodiscard]] std::span<const Decoder> llama_decoders();
[[nodiscard]] std::span<const Decoder> mixture_decoders();
[[nodiscard]] std::span<const Decoder> encoders();

void read(Reader& in, const Decoder& decoder, Transformer& model);

// What rows of several tables have.
inline constexpr Biases kQkv = {.qkv = true};
inline constexpr Biases kOutput = {.output = true};
inline constexpr Biases kAttention = {.qkv = true, .output = true};
inline constexpr Biases kMlp = {.mlp = true};
inline constexpr Biases kAll = {.qkv = true, .output = true, .mlp = true};
inline constexpr Biases kHead = {.head = true};

inline constexpr BiasKey kAttentionBias = {"attention_bias", false, kAttention};
inline constexpr BiasKey kAttentionBiasOn = {"attention_bias", true, kAttention};
inline constexpr BiasKey kMlpBias = {"mlp_bias", false, kMlp};
inline constexpr std::array<BiasKey, 3> kLlamaBiases = {{kAttentionBias, kMlpBias}};
inline constexpr std::array<BiasKey, 3> kAttentionOnly = {{kAttentionBias}};

inline constexpr WindowRule kEveryLayer = {.layers = WindowRule::Layers::from};
inline constexpr WindowRule kSwitched = {.layers = WindowRule::Layers::from,
                                         .number = 28,
                                         .number_key = "max_window_layers",
                                         .switched = true};

/// Modules that predict further tokens.
void read_further_tokens(Reader& in, Transformer& model, LayerKinds& kinds);
/// Experts after so many dense layers, some shared, chosen with a bias and in groups. [DeepSeek-V3]
[[nodiscard]] LayerKinds read_glm_experts(Reader& in, Transformer& model);
[[nodiscard]] LayerKinds read_dots_experts(Reader& in, Transformer& model);
/// Those of the first DeepSeek-MoE, without a bias.
[[nodiscard]] LayerKinds read_first_deepseek_experts(Reader& in, Transformer& model);
/// Groups that experts are chosen in.
void read_groups(Reader& in, std::string_view method, Experts& experts);

}  // namespace titer::huggingface
