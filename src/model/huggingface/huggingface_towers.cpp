// Towers in front of HuggingFace's language models: classes of encoders of images, and how each
// model of texts and images makes tokens of what they return.
#include "huggingface_towers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "titer/units/lists.hpp"

namespace titer::huggingface {
namespace {

constexpr std::int64_t kMostPixels = 20'000;

std::int64_t number(Reader& in, std::string_view key, std::int64_t otherwise, std::int64_t most) {
  return in.maybe_integer(key, 1, most).value_or(otherwise);
}

/// What a class takes for keys that a file leaves out.
struct EncoderShape {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t ffn = 0;
  std::int64_t image = 0;  // 0: any
  std::int64_t patch = 0;
};
struct EncoderNames {
  std::string_view layers = "num_hidden_layers";
  std::string_view hidden = "hidden_size";
  std::string_view heads = "num_attention_heads";
  std::string_view ffn = "intermediate_size";
};

/// Layernorms, biases everywhere, an activation without a gate.
void read_encoder(Reader& in, const EncoderNames& names, const EncoderShape& usual, Tower& tower) {
  Transformer& encoder = tower.encoder;
  encoder.name = "tower";
  encoder.layers = number(in, names.layers, usual.layers, kMostLayers);
  encoder.hidden = number(in, names.hidden, usual.hidden, kMostWidth);
  encoder.heads = number(in, names.heads, usual.heads, kMostWidth);
  read_grouped_heads(in, heads_by(names.heads), {}, encoder);
  encoder.ffn = names.ffn.empty() ? usual.ffn : number(in, names.ffn, usual.ffn, kMostWidth);
  encoder.norm = Norm::layernorm;
  encoder.biases = kAll;
  encoder.causal = false;
  encoder.final_norm = false;
  encoder.positions = Positions::none;
  encoder.dropout = has_dropout(in, false);
  tower.patches.side = number(in, "patch_size", usual.patch, kMostPixels);
  tower.patches.channels =
      number(in, written(in, {"in_channels", "in_chans", "num_channels"}), 3, 1024);
  if (usual.image > 0) {
    tower.image = number(in, "image_size", usual.image, kMostPixels);
    if (tower.image < tower.patches.side) {
      in.fail("image_size", "expected at least a patch of " + std::to_string(tower.patches.side));
    }
  }
  skip(in, {"model_type", "hidden_act", "layer_norm_eps", "initializer_range"});
}

/// Of images of one size, each patch with a position.
std::int64_t patches_of(const Tower& tower) {
  const std::int64_t along = std::max<std::int64_t>(1, tower.image / tower.patches.side);
  return along * along;
}

void read_clip(Reader& in, Tower& tower) {
  read_encoder(in,
               {},
               {.layers = 12, .hidden = 768, .heads = 12, .ffn = 3072, .image = 224, .patch = 32},
               tower);
  tower.class_token = true;
  tower.encoder.embedding_norm = true;
  tower.encoder.final_norm = true;
  tower.encoder.positions = Positions::learned;
  tower.encoder.position_rows = patches_of(tower) + 1;
  skip(in, {"projection_dim", "vocab_size", "initializer_factor"});
}

void read_siglip(Reader& in, Tower& tower) {
  read_encoder(in,
               {},
               {.layers = 12, .hidden = 768, .heads = 12, .ffn = 3072, .image = 224, .patch = 16},
               tower);
  tower.patches.bias = true;
  tower.encoder.final_norm = true;
  tower.encoder.positions = Positions::learned;
  tower.encoder.position_rows = patches_of(tower);
  skip(in, {"vision_use_head"});
}

/// Like a language model's layers, of images of any size.  [Agrawal et al. 2024, Pixtral]
void read_pixtral(Reader& in, Tower& tower) {
  read_encoder(
      in, {}, {.layers = 24, .hidden = 1024, .heads = 16, .ffn = 4096, .patch = 16}, tower);
  tower.encoder.norm = Norm::rmsnorm;
  tower.encoder.biases = {};
  tower.encoder.gated = true;
  tower.encoder.positions = Positions::rotary;
  tower.encoder.embedding_norm = true;
  skip(in, {"image_size", "head_dim", "rope_theta", "rope_parameters"});
}

/// Squares of patches, each with a norm, joined by a product before two others.
void read_mistral3_tower(Reader& in, Reader& vision, const Transformer& model, Tower& tower) {
  read_pixtral(vision, tower);
  set_layers(tower.encoder, all_layers(tower.encoder));
  if (in.flag("multimodal_projector_bias", false)) {
    in.fail("multimodal_projector_bias", "expected false, the only one that is modelled");
  }
  tower.projector = {.side = number(in, "spatial_merge_size", 2, 64),
                     .norm = Norm::rmsnorm,
                     .widths = {tower.encoder.hidden, model.hidden, model.hidden}};
  skip(in, {"projector_hidden_act", "vision_feature_layer"});
}

/// Mean values of squares, a norm and one product.  [Gemma 3 2025, section 2.1]
void read_gemma3_tower(Reader& in, Reader& vision, const Transformer& model, Tower& tower) {
  read_siglip(vision, tower);
  set_layers(tower.encoder, all_layers(tower.encoder));
  const std::int64_t tokens = number(in, "mm_tokens_per_image", 256, kMostTokens);
  const auto wanted = static_cast<std::int64_t>(std::sqrt(static_cast<double>(tokens)));
  const std::int64_t along = tower.image / tower.patches.side;
  if (wanted * wanted != tokens || along < wanted || along % wanted != 0) {
    in.fail("mm_tokens_per_image",
            "expected the square of a divisor of the " + std::to_string(along) +
                " patches along an image");
    return;
  }
  tower.projector = {
      .side = along / wanted, .mean = true, .norm = Norm::rmsnorm, .widths = {model.hidden}};
}

/// Two products of the patches as they are.  [Liu et al. 2023, Improved Baselines]
void read_llava_tower(Reader& in, Reader& vision, const Transformer& model, Tower& tower) {
  const std::string type = vision.maybe_text("model_type").value_or("clip_vision_model");
  if (type == "clip_vision_model") {
    read_clip(vision, tower);
  } else if (type == "siglip_vision_model") {
    read_siglip(vision, tower);
  } else if (type == "pixtral") {
    read_pixtral(vision, tower);
  } else {
    vision.fail("model_type",
                "expected \"clip_vision_model\", \"siglip_vision_model\" or \"pixtral\"");
    return;
  }
  set_layers(tower.encoder, all_layers(tower.encoder));
  const Value* layer = in.raw("vision_feature_layer");
  if (layer != nullptr && layer->kind == Value::Kind::array) {
    tower.states = std::max<std::int64_t>(1, static_cast<std::int64_t>(layer->items.size()));
  }
  tower.keeps_class = tower.class_token &&
                      in.maybe_text("vision_feature_select_strategy").value_or("default") == "full";
  tower.projector = {.widths = {model.hidden, model.hidden},
                     .bias = in.flag("multimodal_projector_bias", true)};
  skip(in, {"image_seq_length", "projector_hidden_act", "tie_word_embeddings"});
}

/// Squares of patches side by side, through a norm of each patch and two products.  [Qwen2-VL 2024]
void set_merger(Reader& vision, const Transformer& model, Norm norm, Tower& tower) {
  const std::int64_t side = number(vision, "spatial_merge_size", 2, 64);
  tower.patches.frames = number(vision, "temporal_patch_size", 2, 64);
  tower.projector = {.side = side,
                     .norm = norm,
                     .widths = {side * side * tower.encoder.hidden, model.hidden},
                     .bias = true};
  skip(vision, {"spatial_patch_size", "tokens_per_second"});
}

void read_qwen2_tower(Reader& /*in*/, Reader& vision, const Transformer& model, Tower& tower) {
  read_encoder(vision,
               {.layers = "depth", .hidden = "embed_dim", .heads = "num_heads", .ffn = ""},
               {.layers = 32, .hidden = 1280, .heads = 16, .patch = 14},
               tower);
  tower.encoder.ffn = number(vision, "mlp_ratio", 4, 64) * tower.encoder.hidden;
  tower.encoder.positions = Positions::rotary;
  skip(vision, {"hidden_size"});  // the language model's
  set_merger(vision, model, Norm::layernorm, tower);
  set_layers(tower.encoder, all_layers(tower.encoder));
}

/// Most layers attend inside square windows.  [Qwen2.5-VL 2025, section 2.1.1]
void read_qwen25_tower(Reader& /*in*/, Reader& vision, const Transformer& model, Tower& tower) {
  read_encoder(vision,
               {.layers = "depth", .heads = "num_heads"},
               {.layers = 32, .hidden = 3584, .heads = 16, .ffn = 3420, .patch = 14},
               tower);
  Transformer& encoder = tower.encoder;
  encoder.norm = Norm::rmsnorm;
  encoder.gated = true;
  encoder.positions = Positions::rotary;
  set_merger(vision, model, Norm::rmsnorm, tower);
  skip(vision, {"out_hidden_size"});
  const std::int64_t side = tower.projector.side;
  const std::int64_t pixels = number(vision, "window_size", 112, kMostPixels);
  const std::int64_t along = std::max<std::int64_t>(1, pixels / side / tower.patches.side) * side;
  const LayerKind inside{.window = along * along, .chunked = true};
  LayerKinds kinds(static_cast<std::size_t>(encoder.layers), inside);
  std::vector<std::int64_t> whole = integers(vision, "fullatt_block_indexes");
  if (whole.empty()) {
    whole = {7, 15, 23, 31};
  }
  for (const std::int64_t layer : whole) {
    if (layer >= 0 && layer < encoder.layers) {
      kinds[static_cast<std::size_t>(layer)] = {};
    }
  }
  set_layers(encoder, kinds);
}

/// Learned positions are stretched to an image's size; results of some layers go to the first
/// layers of the language model.  [Qwen3-VL 2025]
void read_qwen3_tower(Reader& /*in*/, Reader& vision, const Transformer& model, Tower& tower) {
  read_encoder(vision,
               {.layers = "depth", .heads = "num_heads"},
               {.layers = 27, .hidden = 1152, .heads = 16, .ffn = 4304, .patch = 16},
               tower);
  tower.patches.bias = true;
  tower.encoder.positions = Positions::rotary;
  tower.table_parameters =
      number(vision, "num_position_embeddings", 2304, kMostTokens) * tower.encoder.hidden;
  set_merger(vision, model, Norm::layernorm, tower);
  skip(vision, {"out_hidden_size"});
  const bool is_told = vision.has("deepstack_visual_indexes");
  const std::vector<std::int64_t> deep = integers(vision, "deepstack_visual_indexes");
  tower.deep = is_told ? static_cast<std::int64_t>(deep.size()) : 3;
  set_layers(tower.encoder, all_layers(tower.encoder));
}

/// An image is cut into tiles, each an input of its own; squares of patches through three products.
/// [Llama 4: the published implementation]
void read_llama4_tower(Reader& /*in*/, Reader& vision, const Transformer& model, Tower& tower) {
  read_encoder(vision,
               {},
               {.layers = 34, .hidden = 768, .heads = 16, .ffn = 5632, .image = 448, .patch = 14},
               tower);
  Transformer& encoder = tower.encoder;
  tower.class_token = true;
  encoder.embedding_norm = true;
  encoder.final_norm = true;
  encoder.positions = Positions::rotary;
  tower.table_parameters = (patches_of(tower) + 1) * encoder.hidden;
  const double ratio = vision.maybe_number("pixel_shuffle_ratio", 0.01, 1.0).value_or(0.5);
  tower.projector = {.side = std::llround(1.0 / ratio),
                     .widths = {number(vision, "projector_input_dim", 4096, kMostWidth),
                                number(vision, "projector_output_dim", 4096, kMostWidth),
                                model.hidden},
                     .bias = vision.flag("multi_modal_projector_bias", false)};
  skip(vision,
       {"vision_output_dim",
        "vision_feature_layer",
        "vision_feature_select_strategy",
        "projector_dropout",
        "norm_eps",
        "rope_theta",
        "rope_parameters"});
  set_layers(encoder, all_layers(encoder));
}

/// Up to four tiles that attend to one another; their results, and those of some layers, are what
/// layers of cross-attention read.  [Llama 3 2024, section 7.2]
void read_mllama_tower(Reader& /*in*/, Reader& vision, const Transformer& model, Tower& tower) {
  read_encoder(vision,
               {.heads = "attention_heads"},
               {.layers = 32, .hidden = 1280, .heads = 16, .ffn = 5120, .image = 448, .patch = 14},
               tower);
  Transformer& encoder = tower.encoder;
  const std::int64_t h = encoder.hidden;
  const std::int64_t gated = number(vision, "num_global_layers", 8, kMostLayers);
  encoder.layers += gated;
  encoder.biases = kMlp;
  encoder.embedding_norm = true;
  encoder.final_norm = true;
  encoder.positions = Positions::learned;
  encoder.position_rows = patches_of(tower) + 1;
  tower.class_token = true;
  tower.keeps_class = true;
  tower.tiles = number(vision, "max_num_tiles", 4, 64);
  const Value* ratios = vision.raw("supported_aspect_ratios");
  const auto shapes = static_cast<std::int64_t>(ratios != nullptr ? ratios->items.size() : 8) + 1;
  // Of each shape's tiles: in front of the layers, behind them, and of each patch's place; with a
  // gate each, and two of each global layer.
  tower.table_parameters = shapes * tower.tiles * h * (2 + encoder.position_rows) + 3 + 2 * gated;
  const bool is_told = vision.has("intermediate_layers_indices");
  const std::vector<std::int64_t> kept = integers(vision, "intermediate_layers_indices");
  tower.states = 1 + (is_told ? static_cast<std::int64_t>(kept.size()) : 5);
  tower.projector = {.widths = {model.hidden}, .bias = true};
  tower.attended = Attended::gated;
  skip(vision, {"vision_output_dim", "norm_eps"});
  set_layers(encoder, all_layers(encoder));
}

struct TowerReader {
  std::string_view type;  // of the model, as plain() makes it
  void (*read)(Reader& in, Reader& vision, const Transformer& model, Tower& tower);
};
constexpr std::array kTowers = {TowerReader{"gemma3", read_gemma3_tower},
                                TowerReader{"llava", read_llava_tower},
                                TowerReader{"qwen2vl", read_qwen2_tower},
                                TowerReader{"qwen25vl", read_qwen25_tower},
                                TowerReader{"qwen3vl", read_qwen3_tower},
                                TowerReader{"qwen3vlmoe", read_qwen3_tower},
                                TowerReader{"qwen35", read_qwen3_tower},
                                TowerReader{"qwen35moe", read_qwen3_tower},
                                TowerReader{"mistral3", read_mistral3_tower},
                                TowerReader{"llama4", read_llama4_tower},
                                TowerReader{"mllama", read_mllama_tower}};

const TowerReader* reader_for(std::string_view plain_type) {
  return first_with(kTowers, plain_type, &TowerReader::type);
}

}  // namespace

bool has_known_tower(std::string_view plain_type) { return reader_for(plain_type) != nullptr; }

void read_vision(Reader& in, Reader& vision, std::string_view plain_type, Transformer& model) {
  Tower tower;
  reader_for(plain_type)->read(in, vision, model, tower);
  model.tower = std::make_shared<const Tower>(std::move(tower));
}

}  // namespace titer::huggingface
