// The names of the Hub's models, and their config.json in the words of their classes.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "hub_models.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

/// Classes that call their widths otherwise than Llama. Their MLPs are 4 times as wide as they,
/// unless `ffn` says so.
struct Names {
  std::string_view type;
  std::string_view layers;
  std::string_view hidden;
  std::string_view heads;
  std::string_view longest;
  std::string_view vocabulary = "vocab_size";
  std::string_view ffn{};
};
constexpr std::array<Names, 8> kOtherNames = {
    {{"gpt2", "n_layer", "n_embd", "n_head", "n_positions"},
     {"gptj", "n_layer", "n_embd", "n_head", "n_positions"},
     {"codegen", "n_layer", "n_embd", "n_head", "n_positions"},
     {"gpt_bigcode", "n_layer", "n_embd", "n_head", "n_positions"},
     {"bloom", "n_layer", "hidden_size", "num_attention_heads", "seq_length"},
     {"gpt_neo", "num_layers", "hidden_size", "num_heads", "max_position_embeddings"},
     {"mpt", "n_layers", "d_model", "n_heads", "max_seq_len"},
     {"chatglm",
      "num_layers",
      "hidden_size",
      "num_attention_heads",
      "seq_length",
      "padded_vocab_size",
      "ffn_hidden_size"}}};

/// What the files of these classes say beside their widths.
void add_style(Value& config, const HubShape& model) {
  if (model.type == "gpt_bigcode") {
    config.add("multi_query", Value(model.kv_heads == 1));
  } else if (model.type == "mpt") {
    Value attention = Value::make_object();
    attention.add("alibi", Value(true));
    config.add("attn_config", std::move(attention));
  } else if (model.type == "chatglm") {
    config.add("multi_query_attention", Value(true));
    config.add("multi_query_group_num", Value(model.kv_heads));
    config.add("add_qkv_bias", Value(true));
  } else if (model.type == "gpt_neo") {
    Value kinds = Value::make_array();
    kinds.push(Value("global"));
    kinds.push(Value("local"));
    Value turn = Value::make_array();
    turn.push(std::move(kinds));
    turn.push(Value(model.layers / 2));
    Value types = Value::make_array();
    types.push(std::move(turn));
    config.add("attention_types", std::move(types));
  } else if (model.type == "lfm2") {
    Value attends = Value::make_array();
    for (const std::int64_t layer : {2, 5, 8, 10, 12, 14}) {
      attends.push(Value(layer));
    }
    config.add("full_attn_idxs", std::move(attends));
  } else if (model.type == "internlm2") {
    config.add("bias", Value(false));
  } else if (model.type == "qwen3_5_text") {
    config.add("linear_num_value_heads", Value(std::int64_t{model.hidden == 5120 ? 48 : 32}));
  } else if (model.type == "stablelm") {
    config.add("use_qkv_bias", Value(model.vocabulary == 100352));
  }
}

Value gpt_config(const HubShape& model, const Names& names) {
  Value config = Value::make_object();
  config.add("model_type", Value(model.type));
  config.add(std::string(names.layers), Value(model.layers));
  config.add(std::string(names.hidden), Value(model.hidden));
  config.add(std::string(names.heads), Value(model.heads));
  config.add(std::string(names.longest), Value(model.longest));
  config.add(std::string(names.vocabulary), Value(model.vocabulary));
  if (!names.ffn.empty()) {
    config.add(std::string(names.ffn), Value(model.ffn));
  }
  add_style(config, model);
  return config;
}

std::string_view ffn_key(std::string_view type) {
  return type == "falcon" ? "ffn_hidden_size" : (type == "opt" ? "ffn_dim" : "intermediate_size");
}

/// Words after which the shape is the same: what a model was tuned for, how it is stored.
constexpr std::array<std::string_view, 38> kNotOfShape = {
    "instruct", "chat",         "hf",   "it",      "base",     "bnb",     "4bit",
    "8bit",     "fp16",         "bf16", "awq",     "gptq",     "int4",    "int8",
    "fp8",      "gguf",         "dev",  "preview", "thinking", "2507",    "0528",
    "unsloth",  "coder",        "math", "sft",     "dpo",      "v1",      "code",
    "nonfree",  "intermediate", "step", "3t",      "2t",       "deduped", "full",
    "original", "tulu",         "pt"};

std::string without(std::string text, std::string_view part, std::string_view by) {
  const std::size_t found = text.find(part);
  return found == std::string::npos ? text : text.replace(found, part.size(), by);
}

/// Of a folder of the Hub's cache, models--Qwen--Qwen3-8B/snapshots/…, the model's name.
std::string_view name_in_cache(std::string_view path) {
  constexpr std::string_view begin = "models--";
  const std::size_t at = path.find(begin);
  if (at == path.npos) {
    return path;
  }
  path.remove_prefix(at + begin.size());
  path = path.substr(0, path.find('/'));
  const std::size_t dashes = path.rfind("--");
  return dashes == path.npos ? path : path.substr(dashes + 2);
}

/// "7b", "1.5b", "360m", "8x7b" and, of what a token passes through, "a3b".
bool is_size(std::string_view word) {
  const std::size_t digits = word.find_first_not_of("0123456789.x", word.starts_with('a') ? 1 : 0);
  return word.size() > 1 && digits == word.size() - 1 && digits > 0 &&
         (word.back() == 'b' || word.back() == 'm');
}

}  // namespace

Value config_of(const HubShape& model) {
  const auto* other = std::find_if(kOtherNames.begin(), kOtherNames.end(), [&](const Names& names) {
    return names.type == model.type;
  });
  if (other != kOtherNames.end()) {
    return gpt_config(model, *other);
  }
  Value config = Value::make_object();
  config.add("model_type", Value(model.type));
  config.add("num_hidden_layers", Value(model.layers));
  config.add("hidden_size", Value(model.hidden));
  const bool is_falcon = model.type == "falcon";
  if (is_falcon) {
    config.add("new_decoder_architecture", Value(model.kv_heads > 1));
    config.add("num_kv_heads", Value(model.kv_heads));
  }
  config.add(std::string(ffn_key(model.type)), Value(model.ffn));
  config.add("num_attention_heads", Value(model.heads));
  // Classes differ in how many they take for those that are left out.
  if (model.type != "opt" && model.type != "gpt_neox" && !is_falcon) {
    config.add("num_key_value_heads", Value(model.kv_heads));
  }
  if (model.head_dim > 0) {
    config.add("head_dim", Value(model.head_dim));
  }
  // The class of Mistral's models takes 4096 where none is told; theirs tell of none.
  if (model.window > 0 || model.type == "mistral") {
    config.add("sliding_window", model.window > 0 ? Value(model.window) : Value());
  }
  config.add("vocab_size", Value(model.vocabulary));
  // The larger of Baichuan's have biases of scores, which this key tells.
  const bool has_alibi = model.type == "baichuan" && model.heads == 40;
  config.add(has_alibi ? "model_max_length" : "max_position_embeddings", Value(model.longest));
  config.add("tie_word_embeddings", Value(model.tied));
  add_style(config, model);
  return config;
}

std::vector<std::string> words_of_shape(std::string_view name) {
  name = name_in_cache(name);
  while (!name.empty() && name.back() == '/') {
    name.remove_suffix(1);
  }
  const std::string small = lower(name.substr(name.rfind('/') + 1));
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= small.size();) {
    const std::size_t end = std::min(small.find_first_of("-_ ", begin), small.size());
    std::string word = small.substr(begin, end - begin);
    if (std::find(kNotOfShape.begin(), kNotOfShape.end(), word) == kNotOfShape.end()) {
      words.push_back(std::move(word));
    }
    begin = end + 1;
  }
  return words;
}

std::vector<std::string> words_to_size(std::vector<std::string> words) {
  constexpr std::array<std::string_view, 16> others = {"vl",
                                                       "vision",
                                                       "visual",
                                                       "audio",
                                                       "omni",
                                                       "moe",
                                                       "mamba",
                                                       "eagle",
                                                       "eagle3",
                                                       "medusa",
                                                       "draft",
                                                       "depth",
                                                       "width",
                                                       "pruned",
                                                       "embedding",
                                                       "reranker"};
  const auto last = std::find_if(
      words.rbegin(), words.rend(), [](const std::string& word) { return is_size(word); });
  const bool is_other = std::any_of(words.rbegin(), last, [&](const std::string& word) {
    return std::find(others.begin(), others.end(), word) != others.end();
  });
  words.erase(is_other || last == words.rend() ? words.begin() : last.base(), words.end());
  return words;
}

std::string bare_name(const std::vector<std::string>& words) {
  std::string made;
  for (const std::string& word : words) {
    made += word;
  }
  made.erase(std::remove(made.begin(), made.end(), '.'), made.end());
  made = without(std::move(made), "bloomz", "bloom");
  return without(without(std::move(made), "metallama", "llama"), "llama3herd", "llama3");
}

}  // namespace titer
