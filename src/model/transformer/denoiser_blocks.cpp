// What a denoiser computes on one rank beside what every transformer does.
#include "denoiser_parts.hpp"
#include "model/attention/core_attention.hpp"

namespace titer {
namespace {

double sequences(const LayerBuilder& layer) { return real(layer.slice().micro_batch); }

/// One after the other, an activation between them.
void add_two_products(LayerBuilder& layer, std::string_view name, double rows, double inner) {
  const double h = layer.hidden();
  layer.first_product(name, {rows, inner, h});
  layer.pass_over("activation", rows * h, rows * h);
  layer.first_product(name, {rows, h, h}, true);
}

void add_text(LayerBuilder& layer, const DenoiserText& text) {
  Slice slice = text_slice(layer.model(), layer.slice());
  if (text.refiner_layers > 0) {
    slice.context = 1;
  }
  const double rows = tokens_of(slice);
  if (text.products == 1) {
    layer.first_product("text embedding", {rows, real(text.width), layer.hidden()});
  } else {
    add_two_products(layer, "text embedding", rows, real(text.width));
  }
}

/// A layer of the text's own tokens.
void add_refiner_layer(LayerBuilder& layer) {
  const double h = layer.hidden();
  const double rows = layer.tokens();
  const auto branch_end = [&] { layer.pass_over("gate and sum", rows * h, rows * h); };
  layer.first_product("modulation", {sequences(layer), h, 2 * h}, true);
  layer.norm("norm");
  layer.first_product("query, key and value", {rows, h, 3 * h}, true);
  const double head = real(layer.model().head_dim);
  add_core_attention(
      layer,
      {.widths =
           {.query = h, .key = h, .value = h, .output = h, .query_head = head, .value_head = head},
       .view = view_of(layer.model(), {.bidirectional = true}, layer.slice())});
  layer.first_product("attention output", {rows, h, h}, true);
  branch_end();
  layer.norm("norm");
  layer.first_product("MLP", {rows, h, 4 * h}, true);
  layer.pass_over("activation", rows * 4 * h, rows * 4 * h);
  layer.first_product("MLP", {rows, 4 * h, h}, true);
  branch_end();
}

/// Of whole texts on every rank, before these are shared out.
void add_refiner(LayerBuilder& layer, const Denoiser& denoiser) {
  Slice slice = layer.slice();
  slice.sequence = denoiser.text->tokens;
  slice.sequence_parallel = false;
  slice.tensor = 1;
  slice.context = 1;
  slice.attended_length.reset();
  LayerBuilder text = layer.beside(slice);
  for (const std::int64_t columns : {denoiser.vectors.front(), denoiser.text->width}) {
    add_two_products(text, "conditions of the text", sequences(text), real(columns));
  }
  for (std::int64_t i = 0; i < denoiser.text->refiner_layers; ++i) {
    add_refiner_layer(text);
  }
  layer.take(text);
}

/// Of `vectors` for each sequence.
void add_vectors(LayerBuilder& layer, double vectors) {
  const double h = layer.hidden();
  layer.first_product("modulation", {sequences(layer), h, vectors * h}, true);
}

}  // namespace

void add_modulation(LayerBuilder& layer, const LayerKind& kind, const Denoiser& denoiser) {
  layer.begin(LayerPart::attention);
  const double vectors = real(modulation_vectors(kind));
  if (denoiser.modulation == Modulation::layers) {
    add_vectors(layer, vectors);
  } else {
    layer.pass_over("modulation", sequences(layer) * vectors * layer.hidden(), 0);
  }
}

void add_shift(LayerBuilder& layer) {
  const double x = layer.outer_tokens() * layer.hidden();
  layer.pass_over("scale and shift", x, x);
}

void add_branch_gate(LayerBuilder& layer) {
  const double x = layer.outer_tokens() * layer.hidden();
  layer.pass_over("gate of a branch", x, x);
}

void add_denoiser_input(LayerBuilder& layer, const Denoiser& denoiser) {
  const double h = layer.hidden();
  const double rows = tokens_of(image_slice(layer.model(), layer.slice()));
  layer.first_product("patch embedding", {rows, real(denoiser.patches.inputs()), h});
  if (layer.model().positions != Positions::rotary) {
    layer.pass_over("positions", rows * h, 0);
  }
  if (denoiser.text) {
    add_text(layer, *denoiser.text);
    if (denoiser.text->refiner_layers > 0) {
      add_refiner(layer, denoiser);
    }
  }
  if (joins_text(layer.model())) {
    layer.pass_over("texts and images joined", layer.tokens() * h, 0);
  }
  for (const std::int64_t columns : denoiser.vectors) {
    add_two_products(layer, "conditions", sequences(layer), real(columns));
  }
  if (denoiser.modulation == Modulation::shared) {
    add_vectors(layer, 6);
  }
}

void add_denoiser_output(LayerBuilder& layer, const Denoiser& denoiser) {
  const Slice slice = image_slice(layer.model(), layer.slice());
  LayerBuilder images = layer.beside(slice);
  if (layer.model().final_norm) {
    images.norm("final norm");
  }
  if (denoiser.modulation == Modulation::layers) {
    add_vectors(images, 2);
  }
  add_shift(images);
  const double rows = images.outer_tokens();
  const double outputs = real(denoiser.outputs());
  images.first_product("patches", {rows, images.hidden(), outputs}, true);
  // The squared difference to what was asked for, in fp32.
  const Bytes fp32 = rows * outputs * size_of(DataType::fp32);
  Operation loss{.name = "squared error", .saved = fp32};
  loss.forward = LayerBuilder::memory(3.0 * fp32, KernelMaker::loss);
  loss.input_gradient = LayerBuilder::memory(2.0 * fp32, KernelMaker::loss);
  images.add(loss);
  layer.take(images);
}

}  // namespace titer
