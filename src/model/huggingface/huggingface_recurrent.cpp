// Short convolutions between layers with attention, and RWKV.
#include <algorithm>
#include <cmath>

#include "huggingface_families.hpp"
#include "huggingface_mixers.hpp"

namespace titer::huggingface {
namespace {

/// The width of LFM2's MLPs: two thirds of what is written, up to a whole multiple, unless told to
/// take it as it is.  [transformers, models/lfm2/modeling_lfm2.py]
std::int64_t adjusted_width(Reader& in, std::int64_t written) {
  const std::int64_t multiple = in.maybe_integer("block_multiple_of", 1, kMostWidth).value_or(256);
  const double factor = in.maybe_number("block_ffn_dim_multiplier", 0.0, 64.0).value_or(1.0);
  if (!in.flag("block_auto_adjust_ff_dim", true)) {
    return written;
  }
  const std::int64_t share = 2 * written / 3;
  const auto scaled = static_cast<std::int64_t>(factor * static_cast<double>(share));
  return (scaled + multiple - 1) / multiple * multiple;
}

/// What the classes of LFM2 do not look at.
void skip_original_keys(Reader& in) {
  skip(in,
       {"block_dim",
        "block_mlp_init_scale",
        "block_norm_eps",
        "block_out_init_scale",
        "block_use_swiglu",
        "block_use_xavier_init",
        "conv_dim",
        "conv_dim_out",
        "conv_use_xavier_init",
        "norm_eps",
        "num_heads",
        "theta",
        "use_pos_enc"});
}

/// Which layers attend: listed by type, or by number.
LayerKinds read_lfm2_layers(Reader& in, const Transformer& model) {
  LayerKinds kinds = all_layers(model);
  if (in.has("layer_types")) {
    mark_listed(in, "layer_types", "conv", kinds);
    static_cast<void>(in.raw("full_attn_idxs"));
    return kinds;
  }
  if (!in.has("full_attn_idxs") || is_null(in, "full_attn_idxs")) {
    return kinds;  // all of them
  }
  for (LayerKind& kind : kinds) {
    kind.tokens = TokenMixing::mixer;
  }
  mark_numbered(in, "full_attn_idxs", TokenMixing::attention, kinds);
  return kinds;
}

void read_lfm2_shape(Reader& in, const HuggingFaceDefaults& otherwise, Transformer& model) {
  read_decoder(in, otherwise, model);
  model.tied_embeddings = in.flag(written(in, {"tie_embedding", "tie_word_embeddings"}), true);
  static_cast<void>(in.raw("tie_word_embeddings"));
  model.qk_norm = true;
}

/// After its layers: a model of attention alone has none.
void set_short_convolution(Reader& in, Transformer& model) {
  Mixer mixer{.kind = MixerKind::short_convolution, .head_dim = 1, .key_heads = 1, .key_dim = 1};
  mixer.heads = model.hidden;
  mixer.convolution = in.maybe_integer("conv_L_cache", 1, kMostTaps).value_or(3);
  mixer.bias = in.flag("conv_bias", false);
  mixer.convolution_bias = mixer.bias;
  skip_original_keys(in);
  const auto mixes = [](const LayerKind& kind) { return kind.tokens == TokenMixing::mixer; };
  if (std::ranges::any_of(model.kinds, mixes)) {
    set_mixer(in, "hidden_size", mixer, model);
  }
}

}  // namespace

void read_lfm2(Reader& in, Transformer& model) {
  read_lfm2_shape(
      in, {.tied = true, .ffn_width = 12288, .kv_heads = 8, .max_sequence = 128'000}, model);
  model.ffn = adjusted_width(in, width_or(in, "block_ff_dim", model.ffn));
  set_layers(model, read_lfm2_layers(in, model));
  set_short_convolution(in, model);
}

/// The biases by which experts are chosen are no parameters of this class.
void read_lfm2_moe(Reader& in, Transformer& model) {
  read_lfm2_shape(
      in, {.tied = true, .ffn_width = 7168, .kv_heads = 8, .max_sequence = 128'000}, model);
  model.experts = read_experts(
      in, {.count = "num_experts", .per_token = kChosen, .ffn = "moe_intermediate_size"});
  static_cast<void>(in.raw("use_expert_bias"));
  const auto dense =
      static_cast<std::size_t>(in.maybe_integer("num_dense_layers", 0, kMostLayers).value_or(2));
  LayerKinds kinds = read_lfm2_layers(in, model);
  for (std::size_t i = dense; i < kinds.size(); ++i) {
    kinds[i].experts = true;
  }
  set_layers_with_experts(model, kinds);
  set_short_convolution(in, model);
}

namespace {

/// What RWKV's classes take where a file does not tell.
struct RwkvDefaults {
  std::int64_t vocabulary = 65536;
  std::string_view length = "context_length";
  std::int64_t max_sequence = 4096;  // of the published models: a state limits no length
};

/// A layernorm in front of the first layer and behind the last; every layer has the mixer.
void read_rwkv_shape(Reader& in, const RwkvDefaults& otherwise, Transformer& model) {
  model.layers = in.integer("num_hidden_layers", 1, kMostLayers);
  model.hidden = in.integer("hidden_size", 1, kMostWidth);
  model.norm = Norm::layernorm;
  model.positions = Positions::none;
  model.dropout = false;
  model.embedding_norm = true;
  model.tied_embeddings = in.flag("tie_word_embeddings", false);
  model.vocabulary = in.maybe_integer("vocab_size", 1, kMostTokens).value_or(otherwise.vocabulary);
  model.max_sequence =
      in.maybe_integer(otherwise.length, 1, kMostTokens).value_or(otherwise.max_sequence);
  LayerKinds kinds = all_layers(model);
  for (LayerKind& kind : kinds) {
    kind.tokens = TokenMixing::mixer;
  }
  set_layers(model, kinds);
}

/// Widths that follow from the hidden size where they are null or left out.
std::int64_t told_or(Reader& in, std::string_view key, std::int64_t otherwise) {
  return is_null(in, key) ? otherwise : width_or(in, key, otherwise);
}

/// Down to a whole multiple of 32.
std::int64_t in_warps(double width) { return static_cast<std::int64_t>(width / 32.0) * 32; }

/// Versions 4 to 6, as their own classes have them. flash-linear-attention has a class of its own
/// by the same name, with other products.
Mixer read_rwkv_heads(Reader& in, MixerKind kind, Transformer& model) {
  for (const std::string_view key : {"expand_k", "hidden_ratio", "proj_low_rank_dim"}) {
    if (in.has(key)) {
      in.fail(key, "expected a file of RWKV's own class: flash-linear-attention's is not read");
    }
  }
  Mixer mixer{.kind = kind, .head_dim = 1, .key_dim = 1, .norm = true};
  const std::int64_t width = told_or(in, "attention_hidden_size", model.hidden);
  if (kind != MixerKind::rwkv4) {
    mixer.head_dim = width_or(in, "head_size", 64);
    mixer.key_dim = mixer.head_dim;
    mixer.chunk = 64;
    if (width > 1 && width % mixer.head_dim != 0) {  // 1: of what could not be read
      in.fail("head_size", "expected a divisor of the " + std::to_string(width) + " columns");
    }
  }
  mixer.heads = std::max<std::int64_t>(1, width / mixer.head_dim);
  mixer.key_heads = mixer.heads;
  skip(in, {"head_size_divisor", "model_version", "num_attention_heads", "rescale_every"});
  return mixer;
}

}  // namespace

void read_rwkv4(Reader& in, Transformer& model) {
  read_rwkv_shape(in, {.vocabulary = 50277, .max_sequence = 1024}, model);
  model.ffn = told_or(in, "intermediate_size", 4 * model.hidden);
  set_mixer(in, "hidden_size", read_rwkv_heads(in, MixerKind::rwkv4, model), model);
}

void read_rwkv5(Reader& in, Transformer& model) {
  read_rwkv_shape(in, {}, model);
  model.ffn = told_or(in, "intermediate_size", in_warps(3.5 * static_cast<double>(model.hidden)));
  set_mixer(in, "hidden_size", read_rwkv_heads(in, MixerKind::rwkv5, model), model);
}

/// Ranks follow from the hidden size.  [RWKV/rwkv-6-world, modeling_rwkv6.py]
void read_rwkv6(Reader& in, Transformer& model) {
  read_rwkv_shape(in, {}, model);
  model.ffn = told_or(in, "intermediate_size", in_warps(3.5 * static_cast<double>(model.hidden)));
  Mixer mixer = read_rwkv_heads(in, MixerKind::rwkv6, model);
  const bool is_wide = model.hidden == 4096;
  mixer.mix_rank = is_wide ? 64 : 32;
  mixer.rank = is_wide ? 128 : 64;
  set_mixer(in, "hidden_size", mixer, model);
}

/// As flash-linear-attention has it: ranks grow with the root of the hidden size where none are
/// told.  [fla, layers/rwkv7.py]
void read_rwkv7(Reader& in, Transformer& model) {
  read_rwkv_shape(
      in, {.vocabulary = 32'000, .length = "max_position_embeddings", .max_sequence = 2048}, model);
  const double ratio =
      is_null(in, "hidden_ratio") ? 4.0 : in.maybe_number("hidden_ratio", 0.1, 64.0).value_or(4.0);
  const double up = std::ceil(std::floor(static_cast<double>(model.hidden) * ratio) / 32.0) * 32.0;
  model.ffn = told_or(in, "intermediate_size", static_cast<std::int64_t>(up));
  model.gated = false;
  model.norm = in.flag("norm_bias", true) ? Norm::layernorm : Norm::layernorm_without_bias;
  model.embedding_norm = in.flag("norm_first", true);
  if (in.has("attn") && !is_null(in, "attn")) {
    in.fail("attn", "expected null: there are no attention layers between RWKV's yet");
  }
  for (const std::int64_t width : integers(in, "value_dim")) {
    if (width != model.hidden) {
      in.fail("value_dim", "expected the hidden size, in every layer");
      break;
    }
  }
  const std::int64_t told = in.maybe_integer("num_heads", 1, kMostWidth).value_or(0);
  const std::int64_t share = told > 0 ? std::max<std::int64_t>(1, model.hidden / told) : 64;
  const std::int64_t head = told_or(in, "head_dim", share);
  Mixer mixer{.kind = MixerKind::rwkv7, .head_dim = head, .key_dim = head, .chunk = 16};
  mixer.heads = std::max<std::int64_t>(1, model.hidden / head);
  mixer.key_heads = mixer.heads;
  const auto rank = [&](std::string_view key, double factor, bool by_head) {
    const double scale = by_head ? static_cast<double>(head) / 64.0 : 1.0;
    const double root = factor * std::sqrt(static_cast<double>(model.hidden)) * scale;
    const auto usual = static_cast<std::int64_t>(std::nearbyint(root / 32.0) * 32.0);
    return told_or(in, key, std::max<std::int64_t>(32, usual));
  };
  mixer.rank = rank("decay_low_rank_dim", 2.5, true) + rank("a_low_rank_dim", 2.5, true) +
               rank("gate_low_rank_dim", 5.0, false);
  mixer.mix_rank = rank("v_low_rank_dim", 1.7, true);
  LayerKinds kinds(static_cast<std::size_t>(model.layers), LayerKind{.tokens = TokenMixing::mixer});
  kinds.front().first_values = true;
  set_layers(model, kinds);
  skip(in,
       {"attn_mode",
        "fuse_cross_entropy",
        "fuse_linear_cross_entropy",
        "fuse_norm",
        "norm_eps",
        "use_l2warp"});
  set_mixer(in, "hidden_size", mixer, model);
}

}  // namespace titer::huggingface
