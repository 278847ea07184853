// Transformers in this program's own keys.
#include <algorithm>

#include "titer/model/huggingface/huggingface.hpp"
#include "titer/model/transformer/denoiser.hpp"
#include "transformer_reading.hpp"

namespace titer {

namespace {

constexpr ShapeKeys kOwnShape = {.layers = "layers",
                                 .hidden = "hidden",
                                 .heads = "heads",
                                 .kv_heads = "kv_heads",
                                 .head_dim = "head_dim"};
constexpr LatentKeys kLatent = {.q_rank = "q_rank",
                                .kv_rank = "kv_rank",
                                .nope_dim = "nope_dim",
                                .rope_dim = "rope_dim",
                                .value_dim = "value_dim"};
constexpr ExpertKeys kExperts = {.count = "count", .per_token = "per_token", .ffn = "ffn"};

void read_shape(Reader& in, Transformer& model) {
  ShapeKeys keys = kOwnShape;
  if (in.has("mixer") && !in.has("heads")) {
    keys.heads = "";  // no layer has attention
  }
  read_widths(in, keys, model);
  if (model.heads == 0) {
    model.kv_heads = 0;
    model.head_dim = 0;
  } else if (auto latent = in.maybe_object("latent_attention")) {
    read_latent(*latent, kLatent, model);
    latent->finish();
  } else {
    read_grouped_heads(in, kOwnShape, {}, model);
  }
  // A model of experts or mixers only has no dense layers.
  model.ffn = in.has("experts") || in.has("mixer")
                  ? in.maybe_integer("ffn", 1, kMostWidth).value_or(0)
                  : in.integer("ffn", 1, kMostWidth);
}

/// true or false for all linear layers but the output matrix, or one by one.
Biases read_biases(Reader& in, bool otherwise) {
  const Value* written = in.raw("bias");
  if (written != nullptr && written->kind == Value::Kind::object) {
    Reader each = in.object("bias");
    const Biases biases = {.qkv = each.flag("qkv", false),
                           .output = each.flag("output", false),
                           .mlp = each.flag("mlp", false),
                           .head = each.flag("head", false),
                           .keyless = each.flag("keyless", false)};
    each.finish();
    return biases;
  }
  const bool all = in.flag("bias", otherwise);
  return {.qkv = all, .output = all, .mlp = all, .head = false};
}

void read_norms(Reader& in, Transformer& model) {
  model.norms = static_cast<int>(in.maybe_integer("norms", 1, 4).value_or(2));
  if (model.norms == 3) {
    in.fail("norms", "expected 2, 4 with norms behind attention and MLP too, or 1 before both");
  }
  model.parallel = in.flag("parallel", false);
  if (model.norms == 1 && !model.parallel) {
    in.fail("norms", "expected \"parallel\": true, since attention and MLP read the same norm");
  }
  model.norm_place =
      in.maybe_choice<NormPlace>("norm_place", kNormPlaces).value_or(NormPlace::input);
  if (model.norm_place != NormPlace::input && (model.norms != 2 || model.parallel)) {
    in.fail("norm_place", "expected two norms, of attention and MLP one after the other");
  }
  model.qk_norm = in.flag("qk_norm", false);
  model.qk_norm_of = in.maybe_choice<QkNorm>("qk_norm_of", kQkNorms).value_or(QkNorm::head);
  model.qk_norm_type = in.maybe_choice<Norm>("qk_norm_type", kNorms);
  model.embedding_norm = in.flag("embedding_norm", false);
  model.final_norm = in.flag("final_norm", true);
  model.head_transform = in.flag("head_transform", false);
  model.encoder_ends = in.flag("encoder_ends", false);
  model.clamped = in.flag("clamped", false);
  model.sinks = in.flag("sinks", false);
  model.attention_gate = in.flag("attention_gate", false);
  if (model.attention_gate && model.latent) {
    in.fail("attention_gate", "expected false: gates are not made beside latent queries");
  }
}

void read_indexer(Reader& in, Transformer& model) {
  if (auto object = in.maybe_object("indexer")) {
    model.indexer = Indexer{.heads = object->integer("heads", 1, kMostWidth),
                            .head_dim = object->integer("head_dim", 1, kMostWidth),
                            .top_k = object->integer("top_k", 1, kMostTokens)};
    object->finish();
    check_indexer(in, "indexer", model);
  }
}

void read_all_experts(Reader& in, Transformer& model) {
  auto object = in.maybe_object("experts");
  if (!object) {
    return;
  }
  Experts experts = read_experts(*object, kExperts);
  experts.latent = object->maybe_integer("latent", 0, kMostWidth).value_or(0);
  experts.shared_ffn = object->maybe_integer("shared_ffn", 0, kMostWidth).value_or(0);
  experts.shared_gate = object->flag("shared_gate", false);
  experts.router_bias = object->flag("router_bias", false);
  if (auto routing = object->maybe_object("routing")) {
    experts.routing = read_routing(*routing);
    check_routing(*routing, "", experts);
  }
  object->finish();
  model.experts = experts;
}

/// Of the kernels that each method was published with.
std::int64_t usual_chunk(MixerKind kind) {
  switch (kind) {
    case MixerKind::mamba:
      return 0;
    case MixerKind::gated_delta:
    case MixerKind::kimi_delta:
      return 64;
    case MixerKind::mamba2:
    case MixerKind::lightning:
      break;
  }
  return 256;
}

void read_mixer(Reader& in, Transformer& model) {
  auto object = in.maybe_object("mixer");
  if (!object) {
    return;
  }
  Mixer mixer{.kind = object->choice<MixerKind>("kind", kMixerKinds),
              .heads = object->integer("heads", 1, kMostWidth),
              .head_dim = 1,
              .key_heads = 1,
              .key_dim = object->integer("key_dim", 1, kMostWidth)};
  if (mixer.kind != MixerKind::mamba) {
    mixer.head_dim = object->integer("head_dim", 1, kMostWidth);
    mixer.key_heads =
        mixer.shares_keys() ? object->integer("key_heads", 1, kMostWidth) : mixer.heads;
  }
  mixer.convolution = object->maybe_integer("convolution", 0, kMostTaps).value_or(0);
  const std::int64_t chunk = usual_chunk(mixer.kind);
  mixer.chunk = chunk == 0 ? 0 : object->maybe_integer("chunk", 1, kMostTokens).value_or(chunk);
  if (mixer.kind == MixerKind::mamba || mixer.kind == MixerKind::kimi_delta) {
    mixer.rank = object->integer("rank", 1, kMostWidth);
  }
  mixer.bias = object->flag("bias", false);
  mixer.convolution_bias = object->flag("convolution_bias", false);
  mixer.norm = object->flag("norm", true);
  object->finish();
  check_mixer(in, "mixer", mixer);
  if (!model.causal) {
    in.fail("causal", "expected true: a mixer's state goes from token to token");
  }
  model.mixer = mixer;
}

/// Whether the parts that the layers are told to have are those of the model.
void check_parts(Reader& in, const Transformer& model, const std::vector<KindRun>& runs) {
  const auto any = [&](auto has) {
    return std::any_of(runs.begin(), runs.end(), [&](const KindRun& run) { return has(run.kind); });
  };
  const bool experts = any([](const LayerKind& kind) { return kind.experts; });
  if (experts != model.experts.has_value()) {
    in.fail("pattern",
            experts ? "expected \"experts\" of the model, since some layers have them"
                    : "expected layers with \"experts\": true, since the model has some");
  }
  const bool mixer = any([](const LayerKind& kind) { return kind.tokens == TokenMixing::mixer; });
  if (mixer != model.mixer.has_value() && !in.has("mixer")) {
    in.fail("pattern", "expected a \"mixer\" of the model, since some layers have it");
  } else if (mixer != model.mixer.has_value()) {
    in.fail("pattern", "expected layers with \"tokens\": \"mixer\", since the model has one");
  }
  const bool attention =
      any([](const LayerKind& kind) { return kind.tokens == TokenMixing::attention; });
  if (attention && model.heads == 0) {
    in.fail("heads", "missing; expected the heads of the layers with attention");
  }
  const auto half = [](const LayerKind& kind) {
    return !kind.mlp || kind.tokens == TokenMixing::none;
  };
  if (model.parallel && any(half)) {
    in.fail("parallel", "expected layers with two branches, one beside the other");
  }
}

void read_prediction(Reader& in, Transformer& model) {
  model.predicted_tokens =
      in.maybe_integer("predicted_tokens", 0, kMostPredictedTokens).value_or(0);
  model.predicted_by_one = in.flag("predicted_by_one", false);
  if (auto object = in.maybe_object("predicted_layer")) {
    model.predicted_layer = read_kind(*object);
    object->finish();
  }
}

/// Called when the model's parts have been read.
void check_prediction(Reader& in, const Transformer& model) {
  if (!model.predicted_layer) {
    return;
  }
  const LayerKind& kind = *model.predicted_layer;
  if (kind.experts && !model.experts) {
    in.fail("predicted_layer", "expected \"experts\" of the model, since this layer has them");
  }
  if (kind.tokens == TokenMixing::mixer && !model.mixer) {
    in.fail("predicted_layer", "expected a \"mixer\" of the model, since this layer has it");
  }
  if (kind.is_dense() && model.ffn == 0) {
    in.fail("predicted_layer", "expected \"ffn\" of the model, since this layer has an MLP");
  }
  if (kind.tokens == TokenMixing::attention && model.heads == 0) {
    in.fail("heads", "missing; expected the heads of the layer that predicts further tokens");
  }
}

void read_rest(Reader& in, Transformer& model) {
  model.tied_embeddings = in.flag("tied_embeddings", false);
  model.vocabulary = in.has("denoiser") ? 0 : in.integer("vocabulary", 1, kMostTokens);
  model.vocabulary_multiple = in.maybe_integer("vocabulary_multiple", 1, 1'000'000).value_or(1);
  model.max_sequence = in.integer("max_sequence", 1, kMostTokens);
  model.position_rows =
      in.maybe_integer("position_rows", 1, kMostTokens).value_or(model.max_sequence);
  model.token_types = in.maybe_integer("token_types", 0, kMostTokens).value_or(0);
  model.input_rows = in.maybe_integer("input_rows", 0, kMostTokens).value_or(0);
  model.attention = in.choice<AttentionKernel>("attention", kAttentionKernels);
  model.causal = in.flag("causal", !in.has("denoiser"));
  read_prediction(in, model);
}

}  // namespace

void read_stack(Reader& in, Transformer& model) {
  read_shape(in, model);
  model.gated = in.flag("gated", false);
  model.activation_parameters =
      in.maybe_integer("activation_parameters", 0, kMostWidth).value_or(0);
  model.norm = in.choice<Norm>("norm", kNorms);
  model.biases = read_biases(in, model.norm == Norm::layernorm);
  read_norms(in, model);
  model.dropout = in.flag("dropout", false);
  model.positions = in.choice<Positions>("positions", kPositions);
}

void read_layers(Reader& in, Transformer& model) {
  if (!in.has("pattern")) {
    if (in.has("mixer")) {
      in.fail("pattern", "missing; expected which layers have the mixer");
    }
    set_layers(model, {{.kind = {.experts = model.experts.has_value()}, .count = model.layers}});
    return;
  }
  const std::vector<KindRun> runs = read_pattern(in, "pattern");
  if (!has_few_kinds(runs)) {
    in.fail(
        "pattern",
        "expected layers of at most " + std::to_string(kMostKindsOfLayers) + " different kinds");
    return;
  }
  std::int64_t told = 0;
  for (const KindRun& run : runs) {
    told += run.count;
  }
  if (in.has("layers") && told != model.layers) {
    in.fail("pattern",
            "expected the model's " + std::to_string(model.layers) + " layers in all, not " +
                std::to_string(told));
  }
  check_parts(in, model, runs);
  set_layers(model, runs);
}

Transformer read_transformer(Reader& in) {
  if (in.has("model")) {
    in.fail("", "this is a run, which has a model; expected a model");
    return {};
  }
  if (is_huggingface(in)) {
    return read_huggingface(in).model;
  }
  Transformer model;
  model.name = in.text("name");
  model.title = in.maybe_text("title").value_or(model.name);
  model.source = in.maybe_text("source").value_or("given by the user");
  read_stack(in, model);
  read_rest(in, model);
  read_indexer(in, model);
  read_all_experts(in, model);
  read_mixer(in, model);
  read_layers(in, model);
  if (auto tower = in.maybe_object("tower")) {
    model.tower = std::make_shared<const Tower>(read_tower(*tower, model.hidden));
  }
  if (auto denoiser = in.maybe_object("denoiser")) {
    model.denoiser = std::make_shared<const Denoiser>(read_denoiser(*denoiser));
  }
  check_attended(in, "tower", model);
  check_denoiser(in, model);
  check_prediction(in, model);
  const auto dense = [](const LayerKind& kind) { return kind.is_dense(); };
  if (model.ffn == 0 && std::any_of(model.kinds.begin(), model.kinds.end(), dense)) {
    in.fail("ffn", "missing; expected the width of the layers without experts");
  }
  in.finish();
  return model;
}

}  // namespace titer
