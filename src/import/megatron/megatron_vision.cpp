// Images in front of the text, as pretrain_vlm.py of Megatron-LM has them: a tower of CLIP's form
// whose layers are like the language model's, and an MLP behind it.
// [pretrain_vlm.py; megatron/core/models/vision/clip_vit_model.py]

#include <algorithm>
#include <memory>

#include "import/import_parts.hpp"
#include "titer/model/transformer/tower.hpp"

namespace titer {
namespace {

constexpr std::string_view kImageHeight = "img_h";
constexpr std::int64_t kMostImagePixels = 20'000;

struct ImageSquares {
  std::int64_t image = 224;  // pixels along a side, as Megatron-LM has it by itself
  std::int64_t patch = 16;

  [[nodiscard]] std::int64_t count() const { return (image / patch) * (image / patch); }
};

ImageSquares squares_of_images(const ImportTask& task) {
  Settings& in = task.in;
  ImageSquares of;
  of.image = in.integer(kImageHeight, 1, kMostImagePixels).value_or(of.image);
  if (in.integer("img_w", 1, kMostImagePixels).value_or(of.image) != of.image) {
    in.fail("img_w", "expected as many as img_h: other images than squares are not modelled");
  }
  of.patch = in.integer("patch_dim", 1, of.image).value_or(of.patch);
  return of;
}

/// Beside the patches there is a token of all of the image, which the text gets, too.
bool keeps_class_token(const ImportTask& task) {
  return !task.in.is_on("disable_vision_class_token");
}

}  // namespace

bool sees_images(const ImportTask& task) {
  const std::vector<std::string>& scripts = task.arguments.scripts;
  const bool is_named = std::ranges::any_of(scripts, [](const std::string& script) {
    return script.find("pretrain_vlm") != std::string::npos;
  });
  const bool is_other = task.in.has("num_classes") || task.in.has("language_model_type") ||
                        task.in.has("vision_model_type");
  return is_named || (scripts.empty() && task.in.has(kImageHeight) && !is_other);
}

void put_image_tokens(const ImportTask& task) {
  Settings& in = task.in;
  if (!sees_images(task)) {
    return;
  }
  in.rename("decoder_num_layers", "num_layers");
  const std::string_view key =
      in.has("dataloader_seq_length") ? "dataloader_seq_length" : "seq_length";
  const auto text = in.integer(key, 1, kMostTokens);
  static_cast<void>(in.integer("seq_length", 1, kMostTokens));  // the tower's, then
  if (!text) {
    return;
  }
  const std::int64_t all =
      *text + squares_of_images(task).count() + (keeps_class_token(task) ? 1 : 0);
  in.replace("seq_length", Value(all));
  assume(task, "seq_length", "with an image before the text " + std::to_string(all) + " tokens");
  if (const auto rows = in.integer("max_position_embeddings", 1, kMostTokens);
      rows && *rows < all) {
    in.replace("max_position_embeddings", Value(all));
  }
}

void read_images(const ImportTask& task, Transformer& model) {
  Settings& in = task.in;
  if (!sees_images(task)) {
    return;
  }
  const ImageSquares of = squares_of_images(task);
  Tower tower;
  Transformer& encoder = tower.encoder;
  encoder.name = "tower";
  encoder.layers = in.integer("encoder_num_layers", 1, kMostLayers).value_or(model.layers);
  encoder.hidden = model.hidden;
  encoder.heads = model.heads;
  encoder.kv_heads = model.kv_heads;
  encoder.head_dim = model.head_dim;
  encoder.ffn = model.ffn;
  encoder.norm = model.norm;
  encoder.biases = model.biases;
  encoder.biases.head = false;
  encoder.dropout = model.dropout;
  encoder.causal = false;
  encoder.embedding_norm = true;
  encoder.final_norm = false;
  encoder.positions = Positions::learned;
  encoder.position_rows = of.count() + 1;
  set_layers(encoder, std::vector<LayerKind>(static_cast<std::size_t>(encoder.layers)));
  tower.patches.side = of.patch;
  tower.image = of.image;
  tower.class_token = true;
  tower.keeps_class = keeps_class_token(task);
  tower.projector = {.widths = {model.ffn, model.hidden}, .bias = model.biases.mlp};
  if (model.gated) {
    in.fail("swiglu", "expected an MLP without gates: behind a tower another is not modelled");
  }
  model.tower = std::make_shared<const Tower>(std::move(tower));
  task.into.training.add("images", Value(std::int64_t{1}));
  if (in.is_on("freeze_ViT") || in.is_on("freeze_vit")) {
    task.into.training.add("frozen_tower", Value(true));
  }
}

}  // namespace titer
