// Delta rules and lightning attention between layers with attention.
#include "huggingface_families.hpp"
#include "huggingface_mixers.hpp"

namespace titer::huggingface {

namespace {

void read_gated_attention(Reader& in, const HuggingFaceDefaults& otherwise, Transformer& model) {
  read_decoder(in, otherwise, model);
  model.biases.qkv = in.flag("attention_bias", false);
  model.biases.output = model.biases.qkv;
  model.qk_norm = true;
  model.attention_gate = true;
}

/// Delta rules in all layers but every n-th, or as they are listed.
void read_delta_rules(Reader& in, LayerKinds kinds, Transformer& model) {
  const auto nth = static_cast<std::size_t>(
      in.maybe_integer("full_attention_interval", 1, kMostLayers).value_or(4));
  if (in.has("layer_types")) {
    mark_listed(in, "layer_types", "linear_attention", kinds);
  } else {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      kinds[i].tokens = (i + 1) % nth == 0 ? TokenMixing::attention : TokenMixing::mixer;
    }
  }
  set_layers_with_experts(model, kinds);
  Mixer mixer{.kind = MixerKind::gated_delta, .chunk = 64};
  mixer.heads = width_or(in, "linear_num_value_heads", 32);
  mixer.head_dim = width_or(in, "linear_value_head_dim", 128);
  mixer.key_heads = width_or(in, "linear_num_key_heads", 16);
  mixer.key_dim = width_or(in, "linear_key_head_dim", 128);
  mixer.convolution = in.maybe_integer("linear_conv_kernel_dim", 1, kMostTaps).value_or(4);
  set_mixer(in, "linear_num_key_heads", mixer, model);
}

/// The classes make no modules for further tokens, and gate all attention.
void skip_what_classes_leave_out(Reader& in) {
  skip(in,
       {"mtp_num_hidden_layers",
        "mtp_use_dedicated_embeddings",
        "attn_output_gate",
        "mamba_ssm_dtype"});
}

}  // namespace

void read_qwen3_next(Reader& in, Transformer& model) {
  read_gated_attention(in, {.kv_heads = 2, .head_dim = 256}, model);
  read_gated_experts(in, model);
  const LayerKinds kinds = read_sparse_layers(in, model);
  read_delta_rules(in, kinds, model);
}

void read_qwen35(Reader& in, Transformer& model) {
  read_gated_attention(in, {.kv_heads = 4, .head_dim = 256, .max_sequence = 32768}, model);
  skip(in, {"mlp_only_layers"});  // none has experts
  read_delta_rules(in, all_layers(model), model);
  skip_what_classes_leave_out(in);
}

/// Every layer has experts: no width of others is told.
void read_qwen35_moe(Reader& in, Transformer& model) {
  read_gated_attention(
      in, {.ffn_width = 512, .kv_heads = 2, .head_dim = 256, .max_sequence = 32768}, model);
  read_gated_experts(in, model);
  skip(in, {"mlp_only_layers"});
  read_delta_rules(in, all_layers(model, true), model);
  skip_what_classes_leave_out(in);
}

void read_minimax(Reader& in, Transformer& model) {
  read_decoder(in, {.kv_heads = 8}, model);
  model.experts = read_experts(
      in, {.count = "num_local_experts", .per_token = kChosen, .ffn = "intermediate_size"});
  model.experts->shared_ffn =
      in.maybe_integer("shared_intermediate_size", 0, kMostWidth).value_or(0);
  LayerKinds kinds = all_layers(model, true);
  const std::vector<std::int64_t> listed = integers(in, "attn_type_list");  // 1: attention
  if (in.has("layer_types")) {
    mark_listed(in, "layer_types", "linear_attention", kinds);
  } else {
    expect_one_each(in, "attn_type_list", listed.size(), kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const bool attends = listed.empty() ? i % 2 == 0 : i < listed.size() && listed[i] != 0;
      kinds[i].tokens = attends ? TokenMixing::attention : TokenMixing::mixer;
    }
  }
  set_layers(model, kinds);
  const Mixer mixer{.kind = MixerKind::lightning,
                    .heads = model.heads,
                    .head_dim = model.head_dim,
                    .key_heads = model.heads,
                    .key_dim = model.head_dim,
                    .chunk = in.maybe_integer("block_size", 1, kMostTokens).value_or(256)};
  set_mixer(in, "num_attention_heads", mixer, model);
}

void read_kimi_linear(Reader& in, Transformer& model) {
  read_decoder_without_heads(in, {.max_sequence = 1'048'576}, model);
  read_latent(in, kLatentKeys, model);
  for (const std::string_view key : {"num_key_value_heads", "head_dim"}) {
    static_cast<void>(in.raw(key));  // these follow from the widths of latent attention
  }
  Experts experts = read_experts(in,
                                 {.count = "num_experts",
                                  .per_token = "num_experts_per_token",
                                  .ffn = "moe_intermediate_size"});
  experts.shared_ffn = width_or(in, "num_shared_experts", 1) * experts.ffn;
  experts.router_bias = true;
  model.experts = experts;
  const auto dense = static_cast<std::size_t>(
      in.maybe_integer("first_k_dense_replace", 0, kMostLayers).value_or(0));
  const auto step =
      static_cast<std::size_t>(in.maybe_integer("moe_layer_freq", 1, kMostLayers).value_or(1));
  const bool rotary = !in.flag("mla_use_nope", false);
  LayerKinds kinds = all_layers(model);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].experts = i >= dense && i % step == 0;
    kinds[i].rotary = rotary;
  }
  Mixer mixer{.kind = MixerKind::kimi_delta, .chunk = 64};
  Reader linear = in.object("linear_attn_config");
  mixer.heads = linear.integer("num_heads", 1, kMostWidth);
  mixer.head_dim = linear.integer("head_dim", 1, kMostWidth);
  mixer.key_heads = mixer.heads;
  mixer.key_dim = mixer.head_dim;
  mixer.rank = mixer.head_dim;
  mixer.convolution = linear.integer("short_conv_kernel_size", 1, kMostTaps);
  for (const std::int64_t layer : integers(linear, "kda_layers")) {  // from 1 on
    if (layer < 1 || layer > model.layers) {
      linear.fail("kda_layers", "expected layers from 1 to " + std::to_string(model.layers));
      break;
    }
    kinds[static_cast<std::size_t>(layer - 1)].tokens = TokenMixing::mixer;
  }
  static_cast<void>(linear.raw("full_attn_layers"));  // the others
  linear.finish();
  set_layers_with_experts(model, kinds);
  for (const std::string_view key : {"model_max_length",
                                     "moe_renormalize",
                                     "num_expert_group",
                                     "moe_router_activation_func",
                                     "use_grouped_topk"}) {
    static_cast<void>(in.raw(key));
  }
  set_mixer(in, "linear_attn_config", mixer, model);
}

}  // namespace titer::huggingface
