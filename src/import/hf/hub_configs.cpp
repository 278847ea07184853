// The config.json of the Hub's models, in the words of their classes.

#include <algorithm>
#include <array>
#include <string>

#include "hub_models.hpp"

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
  } else if (model.type == "internlm2") {
    config.add("bias", Value(false));
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
  if (model.window > 0) {
    config.add("sliding_window", Value(model.window));
  }
  config.add("vocab_size", Value(model.vocabulary));
  config.add("max_position_embeddings", Value(model.longest));
  config.add("tie_word_embeddings", Value(model.tied));
  add_style(config, model);
  return config;
}

}  // namespace titer
