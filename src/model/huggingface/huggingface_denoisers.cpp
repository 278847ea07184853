// Transformers of HuggingFace's diffusers library, by the names of their classes.
#include <memory>

#include "huggingface_families.hpp"
#include "huggingface_keys.hpp"
#include "titer/model/transformer/denoiser.hpp"

namespace titer::huggingface {
namespace {

constexpr std::int64_t kFrequencies = 256;  // of the time step
constexpr std::int64_t kMostSide = 1'000;

std::int64_t width(Reader& in, std::string_view key, std::int64_t otherwise) {
  return in.maybe_integer(key, 1, kMostWidth).value_or(otherwise);
}

/// Layernorms without weights, biases, attention of all tokens to all.
void read_heads_and_layers(Reader& in,
                           std::int64_t heads,
                           std::int64_t head_dim,
                           Transformer& model) {
  model.layers = in.integer("num_layers", 0, kMostLayers);
  model.heads = width(in, "num_attention_heads", heads);
  model.head_dim = width(in, "attention_head_dim", head_dim);
  model.kv_heads = model.heads;
  model.hidden = model.heads * model.head_dim;
  model.norm = Norm::layernorm_without_weights;
  model.biases = {.qkv = true, .output = true, .mlp = true};
  model.dropout = false;
  model.tied_embeddings = false;
  model.causal = false;
  if (model.hidden > kMostWidth) {
    in.fail("num_attention_heads",
            "expected heads of at most " + std::to_string(kMostWidth) + " columns together");
    model.heads = model.kv_heads = model.head_dim = model.hidden = 1;
  }
}

void set_denoiser(Transformer& model, Denoiser denoiser) {
  model.denoiser = std::make_shared<const Denoiser>(std::move(denoiser));
}

/// Layers of two streams, then so many whose branches are parallel.
void set_streams(Reader& in, std::int64_t parallel, std::int64_t longest, Transformer& model) {
  const std::int64_t two_streams = model.layers;
  model.layers += parallel;
  model.ffn = 4 * model.hidden;
  model.positions = Positions::rotary;
  model.qk_norm = true;
  model.qk_norm_type = Norm::rmsnorm;
  model.max_sequence = longest;
  std::vector<KindRun> runs;
  if (two_streams > 0) {
    runs.push_back({.kind = {.two_streams = true}, .count = two_streams});
  }
  if (parallel > 0) {
    runs.push_back({.kind = {.parallel = true}, .count = parallel});
  }
  if (runs.empty()) {
    in.fail("num_layers", "expected a model with layers");
    return;
  }
  set_layers(model, runs);
}

}  // namespace

/// Layers of two streams, then such whose branches are parallel.  [Black Forest Labs 2024]
void read_flux(Reader& in, Transformer& model) {
  read_heads_and_layers(in, 24, 128, model);
  // Images of a million pixels in latents of an eighth of the side, 2 x 2 a token; texts of T5.
  constexpr std::int64_t text = 512;
  constexpr std::int64_t image = 4096;
  set_streams(
      in, in.maybe_integer("num_single_layers", 0, kMostLayers).value_or(38), image + text, model);
  // Its pipeline packs squares of the latent before: "patch_size" is 1.
  const std::int64_t channels = width(in, "in_channels", 64);
  Denoiser denoiser{
      .patches = {.side = in.maybe_integer("patch_size", 1, kMostSide).value_or(1),
                  .channels = channels,
                  .bias = true},
      .output_channels = width(in, "out_channels", channels),
      .vectors = {kFrequencies, width(in, "pooled_projection_dim", 768)},
      .text = DenoiserText{.tokens = text, .width = width(in, "joint_attention_dim", 4096)}};
  if (in.flag("guidance_embeds", false)) {
    denoiser.vectors.push_back(kFrequencies);
  }
  skip(in, {"axes_dims_rope"});
  set_denoiser(model, std::move(denoiser));
}

/// As FLUX.1, of films, whose texts go through layers of their own before.  [Kong et al. 2024]
void read_hunyuan_video(Reader& in, Transformer& model) {
  Denoiser denoiser;
  const std::int64_t text = 256;
  // 129 frames of 1280 x 720 pixels: 33 x 45 x 80.
  const std::int64_t film = 118'800;
  const std::int64_t parallel = in.maybe_integer("num_single_layers", 0, kMostLayers).value_or(40);
  read_heads_and_layers(in, 24, 128, model);
  if (in.maybe_number("mlp_ratio", 0, kMostSide).value_or(4) != 4) {
    in.fail("mlp_ratio", "expected 4, the only one that is modelled");
  }
  if (const auto norm = in.maybe_text("qk_norm"); norm && *norm != "rms_norm") {
    in.fail("qk_norm", "expected rms_norm, the only one that is modelled");
  }
  if (const Value* image = in.raw("image_condition_type");
      image != nullptr && image->kind != Value::Kind::null) {
    in.fail("image_condition_type", "expected null: films from a text alone");
  }
  set_streams(in, parallel, film + text, model);
  const std::int64_t channels = width(in, "in_channels", 16);
  denoiser.patches = {.side = in.maybe_integer("patch_size", 1, kMostSide).value_or(2),
                      .channels = channels,
                      .frames = in.maybe_integer("patch_size_t", 1, kMostSide).value_or(1),
                      .bias = true};
  denoiser.output_channels = width(in, "out_channels", 16);
  denoiser.vectors = {kFrequencies, width(in, "pooled_projection_dim", 768)};
  denoiser.text = DenoiserText{
      .tokens = text,
      .width = width(in, "text_embed_dim", 4096),
      .refiner_layers = in.maybe_integer("num_refiner_layers", 0, kMostSide).value_or(2)};
  if (in.flag("guidance_embeds", true)) {
    denoiser.vectors.push_back(kFrequencies);
  }
  skip(in, {"rope_axes_dim", "rope_theta"});
  set_denoiser(model, std::move(denoiser));
}

/// Layers of two streams, of which the last has no text behind it.  [Esser et al. 2024]
void read_sd3(Reader& in, Transformer& model) {
  read_heads_and_layers(in, 18, 64, model);
  model.ffn = 4 * model.hidden;
  model.positions = Positions::none;  // a table that is not trained
  if (const auto norm = in.maybe_text("qk_norm")) {
    model.qk_norm = true;
    model.qk_norm_type = Norm::rmsnorm;
    if (*norm != "rms_norm") {
      in.fail("qk_norm", "expected rms_norm, the only one that is modelled");
    }
  }
  const Value* dual = in.raw("dual_attention_layers");
  if (dual != nullptr && !dual->items.empty()) {
    in.fail("dual_attention_layers",
            "expected none: layers whose images attend to themselves once more are not modelled");
  }
  if (width(in, "caption_projection_dim", 1152) != model.hidden) {
    in.fail("caption_projection_dim", "expected the width of all heads");
  }
  if (model.layers < 2) {
    if (in.has("num_layers")) {
      in.fail("num_layers", "expected at least two layers");
    }
    return;
  }
  set_layers(model,
             {{.kind = {.two_streams = true}, .count = model.layers - 1},
              {.kind = {.two_streams = true, .text_ends = true}, .count = 1}});
  const std::int64_t side = in.maybe_integer("patch_size", 1, kMostSide).value_or(2);
  const std::int64_t along = std::max<std::int64_t>(1, width(in, "sample_size", 128) / side);
  constexpr std::int64_t text = 154;  // 77 of CLIP and 77 of T5, in training
  model.max_sequence = along * along + text;
  const std::int64_t channels = width(in, "in_channels", 16);
  set_denoiser(
      model,
      {.patches = {.side = side, .channels = channels, .bias = true},
       .output_channels = width(in, "out_channels", 16),
       .vectors = {kFrequencies, width(in, "pooled_projection_dim", 2048)},
       .text = DenoiserText{.tokens = text, .width = width(in, "joint_attention_dim", 4096)}});
  skip(in, {"pos_embed_max_size"});
}

/// Self- and cross-attention, one modulation for all layers.  [Chen et al. 2023]
void read_pixart(Reader& in, Transformer& model) {
  read_heads_and_layers(in, 16, 72, model);
  model.ffn = 4 * model.hidden;
  model.positions = Positions::none;  // a table that is not trained
  const std::int64_t side = in.maybe_integer("patch_size", 1, kMostSide).value_or(2);
  const std::int64_t along = std::max<std::int64_t>(1, width(in, "sample_size", 128) / side);
  model.max_sequence = along * along;
  set_layers(model, {{.kind = {.cross_attention = true}, .count = model.layers}});
  const std::int64_t channels = width(in, "in_channels", 4);
  set_denoiser(model,
               {.patches = {.side = side, .channels = channels, .bias = true},
                .output_channels = width(in, "out_channels", 8),
                .vectors = {kFrequencies},
                .modulation = Modulation::shared,
                .text = DenoiserText{.tokens = 120,
                                     .width = width(in, "caption_channels", 4096),
                                     .products = 2,
                                     .norm = Norm::layernorm_without_weights}});
  skip(in,
       {"activation_fn",
        "attention_bias",
        "attention_type",
        "cross_attention_dim",
        "dropout",
        "interpolation_scale",
        "norm_elementwise_affine",
        "norm_eps",
        "norm_num_groups",
        "norm_type",
        "num_embeds_ada_norm",
        "upcast_attention",
        "use_additional_conditions"});
}

/// The same of films, with norms of queries and keys.  [Wan 2025]
void read_wan(Reader& in, Transformer& model) {
  read_heads_and_layers(in, 40, 128, model);
  model.ffn = width(in, "ffn_dim", 13824);
  model.positions = Positions::rotary;
  model.qk_norm = true;
  model.qk_norm_of = QkNorm::all_heads;
  model.qk_norm_type = Norm::rmsnorm;
  // 81 frames of 1280 x 720 pixels: 21 x 45 x 80.
  model.max_sequence = 75'600;
  set_layers(model, {{.kind = {.cross_attention = true}, .count = model.layers}});
  std::int64_t frames = 1;
  std::int64_t side = 2;
  if (const Value* patch = in.raw("patch_size"); patch != nullptr) {
    const bool is_known = patch->items.size() == 3 && patch->items[1].is_integer &&
                          patch->items[0].is_integer && patch->items[0].integer > 0 &&
                          patch->items[1].integer > 0 && patch->items[0].integer <= kMostSide &&
                          patch->items[1].integer <= kMostSide;
    if (!is_known) {
      in.fail("patch_size", "expected frames, rows and columns of a patch, such as [1, 2, 2]");
    } else {
      frames = patch->items[0].integer;
      side = patch->items[1].integer;
    }
  }
  const bool has_norm = in.flag("cross_attn_norm", true);
  set_denoiser(
      model,
      {.patches =
           {.side = side, .channels = width(in, "in_channels", 16), .frames = frames, .bias = true},
       .output_channels = width(in, "out_channels", 16),
       .vectors = {width(in, "freq_dim", kFrequencies)},
       .modulation = Modulation::shared,
       .text = DenoiserText{.tokens = 512,
                            .width = width(in, "text_dim", 4096),
                            .products = 2,
                            .norm = has_norm ? Norm::layernorm : Norm::layernorm_without_weights}});
  skip(in, {"eps", "qk_norm", "rope_max_seq_len", "window_size"});
}

}  // namespace titer::huggingface
