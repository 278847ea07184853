// The blocks of a model: its embedding, a layer of each kind, its head.

#include "denoiser_parts.hpp"
#include "streams.hpp"
#include "titer/model/transformer/transformer_layer.hpp"

namespace titer {
namespace {

/// The further token's embedding and each stream by a product of its own, and the sums of each with
/// the embedding.  [DeepSeek-V4 2026, inference/model.py: MTPBlock]
void add_projected_streams(LayerBuilder& layer) {
  const double h = layer.hidden();
  const double n = real(layer.model().streams);
  layer.replicated_product(
      {.name = "further token's projection", .inner = h, .columns = h, .narrow = false});
  Slice each = layer.slice();
  each.micro_batch *= layer.model().streams;
  LayerBuilder streams = layer.beside(each);
  streams.replicated_product(
      {.name = "projection of streams", .inner = h, .columns = h, .narrow = false});
  layer.take(streams);
  const Bytes x = layer.outer_tokens() * h * layer.element();
  Operation sums{.name = "further token's streams"};
  sums.forward = LayerBuilder::memory((2.0 * n + 1.0) * x);
  sums.input_gradient = LayerBuilder::memory((n + 1.0) * x);
  layer.add(sums);
}

/// What comes before the first layer of a module that predicts a further token: the token's
/// embedding beside the hidden state, both normalised, and a projection of the two to one.
/// [DeepSeek-V3 2024, section 2.2]
void add_prediction_input(LayerBuilder& layer) {
  const double h = layer.hidden();
  const double states = 1.0 + real(layer.model().streams);
  layer.embedding("further token's embedding");
  layer.norm({.name = "further token's norms"}, states * h, states * h);
  if (has_streams(layer.model())) {
    add_projected_streams(layer);
    return;
  }
  layer.column_product(
      {.name = "further token's projection", .inner = 2.0 * h, .columns = h, .narrow = false});
  if (layer.slice().tensor > 1) {
    Operation op{.name = "further token's hidden state"};
    const Bytes x = layer.tokens() * h * layer.element();
    op.forward = LayerBuilder::memory(2.0 * x);
    op.input_gradient = op.forward;
    op.forward_transfer = {Collective::all_gather, x};
    if (layer.slice().sequence_parallel) {
      op.backward_transfer = op.forward_transfer;
    }
    layer.add(op);
  }
}

/// What stands between the last layer of an encoder and its logits; every rank has all of it.
/// [BERT 2019]
void add_head_transform(LayerBuilder& layer) {
  const double h = layer.hidden();
  layer.replicated_product({.name = "head transform", .inner = h, .columns = h, .narrow = false});
  layer.activation({.name = "head activation"}, layer.outer_tokens() * h);
  layer.norm("head norm");
}

void add_logits(LayerBuilder& layer) {
  const Transformer& model = layer.model();
  const auto rows = static_cast<double>(model.padded_vocabulary(layer.slice().tensor));
  layer.column_product({.name = "logits",
                        .inner = layer.hidden(),
                        .columns = rows,
                        .narrow = layer.slice().narrow_logits,
                        .is_table = true});
  layer.cross_entropy("cross-entropy");
}

void add_embedding(const Transformer& model, const Slice& slice, OperationList& list) {
  list.clear();
  LayerBuilder layer(model, slice, list);
  if (model.denoiser) {
    add_denoiser_input(layer, *model.denoiser);
    return;
  }
  for (int stack = 0; stack < (model.encoder_ends ? 2 : 1); ++stack) {
    layer.embedding("embedding");
    if (model.embedding_norm) {
      layer.norm("embedding norm");
    }
  }
  if (has_streams(model)) {
    begin_streams(layer);
  }
}

/// Returns the adapters of its further layers.
ParameterCount add_head(const Transformer& model, const Slice& slice, OperationList& list) {
  list.clear();
  LayerBuilder layer(model, slice, list);
  if (model.final_norm && model.encoder_ends) {
    layer.norm("encoder's final norm");
  }
  if (model.denoiser) {
    add_denoiser_output(layer, *model.denoiser);
    return layer.adapters();
  }
  if (has_streams(model)) {
    end_streams(layer);
  }
  if (model.final_norm) {
    layer.norm("final norm");
  }
  if (model.head_transform) {
    add_head_transform(layer);
  }
  add_logits(layer);
  for (std::int64_t i = 0; i < model.predicted_tokens; ++i) {
    add_prediction_input(layer);
    add_layer(layer, model.prediction_kind());
    if (has_streams(model)) {
      end_streams(layer);
    }
    layer.norm("further token's final norm");
    add_logits(layer);
  }
  return layer.adapters();
}

/// Of a layer with a dense MLP, with experts, and with neither.
struct KindNames {
  std::string_view dense;
  std::string_view experts;
  std::string_view alone;
};

KindNames names_of(const LayerKind& kind) {
  if (kind.tokens == TokenMixing::none && kind.cross_attention) {
    return {"cross-attention layer", "cross-attention layer with experts", "cross-attention"};
  }
  if (kind.tokens == TokenMixing::none) {
    return {"MLP", "experts", ""};
  }
  if (kind.tokens == TokenMixing::mixer) {
    return {"mixer layer", "mixer layer with experts", "mixer"};
  }
  if (kind.cross_attention) {
    return {"decoder layer", "decoder layer with experts", "attention"};
  }
  if (kind.two_streams) {
    return {kind.text_ends ? "last two-stream layer" : "two-stream layer", "", ""};
  }
  if (kind.parallel) {
    return {"parallel layer", "", ""};
  }
  if (kind.bidirectional) {
    return {"encoder layer", "encoder layer with experts", "attention"};
  }
  if (kind.picks_entries) {
    return {"layer of picked entries", "layer of picked entries with experts", "attention"};
  }
  if (kind.entry_tokens > 0) {
    return {"layer of entries", "layer of entries with experts", "attention"};
  }
  if (kind.window) {
    return {"window layer", "window layer with experts", "attention"};
  }
  return {"layer", "layer with experts", "attention"};
}

std::string_view name_of(const LayerKind& kind) {
  const KindNames names = names_of(kind);
  if (!kind.mlp) {
    return names.alone;
  }
  return kind.experts ? names.experts : names.dense;
}

/// What layers hand on beside their own results to those behind them that attend to it: of an
/// encoder, or of images.
Bytes handed_on(const Transformer& model, const LayerKind& kind, const Slice& slice) {
  const Bytes row = static_cast<double>(model.hidden) * size_of(slice.type);
  if (model.tower && model.tower->attended != Attended::no) {
    return tokens_of(attended_slice(*model.tower, slice)) * row;
  }
  if (model.denoiser && kind.cross_attention) {
    return tokens_of(text_slice(model, slice)) * row;
  }
  return kind.cross_attention ? tokens_of(slice) * row : Bytes{};
}

void add_adapters(const ParameterCount& adapters, Block& block) {
  block.adapters = adapters;
  block.parameters += adapters;
}

Block& fill(Block& block, std::string_view name, const ParameterCount& parameters) {
  block.name = name;
  block.parameters = parameters;
  return block;
}

}  // namespace

void list_blocks(const Transformer& model, const Slice& slice, ModelBlocks& into) {
  const Bytes input = layer_input_bytes(model, slice);
  const Bytes whole =
      tokens_of(slice) * real(model.streams) * real(model.hidden) * size_of(slice.type);
  into.kinds.resize(model.kinds.size());
  for (std::size_t i = 0; i < model.kinds.size(); ++i) {
    const LayerKind& kind = model.kinds[i];
    Block& block = fill(into.kinds[i], name_of(kind), layer_parameters(model, kind));
    block.operations.clear();
    LayerBuilder builder(model, slice, block.operations);
    add_layer(builder, kind);
    add_adapters(builder.adapters(), block);
    block.input = input;
    block.output = whole + handed_on(model, kind, slice);
  }
  into.front = 0;
  if (model.order.empty()) {
    into.order.assign(1, {.kind = 0, .count = model.layers});
  } else {
    into.order = model.order;
  }
  fill(into.embedding, "embedding", embedding_parameters(model, slice.tensor)).output = whole;
  add_embedding(model, slice, into.embedding.operations);
  fill(into.head, "output head", head_parameters(model, slice.tensor));
  add_adapters(add_head(model, slice, into.head.operations), into.head);
  if (model.tower && slice.images.of_sequence > 0) {
    add_tower(*model.tower, slice, into);
  }
  // Modules that predict further tokens look these up on the last stage.
  const bool twice = model.tied_embeddings || model.predicted_tokens > 0;
  into.tied_table = twice ? model.padded_vocabulary(slice.tensor) * model.hidden : 0;
}

}  // namespace titer
