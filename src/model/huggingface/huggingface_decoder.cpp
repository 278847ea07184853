// Reads a decoder by its row of the table.
#include "huggingface_decoder.hpp"

#include <algorithm>

namespace titer::huggingface {
namespace {

void read_style(Reader& in, const Decoder& decoder, Transformer& model) {
  model.norm = decoder.norm;
  model.norms = static_cast<int>(decoder.norms);
  model.norm_place = decoder.norm_place;
  model.parallel = decoder.parallel;
  model.gated = decoder.gated;
  model.activation_parameters = decoder.activation_parameters;
  model.positions = decoder.positions;
  if (decoder.positions == Positions::learned) {
    model.position_rows = model.max_sequence + decoder.further_positions;
  }
  model.qk_norm = decoder.qk_norm.has_value();
  model.qk_norm_of = decoder.qk_norm.value_or(QkNorm::head);
  if (!decoder.qk_norm_key.empty()) {
    model.qk_norm = in.flag(decoder.qk_norm_key, decoder.qk_norm_otherwise);
  }
}

void read_biases(Reader& in, const Decoder& decoder, Biases& biases) {
  biases = decoder.biases;
  for (const BiasKey& bias : decoder.bias_keys) {
    if (in.flag(bias.key, bias.otherwise)) {
      biases.qkv = biases.qkv || bias.of.qkv;
      biases.output = biases.output || bias.of.output;
      biases.mlp = biases.mlp || bias.of.mlp;
      biases.head = biases.head || bias.of.head;
    }
  }
}

/// A pattern is a word in some files, which list the layers besides.
std::int64_t read_number(Reader& in, const WindowRule& rule) {
  std::string_view key = rule.number_key;
  if (key == kPatternKey) {
    key = written(in, {kPatternKey, "_sliding_window_pattern"});
  }
  const Value* const told = in.raw(key);
  if (told != nullptr && told->kind == Value::Kind::text) {
    return rule.number;
  }
  const std::int64_t least = rule.layers == WindowRule::Layers::but_every ? 1 : 0;
  return in.maybe_integer(key, least, kMostLayers).value_or(rule.number);
}

void read_windows(Reader& in, const WindowRule& rule, LayerKinds& kinds) {
  if (rule.layers == WindowRule::Layers::none) {
    return;
  }
  const bool listed = read_layer_types(in, kinds);
  const std::int64_t window = read_window(in, rule.otherwise);
  const std::int64_t number = rule.number_key.empty() ? rule.number : read_number(in, rule);
  if (listed || (rule.switched && !in.flag("use_sliding_window", false))) {
    return;
  }
  if (rule.layers == WindowRule::Layers::but_every) {
    slide_but_every(number, window, kinds);
  } else {
    slide_from(number, window, kinds);
  }
}

/// Where there are windows at all, layers without have no positions.
void take_positions_off(LayerKinds& kinds) {
  const auto has_window = [](const LayerKind& kind) { return kind.window.has_value(); };
  if (std::ranges::any_of(kinds, has_window)) {
    for (LayerKind& kind : kinds) {
      kind.rotary = has_window(kind);
    }
  }
}

}  // namespace

void read(Reader& in, const Decoder& decoder, Transformer& model) {
  read_shape(in, decoder.keys, decoder.otherwise, model);
  read_heads(in, decoder.keys.shape, decoder.otherwise, model);
  read_style(in, decoder, model);
  read_biases(in, decoder, model.biases);
  LayerKinds kinds = decoder.experts != nullptr ? decoder.experts(in, model) : all_layers(model);
  read_windows(in, decoder.windows, kinds);
  if (decoder.windows.rotary_inside) {
    take_positions_off(kinds);
  }
  if (decoder.rest != nullptr) {
    decoder.rest(in, model, kinds);
  }
  set_layers_with_experts(model, kinds);
}

}  // namespace titer::huggingface
