#include "huggingface_keys.hpp"

#include <algorithm>
#include <array>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

enum class LayerType { full, sliding, chunked };
constexpr std::array<Choice<LayerType>, 3> kLayerTypes = {
    {{"full_attention", LayerType::full},
     {"sliding_attention", LayerType::sliding},
     {"chunked_attention", LayerType::chunked}}};

void set_window(Reader& in, LayerType type, LayerKind& kind) {
  kind.window.reset();
  if (type == LayerType::full) {
    kind.chunked = false;
    return;
  }
  kind.chunked = type == LayerType::chunked;
  kind.window =
      in.integer(kind.chunked ? "attention_chunk_size" : "sliding_window", 1, kMostTokens);
}

/// A number that has to be told where there is nothing else to take (0).
std::int64_t integer_or(Reader& in,
                        std::string_view key,
                        std::int64_t otherwise,
                        std::int64_t most) {
  return otherwise == 0 ? in.integer(key, 1, most)
                        : in.maybe_integer(key, 1, most).value_or(otherwise);
}

}  // namespace

std::string_view written(const Reader& in, std::initializer_list<std::string_view> names) {
  const auto* const found =
      std::ranges::find_if(names, [&](std::string_view key) { return in.has(key); });
  return found == names.end() ? *names.begin() : *found;
}

void skip(Reader& in, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    static_cast<void>(in.raw(key));
  }
}

bool is_null(Reader& in, std::string_view key) {
  const Value* value = in.raw(key);
  return value != nullptr && value->kind == Value::Kind::null;
}

std::vector<std::int64_t> integers(Reader& in, std::string_view key) {
  const Value* value = in.raw(key);
  std::vector<std::int64_t> numbers;
  if (value == nullptr || value->kind == Value::Kind::null) {
    return numbers;
  }
  const auto whole = [](const Value& item) { return item.is_integer; };
  if (value->kind != Value::Kind::array || !std::ranges::all_of(value->items, whole)) {
    in.fail(key, "expected a list of integers");
    return numbers;
  }
  for (const Value& item : value->items) {
    numbers.push_back(item.integer);
  }
  return numbers;
}

namespace {

constexpr std::array<std::string_view, 14> kDropouts = {"attention_dropout",
                                                        "attention_probs_dropout_prob",
                                                        "attn_pdrop",
                                                        "dropout",
                                                        "dropout_rate",
                                                        "embd_pdrop",
                                                        "embed_dropout",
                                                        "embedding_dropout",
                                                        "ffn_pdrop",
                                                        "hidden_dropout",
                                                        "hidden_dropout_prob",
                                                        "resid_dropout",
                                                        "resid_pdrop",
                                                        "residual_dropout"};

}  // namespace

bool has_dropout(Reader& in, bool otherwise) {
  bool any = false;
  bool told = false;
  for (const std::string_view key : kDropouts) {
    const auto share = in.maybe_number(key, 0.0, 1.0);
    told = told || share.has_value();
    any = any || share.value_or(0.0) > 0.0;
  }
  return told ? any : otherwise;
}

void read_shape(Reader& in,
                const DecoderKeys& keys,
                const HuggingFaceDefaults& defaults,
                Transformer& model) {
  model.layers = integer_or(in, keys.shape.layers, defaults.layers, kMostLayers);
  model.hidden = integer_or(in, keys.shape.hidden, defaults.hidden, kMostWidth);
  model.heads = integer_or(in, keys.shape.heads, defaults.heads, kMostWidth);
  if (!keys.ffn.empty()) {
    model.ffn = integer_or(
        in, keys.ffn, std::max(defaults.ffn_width, defaults.ffn * model.hidden), kMostWidth);
  }
  model.dropout = has_dropout(in, defaults.dropout);
  model.tied_embeddings = in.flag("tie_word_embeddings", defaults.tied);
  model.vocabulary = integer_or(in, keys.vocabulary, defaults.vocabulary, kMostTokens);
  model.max_sequence = integer_or(in, keys.max_sequence, defaults.max_sequence, kMostTokens);
}

void read_heads(Reader& in,
                const ShapeKeys& keys,
                const HuggingFaceDefaults& defaults,
                Transformer& model) {
  GroupedHeads otherwise;
  otherwise.head_dim = defaults.head_dim;
  otherwise.kv_heads = is_null(in, keys.kv_heads) ? 0 : defaults.kv_heads;
  read_grouped_heads(in, keys, otherwise, model);
}

void read_decoder_without_heads(Reader& in,
                                const HuggingFaceDefaults& defaults,
                                Transformer& model) {
  read_shape(in, {}, defaults, model);
  model.gated = true;
  model.norm = Norm::rmsnorm;
  model.positions = Positions::rotary;
}

void read_decoder(Reader& in, const HuggingFaceDefaults& defaults, Transformer& model) {
  read_decoder_without_heads(in, defaults, model);
  read_heads(in, DecoderKeys{}.shape, defaults, model);
}

ShapeKeys heads_by(std::string_view key) {
  return {.layers = "", .hidden = "", .heads = key, .kv_heads = "", .head_dim = ""};
}

LayerKinds all_layers(const Transformer& model, bool experts) {
  return LayerKinds(static_cast<std::size_t>(model.layers), LayerKind{.experts = experts});
}

LayerKinds read_sparse_layers(Reader& in, const Transformer& model) {
  const auto step =
      static_cast<std::size_t>(in.maybe_integer("decoder_sparse_step", 1, kMostLayers).value_or(1));
  LayerKinds kinds = all_layers(model);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].experts = (i + 1) % step == 0;
  }
  for (const std::int64_t dense : integers(in, "mlp_only_layers")) {
    if (dense < 0 || dense >= model.layers) {
      in.fail("mlp_only_layers", "expected layers from 0 to " + std::to_string(model.layers - 1));
      break;
    }
    kinds[static_cast<std::size_t>(dense)].experts = false;
  }
  return kinds;
}

void set_layers_with_experts(Transformer& model, const LayerKinds& kinds) {
  set_layers(model, kinds);
  const auto has = [](const LayerKind& kind) { return kind.experts; };
  if (std::ranges::none_of(model.kinds, has)) {
    model.experts.reset();
  }
}

bool expect_one_each(Reader& in, std::string_view key, std::size_t told, std::size_t layers) {
  if (told != 0 && told != layers) {
    in.fail(key,
            "expected one for each of the " + std::to_string(layers) + " layers, not " +
                std::to_string(told));
    return false;
  }
  return true;
}

bool read_layer_types(Reader& in, LayerKinds& kinds) {
  const std::vector<std::string> types = in.texts("layer_types");
  if (types.empty()) {
    return false;
  }
  if (in.has("num_hidden_layers")) {
    expect_one_each(in, "layer_types", types.size(), kinds.size());
  }
  for (std::size_t i = 0; i < std::min(types.size(), kinds.size()); ++i) {
    const auto* const found =
        std::ranges::find_if(kLayerTypes, [&](const auto& type) { return type.name == types[i]; });
    if (found == kLayerTypes.end()) {
      in.fail("layer_types",
              "expected full_attention, sliding_attention or chunked_attention only: there are no "
              "layers of " +
                  types[i] + " yet");
      return true;
    }
    set_window(in, found->value, kinds[i]);
  }
  return true;
}

std::int64_t read_window(Reader& in, std::int64_t otherwise) {
  if (is_null(in, "sliding_window")) {
    return 0;
  }
  return in.maybe_integer("sliding_window", 1, kMostTokens).value_or(otherwise);
}

void slide_from(std::int64_t first, std::int64_t window, LayerKinds& kinds) {
  for (auto i = static_cast<std::size_t>(first); i < kinds.size() && window > 0; ++i) {
    kinds[i].window = window;
  }
}

void slide_but_every(std::int64_t nth, std::int64_t window, LayerKinds& kinds) {
  for (std::size_t i = 0; i < kinds.size() && window > 0; ++i) {
    if ((i + 1) % static_cast<std::size_t>(nth) != 0) {
      kinds[i].window = window;
    }
  }
}

bool mark_rotary(Reader& in, LayerKinds& kinds) {
  const auto step = static_cast<std::size_t>(
      in.maybe_integer("no_rope_layer_interval", 1, kMostLayers).value_or(4));
  const std::vector<std::int64_t> listed = integers(in, "no_rope_layers");
  if (!expect_one_each(in, "no_rope_layers", listed.size(), kinds.size())) {
    return false;
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].rotary = listed.empty() ? (i + 1) % step != 0 : listed[i] != 0;
  }
  return true;
}

}  // namespace titer
