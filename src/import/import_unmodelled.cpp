// Architectures that Megatron and NeMo tell of beside the settings of a plain model.

#include <algorithm>
#include <array>

#include "import_parts.hpp"
#include "titer/input/words.hpp"
#include "titer/model/unmodelled.hpp"

namespace titer {
namespace {

/// Something that tells of an architecture, by the name that the list of those not modelled has.
struct Sign {
  std::string_view sign;
  std::string_view type;
};

/// Settings by how their names begin.
constexpr std::array<Sign, 16> kSettings = {{{"linear_attention_", "megatron_delta"},
                                             {"is_hybrid_model", "megatron_mamba"},
                                             {"hybrid_attention_ratio", "megatron_mamba"},
                                             {"hybrid_mlp_ratio", "megatron_mamba"},
                                             {"mamba_", "megatron_mamba"},
                                             {"encoder_num_layers", "t5"},
                                             {"decoder_num_layers", "t5"},
                                             {"decoder_seq_length", "t5"},
                                             {"encoder_tensor_model_parallel_size", "t5"},
                                             {"vocab_extra_ids", "t5"},
                                             {"retro_", "retro"},
                                             {"img_", "llava"},
                                             {"vision_", "llava"},
                                             {"mm_cfg.", "llava"},
                                             {"language_model_type", "llava"},
                                             {"patch_dim", "vit"}}};

/// Words inside of what these settings say.
struct WordSign {
  std::string_view key;
  Sign sign;
};
constexpr std::array<WordSign, 12> kWords = {
    {{"experimental_attention_variant", {"delta", "megatron_delta"}},
     {"spec", {"mamba", "megatron_mamba"}},
     {"spec", {"hybrid", "megatron_mamba"}},
     {"run_name", {"megatron_t5", "t5"}},
     {"run_name", {"megatron_nmt", "t5"}},
     {"run_name", {"megatron_bart", "bart"}},
     {"run_name", {"megatron_retro", "retro"}},
     {"run_name", {"megatron_mamba", "megatron_mamba"}},
     {"run_name", {"megatron_griffin", "recurrent_gemma"}},
     {"run_name", {"neva", "llava"}},
     {"run_name", {"megatron_clip", "llava"}},
     {"run_name", {"megatron_vit", "vit"}}}};

/// Scripts of Megatron-LM by what is in their names.
constexpr std::array<Sign, 11> kScripts = {{{"_megatron_falcon", "megatron_falcon"},
                                            {"pretrain_ict", "ict"},
                                            {"pretrain_t5", "t5"},
                                            {"pretrain_retro", "retro"},
                                            {"pretrain_mamba", "megatron_mamba"},
                                            {"pretrain_hybrid", "megatron_mamba"},
                                            {"pretrain_vlm", "llava"},
                                            {"pretrain_llava", "llava"},
                                            {"pretrain_mimo", "llava"},
                                            {"pretrain_vision", "vit"},
                                            {"multimodal/train", "llava"}}};

/// A setting that is null, 0 or switched off tells of nothing.
bool says_something(Settings& in, const std::string& key) {
  const Value* const value = in.raw(key);
  return value != nullptr && !(value->kind == Value::Kind::boolean && !value->boolean) &&
         !(value->kind == Value::Kind::number && value->number == 0.0) && value->text != "0";
}

/// A setting, or the file for "", and the type of the architecture that it tells of.
struct Told {
  std::string key;
  std::string_view type;
};

/// What the architecture's layers are is told by a pattern, which is read.
bool is_read(Settings& in, std::string_view type) {
  return type == "megatron_mamba" && hybrid_layers(in) > 0;
}

/// What a tower in front of the text is told by, which is read.
constexpr std::array<std::string_view, 4> kOfTowers = {
    "img_", "patch_dim", "encoder_num_layers", "decoder_num_layers"};

std::optional<Told> told_by_settings(Settings& in, bool sees) {
  for (const std::string& key : in.keys()) {
    const auto* sign = std::find_if(kSettings.begin(), kSettings.end(), [&](const Sign& known) {
      return key.starts_with(known.sign);
    });
    if (sees && sign != kSettings.end() &&
        std::find(kOfTowers.begin(), kOfTowers.end(), sign->sign) != kOfTowers.end()) {
      continue;
    }
    if (sign != kSettings.end() && !is_read(in, sign->type) && says_something(in, key)) {
      return Told{.key = key, .type = sign->type};
    }
  }
  for (const WordSign& word : kWords) {
    if (!is_read(in, word.sign.type) &&
        lower(in.written(word.key)).find(word.sign.sign) != std::string::npos) {
      return Told{.key = std::string(word.key), .type = word.sign.type};
    }
  }
  return std::nullopt;
}

/// Models whose norms and positions are other than those that Megatron takes where nothing is told.
constexpr std::array<std::string_view, 9> kFamilies = {
    "llama", "mistral", "mixtral", "qwen", "baichuan", "internlm", "gemma", "deepseek", "chatglm"};
constexpr std::array<std::string_view, 7> kTellNorms = {"normalization",
                                                        "use_rmsnorm",
                                                        "use_rms_norm",
                                                        "position_embedding_type",
                                                        "no_position_embedding",
                                                        "use_rotary_position_embeddings",
                                                        "use_alibi_mask"};

/// pretrain_llama.py of a fork, whose code and not its settings says what it trains.
bool makes_own_model(Settings& in, std::string_view script) {
  const std::string_view file = script.substr(script.rfind('/') + 1);
  const bool is_named = std::any_of(kFamilies.begin(), kFamilies.end(), [&](std::string_view of) {
    return file.find("train_" + std::string(of)) != std::string_view::npos;
  });
  return is_named && std::none_of(kTellNorms.begin(), kTellNorms.end(), [&](std::string_view key) {
           return in.has(key);
         });
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
  for (const std::string& script : task.arguments.scripts) {
    const auto* sign = std::find_if(kScripts.begin(), kScripts.end(), [&](const Sign& known) {
      return script.find(known.sign) != std::string::npos;
    });
    const bool is_seeing = sees && sign != kScripts.end() && sign->sign == "pretrain_vlm";
    if (sign != kScripts.end() && !is_seeing && !is_read(task.in, sign->type)) {
      task.in.fail("", script + ": " + unmodelled_refusal(sign->type));
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
