// Attention of one layer: projections, positions, and what picks the tokens to attend to.
#include <algorithm>

#include "attention_parts.hpp"
#include "titer/model/transformer/denoiser.hpp"

namespace titer {
namespace {

AttentionWidths widths_of(const Transformer& model, double tensor) {
  if (model.latent) {
    const LatentAttention& mla = *model.latent;
    const auto of_heads = [&](std::int64_t width) { return columns(model.heads * width) / tensor; };
    const std::int64_t head = mla.nope_dim + mla.rope_dim;
    return {.query = of_heads(head),
            .key = of_heads(head),
            .value = of_heads(mla.value_dim),
            .output = of_heads(mla.value_dim),
            .query_head = columns(head),
            .value_head = columns(mla.value_dim)};
  }
  const double kv = columns(model.kv_width()) / std::min(tensor, columns(model.kv_heads));
  return {.query = columns(model.query_width()) / tensor,
          .key = kv,
          .value = kv,
          .output = columns(model.query_width()) / tensor,
          .query_head = columns(model.head_dim),
          .value_head = columns(model.head_dim)};
}

/// Of queries, keys or both, each rank's own columns; weights are shared by all heads. Over all
/// heads at once the ranks add up the squares of theirs, a number per token for each of the
/// `kinds`, and backward the products with their gradients.
void add_head_norm(LayerBuilder& layer, std::string_view name, double columns, double kinds = 1) {
  const Bytes x = layer.tokens() * columns * layer.element();
  Operation op{.name = name, .saved = x, .modules = kAttention, .freed_by = kAttention};
  op.forward = LayerBuilder::memory(2.0 * x);
  op.input_gradient = LayerBuilder::memory(3.0 * x);
  if (layer.model().qk_norm_of == QkNorm::all_heads && layer.slice().tensor > 1) {
    op.forward_transfer = {Collective::all_reduce,
                           kinds * layer.tokens() * size_of(DataType::fp32)};
    op.backward_transfer = op.forward_transfer;
  }
  layer.add(op);
}

/// Of a product with fewer key-value heads than ranks every rank makes an equal part, whosever head
/// that is: all parts are gathered and put in order, and each rank takes copies of what it attends
/// with. Backward the gradients of what it took, zero elsewhere, are put in the ranks' order and
/// summed. [Megatron-Core, transformer/attention.py: num_query_groups < world_size]
void gather_heads(LayerBuilder& layer, std::string_view name, double width) {
  if (!layer.model().shares_kv_heads(layer.slice().tensor)) {
    return;
  }
  const Bytes all = layer.tokens() * width * layer.element();
  Operation op{.name = name, .modules = kAttention};
  op.column_split = true;
  op.working = 2.0 * all;
  op.forward_transfer = {Collective::all_gather, all};
  op.forward = LayerBuilder::memory(2.0 * all);
  op.input_gradient = LayerBuilder::memory(3.0 * all);
  op.backward_transfer = {Collective::reduce_scatter, all};
  layer.add(op);
}

void add_projections(LayerBuilder& layer, const LayerKind& kind, const AttentionWidths& widths) {
  const Transformer& model = layer.model();
  const double queries = columns(model.query_width()) * (model.attention_gate ? 2.0 : 1.0);
  const double kv = columns(model.kv_width());
  const double width = queries + 2.0 * kv;
  layer.column_product(
      {.name = "query, key, value",
       .inner = layer.hidden(),
       .columns = width,
       .modules = kAttention,
       .freed_by = layer.input_norm(),
       .parts = {{{WeightRole::query, queries}, {WeightRole::key, kv}, {WeightRole::value, kv}}}});
  gather_heads(layer, "query, key, value gather", width);
  if (model.qk_norm) {
    add_head_norm(layer, "query and key norm", widths.query + widths.key, 2);
  }
  if (model.positions == Positions::rotary && kind.rotary) {
    add_rotary(layer, widths.query + widths.key, kAttention);
  }
}

/// Every rank has what makes the latents; what makes heads of them is split by heads. Of the keys
/// the part with positions is shared by all heads, and goes along with their latent.
void add_latent_projections(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  const LatentAttention& mla = *model.latent;
  const double heads = columns(model.heads);
  const double rope = columns(mla.rope_dim);
  const double latents = columns(mla.q_rank + mla.kv_rank);
  const Product query{.name = mla.q_rank > 0 ? "query up" : "query",
                      .inner = mla.q_rank > 0 ? columns(mla.q_rank) : layer.hidden(),
                      .columns = heads * columns(mla.nope_dim + mla.rope_dim),
                      .modules = mla.q_rank > 0 ? kLatentUp : kAttention,
                      .freed_by = mla.q_rank > 0 ? kAttention : layer.input_norm()};
  if (mla.q_rank == 0) {
    layer.column_product(query);
  }
  layer.replicated_product({.name = "latent down",
                            .inner = layer.hidden(),
                            .columns = latents + rope,
                            .modules = kAttention,
                            .freed_by = layer.input_norm(),
                            .keeps_input = mla.q_rank > 0});
  layer.norm({.name = "latent norm", .modules = kAttention, .freed_by = kAttention},
             latents,
             latents + rope);
  if (mla.q_rank > 0) {
    layer.column_product(query);
  }
  layer.column_product({.name = "key and value up",
                        .inner = columns(mla.kv_rank),
                        .columns = heads * columns(mla.nope_dim + mla.value_dim),
                        .modules = kLatentUp,
                        .freed_by = kAttention,
                        .carried = rope});
  if (model.positions == Positions::rotary && kind.rotary) {
    // Queries in part; keys put together of both parts, and parted from the values.
    const double turned = heads * (2.0 * rope + columns(mla.nope_dim + mla.value_dim));
    add_rotary(layer, turned / layer.tensor(), kLatentUp);
  }
}

/// What the heads return, weighed element by element.
void add_gate(LayerBuilder& layer, double width) {
  const Bytes x = layer.tokens() * width * layer.element();
  Operation op{.name = "attention gate", .saved = 2.0 * x, .modules = kAttention};
  op.freed_by = kAttention;
  op.forward = LayerBuilder::memory(3.0 * x);
  op.input_gradient = LayerBuilder::memory(5.0 * x);
  layer.add(op);
}

void add_output(LayerBuilder& layer, std::string_view name, bool shares_transfers) {
  const Transformer& model = layer.model();
  const double inner =
      model.latent ? columns(model.heads * model.latent->value_dim) : columns(model.query_width());
  constexpr Bytes twelve_bits = Bytes::from_si(1.5);
  const bool is_attentions_own = layer.keeps_narrow_results() && !model.attention_gate;
  layer.row_product({.name = name,
                     .inner = inner,
                     .columns = layer.hidden(),
                     .modules = kOutput,
                     .freed_by = kResult,
                     .kept = is_attentions_own ? std::optional(twelve_bits) : std::nullopt,
                     .shares_transfers = shares_transfers,
                     .parts = {{{WeightRole::output, layer.hidden()}}}});
}

}  // namespace

void add_rotary(LayerBuilder& layer, double moved, Modules modules) {
  Operation op{.name = "rotary positions", .modules = modules};
  op.forward = LayerBuilder::memory(2.0 * layer.tokens() * moved * layer.element());
  op.input_gradient = op.forward;
  layer.add(op);
}

void add_attention(LayerBuilder& layer, const LayerKind& kind) {
  const Transformer& model = layer.model();
  if (model.shared_head) {
    add_shared_head(layer, kind, *model.shared_head);
    return;
  }
  const AttentionWidths widths = widths_of(model, layer.tensor());
  CoreAttention core{.widths = widths,
                     .view = view_of(model, kind, layer.slice()),
                     .modules = kCore,
                     .freed_by = kAttention};
  if (model.latent) {
    add_latent_projections(layer, kind);
    core.freed_by = kLatentUp;
  } else {
    add_projections(layer, kind, widths);
  }
  if (model.indexer) {
    const double picked = std::min(core.view.window, columns(model.indexer->top_k));
    add_indexer(layer,
                *model.indexer,
                {.q_rank = model.latent ? columns(model.latent->q_rank) : 0.0,
                 .scored = core.view.length * attended_share(core.view),
                 .all = core.view.length,
                 .picked = picked});
    core.view.window = picked;
  }
  add_core_attention(layer, core);
  if (model.attention_gate) {
    add_gate(layer, widths.output);
  }
  // Of parallel branches the MLP's product sums both.
  add_output(layer, "attention output", sums_once(model, kind));
}

void add_stream_projections(LayerBuilder& stream, const LayerKind& kind) {
  add_projections(stream, kind, widths_of(stream.model(), stream.tensor()));
}

void add_joint_attention(LayerBuilder& layer, const LayerKind& kind) {
  add_core_attention(layer,
                     {.widths = widths_of(layer.model(), layer.tensor()),
                      .view = view_of(layer.model(), kind, layer.slice()),
                      .modules = kCore,
                      .freed_by = kAttention});
}

void add_stream_output(LayerBuilder& stream) { add_output(stream, "attention output", false); }

namespace {

/// Of images that a tower has encoded or a text that conditions, which every rank has whole; none:
/// of an encoder's sequences, as long as the layer's own.
std::optional<Slice> whole_attended(const Transformer& model, const Slice& slice) {
  if (model.tower && model.tower->attended != Attended::no) {
    return attended_slice(*model.tower, slice);
  }
  return model.denoiser ? std::optional(text_slice(model, slice)) : std::nullopt;
}

/// Of tokens that all layers of a stage keep together: their states are counted in none of them.
void add_attended(LayerBuilder& layer, const AttentionWidths& widths, bool has_norm) {
  const double kv = columns(layer.model().kv_width());
  layer.column_product({.name = "cross-attention key and value",
                        .inner = layer.hidden(),
                        .columns = 2.0 * kv,
                        .modules = kAttention,
                        .keeps_input = false,
                        .parts = {{{WeightRole::key, kv}, {WeightRole::value, kv}}}});
  gather_heads(layer, "cross-attention key and value gather", 2.0 * kv);
  if (has_norm) {
    add_head_norm(layer, "cross-attention key norm", widths.key);
  }
}

}  // namespace

void add_cross_attention(LayerBuilder& layer) {
  const Transformer& model = layer.model();
  const AttentionWidths widths = widths_of(model, layer.tensor());
  const std::optional<Slice> whole = whole_attended(model, layer.slice());
  const bool has_norm =
      model.denoiser ? model.qk_norm : whole && model.tower->attended == Attended::gated;
  layer.column_product({.name = "cross-attention query",
                        .inner = layer.hidden(),
                        .columns = columns(model.query_width()),
                        .modules = kAttention,
                        .freed_by = layer.input_norm(),
                        .parts = {{{WeightRole::query, columns(model.query_width())}}}});
  if (has_norm) {
    add_head_norm(layer, "cross-attention query norm", widths.query);
  }
  CoreAttention core{.widths = widths,
                     .view = view_of(model, {.bidirectional = true}, layer.slice()),
                     .modules = kCore,
                     .freed_by = kAttention};
  if (whole) {
    LayerBuilder attended = layer.beside(*whole);
    add_attended(attended, widths, has_norm);
    layer.take(attended);
    core.attended = columns(whole->sequence);
  } else {
    add_attended(layer, widths, false);
  }
  add_core_attention(layer, core);
  add_output(layer, "cross-attention output", false);
}

}  // namespace titer
