// Dense architectures of the time of Llama: RMSNorm, rotary positions, gated MLPs; and those that
// differ from it in their norms.
#include "huggingface_decoder.hpp"

namespace titer::huggingface {
namespace {

using Layers = WindowRule::Layers;

constexpr std::array<BiasKey, 3> kGlmBiases = {{{"attention_bias", true, kQkv}}};

/// All but every n-th layer.
constexpr WindowRule but_every(std::int64_t nth) {
  return {.layers = Layers::but_every, .number = nth, .number_key = kPatternKey, .otherwise = 4096};
}
/// The same, and these alone have positions.
constexpr WindowRule rotary_but_every(std::int64_t nth) {
  WindowRule rule = but_every(nth);
  rule.rotary_inside = true;
  return rule;
}

/// The larger model has biases of scores instead of rotary positions, and its length by another
/// name.
void read_baichuan(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  if (in.has("model_max_length") && !in.has("max_position_embeddings")) {
    model.max_sequence = in.integer("model_max_length", 1, kMostTokens);
    model.positions = Positions::alibi;
  }
}

void read_chatglm(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  if (in.flag("multi_query_attention", false)) {
    model.kv_heads = in.maybe_integer("multi_query_group_num", 1, kMostWidth).value_or(1);
  }
  model.norm = in.flag("rmsnorm", true) ? Norm::rmsnorm : Norm::layernorm;
  model.final_norm = in.flag("post_layer_norm", true);
}

/// Some layers have no positions: those whose number in "no_rope_layers" is 0.
void read_smollm3(Reader& in, Transformer& /*model*/, LayerKinds& kinds) {
  if (!mark_rotary(in, kinds)) {
    return;
  }
  const std::int64_t window = in.flag("use_sliding_window", false) ? read_window(in, 0) : 0;
  for (LayerKind& kind : kinds) {
    if (window > 0 && !kind.rotary) {
      kind.window = window;
    }
  }
  static_cast<void>(in.raw("sliding_window"));
  read_layer_types(in, kinds);
}

/// Of parallel branches there is one norm.
void read_one_norm(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  model.parallel = in.flag("use_parallel_residual", false);
  model.norms = model.parallel ? 1 : 2;
}

constexpr Decoder kQwen2{.type = "qwen2",
                         .otherwise = {.kv_heads = 32, .max_sequence = 32768},
                         .biases = kQkv,
                         .windows = kSwitched};
constexpr Decoder kQwen3{.type = "qwen3",
                         .otherwise = {.kv_heads = 32, .head_dim = 128, .max_sequence = 32768},
                         .bias_keys = kAttentionOnly,
                         .qk_norm = QkNorm::head,
                         .windows = kSwitched};

constexpr Decoder kGlm4{.type = "glm4",
                        .otherwise = {.kv_heads = 2, .head_dim = 128, .max_sequence = 131072},
                        .norms = 4,
                        .bias_keys = kGlmBiases};

// Of the time of Llama.
constexpr std::array kLlamas = {
    Decoder{.type = "llama", .otherwise = {.max_sequence = 2048}, .bias_keys = kLlamaBiases},
    // Files of models for texts and images leave out what is the class's own.
    Decoder{
        .type = "llava_llama",
        .otherwise =
            {.layers = 32, .hidden = 4096, .ffn_width = 11008, .heads = 32, .max_sequence = 2048},
        .bias_keys = kLlamaBiases},
    Decoder{.type = "aquila", .otherwise = {.max_sequence = 2048}},
    Decoder{.type = "xverse", .otherwise = {.max_sequence = 2048}},
    Decoder{.type = "orion",
            .otherwise = {.max_sequence = 4096},
            .norm = Norm::layernorm,
            .bias_keys = kAttentionOnly},
    Decoder{.type = "granite", .otherwise = {.max_sequence = 2048}, .bias_keys = kLlamaBiases},
    Decoder{.type = "minicpm",
            .otherwise = {.tied = true, .max_sequence = 2048},
            .bias_keys = kAttentionOnly},
    Decoder{.type = "internlm",
            .otherwise = {.max_sequence = 2048},
            .bias_keys = {{{"bias", true, kAttention}}}},
    Decoder{.type = "internlm2",
            .otherwise = {.max_sequence = 2048},
            .bias_keys = {{{"bias", true, kAttention}}}},
    Decoder{
        .type = "internlm3",
        .otherwise = {.kv_heads = 2, .max_sequence = 32768},
        .bias_keys = {{{"qkv_bias", false, kQkv}, {"bias", false, {.output = true, .mlp = true}}}}},
    Decoder{.type = "baichuan", .otherwise = {.max_sequence = 4096}, .more = read_baichuan},
    Decoder{.type = "chatglm",
            .keys = {.shape = {.layers = "num_layers",
                               .hidden = "hidden_size",
                               .heads = "num_attention_heads",
                               .kv_heads = "",
                               .head_dim = "kv_channels"},
                     .ffn = "ffn_hidden_size",
                     .vocabulary = "padded_vocab_size",
                     .max_sequence = "seq_length"},
            .otherwise = {.head_dim = 128, .max_sequence = 2048},
            .bias_keys = {{{"add_qkv_bias", false, kQkv}, {"add_bias_linear", false, kAll}}},
            .more = read_chatglm},
    Decoder{.type = "exaone",
            .keys = {.shape = {.layers = "num_layers",
                               .hidden = "hidden_size",
                               .heads = "num_attention_heads",
                               .kv_heads = "num_key_value_heads",
                               .head_dim = "head_dim"}},
            .otherwise = {.tied = true, .max_sequence = 2048}},
    Decoder{.type = "exaone4",
            .otherwise = {.kv_heads = 32, .max_sequence = 2048},
            .norm_place = NormPlace::output,
            .qk_norm = QkNorm::head,
            .windows = rotary_but_every(4)},
    Decoder{.type = "mistral",
            .otherwise = {.heads = 32, .kv_heads = 8, .max_sequence = 131072},
            .windows = {.layers = Layers::from, .otherwise = 4096}},
    Decoder{.type = "ministral3",
            .otherwise = {.kv_heads = 8, .head_dim = 128, .max_sequence = 262144},
            .windows = kEveryLayer},
    Decoder{.type = "helium",
            .otherwise = {.kv_heads = 20, .head_dim = 128, .max_sequence = 4096},
            .bias_keys = kLlamaBiases},
    kQwen2,
    named(kQwen2, "qwen2_vl"),
    named(kQwen2, "qwen2_5_vl"),
    Decoder{.type = "mimo",
            .otherwise = {.kv_heads = 32, .max_sequence = 32768},
            .biases = kQkv,
            .windows = kSwitched,
            .more = read_further_tokens},
    kQwen3,
    named(kQwen3, "qwen3_vl"),
    Decoder{.type = "seed_oss",
            .otherwise = {.dropout = true, .kv_heads = 8, .head_dim = 128, .max_sequence = 524288},
            .bias_keys = {{{"attention_bias", true, kQkv},
                           {"attention_out_bias", false, kOutput},
                           kMlpBias}}},
    Decoder{.type = "hunyuan_v1_dense",
            .otherwise = {.max_sequence = 2048},
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::head},
    Decoder{.type = "ernie4_5",
            .otherwise = {.tied = true, .kv_heads = 2, .head_dim = 128, .max_sequence = 131072},
            .bias_keys = {{{"use_bias", false, kAll}}}},
    Decoder{.type = "smollm3",
            .otherwise = {.tied = true, .kv_heads = 4, .max_sequence = 32768},
            .bias_keys = kLlamaBiases,
            .more = read_smollm3},
    Decoder{.type = "arcee",
            .otherwise = {.max_sequence = 4096},
            .gated = false,
            .bias_keys = kLlamaBiases},
    Decoder{.type = "apertus",
            .otherwise = {.max_sequence = 65536},
            .gated = false,
            .activation_parameters = 2,
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::head},
    Decoder{.type = "phi3", .otherwise = {.max_sequence = 4096}, .windows = kEveryLayer},
    Decoder{.type = "glm",
            .otherwise = {.kv_heads = 2, .head_dim = 128, .max_sequence = 131072},
            .bias_keys = kGlmBiases},
    kGlm4,
    named(kGlm4, "glm4v"),
    Decoder{.type = "gemma",
            .otherwise = {.tied = true, .kv_heads = 16, .head_dim = 256, .max_sequence = 8192},
            .bias_keys = kAttentionOnly},
    Decoder{.type = "gemma2",
            .otherwise = {.tied = true, .kv_heads = 4, .head_dim = 256, .max_sequence = 8192},
            .norms = 4,
            .bias_keys = kAttentionOnly,
            .windows = but_every(2)},
    // Files of models for texts and images tell little else than layers and widths.
    Decoder{.type = "gemma3_text",
            .otherwise = {.tied = true,
                          .heads = 8,
                          .kv_heads = 4,
                          .head_dim = 256,
                          .vocabulary = 262'208,
                          .max_sequence = 131'072},
            .norms = 4,
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::head,
            .windows = but_every(6)},
    // With norms elsewhere or of another kind.
    Decoder{.type = "olmo",
            .otherwise = {.max_sequence = 2048},
            .norm = Norm::layernorm_without_weights,
            .bias_keys = kAttentionOnly},
    Decoder{.type = "olmo2",
            .otherwise = {.max_sequence = 2048},
            .norm_place = NormPlace::output,
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::all_heads},
    Decoder{.type = "olmo3",
            .otherwise = {.max_sequence = 2048},
            .norm_place = NormPlace::output,
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::all_heads,
            .windows = but_every(4)},
    Decoder{.type = "cohere",
            .otherwise = {.tied = true, .max_sequence = 8192},
            .norm = Norm::layernorm_without_bias,
            .norms = 1,
            .parallel = true,
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::each_head,
            .qk_norm_key = "use_qk_norm"},
    Decoder{.type = "cohere2",
            .otherwise = {.tied = true, .max_sequence = 8192},
            .norm = Norm::layernorm_without_bias,
            .norms = 1,
            .parallel = true,
            .bias_keys = kAttentionOnly,
            .windows = rotary_but_every(4)},
    Decoder{.type = "stablelm",
            .otherwise = {.kv_heads = 32, .max_sequence = 4096},
            .norm = Norm::layernorm,
            .bias_keys = {{{"use_qkv_bias", false, kQkv}}},
            .qk_norm = QkNorm::each_head,
            .qk_norm_key = "qk_layernorm",
            .more = read_one_norm},
};

}  // namespace

void read_further_tokens(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  model.predicted_tokens =
      in.maybe_integer("num_nextn_predict_layers", 0, kMostPredictedTokens).value_or(0);
}

std::span<const Decoder> llama_decoders() { return kLlamas; }

}  // namespace titer::huggingface
