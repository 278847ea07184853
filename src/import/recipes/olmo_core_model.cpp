// Models of OLMo-core: by the names of its shapes, or by the widths that its trainer saves.

#include <algorithm>
#include <array>

#include "import/hf/hf_parts.hpp"
#include "olmo_core_parts.hpp"
#include "titer/input/words.hpp"
#include "titer/script/python/python_values.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// The shapes that TransformerConfig makes by name. [olmo_core/nn/transformer/config.py@004aefff]
struct OlmoShape {
  std::string_view size;
  std::int64_t hidden;
  std::int64_t ffn;
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t kv_heads;
};
/// 8 h / 3, or half as much again, up to a multiple of 256.
constexpr std::array<OlmoShape, 12> kOlmoShapes = {{{"60M", 384, 1536, 8, 8, 8},
                                                    {"100M", 512, 2048, 12, 8, 8},
                                                    {"190M", 768, 3072, 12, 12, 12},
                                                    {"370M", 1024, 4096, 16, 16, 16},
                                                    {"600M", 1344, 5376, 16, 16, 16},
                                                    {"760M", 1536, 6144, 16, 16, 16},
                                                    {"1B", 2048, 8192, 18, 16, 16},
                                                    {"1B_v2", 2048, 8192, 16, 16, 16},
                                                    {"3B", 3328, 13312, 16, 16, 16},
                                                    {"7B", 4096, 11008, 32, 32, 32},
                                                    {"13B", 5120, 13824, 40, 40, 40},
                                                    {"32B", 5120, 27648, 64, 40, 8}}};

/// Rows, up to a multiple of 128. [olmo_core/data/tokenizer.py]
constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kOlmoTokenizers = {
    {{"dolma2", 100352},
     {"dolma2_sigdig", 100352},
     {"gpt_neox_olmo_dolma_v1_5", 50304},
     {"gpt2", 50304},
     {"llama3", 128256}}};

constexpr std::string_view kFactory = "model.factory";

class OlmoCoreModel {
 public:
  explicit OlmoCoreModel(const ImportTask& task) : task_(task), in_(task.in) {}

  void read() {
    in_.rename("model.block.sequence_mixer.", "model.block.attention.");
    read_kinds();
    const std::string factory = in_.text(kFactory).value_or("");
    if (factory.empty() && !in_.has("model.d_model")) {
      in_.fail(kFactory, "expected a model, such as TransformerConfig.olmo2_7B, or its widths");
      return;
    }
    const bool is_olmo = factory.starts_with("olmo2_") || factory.starts_with("olmo3_");
    if (factory.empty()) {
      read_widths();
      return;
    }
    if (!is_olmo) {
      put_hub_model(task_, kFactory, factory);
      return;
    }
    const auto* const shape =
        first_with(kOlmoShapes, std::string_view(factory).substr(6), &OlmoShape::size);
    if (shape == nullptr) {
      in_.fail(kFactory, "expected olmo2 or olmo3 of a size from 60M to 32B");
      return;
    }
    const bool slides = in_.has("model.block.attention.sliding_window.pattern");
    put_config(changed(*shape), slides ? "olmo3" : factory.substr(0, 5), vocabulary());
    task_.into.model->name = lower(factory);
    task_.into.model->title = factory;
  }

 private:
  /// Classes that are others' than those of a plain decoder.
  void read_kinds() {
    olmo_core_takes(task_, "model.name", {"default"});
    olmo_core_takes(task_, "model.block.attention.name", {"default", "fused"});
    olmo_core_takes(task_, "model.block.feed_forward.name", {"default"});
    olmo_core_takes(task_, "model.block.layer_norm.name", {"rms", "fused_rms"});
    olmo_core_takes(task_, "model.lm_head.name", {"default"});
    olmo_core_takes(task_, "model.lm_head.loss_implementation", {"default"});
    constexpr std::string_view windows = "model.block.attention.sliding_window.pattern";
    if (const Value* const pattern = in_.raw(windows);
        pattern != nullptr && to_json(*pattern, 0) != "[4096,4096,4096,-1]" &&
        to_json(*pattern, 0) != "[4096, 4096, 4096, -1]") {
      in_.leave_out(windows, "taken as [4096, 4096, 4096, -1]");
    }
  }

  /// What a saved block has that HuggingFace's class of that name does not tell.
  void put_block(Transformer& model) {
    model.biases.qkv = in_.flag("model.block.attention.bias").value_or(false);
    model.biases.output = model.biases.qkv;
    model.biases.mlp = in_.flag("model.block.feed_forward.bias").value_or(false);
    model.biases.head = in_.flag("model.lm_head.bias").value_or(false);
    model.dropout = in_.number("model.block.dropout").value_or(0) > 0 ||
                    in_.number("model.block.attention.dropout").value_or(0) > 0;
    const bool is_of_heads = in_.is_on("model.block.attention.use_head_qk_norm");
    model.qk_norm = in_.has("model.block.attention.qk_norm.name");
    if (model.qk_norm) {
      model.qk_norm_of = is_of_heads ? QkNorm::head : QkNorm::all_heads;
    }
    model.head_dim =
        in_.integer("model.block.attention.head_dim", 1, kMostWidth).value_or(model.head_dim);
  }

  /// With what a program gives the function that makes it.
  [[nodiscard]] OlmoShape changed(OlmoShape shape) {
    shape.kv_heads = in_.integer("model.n_kv_heads", 1, kMostWidth).value_or(shape.kv_heads);
    const auto factor = in_.number("model.hidden_size_multiplier");
    const auto multiple = in_.integer("model.hidden_size_multiple_of", 1, kMostWidth);
    if (factor || multiple) {
      constexpr std::int64_t usual_multiple = 256;
      const std::int64_t plain = 8 * shape.hidden / 3;
      const double usual_factor = shape.ffn > 5 * plain / 4 ? 1.5 : 1.0;
      const auto width =
          static_cast<std::int64_t>(factor.value_or(usual_factor) * static_cast<double>(plain));
      const std::int64_t step = multiple.value_or(usual_multiple);
      shape.ffn = (std::max<std::int64_t>(1, width) + step - 1) / step * step;
    }
    return shape;
  }

  /// As the trainer saves them.
  void read_widths() {
    const std::string block = in_.word("model.block.name").value_or("default");
    const bool is_plain = block == "reordered_norm" || block == "default";
    if (!is_plain || in_.has("model.block.feed_forward_moe.num_experts")) {
      in_.fail(is_plain ? "model.block.feed_forward_moe.num_experts" : "model.block.name",
               "expected blocks that are default or reordered_norm: experts and others are not "
               "read");
      return;
    }
    if (in_.has("model.block_overrides")) {
      in_.leave_out("model.block_overrides", "all layers are taken alike");
    }
    const auto heads = in_.required("model.block.attention.n_heads", 1, kMostWidth);
    const OlmoShape shape = {
        .size = "",
        .hidden = in_.required("model.d_model", 1, kMostWidth),
        .ffn = in_.required("model.block.feed_forward.hidden_size", 1, kMostWidth),
        .layers = in_.required("model.n_layers", 1, kMostLayers),
        .heads = heads,
        .kv_heads = in_.integer("model.block.attention.n_kv_heads", 1, kMostWidth).value_or(heads)};
    const bool slides = in_.has("model.block.attention.sliding_window.pattern");
    const std::string_view reordered = slides ? "olmo3" : "olmo2";
    put_config(shape,
               block == "default" ? "llama" : reordered,
               in_.required("model.vocab_size", 1, 1'000'000'000));
    if (task_.into.model) {
      put_block(*task_.into.model);
    }
  }

  void put_config(const OlmoShape& shape, std::string_view type, std::int64_t rows) {
    Value config = Value::make_object();
    config.add("model_type", Value(type));
    config.add("hidden_size", Value(shape.hidden));
    config.add("intermediate_size", Value(shape.ffn));
    config.add("num_hidden_layers", Value(shape.layers));
    config.add("num_attention_heads", Value(shape.heads));
    config.add("num_key_value_heads", Value(shape.kv_heads));
    config.add("vocab_size", Value(rows));
    config.add("max_position_embeddings", Value(olmo_core_sequence(in_).value_or(4096)));
    config.add("tie_word_embeddings", Value(false));
    put_model_of_config(task_, config);
  }

  std::int64_t vocabulary() {
    constexpr std::string_view key = "model.vocab_size";
    const std::string named =
        olmo_core_word(in_, in_.has("tokenizer.factory") ? "tokenizer.factory" : "tokenizer");
    if (const Value* const value = in_.raw(key); value != nullptr && value->is_integer) {
      return in_.integer(key, 1, 1'000'000'000).value_or(1);
    }
    const auto* const known = std::ranges::find_if(
        kOlmoTokenizers, [&](const auto& tokenizer) { return tokenizer.first == named; });
    const bool is_known = known != kOlmoTokenizers.end();
    const std::int64_t usual = is_known ? known->second : kOlmoTokenizers.front().second;
    const std::int64_t rows = task_.options.vocabulary.value_or(usual);
    assume(
        task_,
        key,
        "taken as " + std::to_string(rows) + ", as " + (is_known ? named : "dolma2") + " has it");
    return rows;
  }

  const ImportTask& task_;
  Settings& in_;
};

}  // namespace

std::string olmo_core_word(Settings& in, std::string_view key) {
  const Value* const value = in.raw(key);
  const std::string_view text = value == nullptr                    ? std::string_view()
                                : untold_expression(*value).empty() ? std::string_view(value->text)
                                                                    : untold_expression(*value);
  const std::string_view last = text.substr(text.rfind('.') + 1);
  const auto end = std::find_if_not(last.begin(), last.end(), is_of_name);
  return lower(last.substr(0, static_cast<std::size_t>(end - last.begin())));
}

void olmo_core_takes(const ImportTask& task,
                     std::string_view key,
                     std::initializer_list<std::string_view> known) {
  const std::string word = olmo_core_word(task.in, key);
  if (!word.empty() && !includes(known, word)) {
    task.in.leave_out(key, "taken as " + std::string(*known.begin()));
  }
}

std::optional<std::int64_t> olmo_core_sequence(Settings& in) {
  for (const std::string_view key : {"train_module.max_sequence_length",
                                     "dataset.sequence_length",
                                     "data_loader.sequence_length"}) {
    const Value* const value = in.raw(key);
    if (value != nullptr && value->is_integer) {
      return in.integer(key, 1, kMostTokens);
    }
  }
  return std::nullopt;
}

void put_olmo_core_model(const ImportTask& task) { OlmoCoreModel(task).read(); }

}  // namespace titer
