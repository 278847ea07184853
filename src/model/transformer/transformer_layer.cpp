#include "titer/model/transformer/transformer_layer.hpp"

#include "denoiser_parts.hpp"

namespace titer {
namespace {

constexpr Modules kDenseActivation = bits(Module::mlp, Module::mlp_activation);

/// Whether what comes out of the MLP is added to the residual stream as it is, and that is all.
bool ends_in_mlp(const Transformer& model, const LayerKind& kind) {
  return !(kind.experts && model.experts) && model.norms == 2 &&
         model.norm_place == NormPlace::input && !sums_once(model, kind) && !model.denoiser;
}

void add_mlp(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  const auto f = static_cast<double>(model.ffn);
  const bool same_input = norms_of_branches(model, kind) == 1;  // as attention
  layer.column_product({.name = model.gated ? "MLP gate and up" : "MLP up",
                        .inner = layer.hidden(),
                        .columns = model.gated ? 2.0 * f : f,
                        .modules = bit(Module::mlp),
                        .freed_by = layer.input_norm(),
                        .keeps_input = !same_input,
                        .shares_transfers = same_input && sums_once(model, kind),
                        .parts = gate_and_up(model, f)});
  layer.activation({.name = model.gated ? "gated activation" : "activation",
                    .modules = kDenseActivation,
                    .freed_by = bit(Module::mlp)},
                   layer.tokens() * f / layer.tensor());
  layer.row_product({.name = "MLP down",
                     .inner = f,
                     .columns = layer.hidden(),
                     .modules = bit(Module::mlp),
                     .freed_by = kDenseActivation,
                     .parts = {{{WeightRole::down, layer.hidden()}}},
                     .ends_layer = ends_in_mlp(model, kind)});
}

void add_feed_forward(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  if (kind.experts && model.experts) {
    add_experts(layer, *model.experts);
  } else {
    add_mlp(layer, kind);
  }
}

void add_input_norm(LayerBuilder& layer,
                    std::string_view name,
                    double kept_width,
                    Modules freed_by = {}) {
  layer.norm({.name = name, .modules = bit(Module::layer_norm), .freed_by = freed_by},
             layer.hidden(),
             kept_width);
}

/// Of the layer's tokens among one another.
void add_mixing(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  if (kind.tokens == TokenMixing::attention) {
    add_attention(layer, kind);
  } else if (model.mixer) {
    add_mixer(layer, *model.mixer, sums_once(model, kind));
  }
}

/// What a branch of a layer has before and behind it.
struct Branch {
  std::string_view norm;
  std::string_view output_norm;  // a further one, in models with four; "" for none
  std::string_view residual;
  bool is_modulated = true;  // in a denoiser
};
constexpr Branch kAttends{"attention norm", "attention output norm", "attention residual"};
constexpr Branch kMixes{"mixer norm", "mixer output norm", "mixer residual"};
constexpr Branch kAttendsAcross{"cross-attention norm", "", "cross-attention residual", false};
constexpr Branch kFeeds{"MLP norm", "MLP output norm", "MLP residual"};

const Branch& mixing_of(const LayerKind& kind) {
  return kind.tokens == TokenMixing::attention ? kAttends : kMixes;
}
LayerPart mixing_part(const LayerKind& kind) {
  return kind.tokens == TokenMixing::attention ? LayerPart::attention : LayerPart::mixer;
}
LayerPart feeding_part(const Transformer& model, const LayerKind& kind) {
  return kind.experts && model.experts ? LayerPart::router : LayerPart::mlp;
}

/// `made_by`: the modules that make its input.
void begin_branch(LayerBuilder& layer, const Branch& branch, Modules made_by = {}) {
  if (layer.model().norm_place == NormPlace::input) {
    add_input_norm(layer, branch.norm, layer.hidden(), made_by);
  }
  if (layer.model().denoiser && branch.is_modulated) {
    add_shift(layer);
  }
}

void end_branch(LayerBuilder& layer, const Branch& branch, bool ends_layer = false) {
  const Transformer& model = layer.model();
  if (model.norms > 2 && !branch.output_norm.empty()) {
    layer.norm(branch.output_norm);
  }
  if (model.norm_place == NormPlace::output) {
    layer.norm(branch.norm);
  }
  if (model.denoiser && branch.is_modulated) {
    add_branch_gate(layer);
  }
  layer.residual(branch.residual, 1.0, ends_layer);
  if (model.norm_place == NormPlace::sum) {
    add_input_norm(layer, branch.norm, layer.hidden());
  }
}

/// Attention and MLP read the layer's input, and both results are added to it.
void add_parallel_branches(LayerBuilder& layer, const LayerKind& kind) {
  layer.begin(mixing_part(kind));
  add_input_norm(layer, mixing_of(kind).norm, layer.hidden());
  if (layer.model().denoiser) {
    add_shift(layer);
  }
  add_mixing(layer, kind);
  layer.begin(feeding_part(layer.model(), kind));
  if (norms_of_branches(layer.model(), kind) > 1) {
    add_input_norm(layer, "MLP norm", 0.0);  // the first norm keeps the same input
  }
  add_feed_forward(layer, kind);
  if (layer.model().denoiser) {
    add_branch_gate(layer);
  }
  layer.residual("residual", 2.0);
}

/// Texts and images each go through branches of their own; in attention they meet.
void add_two_streams(LayerBuilder& layer, const LayerKind& kind) {
  const std::array<Slice, 2> streams = {text_slice(layer.model(), layer.slice()),
                                        image_slice(layer.model(), layer.slice())};
  const auto of_each = [&](auto add) {
    for (const Slice& slice : streams) {
      LayerBuilder stream = layer.beside(slice);
      add(stream);
      layer.take(stream);
    }
  };
  layer.begin(LayerPart::attention);
  of_each([&](LayerBuilder& stream) {
    begin_branch(stream, kAttends);
    add_stream_projections(stream, kind);
  });
  add_joint_attention(layer, kind);
  of_each([](LayerBuilder& stream) {
    add_stream_output(stream);
    end_branch(stream, kAttends);
  });
  layer.begin(LayerPart::mlp);
  of_each([&](LayerBuilder& stream) {
    begin_branch(stream, kFeeds, bit(Module::attention_output));
    add_feed_forward(stream, kind);
    end_branch(stream, kFeeds);
  });
}

/// One after the other, each reads what the one before it has added to.
void add_branches(LayerBuilder& layer, const LayerKind& kind) {
  if (kind.tokens != TokenMixing::none) {
    layer.begin(mixing_part(kind));
    begin_branch(layer, mixing_of(kind));
    add_mixing(layer, kind);
    end_branch(layer, mixing_of(kind));
  }
  if (kind.cross_attention) {
    layer.begin(LayerPart::attention);
    begin_branch(layer, kAttendsAcross);
    add_cross_attention(layer);
    end_branch(layer, kAttendsAcross);
  }
  if (kind.mlp) {
    layer.begin(feeding_part(layer.model(), kind));
    const bool attends = kind.tokens == TokenMixing::attention;
    begin_branch(layer, kFeeds, attends ? bit(Module::attention_output) : Modules{});
    add_feed_forward(layer, kind);
    end_branch(layer, kFeeds, ends_in_mlp(layer.model(), kind));
  }
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
    return {"two-stream layer", "", ""};
  }
  if (kind.parallel) {
    return {"parallel layer", "", ""};
  }
  if (kind.bidirectional) {
    return {"encoder layer", "encoder layer with experts", "attention"};
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

void add_layer(LayerBuilder& layer, const LayerKind& kind) {
  if (layer.model().denoiser) {
    add_modulation(layer, kind, *layer.model().denoiser);
  }
  if (kind.two_streams) {
    add_two_streams(layer, kind);
  } else if (is_parallel(layer.model(), kind)) {
    add_parallel_branches(layer, kind);
  } else {
    add_branches(layer, kind);
  }
  layer.begin(LayerPart::outside);
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
  static_cast<void>(add_head(model, slice, list));
  return list;
}

Bytes layer_input_bytes(const Transformer& model, const Slice& slice) {
  const double split = slice.sequence_parallel ? static_cast<double>(slice.tensor) : 1.0;
  return tokens_of(slice) * static_cast<double>(model.hidden) / split * size_of(slice.type);
}

}  // namespace titer
