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
constexpr SharedHeadKeys kSharedHeadKeys = {.q_rank = "q_rank",
                                            .rope_dim = "rope_dim",
                                            .output_groups = "output_groups",
                                            .output_rank = "output_rank"};
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
  } else if (auto shared = in.maybe_object("shared_head")) {
    read_shared_head(*shared, kSharedHeadKeys, in.integer("head_dim", 1, kMostWidth), model);
    shared->finish();
  } else {
    read_grouped_heads(in, kOwnShape, {}, model);
  }
  // A model of experts or mixers only has no dense layers.
  model.ffn = in.has("experts") || in.has("mixer")
                  ? in.maybe_integer("ffn", 1, kMostWidth).value_or(0)
                  : in.integer("ffn", 1, kMostWidth);
}

void check_norms(Reader& in, const Transformer& model) {
  if (model.norms == 3) {
    in.fail("norms", "expected 2, 4 with norms behind attention and MLP too, or 1 before both");
  }
  if (model.norms == 1 && !model.parallel) {
    in.fail("norms", "expected \"parallel\": true, since attention and MLP read the same norm");
  }
  if (model.norm_place != NormPlace::input && (model.norms != 2 || model.parallel)) {
    in.fail("norm_place", "expected two norms, of attention and MLP one after the other");
  }
  if (model.attention_gate && (model.latent || model.shared_head)) {
    in.fail("attention_gate", "expected false: gates are not made beside latent queries");
  }
  if (model.streams > 1 &&
      (model.norms != 2 || model.norm_place != NormPlace::input || model.parallel)) {
    in.fail("streams", "expected branches one after the other, with a norm before each");
  }
}

/// Whether a layer is of such a kind.
template <class Has>
bool any_of_kinds(const std::vector<KindRun>& runs, Has has) {
  return std::ranges::any_of(runs, [&](const KindRun& run) { return has(run.kind); });
}

/// Whether the model has what its layers pick entries by, and make them of.
void check_entry_parts(Reader& in, const Transformer& model, const std::vector<KindRun>& runs) {
  const auto makes = [](const LayerKind& kind) { return kind.entry_tokens > 0; };
  if (!model.shared_head && any_of_kinds(runs, makes)) {
    in.fail("pattern", "expected a \"shared_head\" of the model, since layers attend to entries");
  }
  const auto picks = [](const LayerKind& kind) { return kind.picks_entries; };
  if (!model.indexer && any_of_kinds(runs, picks)) {
    in.fail("pattern", "expected an \"indexer\" of the model, since layers pick entries");
  }
}

/// Whether the parts that the layers are told to have are those of the model.
void check_parts(Reader& in, const Transformer& model, const std::vector<KindRun>& runs) {
  const auto any = [&](auto has) { return any_of_kinds(runs, has); };
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
  check_entry_parts(in, model, runs);
  if (model.streams > 1 && any([](const LayerKind& kind) {
        return kind.parallel || kind.two_streams || kind.cross_attention;
      })) {
    in.fail("streams", "expected layers of attention and MLP, one after the other");
  }
  const auto half = [](const LayerKind& kind) {
    return !kind.mlp || kind.tokens == TokenMixing::none;
  };
  if (model.parallel && any(half)) {
    in.fail("parallel", "expected layers with two branches, one beside the other");
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

}  // namespace

void read_stack(Reader& in, Transformer& model) {
  model.dropout = false;
  read_shape(in, model);
  read_keys(stack_fields(), in, model);
  check_norms(in, model);
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
  model.tied_embeddings = false;
  read_names(in, model);
  read_stack(in, model);
  read_keys(model_fields(), in, model);
  if (model.indexer) {
    check_indexer(in, "indexer", model);
  }
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
  if (model.ffn == 0 && std::ranges::any_of(model.kinds, dense)) {
    in.fail("ffn", "missing; expected the width of the layers without experts");
  }
  in.finish();
  return model;
}

}  // namespace titer
