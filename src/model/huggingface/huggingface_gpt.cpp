// Architectures that grew out of GPT: layernorms, biases, an MLP of two matrices.
#include "huggingface_families.hpp"
#include "huggingface_keys.hpp"

namespace titer::huggingface {
namespace {

constexpr ShapeKeys kShortNames = {
    .layers = "n_layer", .hidden = "n_embd", .heads = "n_head", .kv_heads = "", .head_dim = ""};
constexpr ShapeKeys kLongNames = {.layers = "num_hidden_layers",
                                  .hidden = "hidden_size",
                                  .heads = "num_attention_heads",
                                  .kv_heads = "",
                                  .head_dim = ""};
constexpr Biases kAllBiases = {.qkv = true, .output = true, .mlp = true, .head = false};

/// Shape, vocabulary and layernorms.
void read_gpt(Reader& in, const ShapeKeys& keys, bool tied, Transformer& model) {
  read_widths(in, keys, model);
  read_grouped_heads(in, keys, {}, model);
  model.norm = Norm::layernorm;
  model.biases = kAllBiases;
  model.tied_embeddings = in.flag("tie_word_embeddings", tied);
  model.vocabulary = in.integer("vocab_size", 1, kMostTokens);
  model.dropout = has_dropout(in,
                              {"resid_pdrop",
                               "embd_pdrop",
                               "attn_pdrop",
                               "dropout",
                               "hidden_dropout",
                               "attention_dropout"});
}

/// The width of the MLP, four times the model's where it is not told.
void read_ffn(Reader& in, std::string_view key, Transformer& model) {
  model.ffn = in.maybe_integer(key, 1, kMostWidth).value_or(4 * model.hidden);
}

void read_rotary(Reader& in, std::string_view key, Transformer& model) {
  model.positions = Positions::rotary;
  model.max_sequence = in.integer(key, 1, kMostTokens);
}

}  // namespace

void read_gpt2(Reader& in, Transformer& model) {
  read_gpt(in, kShortNames, true, model);
  read_ffn(in, "n_inner", model);
  model.positions = Positions::learned;
  model.max_sequence = in.integer(written(in, {"n_positions", "n_ctx"}), 1, kMostTokens);
  model.position_rows = model.max_sequence;
  if (in.flag("add_cross_attention", false)) {
    in.fail("add_cross_attention", "expected false: there is no encoder to attend to");
  }
}

void read_gptj(Reader& in, Transformer& model) {
  read_gpt(in, kShortNames, false, model);
  read_ffn(in, "n_inner", model);
  read_rotary(in, "n_positions", model);
  model.biases = {.qkv = false, .output = false, .mlp = true, .head = true};
  model.norms = 1;
  model.parallel = true;
}

void read_gpt_neox(Reader& in, Transformer& model) {
  read_gpt(in, kLongNames, false, model);
  model.ffn = in.integer("intermediate_size", 1, kMostWidth);
  read_rotary(in, "max_position_embeddings", model);
  model.biases.qkv = in.flag("attention_bias", true);
  model.biases.output = model.biases.qkv;
  model.parallel = in.flag("use_parallel_residual", true);
}

void read_opt(Reader& in, Transformer& model) {
  read_gpt(in, kLongNames, true, model);
  model.ffn = in.integer("ffn_dim", 1, kMostWidth);
  model.positions = Positions::learned;
  model.max_sequence = in.integer("max_position_embeddings", 1, kMostTokens);
  model.position_rows = model.max_sequence + 2;  // the class adds two in front
  if (in.maybe_integer("word_embed_proj_dim", 1, kMostWidth).value_or(model.hidden) !=
      model.hidden) {
    in.fail("word_embed_proj_dim",
            "expected the hidden size: there are no projections of narrower embeddings yet");
  }
  if (!in.flag("enable_bias", true)) {
    model.biases = {};
  }
  model.final_norm =
      in.flag("do_layer_norm_before", true) && !in.flag("_remove_final_layer_norm", false);
}

void read_bloom(Reader& in, Transformer& model) {
  read_gpt(in,
           {.layers = written(in, {"n_layer", "num_hidden_layers"}),
            .hidden = written(in, {"hidden_size", "n_embed"}),
            .heads = written(in, {"n_head", "num_attention_heads"}),
            .kv_heads = "",
            .head_dim = ""},
           true,
           model);
  read_ffn(in, "n_inner", model);
  model.positions = Positions::alibi;
  // Biases of scores limit no length; the models were trained with this one.
  model.max_sequence = in.maybe_integer("seq_length", 1, kMostTokens).value_or(2048);
  model.embedding_norm = true;
}

void read_falcon(Reader& in, Transformer& model) {
  read_gpt(in,
           {.layers = written(in, {"num_hidden_layers", "n_layer"}),
            .hidden = "hidden_size",
            .heads = written(in, {"num_attention_heads", "n_head"}),
            .kv_heads = "",
            .head_dim = ""},
           true,
           model);
  read_ffn(in, "ffn_hidden_size", model);
  const bool bias = in.flag("bias", false);
  model.biases = {.qkv = bias, .output = bias, .mlp = bias, .head = false};
  const bool is_new = in.flag("new_decoder_architecture", false);
  const bool one_key = in.flag("multi_query", true);
  const std::string_view kv_heads = written(in, {"num_kv_heads", "n_head_kv"});
  const auto told = in.maybe_integer(kv_heads, 1, kMostWidth);
  model.kv_heads = is_new ? told.value_or(model.heads) : one_key ? 1 : model.heads;
  if (model.heads % model.kv_heads != 0) {
    in.fail(kv_heads, "expected a divisor of the " + std::to_string(model.heads) + " heads");
  }
  model.parallel = in.flag("parallel_attn", true) || is_new;
  const auto norms = in.maybe_integer("num_ln_in_parallel_attn", 1, 2).value_or(is_new ? 2 : 1);
  model.norms = model.parallel ? static_cast<int>(norms) : 2;
  model.positions = in.flag("alibi", false) ? Positions::alibi : Positions::rotary;
  model.max_sequence = in.maybe_integer("max_position_embeddings", 1, kMostTokens).value_or(2048);
}

void read_phi(Reader& in, Transformer& model) {
  ShapeKeys keys = kLongNames;
  keys.kv_heads = "num_key_value_heads";
  read_gpt(in, keys, false, model);
  model.ffn = in.integer("intermediate_size", 1, kMostWidth);
  read_rotary(in, "max_position_embeddings", model);
  model.biases.head = true;
  model.norms = 1;
  model.parallel = true;
  model.qk_norm = in.flag("qk_layernorm", false);
}

}  // namespace titer::huggingface
