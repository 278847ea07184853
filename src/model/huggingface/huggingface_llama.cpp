// Dense architectures that grew out of Llama.
#include "huggingface_families.hpp"
#include "huggingface_keys.hpp"

namespace titer::huggingface {
namespace {

/// A window for the layers from "max_window_layers" on, if it is switched on.
void read_switched_window(Reader& in, Transformer& model) {
  LayerKinds kinds = all_layers(model);
  const bool listed = read_layer_types(in, kinds);
  const bool slides = in.flag("use_sliding_window", false);
  const auto first = in.maybe_integer("max_window_layers", 0, kMostLayers).value_or(28);
  if (!listed && slides) {
    slide_from(in, first, kinds);
  }
  static_cast<void>(in.raw("sliding_window"));
  set_layers(model, kinds);
}

void read_attention_bias(Reader& in, Transformer& model) {
  model.biases.qkv = in.flag("attention_bias", false);
  model.biases.output = model.biases.qkv;
}

}  // namespace

void read_llama(Reader& in, Transformer& model) {
  read_decoder(in, {}, model);
  read_attention_bias(in, model);
  model.biases.mlp = in.flag("mlp_bias", false);
}

void read_mistral(Reader& in, Transformer& model) {
  read_decoder(in, {.kv_heads = 8}, model);
  LayerKinds kinds = all_layers(model);
  if (in.has("sliding_window") || is_null(in, "sliding_window")) {
    slide_from(in, 0, kinds);
  } else {
    for (LayerKind& kind : kinds) {
      kind.window = 4096;
    }
  }
  set_layers(model, kinds);
}

void read_qwen2(Reader& in, Transformer& model) {
  read_decoder(in, {.kv_heads = 32}, model);
  model.biases.qkv = true;
  read_switched_window(in, model);
}

void read_qwen3(Reader& in, Transformer& model) {
  read_decoder(in, {.kv_heads = 32, .head_dim = 128}, model);
  read_attention_bias(in, model);
  model.qk_norm = true;
  read_switched_window(in, model);
}

void read_phi3(Reader& in, Transformer& model) {
  read_decoder(in, {}, model);
  LayerKinds kinds = all_layers(model);
  slide_from(in, 0, kinds);
  set_layers(model, kinds);
}

void read_gemma(Reader& in, Transformer& model) {
  read_decoder(in, {.tied = true, .kv_heads = 16, .head_dim = 256}, model);
  read_attention_bias(in, model);
}

void read_gemma2(Reader& in, Transformer& model) {
  read_decoder(in, {.tied = true, .kv_heads = 4, .head_dim = 256}, model);
  read_attention_bias(in, model);
  model.norms = 4;
  LayerKinds kinds = all_layers(model);
  if (!read_layer_types(in, kinds)) {
    slide_but_every(in, 2, kinds);
  }
  set_layers(model, kinds);
}

void read_gemma3(Reader& in, Transformer& model) {
  // Files of models for texts and images tell little else than layers and widths.
  read_decoder(in,
               {.tied = true,
                .heads = 8,
                .kv_heads = 4,
                .head_dim = 256,
                .vocabulary = 262'208,
                .max_sequence = 131'072},
               model);
  read_attention_bias(in, model);
  model.norms = 4;
  model.qk_norm = true;
  LayerKinds kinds = all_layers(model);
  const auto nth = in.maybe_integer(
      written(in, {"sliding_window_pattern", "_sliding_window_pattern"}), 1, kMostLayers);
  if (!read_layer_types(in, kinds)) {
    slide_but_every(in, nth.value_or(6), kinds);
  }
  set_layers(model, kinds);
}

}  // namespace titer::huggingface
