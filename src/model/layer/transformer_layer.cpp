#include "titer/model/transformer/transformer_layer.hpp"

#include "model/transformer/denoiser_parts.hpp"
#include "model/transformer/streams.hpp"

namespace titer {
namespace {

constexpr Modules kDenseActivation = bits(Module::mlp, Module::mlp_activation);

/// Whether what comes out of the MLP is added to the residual stream as it is, and that is all.
bool ends_in_mlp(const Transformer& model, const LayerKind& kind) {
  return !(kind.experts && model.experts) && model.norms == 2 &&
         model.norm_place == NormPlace::input && !sums_once(model, kind) && !model.denoiser &&
         !has_streams(model);
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

/// RWKV's: what gates the MLP's result is of another mixture of the same tokens.
void add_receptance(LayerBuilder& layer) {
  const double h = layer.hidden();
  layer.replicated_product({.name = "receptance",
                            .inner = h,
                            .columns = h,
                            .modules = bit(Module::mlp),
                            .freed_by = layer.input_norm()});
  layer.pass_over("MLP gate", 1.5 * layer.outer_tokens() * h, 2.0 * layer.outer_tokens() * h);
}

void add_feed_forward(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  if (kind.experts && model.experts) {
    add_experts(layer, *model.experts);
  } else {
    const std::int64_t shifts = kind.mlp && model.mixer ? model.mixer->shifted_mlp_inputs() : 0;
    if (shifts > 0) {
      add_token_shift(layer, "MLP token shift", static_cast<double>(shifts), layer.outer_tokens());
    }
    add_mlp(layer, kind);
    if (model.mixer && model.mixer->gates_mlp()) {
      add_receptance(layer);
    }
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
    add_mixer(layer, kind);
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
  if (has_streams(layer.model())) {
    read_streams(layer);
  }
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
  if (has_streams(model)) {
    add_to_streams(layer, branch.residual);
    return;
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
  const auto of_each = [&](std::span<const Slice> slices, auto add) {
    for (const Slice& slice : slices) {
      LayerBuilder stream = layer.beside(slice);
      add(stream);
      layer.take(stream);
    }
  };
  const std::span<const Slice> going_on = std::span(streams).subspan(kind.text_ends ? 1 : 0);
  layer.begin(LayerPart::attention);
  of_each(streams, [&](LayerBuilder& stream) {
    begin_branch(stream, kAttends);
    add_stream_projections(stream, kind);
  });
  add_joint_attention(layer, kind);
  of_each(going_on, [](LayerBuilder& stream) {
    add_stream_output(stream);
    end_branch(stream, kAttends);
  });
  layer.begin(LayerPart::mlp);
  of_each(going_on, [&](LayerBuilder& stream) {
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

Bytes layer_input_bytes(const Transformer& model, const Slice& slice) {
  const double split = slice.sequence_parallel ? static_cast<double>(slice.tensor) : 1.0;
  return tokens_of(slice) * real(model.streams) * real(model.hidden) / split * size_of(slice.type);
}

}  // namespace titer
