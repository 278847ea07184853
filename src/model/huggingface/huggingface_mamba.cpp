// Mamba and Mamba-2, by themselves or between layers with attention.
#include <algorithm>

#include "huggingface_families.hpp"
#include "huggingface_mixers.hpp"
#include "titer/model/transformer/branches.hpp"

namespace titer::huggingface {
namespace {

/// Layers offset, offset + period, ... of a model.
struct Period {
  std::size_t period = 1;
  std::size_t offset = 0;
  [[nodiscard]] bool has(std::size_t layer) const { return layer % period == offset; }
};
Period read_period(Reader& in, std::string_view period, std::string_view offset, Period otherwise) {
  const auto number = [&](std::string_view key, std::int64_t least, std::size_t or_else) {
    return static_cast<std::size_t>(
        in.maybe_integer(key, least, kMostLayers).value_or(static_cast<std::int64_t>(or_else)));
  };
  return {.period = number(period, 1, otherwise.period),
          .offset = number(offset, 0, otherwise.offset)};
}

/// A model of nothing but mixers: no attention, no MLPs, no positions.
void read_mixers_only(Reader& in, std::int64_t vocabulary, bool tied, Transformer& model) {
  model.layers = in.integer("num_hidden_layers", 1, kMostLayers);
  model.hidden = in.integer("hidden_size", 1, kMostWidth);
  model.norm = Norm::rmsnorm;
  model.positions = Positions::none;
  model.dropout = false;
  model.tied_embeddings = in.flag("tie_word_embeddings", tied);
  model.vocabulary = in.maybe_integer("vocab_size", 1, kMostTokens).value_or(vocabulary);
  // A state limits no length; the models were trained with this one.
  model.max_sequence = in.maybe_integer("max_position_embeddings", 1, kMostTokens).value_or(2048);
  LayerKinds kinds = all_layers(model);
  for (LayerKind& kind : kinds) {
    kind.tokens = TokenMixing::mixer;
    kind.mlp = false;
  }
  set_layers(model, kinds);
}

/// Mamba-2 as Bamba, Granite and Nemotron-H write it.
struct Mamba2Keys {
  std::string_view heads;
  std::string_view head_dim;
  std::string_view key_heads;
  std::string_view key_dim;
  std::string_view convolution;
  std::string_view chunk;
  std::string_view bias;
  std::string_view convolution_bias;
};
constexpr Mamba2Keys kWithMamba = {.heads = "mamba_n_heads",
                                   .head_dim = "mamba_d_head",
                                   .key_heads = "mamba_n_groups",
                                   .key_dim = "mamba_d_state",
                                   .convolution = "mamba_d_conv",
                                   .chunk = "mamba_chunk_size",
                                   .bias = "mamba_proj_bias",
                                   .convolution_bias = "mamba_conv_bias"};
constexpr Mamba2Keys kPlainMamba2 = {.heads = "num_heads",
                                     .head_dim = "head_dim",
                                     .key_heads = "n_groups",
                                     .key_dim = "state_size",
                                     .convolution = "conv_kernel",
                                     .chunk = "chunk_size",
                                     .bias = "use_bias",
                                     .convolution_bias = "use_conv_bias"};
constexpr Mamba2Keys kNemotron = {.heads = "mamba_num_heads",
                                  .head_dim = "mamba_head_dim",
                                  .key_heads = "n_groups",
                                  .key_dim = "ssm_state_size",
                                  .convolution = "conv_kernel",
                                  .chunk = "chunk_size",
                                  .bias = "use_bias",
                                  .convolution_bias = "use_conv_bias"};

/// `otherwise`: what the class takes for keys that are left out; a head_dim of 0 follows from the
/// heads, which share twice the hidden size.
Mixer read_mamba2_mixer(Reader& in,
                        const Mamba2Keys& keys,
                        const Mixer& otherwise,
                        std::int64_t hidden) {
  Mixer mixer = otherwise;
  mixer.heads = width_or(in, keys.heads, otherwise.heads);
  const std::int64_t expand = in.maybe_integer("mamba_expand", 1, 64).value_or(2);
  const std::int64_t share = std::max<std::int64_t>(1, expand * hidden / mixer.heads);
  mixer.head_dim =
      width_or_auto(in, keys.head_dim, otherwise.head_dim > 0 ? otherwise.head_dim : share);
  mixer.key_heads = width_or(in, keys.key_heads, otherwise.key_heads);
  mixer.key_dim = width_or(in, keys.key_dim, otherwise.key_dim);
  mixer.convolution =
      in.maybe_integer(keys.convolution, 1, kMostTaps).value_or(otherwise.convolution);
  mixer.chunk = in.maybe_integer(keys.chunk, 1, kMostTokens).value_or(otherwise.chunk);
  mixer.bias = in.flag(keys.bias, false);
  mixer.convolution_bias = in.flag(keys.convolution_bias, true);
  return mixer;
}

constexpr Mixer kUsualMamba2 = {.kind = MixerKind::mamba2,
                                .heads = 128,
                                .head_dim = 0,
                                .key_heads = 1,
                                .key_dim = 256,
                                .convolution = 4,
                                .chunk = 256};

/// Mamba as Jamba and the plain model write it. Its channels are `expand` times the hidden size.
struct MambaKeys {
  std::string_view expand;
  std::string_view state;
  std::string_view convolution;
  std::string_view rank;
  std::string_view bias;
  std::string_view convolution_bias;
};

Mixer read_mamba_mixer(Reader& in, const MambaKeys& keys, std::int64_t hidden) {
  Mixer mixer{.kind = MixerKind::mamba, .head_dim = 1, .key_heads = 1};
  mixer.heads = in.maybe_integer(keys.expand, 1, 64).value_or(2) * hidden;
  mixer.key_dim = width_or(in, keys.state, 16);
  mixer.convolution = in.maybe_integer(keys.convolution, 1, kMostTaps).value_or(4);
  mixer.rank = width_or_auto(in, keys.rank, (hidden + 15) / 16);
  mixer.bias = in.flag(keys.bias, false);
  mixer.convolution_bias = in.flag(keys.convolution_bias, true);
  return mixer;
}

}  // namespace

void read_mamba(Reader& in, Transformer& model) {
  read_mixers_only(in, 50'280, true, model);
  Mixer mixer = read_mamba_mixer(in,
                                 {.expand = "expand",
                                  .state = "state_size",
                                  .convolution = "conv_kernel",
                                  .rank = "time_step_rank",
                                  .bias = "use_bias",
                                  .convolution_bias = "use_conv_bias"},
                                 model.hidden);
  mixer.heads = in.maybe_integer("intermediate_size", 1, kMostWidth).value_or(mixer.heads);
  mixer.norm = false;  // Falcon Mamba's have no weights
  set_mixer(in, "hidden_size", mixer, model);
}

void read_mamba2(Reader& in, Transformer& model) {
  read_mixers_only(in, 32'768, false, model);
  Mixer otherwise = kUsualMamba2;
  otherwise.head_dim = 64;
  otherwise.key_heads = 8;
  otherwise.key_dim = 128;
  Mixer mixer = read_mamba2_mixer(in, kPlainMamba2, otherwise, model.hidden);
  mixer.norm = in.flag("rms_norm", true);
  static_cast<void>(in.raw("time_step_rank"));  // of Mamba
  set_mixer(in, kPlainMamba2.heads, mixer, model);
}

void read_bamba(Reader& in, Transformer& model) {
  read_decoder(in, {.kv_heads = 8}, model);
  LayerKinds kinds = all_layers(model);
  for (LayerKind& kind : kinds) {
    kind.tokens = TokenMixing::mixer;
  }
  mark_numbered(in, "attn_layer_indices", TokenMixing::attention, kinds);
  set_layers(model, kinds);
  const Mixer mixer = read_mamba2_mixer(in, kWithMamba, kUsualMamba2, model.hidden);
  set_mixer(in, kWithMamba.heads, mixer, model);
}

void read_granite_hybrid(Reader& in, Transformer& model) {
  read_decoder(in, {}, model);
  model.biases.qkv = in.flag("attention_bias", false);
  model.biases.output = model.biases.qkv;
  const std::int64_t shared = width_or(in, "shared_intermediate_size", 1024);
  const bool has_experts = in.maybe_integer("num_local_experts", 0, kMostWidth).value_or(8) > 0;
  if (has_experts) {
    model.experts = read_experts(
        in, {.count = "num_local_experts", .per_token = kChosen, .ffn = "intermediate_size"});
    model.experts->shared_ffn = shared;
  } else {
    model.ffn = shared;
    static_cast<void>(in.raw(kChosen));
  }
  model.positions =
      in.maybe_text("position_embedding_type") == "rope" ? Positions::rotary : Positions::none;
  LayerKinds kinds = all_layers(model, has_experts);
  mark_listed(in, written(in, {"layer_types", "layers_block_type"}), "mamba", kinds);
  set_layers(model, kinds);
  const Mixer mixer = read_mamba2_mixer(in, kWithMamba, kUsualMamba2, model.hidden);
  set_mixer(in, kWithMamba.heads, mixer, model);
}

void read_jamba(Reader& in, Transformer& model) {
  read_decoder(in, {.kv_heads = 8}, model);
  model.positions = Positions::none;
  model.experts =
      read_experts(in, {.count = "num_experts", .per_token = kChosen, .ffn = "intermediate_size"});
  const Period attention = read_period(in, "attn_layer_period", "attn_layer_offset", {8, 4});
  const Period experts = read_period(in, "expert_layer_period", "expert_layer_offset", {2, 1});
  LayerKinds kinds = all_layers(model);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].experts = model.experts->count > 1 && experts.has(i);
    kinds[i].tokens = attention.has(i) ? TokenMixing::attention : TokenMixing::mixer;
  }
  set_layers_with_experts(model, kinds);
  const Mixer mixer = read_mamba_mixer(in,
                                       {.expand = "mamba_expand",
                                        .state = "mamba_d_state",
                                        .convolution = "mamba_d_conv",
                                        .rank = "mamba_dt_rank",
                                        .bias = "mamba_proj_bias",
                                        .convolution_bias = "mamba_conv_bias"},
                                       model.hidden);
  set_mixer(in, "hidden_size", mixer, model);
}

namespace {

/// What one of Nemotron-H's layers is, by a letter or a word.
std::optional<LayerKind> nemotron_kind(std::string_view type) {
  if (type == "mamba" || type == "linear_attention") {
    return branch_layer('M');
  }
  if (type == "attention" || type == "full_attention") {
    return branch_layer('*');
  }
  if (type == "mlp") {
    return branch_layer('-');
  }
  if (type == "moe") {
    return branch_layer('E');
  }
  return type.size() == 1 ? branch_layer(type.front()) : std::nullopt;
}

/// The layers of a pattern such as "M-M*-", or of a list under another key.
LayerKinds read_nemotron_layers(Reader& in, std::string_view pattern, std::string_view list) {
  const std::string_view key = written(in, {pattern, list});
  std::vector<std::string> types;
  if (key == list) {
    types = in.texts(key);
  } else {
    for (const char letter : in.text(key)) {
      types.emplace_back(1, letter);
    }
  }
  LayerKinds kinds;
  for (const std::string& type : types) {
    const auto kind = nemotron_kind(type);
    if (!kind) {
      in.fail(key, "expected layers of M, *, - or E only: there are none of " + type + " yet");
      break;
    }
    kinds.push_back(*kind);
  }
  return kinds;
}

Experts read_nemotron_experts(Reader& in) {
  Experts experts = read_experts(
      in, {.count = "n_routed_experts", .per_token = kChosen, .ffn = "moe_intermediate_size"});
  experts.shared_ffn = width_or(in, "moe_shared_expert_intermediate_size", 7688);
  experts.router_bias = true;
  experts.routing.groups = width_or(in, "n_group", 1);
  experts.routing.groups_chosen = width_or(in, "topk_group", 1);
  check_routing(in, "n_group", experts);
  if (in.has("moe_latent_size") && !is_null(in, "moe_latent_size")) {
    experts.latent = in.integer("moe_latent_size", 1, kMostWidth);
  }
  return experts;
}

/// The branches of a module for a further token as one layer: what mixes tokens, and what follows.
void read_nemotron_prediction(Reader& in, Transformer& model) {
  constexpr std::string_view count = "num_nextn_predict_layers";
  constexpr std::string_view pattern = "mtp_hybrid_override_pattern";
  constexpr std::string_view list = "mtp_layers_block_type";
  model.predicted_tokens = in.maybe_integer(count, 0, kMostPredictedTokens).value_or(0);
  if (model.predicted_tokens == 0) {
    static_cast<void>(in.raw(pattern));
    static_cast<void>(in.raw(list));
    return;
  }
  const LayerKinds branches = read_nemotron_layers(in, pattern, list);
  model.predicted_layer = joined(branches);
  if (!branches.empty() && !model.predicted_layer) {
    in.fail(written(in, {pattern, list}),
            "expected one layer, or one that mixes tokens and an MLP or experts behind it");
  }
}

}  // namespace

void read_nemotron_h(Reader& in, Transformer& model) {
  const LayerKinds kinds = read_nemotron_layers(in, "hybrid_override_pattern", "layers_block_type");
  read_decoder_without_heads(in,
                             {.layers = static_cast<std::int64_t>(kinds.size()),
                              .heads = 32,
                              .vocabulary = 131'072,
                              .max_sequence = 4096},
                             model);
  read_grouped_heads(in,
                     {.layers = "num_hidden_layers",
                      .hidden = "hidden_size",
                      .heads = "num_attention_heads",
                      .kv_heads = "num_key_value_heads",
                      .head_dim = written(in, {"head_dim", "attention_head_dim"})},
                     {.kv_heads = 8, .head_dim = 128},
                     model);
  model.gated = false;
  model.positions = Positions::none;
  model.biases.qkv = in.flag("attention_bias", false);
  model.biases.output = model.biases.qkv;
  model.biases.mlp = in.flag("mlp_bias", false);
  if (!kinds.empty() && static_cast<std::int64_t>(kinds.size()) != model.layers) {
    in.fail("num_hidden_layers",
            "expected the " + std::to_string(kinds.size()) + " layers of the pattern");
  }
  const auto has = [](const LayerKind& kind) { return kind.experts; };
  if (std::ranges::any_of(kinds, has)) {
    model.experts = read_nemotron_experts(in);
  }
  set_layers(model, kinds);
  read_nemotron_prediction(in, model);
  Mixer otherwise = kUsualMamba2;
  otherwise.head_dim = 64;
  otherwise.key_heads = 8;
  otherwise.key_dim = 128;
  otherwise.chunk = 128;
  const Mixer mixer = read_mamba2_mixer(in, kNemotron, otherwise, model.hidden);
  for (const std::string_view key :
       {"mamba_proj_bias", "time_step_rank", "sliding_window", "n_shared_experts"}) {
    static_cast<void>(in.raw(key));  // the class does not look at them
  }
  set_mixer(in, kNemotron.heads, mixer, model);
}

}  // namespace titer::huggingface
