// The parameters of a transformer, by who holds them.
#include <algorithm>

#include "streams.hpp"
#include "titer/model/transformer/denoiser.hpp"

namespace titer {
namespace {

/// Of one stack of layers.
std::int64_t position_parameters(const Transformer& model) {
  switch (model.positions) {
    case Positions::learned:
      return model.position_rows * model.hidden;
    case Positions::relative:
      return model.position_rows * model.heads;
    case Positions::rotary:
    case Positions::alibi:
    case Positions::none:
      break;
  }
  return 0;
}

/// Output columns of the MLP's first product.
std::int64_t up_width(const Transformer& model, std::int64_t ffn) {
  return (model.gated ? 2 : 1) * ffn;
}

ParameterCount mlp_parameters(const Transformer& model, std::int64_t ffn, std::int64_t width) {
  const std::int64_t up = up_width(model, ffn);
  ParameterCount count{.split = width * up + ffn * width,
                       .replicated = model.activation_parameters};
  if (model.biases.mlp) {
    count.split += up;          // split with their columns
    count.replicated += width;  // added after the row-split product's all-reduce
  }
  return count;
}

ParameterCount mlp_parameters(const Transformer& model, std::int64_t ffn) {
  return mlp_parameters(model, ffn, model.hidden);
}

/// From the hidden state to what experts work on, and back; every tensor-parallel rank has both.
std::int64_t latent_parameters(const Transformer& model, const Experts& experts) {
  const std::int64_t h = model.hidden;
  const std::int64_t biases = model.biases.mlp ? experts.latent + h : 0;
  return experts.latent > 0 ? 2 * h * experts.latent + biases : 0;
}

ParameterCount expert_parameters(const Transformer& model, const Experts& experts) {
  const std::int64_t h = model.hidden;
  ParameterCount count;
  if (experts.shared_ffn > 0) {
    count = mlp_parameters(model, experts.shared_ffn);
  }
  count.experts =
      experts.count * mlp_parameters(model, experts.ffn, experts.token_width(h)).total();
  count.replicated +=
      h * experts.count + (experts.router_bias ? experts.count : 0) + (experts.shared_gate ? h : 0);
  count.replicated += latent_parameters(model, experts);
  return count;
}

/// From the hidden state to queries, keys and values, and from the heads back.
ParameterCount grouped_query_parameters(const Transformer& model) {
  const std::int64_t h = model.hidden;
  const std::int64_t qkv = model.query_width() + 2 * model.kv_width();
  const std::int64_t biases = qkv - (model.biases.keyless ? model.kv_width() : 0);
  return {.split = h * qkv + model.query_width() * h + (model.biases.qkv ? biases : 0),
          .replicated = model.biases.output ? h : 0};
}

/// Every rank needs the whole latents: what makes them is replicated, with their norms.
ParameterCount latent_attention_parameters(const Transformer& model, const LatentAttention& mla) {
  const std::int64_t h = model.hidden;
  const std::int64_t head = mla.nope_dim + mla.rope_dim;
  const std::int64_t kv_latent = mla.kv_rank + mla.rope_dim;
  ParameterCount count;
  count.replicated = h * kv_latent + norm_parameters(model.norm, mla.kv_rank);
  count.split =
      mla.kv_rank * model.heads * (mla.nope_dim + mla.value_dim) + model.heads * mla.value_dim * h;
  if (mla.q_rank > 0) {
    count.replicated += h * mla.q_rank + norm_parameters(model.norm, mla.q_rank);
    count.split += mla.q_rank * model.heads * head;
  } else {
    count.split += h * model.heads * head;
  }
  // Biases are of the products with the hidden state, those to whole heads apart.
  count.replicated += model.biases.qkv ? kv_latent + mla.q_rank : 0;
  count.replicated += model.biases.output ? h : 0;
  return count;
}

/// Numbers and weights of entries, a bias for each of an entry's tokens, and the entries' norm.
std::int64_t entry_parameters(const Transformer& model, const LayerKind& kind, std::int64_t width) {
  const std::int64_t made = (kind.picks_entries ? 2 : 1) * width;
  return 2 * model.hidden * made + kind.entry_tokens * made + norm_parameters(model.norm, width);
}

ParameterCount shared_head_parameters(const Transformer& model,
                                      const LayerKind& kind,
                                      const SharedHead& shared) {
  const std::int64_t h = model.hidden;
  const std::int64_t latents = shared.output_groups * shared.output_rank;
  ParameterCount count{.split = shared.q_rank * model.query_width() +
                                model.query_width() * shared.output_rank + latents * h,
                       .replicated = h * (shared.q_rank + model.head_dim) +
                                     norm_parameters(model.norm, shared.q_rank) +
                                     norm_parameters(model.norm, model.head_dim)};
  count.replicated += kind.entry_tokens > 0 ? entry_parameters(model, kind, model.head_dim) : 0;
  return count;
}

/// Queries from the latent, a key and a weight per head from the hidden state; the key of a token
/// has a layernorm whatever the model's norms are.  [DeepSeek-V3.2-Exp, inference/model.py]
std::int64_t indexer_parameters(const Transformer& model,
                                const LayerKind& kind,
                                const Indexer& indexer) {
  const std::int64_t h = model.hidden;
  if (model.shared_head) {
    return model.shared_head->q_rank * indexer.heads * indexer.head_dim + h * indexer.heads +
           entry_parameters(model, kind, indexer.head_dim);
  }
  const std::int64_t q_rank = model.latent ? model.latent->q_rank : 0;
  return q_rank * indexer.heads * indexer.head_dim + h * indexer.head_dim + 2 * indexer.head_dim +
         h * indexer.heads;
}

/// What is of whole heads is split with them.
ParameterCount query_key_norm_parameters(const Transformer& model) {
  switch (model.qk_norm_of) {
    case QkNorm::head:
      return {.replicated = 2 * norm_parameters(model.query_key_norm(), model.head_dim)};
    case QkNorm::each_head:
      return {.split = model.query_width() + model.kv_width()};
    case QkNorm::all_heads:
      return {.split = norm_parameters(model.query_key_norm(), model.query_width()) +
                       norm_parameters(model.query_key_norm(), model.kv_width())};
  }
  return {};
}

ParameterCount projection_parameters(const Transformer& model, const LayerKind& kind) {
  if (model.shared_head) {
    return shared_head_parameters(model, kind, *model.shared_head);
  }
  return model.latent ? latent_attention_parameters(model, *model.latent)
                      : grouped_query_parameters(model);
}

ParameterCount attention_parameters(const Transformer& model, const LayerKind& kind) {
  ParameterCount count = projection_parameters(model, kind);
  count += model.qk_norm ? query_key_norm_parameters(model) : ParameterCount{};
  count.replicated += model.picks(kind) ? indexer_parameters(model, kind, *model.indexer) : 0;
  count.split += model.sinks ? model.heads : 0;
  count.split += model.attention_gate ? model.hidden * model.query_width() : 0;
  return count;
}

/// Gates of the attention and of the MLP behind it are a number each.  [Llama 3 2024, section 7.2]
ParameterCount cross_attention_parameters(const Transformer& model) {
  ParameterCount count = grouped_query_parameters(model);
  if (model.tower && model.tower->attended == Attended::gated) {
    count.replicated += 2 * norm_parameters(model.norm, model.head_dim) + 2;
  }
  if (model.denoiser && model.qk_norm) {
    count += query_key_norm_parameters(model);
  }
  return count;
}

ParameterCount mixing_parameters(const Transformer& model, const LayerKind& kind) {
  switch (kind.tokens) {
    case TokenMixing::attention:
      return attention_parameters(model, kind);
    case TokenMixing::mixer:
      return model.mixer ? mixer_parameters(model.hidden, *model.mixer, kind.first_values)
                         : ParameterCount{};
    case TokenMixing::none:
      break;
  }
  return {};
}

ParameterCount feed_forward_parameters(const Transformer& model, const LayerKind& kind) {
  if (kind.experts && model.experts) {
    return expert_parameters(model, *model.experts);
  }
  ParameterCount count = kind.mlp ? mlp_parameters(model, model.ffn) : ParameterCount{};
  if (kind.mlp && model.mixer) {
    count.replicated += model.hidden * model.mixer->shifted_mlp_inputs() +
                        (model.mixer->gates_mlp() ? model.hidden * model.hidden : 0);
  }
  return count;
}

/// A layer with one branch has the norms of one.
int norms_of(const Transformer& model, const LayerKind& kind) {
  const bool two = kind.tokens != TokenMixing::none && kind.mlp && !kind.parallel;
  return two ? model.norms : (model.norms + 1) / 2;
}

Norm norm_across(const Transformer& model) {
  const bool has_own = model.denoiser && model.denoiser->text && model.denoiser->text->norm;
  return has_own ? *model.denoiser->text->norm : model.norm;
}

/// What is the same for each of a layer's streams.
ParameterCount branch_parameters(const Transformer& model, const LayerKind& kind) {
  ParameterCount count = mixing_parameters(model, kind);
  count += feed_forward_parameters(model, kind);
  count.replicated += norms_of(model, kind) * norm_parameters(model.norm, model.hidden);
  const int branches = (kind.tokens != TokenMixing::none ? 1 : 0) + (kind.mlp ? 1 : 0);
  count.replicated += branches * stream_parameters(model);
  return count;
}

/// Queries, keys and values of a text, with their norms, where nothing of it is behind attention.
ParameterCount ended_text_parameters(const Transformer& model, const LayerKind& kind) {
  ParameterCount count = attention_parameters(model, kind);
  count.split -= model.query_width() * model.hidden;
  count.replicated -= model.biases.output ? model.hidden : 0;
  count.replicated += norm_parameters(model.norm, model.hidden);
  return count;
}

}  // namespace

bool Transformer::has_attention() const {
  return std::ranges::any_of(kinds, [](const LayerKind& kind) {
    return kind.tokens == TokenMixing::attention || kind.cross_attention;
  });
}

std::int64_t Transformer::padded_vocabulary(std::int64_t tensor) const {
  const std::int64_t multiple = vocabulary_multiple * tensor;
  return (vocabulary + multiple - 1) / multiple * multiple;
}

const LayerKind& Transformer::prediction_kind() const {
  const int last = order.empty() ? 0 : order.back().kind;
  return predicted_layer ? *predicted_layer : kinds[static_cast<std::size_t>(last)];
}

std::vector<LayerRun> Transformer::runs() const {
  return order.empty() ? std::vector<LayerRun>{{.kind = 0, .count = layers}} : order;
}

ParameterCount layer_parameters(const Transformer& model, const LayerKind& kind) {
  ParameterCount count = branch_parameters(model, kind);
  if (kind.two_streams) {
    count += kind.text_ends ? ended_text_parameters(model, kind) : branch_parameters(model, kind);
  }
  if (kind.cross_attention) {
    count += cross_attention_parameters(model);
    count.replicated += norm_parameters(norm_across(model), model.hidden);
  }
  if (kind.parallel && model.biases.output && model.biases.mlp) {
    count.replicated -= model.hidden;  // one product returns both
  }
  count.replicated += modulation_parameters(model, kind);
  return count;
}

ParameterCount embedding_parameters(const Transformer& model, std::int64_t tensor) {
  const std::int64_t norm = model.embedding_norm ? norm_parameters(model.norm, model.hidden) : 0;
  const std::int64_t stacks = model.encoder_ends ? 2 : 1;
  return {.split = (model.padded_vocabulary(tensor) + model.input_rows) * model.hidden,
          .replicated = stacks * (position_parameters(model) + norm) +
                        model.token_types * model.hidden + denoiser_input_parameters(model)};
}

ParameterCount prediction_parameters(const Transformer& model) {
  const std::int64_t h = model.hidden;
  ParameterCount module = layer_parameters(model, model.prediction_kind());
  module.split += 2 * h * h;
  module.replicated +=
      3 * norm_parameters(model.norm, h);  // of both hidden states, and the final one
  module.replicated += last_stream_parameters(model);
  const std::int64_t most = model.predicted_by_one ? 1 : model.predicted_tokens;
  return std::min(model.predicted_tokens, most) * module;
}

ParameterCount head_parameters(const Transformer& model, std::int64_t tensor) {
  const std::int64_t rows = model.padded_vocabulary(tensor);
  ParameterCount count = prediction_parameters(model);
  count.split += model.tied_embeddings ? 0 : rows * model.hidden;
  count.split += model.biases.head ? rows : 0;
  const std::int64_t norm = norm_parameters(model.norm, model.hidden);
  count.replicated += model.final_norm ? (model.encoder_ends ? 2 : 1) * norm : 0;
  count.replicated += model.head_transform ? model.hidden * (model.hidden + 1) + norm : 0;
  count.replicated += denoiser_output_parameters(model) + last_stream_parameters(model);
  return count;
}

namespace {

/// Parameters of all layers, tables and the last norm, by class.
ParameterCount published_parameters(const Transformer& model) {
  Transformer published = model;
  published.vocabulary_multiple = 1;
  published.predicted_tokens = 0;
  ParameterCount count = embedding_parameters(published, 1);
  count += head_parameters(published, 1);
  count += model.tower ? tower_parameters(*model.tower) : ParameterCount{};
  for (const LayerRun& run : model.runs()) {
    count += run.count * layer_parameters(model, model.kinds[static_cast<std::size_t>(run.kind)]);
  }
  return count;
}

}  // namespace

std::int64_t parameters(const Transformer& model) { return published_parameters(model).total(); }

std::int64_t active_parameters(const Transformer& model) {
  ParameterCount count = published_parameters(model);
  if (model.experts) {
    count.experts = count.experts / model.experts->count * model.experts->per_token;
  }
  return count.total();
}

}  // namespace titer
