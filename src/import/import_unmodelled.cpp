// Architectures that Megatron and NeMo tell of beside the settings of a plain model.

#include <algorithm>
#include <array>

#include "import_parts.hpp"
#include "titer/input/known_settings.hpp"
#include "titer/input/words.hpp"
#include "titer/model/unmodelled.hpp"

namespace titer {
namespace {

/// A setting that is null, 0 or switched off tells of nothing.
bool says_something(Settings& in, const std::string& key) {
  const Value* const value = in.raw(key);
  return value != nullptr && !(value->kind == Value::Kind::boolean && !value->boolean) &&
         !(value->kind == Value::Kind::number && value->number == 0.0) && value->text != "0";
}

/// A setting and the type of the architecture that it tells of, by the name that the list of those
/// not modelled has.
struct Told {
  std::string key;
  std::string type;
};

/// What the architecture's layers are is told by a pattern, which is read.
bool is_read(Settings& in, std::string_view type) {
  return type == "megatron_mamba" && hybrid_layers(in) > 0;
}

/// What a tower in front of the text is told by, which is read.
constexpr std::array<std::string_view, 4> kOfTowers = {
    "img_", "patch_dim", "encoder_num_layers", "decoder_num_layers"};

/// By how the names of settings begin, and by words inside of what others say.
std::optional<Told> told_by_settings(Settings& in, bool sees) {
  const Value settings = known_settings("megatron", "unmodelled_settings");
  for (const std::string& key : in.keys()) {
    const auto sign = std::ranges::find_if(
        settings.members, [&](const auto& known) { return key.starts_with(known.first); });
    if (sign == settings.members.end() ||
        (sees && std::ranges::find(kOfTowers, sign->first) != kOfTowers.end())) {
      continue;
    }
    if (!is_read(in, sign->second.text) && says_something(in, key)) {
      return Told{.key = key, .type = sign->second.text};
    }
  }
  const Value words = known_settings("megatron", "unmodelled_words");
  for (const auto& [key, signs] : words.members) {
    const std::string written = lower(in.written(key));
    for (const auto& [word, type] : signs.members) {
      if (!is_read(in, type.text) && written.find(word) != std::string::npos) {
        return Told{.key = key, .type = type.text};
      }
    }
  }
  return std::nullopt;
}

/// Models whose norms and positions are other than those that Megatron takes where nothing is told.
constexpr std::array<std::string_view, 9> kFamilies = {
    "llama", "mistral", "mixtral", "qwen", "baichuan", "internlm", "gemma", "deepseek", "chatglm"};
constexpr std::string_view kTellNorms =
    "normalization use_rmsnorm use_rms_norm position_embedding_type no_position_embedding "
    "use_rotary_position_embeddings use_alibi_mask";

/// pretrain_llama.py of a fork, whose code and not its settings says what it trains.
bool makes_own_model(Settings& in, std::string_view script) {
  const std::string_view file = script.substr(script.rfind('/') + 1);
  const bool is_named = std::ranges::any_of(kFamilies, [&](std::string_view of) {
    return file.find("train_" + std::string(of)) != std::string_view::npos;
  });
  return is_named && !in.any_given(kTellNorms);
}

}  // namespace

void refuse_unmodelled(const ImportTask& task) {
  if (task.in.has("mm_model")) {
    task.in.fail("mm_model", "tells the model, in a file of MindSpeed-MM's that is not read");
    return;
  }
  const bool sees = sees_images(task);
  if (const auto told = told_by_settings(task.in, sees)) {
    task.in.fail(told->key, unmodelled_refusal(told->type));
    return;
  }
  const Value scripts = known_settings("megatron", "unmodelled_scripts");
  for (const std::string& script : task.arguments.scripts) {
    const auto sign = std::ranges::find_if(scripts.members, [&](const auto& known) {
      return script.find(known.first) != std::string::npos;
    });
    const bool is_known = sign != scripts.members.end();
    const bool is_seeing = sees && is_known && sign->first == "pretrain_vlm";
    if (is_known && !is_seeing && !is_read(task.in, sign->second.text)) {
      task.in.fail("", script + ": " + unmodelled_refusal(sign->second.text));
      return;
    }
    if (!task.options.base && makes_own_model(task.in, script)) {
      task.in.fail("",
                   script +
                       ": makes its model in its own code, and no setting tells its norms and "
                       "positions; --model NAME tells which it is");
      return;
    }
  }
}

}  // namespace titer
