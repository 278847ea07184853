// What picks the tokens, or the entries that sum up several, that each query attends to.
#include "attention_parts.hpp"

namespace titer {

void add_entries(LayerBuilder& layer,
                 std::string_view name,
                 const Entries& entries,
                 double tokens) {
  const Bytes read = tokens * entries.projected() * layer.element();
  const Bytes written = tokens * entries.width / entries.tokens * layer.element();
  Operation op{.name = name, .saved = read + written, .modules = kAttention};
  op.freed_by = kAttention;
  op.forward = LayerBuilder::memory(read + written);
  op.input_gradient = LayerBuilder::memory(2.0 * (read + written));
  layer.add(op);
}

/// Scores of all tokens by a few small heads, which pick those to attend to. Every tensor-parallel
/// rank does it for all tokens. What trains it is a loss of its own: no gradient goes on to the
/// hidden state; that loss is left out.  [DeepSeek-V3.2 2025, section 2.1]
void add_indexer(LayerBuilder& layer, const Indexer& indexer, const Scored& keys) {
  const double heads = columns(indexer.heads);
  const double dim = columns(indexer.head_dim);
  const double h = layer.hidden();
  const bool of_entries = keys.entry_tokens > 0;
  const Entries entries{.width = dim, .tokens = keys.entry_tokens, .overlap = true};
  const double made = of_entries ? entries.projected() : dim;  // columns of a token
  const double key = of_entries ? dim / keys.entry_tokens : dim;
  const auto project = [&](std::string_view name, double inner, double width, Bytes gathered) {
    Operation op{.name = name, .modules = kAttention};
    layer.multiply(op, {layer.tokens(), inner, width});
    op.input_gradient = {};
    op.output_gradient = layer.tokens() * width * layer.element();
    if (layer.slice().tensor > 1 && layer.slice().sequence_parallel) {
      op.column_split = true;
      op.forward_transfer = {Collective::all_gather, gathered};
    }
    layer.add(op);
  };
  if (keys.q_rank > 0) {
    const Bytes latents = layer.tokens() * keys.q_rank * layer.element();
    project("indexer query", keys.q_rank, heads * dim, latents);
  }
  project("indexer key and weights", h, made + heads, layer.tokens() * h * layer.element());
  if (of_entries) {
    add_entries(layer, "indexer entries", entries, layer.tokens());
  }

  const double pairs = layer.tokens() * keys.scored;
  const Bytes scores = pairs * size_of(DataType::fp32);
  const Bytes inputs = layer.tokens() * (heads * dim + key + heads) * layer.element();
  const Bytes indices = layer.tokens() * keys.picked * Bytes::from_si(4.0);
  Operation op{.name = "indexer scores", .saved = inputs + indices, .modules = kAttention};
  op.freed_by = kAttention;
  const Flops flops = Flops::from_si(2.0 * pairs * heads * dim);
  op.forward = {KernelKind::attention, flops, inputs + 2.0 * scores + indices};
  // Of the scores that were picked only, and of queries and keys.
  const double share = keys.picked / keys.all;
  op.input_gradient = {KernelKind::attention, 2.0 * share * flops, 2.0 * inputs + indices};
  op.working = scores;
  if (layer.slice().context > 1) {
    op.forward_transfer = {
        Collective::all_gather,
        static_cast<double>(layer.slice().context) * layer.tokens() * key * layer.element(),
        LayerGroup::context};
    op.backward_transfer = {
        Collective::reduce_scatter, op.forward_transfer.size, LayerGroup::context};
  }
  layer.add(op);
}

}  // namespace titer
