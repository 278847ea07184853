// Mixtures of experts.
#include <algorithm>

#include "huggingface_decoder.hpp"
#include "huggingface_families.hpp"

namespace titer::huggingface {
namespace {

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

}  // namespace

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

void read_gated_experts(Reader& in, Transformer& model) {
  model.experts = read_experts(
      in, {.count = "num_experts", .per_token = kChosen, .ffn = "moe_intermediate_size"});
  model.experts->shared_ffn = in.integer("shared_expert_intermediate_size", 1, kMostWidth);
  model.experts->shared_gate = true;
}

LayerKinds read_qwen2_experts(Reader& in, Transformer& model) {
  read_gated_experts(in, model);
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

}  // namespace titer::huggingface
