#include <algorithm>
#include <cmath>
#include <span>

#include "model/attention/attended_pairs.hpp"
#include "streams.hpp"
#include "titer/model/transformer/denoiser.hpp"

namespace titer {
namespace {

double wide(std::int64_t columns) { return real(columns); }

/// Pairs of a token and one that it attends to, in one sequence of `length` tokens of which each
/// sees `window`.
double attended_pairs(double length, double window, bool halved) {
  const double seen = std::min(length, window);
  return length * seen - (halved ? 0.5 * seen * seen : 0.0);
}

/// The same where a sequence falls into chunks; the last one may be short.
double chunked_pairs(double length, double chunk, bool halved) {
  const double seen = std::min(length, chunk);
  const double chunks = std::floor(length / seen);
  const double rest = length - chunks * seen;
  return (halved ? 0.5 : 1.0) * (chunks * seen * seen + rest * rest);
}

double shared_head_products(const Transformer& model,
                            const LayerKind& kind,
                            const SharedHead& shared) {
  const double h = wide(model.hidden);
  const double made = kind.entry_tokens == 0 ? 0.0 : kind.picks_entries ? 4.0 : 2.0;
  const double latents = wide(shared.output_groups) * wide(shared.output_rank);
  return h * (wide(shared.q_rank) + (1.0 + made) * wide(model.head_dim)) +
         wide(model.query_width()) * (wide(shared.q_rank) + wide(shared.output_rank)) + latents * h;
}

/// Multiply-adds of one layer's products with weights for one token.
double attention_products(const Transformer& model, const LayerKind& kind) {
  const double h = wide(model.hidden);
  const double q = wide(model.query_width());
  if (model.shared_head) {
    return shared_head_products(model, kind, *model.shared_head);
  }
  if (!model.latent) {
    const double gate = model.attention_gate ? q : 0.0;
    return h * (q + gate + 2.0 * wide(model.kv_width())) + q * h;
  }
  const LatentAttention& mla = *model.latent;
  const double head = wide(mla.nope_dim + mla.rope_dim);
  const double a = wide(model.heads);
  const double queries = mla.q_rank > 0 ? wide(mla.q_rank) * (h + a * head) : h * a * head;
  const double keys_values = h * wide(mla.kv_rank + mla.rope_dim) +
                             wide(mla.kv_rank) * a * wide(mla.nope_dim + mla.value_dim);
  return queries + keys_values + a * wide(mla.value_dim) * h;
}

double indexer_products(const Transformer& model, const LayerKind& kind) {
  if (!model.picks(kind)) {
    return 0.0;
  }
  const double heads = wide(model.indexer->heads);
  const double width = wide(model.indexer->head_dim);
  if (model.shared_head) {
    return wide(model.shared_head->q_rank) * heads * width +
           wide(model.hidden) * (4.0 * width + heads);
  }
  const double q_rank = model.latent ? wide(model.latent->q_rank) : 0.0;
  return q_rank * heads * width + wide(model.hidden) * (width + heads);
}

double mlp_products(const Transformer& model, const LayerKind& kind) {
  const double h = wide(model.hidden);
  const double matrices = model.gated ? 3.0 : 2.0;
  if (!kind.mlp) {
    return 0.0;
  }
  if (!kind.experts || !model.experts) {
    const bool is_gated = model.mixer && model.mixer->gates_mlp();
    return matrices * h * wide(model.ffn) + (is_gated ? h * h : 0.0);
  }
  const Experts& experts = *model.experts;
  const double chosen = matrices * wide(experts.per_token) * wide(experts.ffn);
  const double shared = matrices * wide(experts.shared_ffn);
  const double router = wide(experts.count) + (experts.shared_gate ? 1.0 : 0.0);
  return wide(experts.token_width(model.hidden)) * chosen +
         h * (shared + router + 2.0 * wide(experts.latent));
}

double mixing_products(const Transformer& model, const LayerKind& kind) {
  if (kind.tokens == TokenMixing::attention) {
    return attention_products(model, kind) + indexer_products(model, kind);
  }
  return kind.tokens == TokenMixing::mixer && model.mixer
             ? model.mixer->products(model.hidden, kind.first_values)
             : 0.0;
}

/// Keys and values are of the tokens that are attended to: so many for each of the layer's own.
double cross_products(const Transformer& model, double attended) {
  const double h = wide(model.hidden);
  return 2.0 * h * (wide(model.query_width()) + attended * wide(model.kv_width()));
}

double layer_products(const Transformer& model, const LayerKind& kind, double attended) {
  const double branches = (kind.tokens != TokenMixing::none ? 1.0 : 0.0) + (kind.mlp ? 1.0 : 0.0);
  return mixing_products(model, kind) + mlp_products(model, kind) +
         branches * stream_products(model) +
         (kind.cross_attention ? cross_products(model, attended) : 0.0);
}

/// What a text that goes no further is not multiplied by, for each of the layer's tokens.
double ended_products(const Transformer& model, const LayerKind& kind, double text_share) {
  const double output = wide(model.query_width()) * wide(model.hidden);
  return kind.text_ends ? text_share * (output + mlp_products(model, kind)) : 0.0;
}

/// Multiply-adds of QK^T and AV for each pair of tokens.
double pair_products(const Transformer& model) {
  if (!model.latent) {
    return 2.0 * wide(model.query_width());
  }
  const LatentAttention& mla = *model.latent;
  return wide(model.heads) * wide(mla.nope_dim + mla.rope_dim + mla.value_dim);
}

/// Multiply-adds of attention to a window, and to entries behind it, with what picks some of them.
double shared_head_core(const Transformer& model,
                        const LayerKind& kind,
                        double length,
                        bool halved) {
  const double window = kind.window ? wide(*kind.window) : length;
  const double pairs = attended_pairs(length, window, halved);
  if (kind.entry_tokens == 0) {
    return pair_products(model) * pairs;
  }
  const View view{.length = length, .document = length, .window = window, .causal = halved};
  const double rate = wide(kind.entry_tokens);
  if (!model.picks(kind)) {
    return pair_products(model) * (pairs + length * seen_entries(view, rate, length));
  }
  const Indexer& indexer = *model.indexer;
  return pair_products(model) * (pairs + length * seen_entries(view, rate, wide(indexer.top_k))) +
         wide(indexer.heads) * wide(indexer.head_dim) * length * seen_entries(view, rate, length);
}

/// Multiply-adds of one layer's attention to its own tokens, for one sequence.
double self_attention(const Transformer& model,
                      const LayerKind& kind,
                      double length,
                      AttentionCount count) {
  const bool halved = count == AttentionCount::causal && model.causal && !kind.bidirectional;
  const double window = kind.window ? wide(*kind.window) : length;
  const double per_pair = pair_products(model);
  if (model.shared_head) {
    return shared_head_core(model, kind, length, halved);
  }
  if (model.indexer) {
    const Indexer& indexer = *model.indexer;
    const double picked = std::min(window, wide(indexer.top_k));
    return per_pair * attended_pairs(length, picked, halved) +
           wide(indexer.heads) * wide(indexer.head_dim) * attended_pairs(length, length, halved);
  }
  return per_pair * (kind.chunked ? chunked_pairs(length, window, halved)
                                  : attended_pairs(length, window, halved));
}

/// Multiply-adds of what one layer does among tokens, for one sequence.
double core_products(const Transformer& model,
                     const LayerKind& kind,
                     std::int64_t length,
                     double attended,
                     AttentionCount count) {
  const double s = wide(length);
  double sum = 0.0;
  if (kind.tokens == TokenMixing::attention) {
    sum = self_attention(model, kind, s, count);
  } else if (kind.tokens == TokenMixing::mixer && model.mixer) {
    sum = s * model.mixer->scan_products(length);
  }
  // Every token attends to all of an encoder's or a tower's.
  return sum + (kind.cross_attention ? pair_products(model) * s * attended * s : 0.0);
}

/// Tokens that cross-attention attends to, over those that attend.
double attended_tokens(const Transformer& model, std::int64_t length, const Images& images) {
  if (model.denoiser && model.denoiser->text) {
    return wide(model.denoiser->text->tokens) / wide(length);
  }
  if (!model.tower || model.tower->attended == Attended::no) {
    return 1.0;  // an encoder's, of as long sequences
  }
  const std::int64_t tokens = images.of_sequence * tokens_of(*model.tower, images).returned;
  return wide(tokens) / wide(length);
}

}  // namespace

ForwardFlops forward_flops(const Transformer& model,
                           double sequences,
                           std::int64_t length,
                           AttentionCount count,
                           const Images& images) {
  const double s = wide(length);
  const double h = wide(model.hidden);
  const double attended = attended_tokens(model, length, images);
  double products = 0.0;
  double core = 0.0;
  const auto add = [&](const LayerKind& kind, double layers) {
    products += layers * (layer_products(model, kind, attended) -
                          ended_products(model, kind, std::min(1.0, attended)));
    core += layers * core_products(model, kind, length, attended, count);
  };
  const LayerRun alike{.kind = 0, .count = model.layers};
  const std::span<const LayerRun> runs =
      model.order.empty() ? std::span(&alike, 1) : std::span(model.order);
  for (const LayerRun& run : runs) {
    add(model.kinds[static_cast<std::size_t>(run.kind)], wide(run.count));
  }
  const double further = wide(model.predicted_tokens);
  add(model.prediction_kind(), further);
  products += further * (1.0 + wide(model.streams)) * h * h;
  const double transform = model.head_transform ? h * h : 0.0;
  const double logits =
      (1.0 + further) * (h * wide(model.vocabulary) + last_stream_products(model)) + transform;
  ForwardFlops flops{.layers = Flops::from_si(2.0 * sequences * s * products),
                     .core_attention = Flops::from_si(2.0 * sequences * core),
                     .logits = Flops::from_si(2.0 * sequences * s * logits)};
  if (model.tower && images.of_sequence > 0) {
    flops += forward_flops(*model.tower, sequences, images);
  }
  if (model.denoiser) {
    flops += denoiser_flops(model, sequences, length);
  }
  return flops;
}

}  // namespace titer
