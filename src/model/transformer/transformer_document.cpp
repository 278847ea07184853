#include "titer/model/transformer/transformer_document.hpp"

#include <algorithm>

#include "titer/model/transformer/denoiser.hpp"
#include "transformer_reading.hpp"

namespace titer {
namespace {

Value biases_value(const Biases& biases) {
  if (biases.qkv == biases.output && biases.output == biases.mlp && !biases.head &&
      !biases.keyless) {
    return biases.mlp;
  }
  Value each = Value::make_object();
  add_unless(each, "qkv", biases.qkv, false);
  add_unless(each, "output", biases.output, false);
  add_unless(each, "mlp", biases.mlp, false);
  add_unless(each, "head", biases.head, false);
  add_unless(each, "keyless", biases.keyless, false);
  return each;
}

Value latent_value(const LatentAttention& latent) {
  Value object = Value::make_object();
  add_unless<std::int64_t>(object, "q_rank", latent.q_rank, 0);
  return object.add("kv_rank", latent.kv_rank)
      .add("nope_dim", latent.nope_dim)
      .add("rope_dim", latent.rope_dim)
      .add("value_dim", latent.value_dim);
}

Value routing_value(const Routing& routing) {
  Value object = Value::make_object();
  for (const Choice<RoutingShape>& choice : kRoutingShapes) {
    if (choice.value == routing.shape && choice.value != RoutingShape::uniform) {
      object.add("shape", Value(choice.name));
    }
  }
  if (routing.shape == RoutingShape::zipf) {
    object.add("exponent", routing.exponent);
  }
  if (routing.shape == RoutingShape::measured) {
    Value list = Value::make_array();
    for (const double tokens : routing.histogram) {
      list.push(Value(tokens));
    }
    object.add("histogram", std::move(list));
  }
  if (routing.capacity_factor) {
    object.add("capacity_factor", *routing.capacity_factor);
  }
  add_unless(object, "random_second", routing.random_second, false);
  if (routing.groups > 1) {
    object.add("groups", routing.groups).add("groups_chosen", routing.groups_chosen);
  }
  return object;
}

Value experts_value(const Experts& experts) {
  Value object = Value::make_object();
  object.add("count", experts.count).add("per_token", experts.per_token).add("ffn", experts.ffn);
  add_unless<std::int64_t>(object, "latent", experts.latent, 0);
  add_unless<std::int64_t>(object, "shared_ffn", experts.shared_ffn, 0);
  add_unless(object, "shared_gate", experts.shared_gate, false);
  add_unless(object, "router_bias", experts.router_bias, false);
  if (Value routing = routing_value(experts.routing); !routing.members.empty()) {
    object.add("routing", std::move(routing));
  }
  return object;
}

Value mixer_value(const Mixer& mixer) {
  Value object = Value::make_object();
  for (const Choice<MixerKind>& choice : kMixerKinds) {
    if (choice.value == mixer.kind) {
      object.add("kind", Value(choice.name));
    }
  }
  object.add("heads", mixer.heads);
  if (mixer.kind != MixerKind::mamba) {
    object.add("head_dim", mixer.head_dim);
  }
  if (mixer.shares_keys()) {
    object.add("key_heads", mixer.key_heads);
  }
  object.add("key_dim", mixer.key_dim);
  add_unless<std::int64_t>(object, "convolution", mixer.convolution, 0);
  add_unless<std::int64_t>(object, "chunk", mixer.chunk, 0);
  add_unless<std::int64_t>(object, "rank", mixer.rank, 0);
  add_unless(object, "bias", mixer.bias, false);
  add_unless(object, "convolution_bias", mixer.convolution_bias, false);
  add_unless(object, "norm", mixer.norm, true);
  return object;
}

void add_shape(const Transformer& model, Value& object) {
  object.add("layers", model.layers).add("hidden", model.hidden);
  if (model.heads > 0) {
    object.add("heads", model.heads);
  }
  if (model.latent) {
    object.add("latent_attention", latent_value(*model.latent));
  } else if (model.heads > 0) {
    object.add("kv_heads", model.kv_heads).add("head_dim", model.head_dim);
  }
  add_unless<std::int64_t>(object, "ffn", model.ffn, 0);
}

void add_style(const Transformer& model, Value& object) {
  object.add("gated", model.gated);
  add_unless<std::int64_t>(object, "activation_parameters", model.activation_parameters, 0);
  object.add("norm", Value(name_in(kNorms, model.norm))).add("bias", biases_value(model.biases));
  add_unless<std::int64_t>(object, "norms", model.norms, 2);
  add_unless(object, "parallel", model.parallel, false);
  if (model.norm_place != NormPlace::input) {
    object.add("norm_place", Value(name_in(kNormPlaces, model.norm_place)));
  }
  add_unless(object, "qk_norm", model.qk_norm, false);
  if (model.qk_norm_of != QkNorm::head) {
    object.add("qk_norm_of", Value(name_in(kQkNorms, model.qk_norm_of)));
  }
  if (model.qk_norm_type) {
    object.add("qk_norm_type", Value(name_in(kNorms, *model.qk_norm_type)));
  }
  add_unless(object, "embedding_norm", model.embedding_norm, false);
  add_unless(object, "final_norm", model.final_norm, true);
  add_unless(object, "head_transform", model.head_transform, false);
  add_unless(object, "encoder_ends", model.encoder_ends, false);
  add_unless(object, "clamped", model.clamped, false);
  add_unless(object, "sinks", model.sinks, false);
  add_unless(object, "attention_gate", model.attention_gate, false);
  object.add("dropout", model.dropout)
      .add("positions", Value(name_in(kPositions, model.positions)));
}

void add_tables(const Transformer& model, Value& object) {
  if (!model.denoiser) {
    object.add("tied_embeddings", model.tied_embeddings).add("vocabulary", model.vocabulary);
  }
  add_unless<std::int64_t>(object, "vocabulary_multiple", model.vocabulary_multiple, 1);
  object.add("max_sequence", model.max_sequence);
  if (model.positions == Positions::learned || model.positions == Positions::relative) {
    add_unless(object, "position_rows", model.position_rows, model.max_sequence);
  }
  add_unless<std::int64_t>(object, "token_types", model.token_types, 0);
  add_unless<std::int64_t>(object, "input_rows", model.input_rows, 0);
  object.add("attention", Value(name(model.attention)));
  add_unless(object, "causal", model.causal, !model.denoiser);
  add_unless<std::int64_t>(object, "predicted_tokens", model.predicted_tokens, 0);
  add_unless(object, "predicted_by_one", model.predicted_by_one, false);
  if (model.predicted_layer) {
    Value layer = Value::make_object();
    add_kind(*model.predicted_layer, layer);
    object.add("predicted_layer", std::move(layer));
  }
}

}  // namespace

Value stack_document(const Transformer& model) {
  Value object = Value::make_object();
  add_shape(model, object);
  add_style(model, object);
  add_unless(object, "causal", model.causal, false);
  add_unless<std::int64_t>(object, "position_rows", model.position_rows, 0);
  add_pattern(model, object);
  return object;
}

Value transformer_document(const Transformer& model) {
  Value object = Value::make_object();
  object.add("name", Value(model.name))
      .add("title", Value(model.title))
      .add("source", Value(model.source));
  add_shape(model, object);
  add_style(model, object);
  add_tables(model, object);
  if (model.indexer) {
    object.add("indexer",
               Value::make_object()
                   .add("heads", model.indexer->heads)
                   .add("head_dim", model.indexer->head_dim)
                   .add("top_k", model.indexer->top_k));
  }
  if (model.experts) {
    object.add("experts", experts_value(*model.experts));
  }
  if (model.mixer) {
    object.add("mixer", mixer_value(*model.mixer));
  }
  add_pattern(model, object);
  if (model.tower) {
    object.add("tower", tower_document(*model.tower));
  }
  if (model.denoiser) {
    object.add("denoiser", denoiser_document(*model.denoiser));
  }
  return object;
}

}  // namespace titer
