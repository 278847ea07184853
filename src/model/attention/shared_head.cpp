// Attention to one head that is key and value of all, beside a window to entries that sum up
// several tokens each.  [DeepSeek-V4 2026, section 2.3]
#include <algorithm>

#include "attention_parts.hpp"

namespace titer {
namespace {

class SharedHeadBuilder {
 public:
  SharedHeadBuilder(LayerBuilder& layer, const LayerKind& kind, const SharedHead& shared)
      : layer_(layer),
        model_(layer.model()),
        kind_(kind),
        shared_(shared),
        view_(view_of(layer.model(), kind, layer.slice())),
        entries_{.width = columns(layer.model().head_dim),
                 .tokens = columns(kind.entry_tokens),
                 .overlap = kind.picks_entries},
        heads_(columns(layer.model().heads)),
        width_(columns(layer.model().head_dim)),
        split_(heads_ * width_ / layer.tensor()) {}

  void add() {
    add_projections();
    if (model_.picks(kind_)) {
      add_indexer(layer_,
                  *model_.indexer,
                  {.q_rank = columns(shared_.q_rank),
                   .scored = seen_entries(view_, entries_.tokens, view_.length),
                   .all = view_.length / entries_.tokens,
                   .picked = std::min(most_picked(), view_.length / entries_.tokens),
                   .entry_tokens = entries_.tokens});
    }
    add_core();
    // The values have the positions of their keys: what comes back is turned back.
    if (model_.positions == Positions::rotary && kind_.rotary) {
      add_rotary(layer_, heads_ / layer_.tensor() * columns(shared_.rope_dim), kOutput);
    }
    add_output();
  }

 private:
  [[nodiscard]] bool has_entries() const { return kind_.entry_tokens > 0; }
  [[nodiscard]] double most_picked() const {
    return model_.picks(kind_) ? columns(model_.indexer->top_k) : view_.length;
  }

  /// Every rank has what makes the queries' latent, the key and the entries; queries are split by
  /// heads. What ranks of parts of the tokens made goes along with the latent.
  void add_projections() {
    const double latents = columns(shared_.q_rank) + width_;
    layer_.replicated_product({.name = "query latent and key",
                               .inner = layer_.hidden(),
                               .columns = latents,
                               .modules = kAttention,
                               .freed_by = layer_.input_norm()});
    layer_.norm(
        {.name = "latent norm", .modules = kAttention, .freed_by = kAttention}, latents, latents);
    if (has_entries()) {
      layer_.replicated_product({.name = "entries' numbers and weights",
                                 .inner = layer_.hidden(),
                                 .columns = entries_.projected(),
                                 .modules = kAttention,
                                 .freed_by = layer_.input_norm(),
                                 .keeps_input = false});
      add_entries(layer_, "entries", entries_, layer_.outer_tokens());
    }
    layer_.column_product({.name = "query up",
                           .inner = columns(shared_.q_rank),
                           .columns = heads_ * width_,
                           .modules = kLatentUp,
                           .freed_by = kAttention,
                           .carried = has_entries() ? width_ + width_ / entries_.tokens : width_});
    const Bytes queries = layer_.tokens() * split_ * layer_.element();
    Operation norm{.name = "query norm", .saved = queries, .modules = kLatentUp};
    norm.freed_by = kLatentUp;
    norm.forward = LayerBuilder::memory(2.0 * queries);
    norm.input_gradient = LayerBuilder::memory(3.0 * queries);
    layer_.add(norm);
    if (model_.positions == Positions::rotary && kind_.rotary) {
      add_rotary(layer_, (heads_ / layer_.tensor() + 1.0) * columns(shared_.rope_dim), kLatentUp);
    }
  }

  void add_core() {
    CoreAttention core{.widths = {.query = split_,
                                  .key = width_,
                                  .value = 0,  // the key
                                  .output = split_,
                                  .query_head = width_,
                                  .value_head = width_},
                       .view = view_,
                       .modules = kCore,
                       .freed_by = kLatentUp};
    // Of what other ranks' tokens made, only the window before its own is needed whole.
    const double tokens = layer_.tokens();
    const double before = static_cast<double>(layer_.slice().micro_batch) * view_.window;
    core.exchanged = std::min(tokens, before);
    if (has_entries()) {
      core.entry_tokens = entries_.tokens;
      core.entries = seen_entries(view_, entries_.tokens, most_picked());
      *core.exchanged += tokens / entries_.tokens;
    }
    add_core_attention(layer_, core);
  }

  /// A latent for each group of heads, and from all of these to the hidden state.
  void add_output() {
    const double groups = columns(shared_.output_groups) / layer_.tensor();
    const double rank = columns(shared_.output_rank);
    const double inner = split_ / groups;
    const bool narrow = layer_.has_narrow_products();
    if (narrow) {
      layer_.add(layer_.conversion(kOutput,
                                   {.inputs = layer_.tokens() * split_,
                                    .outputs = layer_.tokens() * groups * rank,
                                    .weights = groups * inner * rank}));
    }
    Operation op{.name = "latents of heads", .modules = kOutput, .freed_by = kResult};
    layer_.multiply(op, {layer_.tokens(), inner, rank, groups, narrow});
    op.saved = layer_.tokens() * split_ * layer_.kept(narrow);
    op.weight_input = op.saved;
    op.output_gradient = layer_.tokens() * groups * rank * layer_.kept_gradient(narrow);
    layer_.add(op);
    layer_.row_product({.name = "attention output",
                        .inner = columns(shared_.output_groups) * rank,
                        .columns = layer_.hidden(),
                        .modules = kOutput,
                        .freed_by = kOutput,
                        .parts = {{{WeightRole::output, layer_.hidden()}}}});
  }

  LayerBuilder& layer_;
  const Transformer& model_;
  const LayerKind& kind_;
  const SharedHead& shared_;
  View view_;
  Entries entries_;
  double heads_;
  double width_;  // of one
  double split_;  // columns of this rank's heads
};

}  // namespace

void add_shared_head(LayerBuilder& layer, const LayerKind& kind, const SharedHead& shared) {
  SharedHeadBuilder(layer, kind, shared).add();
}

}  // namespace titer
