#include "titer/model/transformer/transformer_layer.hpp"

#include "model/layer_builder.hpp"

namespace titer {
namespace {

void add_mlp(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  const auto f = static_cast<double>(model.ffn);
  const bool same_input = model.norms == 1;  // as attention
  layer.column_product({.name = model.gated ? "MLP gate and up" : "MLP up",
                        .inner = layer.hidden(),
                        .columns = model.gated ? 2.0 * f : f,
                        .modules = bit(Module::mlp),
                        .freed_by = bit(Module::layer_norm),
                        .keeps_input = !same_input,
                        .shares_transfers = same_input && sums_once(model, kind),
                        .parts = gate_and_up(model, f)});
  layer.activation({.name = model.gated ? "gated activation" : "activation",
                    .modules = bit(Module::mlp),
                    .freed_by = bit(Module::mlp)},
                   layer.tokens() * f / layer.tensor());
  layer.row_product({.name = "MLP down",
                     .inner = f,
                     .columns = layer.hidden(),
                     .modules = bit(Module::mlp),
                     .freed_by = bit(Module::mlp)});
}

void add_feed_forward(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  if (kind.experts && model.experts) {
    add_experts(layer, *model.experts);
  } else {
    add_mlp(layer, kind);
  }
}

void add_input_norm(LayerBuilder& layer, std::string_view name, double kept_width) {
  layer.norm({.name = name, .modules = bit(Module::layer_norm)}, layer.hidden(), kept_width);
}

/// Of the layer's tokens among one another, behind its norm.
void add_mixing(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  const bool attends = kind.tokens == TokenMixing::attention;
  add_input_norm(layer, attends ? "attention norm" : "mixer norm", layer.hidden());
  if (attends) {
    add_attention(layer, kind);
  } else if (model.mixer) {
    add_mixer(layer, *model.mixer, sums_once(model, kind));
  }
}

/// Attention and MLP read the layer's input, and both results are added to it.
void add_parallel_branches(LayerBuilder& layer, const LayerKind& kind) {
  add_mixing(layer, kind);
  if (layer.model().norms > 1) {
    add_input_norm(layer, "MLP norm", 0.0);  // the first norm keeps the same input
  }
  add_feed_forward(layer, kind);
  layer.residual("residual", 2.0);
}

/// What comes before the first layer of a module that predicts a further token: the token's
/// embedding beside the hidden state, both normalised, and a projection of the two to one.
/// [DeepSeek-V3 2024, section 2.2]
void add_prediction_input(LayerBuilder& layer) {
  const double h = layer.hidden();
  layer.embedding("further token's embedding");
  layer.norm({.name = "further token's norms"}, 2.0 * h, 2.0 * h);
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

void add_logits(LayerBuilder& layer) {
  const Transformer& model = layer.model();
  const auto rows = static_cast<double>(model.padded_vocabulary(layer.slice().tensor));
  layer.column_product({.name = "logits",
                        .inner = layer.hidden(),
                        .columns = rows,
                        .narrow = false,
                        .is_table = true});
  layer.cross_entropy("cross-entropy");
}

const LayerKind& last_kind(const Transformer& model) {
  const int last = model.order.empty() ? 0 : model.order.back().kind;
  return model.kinds[static_cast<std::size_t>(last)];
}

void add_embedding(const Transformer& model, const Slice& slice, OperationList& list) {
  list.clear();
  LayerBuilder layer(model, slice, list);
  layer.embedding("embedding");
  if (model.embedding_norm) {
    layer.norm("embedding norm");
  }
}

void add_head(const Transformer& model, const Slice& slice, OperationList& list) {
  list.clear();
  LayerBuilder layer(model, slice, list);
  if (model.final_norm) {
    layer.norm("final norm");
  }
  add_logits(layer);
  for (std::int64_t i = 0; i < model.predicted_tokens; ++i) {
    add_prediction_input(layer);
    add_layer(layer, last_kind(model));
    layer.norm("further token's final norm");
    add_logits(layer);
  }
}

std::string_view name_of(const LayerKind& kind) {
  if (kind.tokens == TokenMixing::none) {
    return kind.experts ? "experts" : "MLP";
  }
  if (kind.tokens == TokenMixing::mixer) {
    return !kind.mlp ? "mixer" : (kind.experts ? "mixer layer with experts" : "mixer layer");
  }
  if (!kind.mlp) {
    return "attention";
  }
  if (kind.cross_attention) {
    return kind.experts ? "decoder layer with experts" : "decoder layer";
  }
  if (kind.bidirectional) {
    return kind.experts ? "encoder layer with experts" : "encoder layer";
  }
  if (kind.window) {
    return kind.experts ? "window layer with experts" : "window layer";
  }
  return kind.experts ? "layer with experts" : "layer";
}

Block& fill(Block& block, std::string_view name, const ParameterCount& parameters) {
  block.name = name;
  block.parameters = parameters;
  return block;
}

}  // namespace

void add_layer(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  if (model.parallel) {
    add_parallel_branches(layer, kind);
    return;
  }
  if (kind.tokens != TokenMixing::none) {
    const bool attends = kind.tokens == TokenMixing::attention;
    add_mixing(layer, kind);
    if (model.norms > 2) {
      layer.norm(attends ? "attention output norm" : "mixer output norm");
    }
    layer.residual(attends ? "attention residual" : "mixer residual");
  }
  if (kind.cross_attention) {
    add_input_norm(layer, "cross-attention norm", layer.hidden());
    add_cross_attention(layer);
    layer.residual("cross-attention residual");
  }
  if (!kind.mlp) {
    return;
  }
  add_input_norm(layer, "MLP norm", layer.hidden());
  add_feed_forward(layer, kind);
  if (model.norms > 2) {
    layer.norm("MLP output norm");
  }
  layer.residual("MLP residual");
}

void list_blocks(const Transformer& model, const Slice& slice, ModelBlocks& into) {
  const Bytes input = layer_input_bytes(model, slice);
  const Bytes whole = tokens_of(slice) * static_cast<double>(model.hidden) * size_of(slice.type);
  into.kinds.resize(model.kinds.size());
  for (std::size_t i = 0; i < model.kinds.size(); ++i) {
    const LayerKind& kind = model.kinds[i];
    Block& block = fill(into.kinds[i], name_of(kind), layer_parameters(model, kind));
    block.operations.clear();
    LayerBuilder builder(model, slice, block.operations);
    add_layer(builder, kind);
    block.input = input;
    // Decoders hand the encoder's output on, to the decoders behind them.
    block.output = (kind.cross_attention ? 2.0 : 1.0) * whole;
  }
  if (model.order.empty()) {
    into.order.assign(1, {.kind = 0, .count = model.layers});
  } else {
    into.order = model.order;
  }
  fill(into.embedding, "embedding", embedding_parameters(model, slice.tensor)).output = whole;
  add_embedding(model, slice, into.embedding.operations);
  fill(into.head, "output head", head_parameters(model, slice.tensor));
  add_head(model, slice, into.head.operations);
  // Modules that predict further tokens look these up on the last stage.
  const bool twice = model.tied_embeddings || model.predicted_tokens > 0;
  into.tied_table = twice ? model.padded_vocabulary(slice.tensor) * model.hidden : 0;
}

OperationList transformer_layer(const Transformer& model, const Slice& slice) {
  OperationList list;
  LayerBuilder builder(model, slice, list);
  add_layer(builder, model.kinds.front());
  return list;
}

OperationList embedding(const Transformer& model, const Slice& slice) {
  OperationList list;
  add_embedding(model, slice, list);
  return list;
}

OperationList output_head(const Transformer& model, const Slice& slice) {
  OperationList list;
  add_head(model, slice, list);
  return list;
}

Bytes layer_input_bytes(const Transformer& model, const Slice& slice) {
  const double split = slice.sequence_parallel ? static_cast<double>(slice.tensor) : 1.0;
  return tokens_of(slice) * static_cast<double>(model.hidden) / split * size_of(slice.type);
}

}  // namespace titer
