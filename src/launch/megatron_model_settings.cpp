// A model in the names of Megatron-LM's arguments.

#include <fmt/format.h>

#include <algorithm>

#include "launch_settings.hpp"
#include "titer/model/transformer/branches.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// "([0]*3+[1]*58)": of each layer in order whether it is so.
template <class Is>
std::string layer_list(const Transformer& model, const Is& is) {
  const auto run_text = [&](const LayerRun& run) {
    const bool so = is(model.kinds[static_cast<std::size_t>(run.kind)]);
    return fmt::format("[{}]*{}", so ? 1 : 0, run.count);
  };
  return "(" + listed(model.runs(), run_text, "+") + ")";
}

template <class Is>
bool all_are(const Transformer& model, const Is& is) {
  const std::vector<LayerRun> runs = model.runs();
  return std::ranges::all_of(runs, [&](const LayerRun& run) {
    return is(model.kinds[static_cast<std::size_t>(run.kind)]);
  });
}

void put_widths(const Transformer& model, LaunchList& list) {
  list.put("num_layers", model.layers);
  list.put("hidden_size", model.hidden);
  if (model.ffn > 0) {
    list.put("ffn_hidden_size", model.ffn);
  }
  list.put("num_attention_heads", model.heads);
  const std::int64_t of_head = model.latent ? model.latent->value_dim : model.head_dim;
  if (model.latent ? model.hidden % model.heads != 0 : of_head * model.heads != model.hidden) {
    list.put("kv_channels", of_head);
  }
  if (!model.latent && model.kv_heads != model.heads) {
    list.put("group_query_attention", Value(true));
    list.put("num_query_groups", model.kv_heads);
  }
  list.put_if(model.qk_norm && !model.latent, "qk_layernorm");
}

void put_latent(const LatentAttention& latent, LaunchList& list) {
  list.put("multi_latent_attention", Value(true));
  if (latent.q_rank > 0) {
    list.put("q_lora_rank", latent.q_rank);
  }
  list.put("kv_lora_rank", latent.kv_rank);
  list.put("qk_head_dim", latent.nope_dim);
  list.put("qk_pos_emb_head_dim", latent.rope_dim);
  list.put("v_head_dim", latent.value_dim);
}

void put_style(const Scenario& scenario, const Transformer& model, LaunchList& list) {
  constexpr double usual_dropout = 0.1;
  list.put_if(model.gated, "swiglu");
  list.put_if(!model.biases.mlp, "disable_bias_linear");
  list.put_if(!model.biases.mlp && model.biases.qkv, "add_qkv_bias");
  list.put("normalization", model.norm == Norm::rmsnorm ? "RMSNorm" : "LayerNorm");
  const double dropout = model.dropout ? usual_dropout : 0.0;
  list.put("hidden_dropout", dropout);
  list.put("attention_dropout", dropout);
  const bool flash = scenario.slice().attention == AttentionKernel::flash;
  list.put("attention_backend", flash ? "flash" : "unfused");
  if (model.sinks) {
    list.put("softmax_type", "learnable");
  }
}

std::string_view positions_word(Positions positions) {
  switch (positions) {
    case Positions::rotary:
      return "rope";
    case Positions::none:
      return "none";
    case Positions::alibi:
      return "alibi";
    default:
      return "learned_absolute";
  }
}

void put_tables(const Scenario& scenario, const Transformer& model, LaunchList& list) {
  list.put("position_embedding_type", positions_word(model.positions));
  list.put("max_position_embeddings", std::max(model.max_sequence, scenario.training.sequence));
  list.put("vocab_size", model.vocabulary);
  list.put("make_vocab_size_divisible_by", model.vocabulary_multiple);
  list.put_if(!model.tied_embeddings, "untie_embeddings_and_output_weights");
}

/// "M-M*-" of a hybrid whose layers have one branch each; "" of another model.
std::string hybrid_pattern(const Transformer& model) {
  std::string pattern;
  for (const LayerRun& run : model.runs()) {
    const std::string letter = branch_letters(model.kinds[static_cast<std::size_t>(run.kind)]);
    if (letter.size() != 1 || !model.mixer || model.mixer->kind != MixerKind::mamba2) {
      return "";
    }
    pattern.append(static_cast<std::size_t>(run.count), letter.front());
  }
  return pattern;
}

void put_hybrid(const Transformer& model, const std::string& pattern, LaunchList& list) {
  Value spec = Value::make_array();
  spec.push(Value("megatron.core.models.mamba.mamba_layer_specs"));
  spec.push(Value("mamba_stack_spec"));
  list.put("spec", std::move(spec));
  list.put("is_hybrid_model", Value(true));
  list.put("hybrid_override_pattern", pattern);
  list.put("mamba_num_heads", model.mixer->heads);
  list.put("mamba_head_dim", model.mixer->head_dim);
  list.put("mamba_num_groups", model.mixer->key_heads);
  list.put("mamba_state_dim", model.mixer->key_dim);
  if (model.predicted_tokens > 0) {
    list.put("mtp_hybrid_override_pattern", branch_letters(model.prediction_kind()));
  }
}

/// `in_pattern`: which layers have them a pattern tells.
void put_experts(const Transformer& model, bool in_pattern, LaunchList& list) {
  const Experts& experts = *model.experts;
  list.put("num_experts", experts.count);
  list.put("moe_ffn_hidden_size", experts.ffn);
  list.put("moe_router_topk", experts.per_token);
  if (experts.shared_ffn > 0) {
    list.put("moe_shared_expert_intermediate_size", experts.shared_ffn);
  }
  if (experts.latent > 0) {
    list.put("moe_latent_size", experts.latent);
  }
  list.put_if(experts.shared_gate, "moe_shared_expert_gate");
  list.put_if(experts.router_bias, "moe_router_enable_expert_bias");
  if (experts.routing.groups > 1) {
    list.put("moe_router_num_groups", experts.routing.groups);
    list.put("moe_router_group_topk", experts.routing.groups_chosen);
  }
  if (experts.routing.capacity_factor) {
    list.put("moe_expert_capacity_factor", *experts.routing.capacity_factor);
  }
  const auto has_experts = [](const LayerKind& kind) { return kind.experts; };
  if (!in_pattern && !all_are(model, has_experts)) {
    list.put("moe_layer_freq", layer_list(model, has_experts));
  }
  list.put("moe_grouped_gemm", Value(true));
}

/// Layers that see a window only, all of them alike: so many tokens before the query.
void put_windows(const Transformer& model, LaunchList& list) {
  const auto has_window = [](const LayerKind& kind) { return kind.window && !kind.chunked; };
  const auto with_window = std::ranges::find_if(model.kinds, has_window);
  if (with_window == model.kinds.end()) {
    return;
  }
  list.put("window_size", fmt::format("{},0", *with_window->window - 1));
  if (!all_are(model, has_window)) {
    list.put("window_attn_skip_freq", layer_list(model, has_window));
  }
}

}  // namespace

std::vector<LaunchSetting> megatron_model_settings(const Scenario& scenario) {
  const Transformer& model = *scenario.model.if_transformer();
  LaunchList list;
  put_widths(model, list);
  if (model.latent) {
    put_latent(*model.latent, list);
  }
  put_style(scenario, model, list);
  put_tables(scenario, model, list);
  const std::string pattern = hybrid_pattern(model);
  if (model.experts) {
    put_experts(model, !pattern.empty(), list);
  }
  if (!pattern.empty()) {
    put_hybrid(model, pattern, list);
  }
  put_windows(model, list);
  if (model.predicted_tokens > 0) {
    list.put("mtp_num_layers", model.predicted_tokens);
    list.put_if(model.predicted_by_one, "mtp_use_repeated_layer");
  }
  return list.take();
}

}  // namespace titer
