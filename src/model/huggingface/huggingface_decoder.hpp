#pragma once
// What one class of HuggingFace's decoders differs in from others: a row of a table, read by one
// reader.

#include <span>
#include <string_view>
#include <vector>

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

/// Reads the model's experts, and tells which layers have them.
using ReadExperts = LayerKinds(Reader& in, Transformer& model);
/// Reads whatever else a class has, after all that a row says.
using ReadRest = void(Reader& in, Transformer& model, LayerKinds& kinds);

struct Decoder {
  std::string_view type;  // "model_type"
  DecoderKeys keys{};
  HuggingFaceDefaults otherwise{};
  Norm norm = Norm::rmsnorm;
  std::int64_t norms = 2;
  NormPlace norm_place = NormPlace::input;
  bool parallel = false;
  bool gated = true;
  std::int64_t activation_parameters = 0;
  Positions positions = Positions::rotary;
  std::int64_t further_positions = 0;  // rows of the table that the class adds to those told
  Biases biases{};
  std::vector<BiasKey> bias_keys{};
  std::optional<QkNorm> qk_norm{};
  std::string_view qk_norm_key = "";  // switches it; "": always on
  bool qk_norm_otherwise = false;     // where that key is not written
  WindowRule windows{};
  ReadExperts* experts = nullptr;
  ReadRest* rest = nullptr;
};

/// The rows of configs/architectures.json.
class Decoders {
 public:
  /// Throws InputError with all that is wrong in the file.
  Decoders();
  Decoders(const Decoders&) = delete;
  Decoders& operator=(const Decoders&) = delete;
  ~Decoders() = default;
  [[nodiscard]] std::span<const Decoder> all() const { return all_; }

 private:
  Document document_;  // whose texts are the rows'
  std::vector<Decoder> all_;
};

void read(Reader& in, const Decoder& decoder, Transformer& model);

inline constexpr Biases kMlp = {.mlp = true};
inline constexpr Biases kAll = {.qkv = true, .output = true, .mlp = true};

// What rows name.
ReadRest read_gpt2_rest, read_jais, read_multi_query, read_parallel_residual, read_local_layers,
    read_opt_rest, read_expansion, read_as_many_keys;
ReadRest read_baichuan, read_chatglm, read_smollm3, read_one_norm;
ReadRest read_masked_words, read_roberta;
ReadRest gate_attention, read_dbrx_heads;
ReadRest read_further_tokens;  // modules that predict them
ReadExperts read_local_experts, read_jittered_experts, read_biased_experts, read_granite_experts,
    read_gpt_oss_experts, read_numbered_experts, read_qwen2_experts, read_qwen3_experts,
    read_ernie_experts, read_hunyuan_experts, read_bailing_experts, read_afmoe_experts,
    read_dbrx_experts;
/// Experts after so many dense layers, some shared, chosen with a bias and in groups. [DeepSeek-V3]
ReadExperts read_glm_experts, read_dots_experts;
/// Those of the first DeepSeek-MoE, without a bias.
ReadExperts read_first_deepseek_experts;

/// Groups that experts are chosen in.
void read_groups(Reader& in, std::string_view method, Experts& experts);

}  // namespace titer::huggingface
