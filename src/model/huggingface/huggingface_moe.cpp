// Mixtures of experts.
#include <algorithm>

#include "huggingface_decoder.hpp"

namespace titer::huggingface {
namespace {

using Layers = WindowRule::Layers;

LayerKinds read_local_experts(Reader& in, Transformer& model) {
  model.experts = read_experts(
      in, {.count = "num_local_experts", .per_token = kChosen, .ffn = "intermediate_size"});
  return all_layers(model, true);
}

LayerKinds read_jittered_experts(Reader& in, Transformer& model) {
  skip(in, {"input_jitter_noise"});
  return read_local_experts(in, model);
}

LayerKinds read_biased_experts(Reader& in, Transformer& model) {
  LayerKinds kinds = read_local_experts(in, model);
  model.experts->router_bias = in.flag("use_routing_bias", true);
  const std::vector<std::int64_t> attends = integers(in, "attn_type_list");
  if (std::ranges::any_of(attends, [](std::int64_t type) { return type != 1; })) {
    in.fail("attn_type_list", "expected 1, full attention, for each of the layers");
  }
  // The class makes no modules for further tokens, whatever the file tells of them.
  for (const std::string_view key : {"use_mtp", "num_mtp_modules", "mtp_transformer_layers"}) {
    static_cast<void>(in.raw(key));
  }
  if (in.maybe_text("qk_norm_type").value_or("per_layer") != "per_layer") {
    in.fail("qk_norm_type", "expected per_layer");
  }
  return kinds;
}

LayerKinds read_granite_experts(Reader& in, Transformer& model) {
  LayerKinds kinds = read_local_experts(in, model);
  model.experts->shared_ffn =
      in.maybe_integer("shared_intermediate_size", 0, kMostWidth).value_or(0);
  return kinds;
}

LayerKinds read_gpt_oss_experts(Reader& in, Transformer& model) {
  model.clamped = true;
  model.sinks = true;
  model.experts = read_experts(in,
                               {.count = "num_local_experts",
                                .per_token = written(in, {kChosen, "experts_per_token"}),
                                .ffn = "intermediate_size"});
  model.experts->router_bias = true;
  return all_layers(model, true);
}

LayerKinds read_numbered_experts(Reader& in, Transformer& model) {
  model.experts =
      read_experts(in, {.count = "num_experts", .per_token = kChosen, .ffn = "intermediate_size"});
  return all_layers(model, true);
}

LayerKinds read_qwen2_experts(Reader& in, Transformer& model) {
  model.experts = read_experts(
      in, {.count = "num_experts", .per_token = kChosen, .ffn = "moe_intermediate_size"});
  model.experts->shared_ffn = in.integer("shared_expert_intermediate_size", 1, kMostWidth);
  model.experts->shared_gate = true;
  return read_sparse_layers(in, model);
}

/// The class does not look at "max_window_layers".
LayerKinds read_qwen3_experts(Reader& in, Transformer& model) {
  model.experts = read_experts(
      in, {.count = "num_experts", .per_token = kChosen, .ffn = "moe_intermediate_size"});
  static_cast<void>(in.raw("max_window_layers"));
  return read_sparse_layers(in, model);
}

/// Every n-th layer from a first to a last one, which may be -1 for the model's last.
LayerKinds read_ernie_experts(Reader& in, Transformer& model) {
  Experts experts = read_experts(
      in, {.count = "moe_num_experts", .per_token = "moe_k", .ffn = "moe_intermediate_size"});
  experts.router_bias = true;
  skip(in, {"moe_capacity", "moe_gate", "moe_use_aux_free"});  // of the training's own program
  const auto shared = in.maybe_integer("moe_num_shared_experts", 0, 1000).value_or(2);
  experts.shared_ffn = shared * experts.ffn;
  model.experts = experts;
  const auto first = in.maybe_integer("moe_layer_start_index", 0, kMostLayers).value_or(1);
  const auto last = in.maybe_integer("moe_layer_end_index", -1, kMostLayers).value_or(-1);
  const auto step = in.maybe_integer("moe_layer_interval", 1, kMostLayers).value_or(1);
  LayerKinds kinds = all_layers(model);
  for (std::int64_t i = first; i < model.layers && (last < 0 || i <= last); ++i) {
    kinds[static_cast<std::size_t>(i)].experts = (i + 1) % step == 0;
  }
  return kinds;
}

/// A number that may be written once for each layer, the same for all.
std::int64_t read_same(Reader& in, std::string_view key) {
  const Value* const value = in.raw(key);
  if (value == nullptr || value->kind != Value::Kind::array) {
    return in.integer(key, 1, kMostWidth);
  }
  const std::vector<std::int64_t> each = integers(in, key);
  const bool same = !each.empty() && each.front() > 0 &&
                    std::ranges::all_of(each, [&](auto n) { return n == each.front(); });
  if (!same) {
    in.fail(key, "expected the same positive integer for all layers");
  }
  return same ? each.front() : 1;
}

/// Experts as wide as a dense MLP, and one such beside them.
LayerKinds read_hunyuan_experts(Reader& in, Transformer& model) {
  Experts experts;
  experts.count = read_same(in, "num_experts");
  experts.per_token = read_same(in, "moe_topk");
  if (experts.count > 1 && experts.per_token > experts.count) {
    in.fail("moe_topk",
            "expected at most the " + std::to_string(experts.count) + " experts that there are");
  }
  experts.ffn = model.ffn;
  experts.shared_ffn = model.ffn;
  model.experts = experts;
  if (in.flag("use_cla", false)) {
    in.fail("use_cla", "expected false: there are no layers that share others' keys and values");
  }
  // The class makes experts, and one for all tokens, of the one width, and norms queries and keys.
  skip(in,
       {"attention_head_dim",
        "cla_share_factor",
        "eod_token_id",
        "moe_intermediate_size",
        "num_shared_expert",
        "org_vocab_size",
        "pad_id",
        "pool_type",
        "use_mixed_mlp_moe",
        "use_qk_norm"});
  return all_layers(model, true);
}

/// Behind so many dense layers; some are shared, which one key counts.
LayerKinds read_shared_experts(Reader& in, std::string_view dense_key, Transformer& model) {
  Experts experts = read_experts(
      in, {.count = "num_experts", .per_token = kChosen, .ffn = "moe_intermediate_size"});
  experts.shared_ffn = in.maybe_integer("num_shared_experts", 0, 1000).value_or(0) * experts.ffn;
  model.experts = experts;
  LayerKinds kinds = all_layers(model, true);
  const std::int64_t dense = in.maybe_integer(dense_key, 0, kMostLayers).value_or(0);
  for (std::int64_t i = 0; i < std::min(dense, model.layers); ++i) {
    kinds[static_cast<std::size_t>(i)].experts = false;
  }
  return kinds;
}

LayerKinds read_bailing_experts(Reader& in, Transformer& model) {
  LayerKinds kinds = read_shared_experts(in, "first_k_dense_replace", model);
  model.experts->router_bias = in.flag("moe_router_enable_expert_bias", false);
  read_groups(in, "groups", *model.experts);
  static_cast<void>(in.raw("moe_shared_expert_intermediate_size"));  // the class does not look
  return kinds;
}

LayerKinds read_afmoe_experts(Reader& in, Transformer& model) {
  LayerKinds kinds = read_shared_experts(in, "num_dense_layers", model);
  model.experts->router_bias = true;
  read_groups(in, "groups", *model.experts);
  for (const std::string_view key : {"num_expert_groups", "num_limited_groups"}) {
    static_cast<void>(in.raw(key));  // the same by other names
  }
  return kinds;
}

void gate_attention(Reader& /*in*/, Transformer& model, LayerKinds& /*kinds*/) {
  model.attention_gate = true;
}

LayerKinds read_dbrx_experts(Reader& in, Transformer& model) {
  Reader ffn = in.object("ffn_config");
  model.experts = read_experts(
      ffn, {.count = "moe_num_experts", .per_token = "moe_top_k", .ffn = "ffn_hidden_size"});
  return all_layers(model, true);
}

void read_dbrx_heads(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  Reader attention = in.object("attn_config");
  model.kv_heads = attention.integer("kv_n_heads", 1, kMostWidth);
  if (model.heads > 1 && model.heads % model.kv_heads != 0) {
    attention.fail("kv_n_heads",
                   "expected a divisor of the " + std::to_string(model.heads) + " heads");
  }
}

constexpr Decoder kQwen3Moe{.type = "qwen3_moe",
                            .otherwise = {.kv_heads = 4, .max_sequence = 32768},
                            .bias_keys = kAttentionOnly,
                            .qk_norm = QkNorm::head,
                            .windows = {.layers = Layers::from, .switched = true},
                            .experts = read_qwen3_experts};

constexpr Decoder kBailing{
    .type = "bailing_moe",
    .otherwise = {.max_sequence = 16384},
    .bias_keys = {{{"use_qkv_bias", false, kQkv}, {"use_bias", false, kOutput}}},
    .qk_norm_key = "use_qk_norm",
    .experts = read_bailing_experts,
    .more = read_further_tokens};
constexpr Decoder kGlm4Moe{.type = "glm4_moe",
                           .otherwise = {.kv_heads = 8, .max_sequence = 131072},
                           .bias_keys = {{{"attention_bias", false, kQkv}}},
                           .qk_norm_key = "use_qk_norm",
                           .experts = read_glm_experts,
                           .more = read_further_tokens};

constexpr std::array kMixtures = {
    Decoder{.type = "mixtral",
            .otherwise = {.kv_heads = 8, .max_sequence = 131072},
            .windows = kEveryLayer,
            .experts = read_local_experts},
    Decoder{.type = "phimoe",
            .otherwise = {.kv_heads = 8, .max_sequence = 131072},
            .norm = Norm::layernorm,
            .bias_keys = {{kAttentionBias, {"lm_head_bias", false, kHead}}},
            .windows = kEveryLayer,
            .experts = read_jittered_experts},
    Decoder{.type = "minimax_m2",
            .otherwise = {.kv_heads = 8, .head_dim = 128, .max_sequence = 196608},
            .qk_norm = QkNorm::all_heads,
            .qk_norm_key = "use_qk_norm",
            .qk_norm_otherwise = true,
            .experts = read_biased_experts},
    Decoder{.type = "granitemoe",
            .otherwise = {.max_sequence = 2048},
            .bias_keys = kAttentionOnly,
            .experts = read_local_experts},
    Decoder{.type = "granitemoeshared",
            .otherwise = {.max_sequence = 2048},
            .bias_keys = kAttentionOnly,
            .experts = read_granite_experts},
    Decoder{.type = "gpt_oss",
            .otherwise = {.kv_heads = 8, .head_dim = 64, .max_sequence = 131072},
            .biases = kMlp,
            .bias_keys = {{kAttentionBiasOn}},
            .windows = {.layers = Layers::but_every, .number = 2, .otherwise = 128},
            .experts = read_gpt_oss_experts},
    Decoder{.type = "qwen2_moe",
            .otherwise = {.kv_heads = 16, .max_sequence = 32768},
            .bias_keys = {{{"qkv_bias", true, kQkv}}},
            .windows = kSwitched,
            .experts = read_qwen2_experts},
    kQwen3Moe,
    named(kQwen3Moe, "qwen3_vl_moe"),
    Decoder{.type = "olmoe",
            .otherwise = {.max_sequence = 4096},
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::all_heads,
            .experts = read_numbered_experts},
    Decoder{.type = "flex_olmo",
            .otherwise = {.max_sequence = 4096},
            .norm_place = NormPlace::output,
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::all_heads,
            .experts = read_numbered_experts},
    Decoder{.type = "grok-1",
            .otherwise = {.tied = true, .max_sequence = 8192},
            .norms = 4,
            .experts = read_numbered_experts},
    kGlm4Moe,
    named(kGlm4Moe, "glm4v_moe"),
    kBailing,
    named(kBailing, "bailing_moe_v2"),
    Decoder{.type = "afmoe",
            .otherwise = {.head_dim = 128, .max_sequence = 16384},
            .norms = 4,
            .qk_norm = QkNorm::head,
            .windows = {.layers = Layers::but_every,
                        .number = 4,
                        .number_key = "global_attn_every_n_layers",
                        .otherwise = 1024,
                        .rotary_inside = true},
            .experts = read_afmoe_experts,
            .more = gate_attention},
    Decoder{.type = "deepseek",
            .otherwise = {.max_sequence = 2048},
            .bias_keys = kAttentionOnly,
            .experts = read_first_deepseek_experts},
    Decoder{.type = "dots1",
            .otherwise = {.kv_heads = 32, .max_sequence = 2048},
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::head,
            .windows = {.layers = Layers::from,
                        .number = 62,
                        .number_key = "max_window_layers",
                        .otherwise = 4096},
            .experts = read_dots_experts},
    Decoder{.type = "ernie4_5_moe",
            .otherwise = {.tied = true, .kv_heads = 4, .max_sequence = 131072},
            .bias_keys = {{{"use_bias", false, kAll}}},
            .experts = read_ernie_experts},
    Decoder{.type = "hunyuan_v1_moe",
            .otherwise = {.max_sequence = 2048},
            .bias_keys = kAttentionOnly,
            .qk_norm = QkNorm::head,
            .experts = read_hunyuan_experts},
    Decoder{.type = "dbrx",
            .keys = {.shape = {.layers = "n_layers",
                               .hidden = "d_model",
                               .heads = "n_heads",
                               .kv_heads = "",
                               .head_dim = ""},
                     .ffn = "",
                     .max_sequence = "max_seq_len"},
            .otherwise = {.max_sequence = 2048},
            .norm = Norm::layernorm_without_bias,
            .experts = read_dbrx_experts,
            .more = read_dbrx_heads},
};

}  // namespace

std::span<const Decoder> mixture_decoders() { return kMixtures; }

}  // namespace titer::huggingface
