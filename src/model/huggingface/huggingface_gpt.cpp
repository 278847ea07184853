// Architectures that grew out of GPT: layernorms, biases, an MLP of two matrices.
#include "huggingface_decoder.hpp"
#include "huggingface_families.hpp"

namespace titer::huggingface {
namespace {

/// Adds a part of "attention_types", [["global", "local"], 12]: the list so many times, but not
/// beyond `most` layers.
void add_attention_types(const Value& part, std::size_t most, std::vector<bool>& local) {
  const bool is_pair = part.items.size() == 2 && part.items.back().is_integer;
  if (!is_pair || part.items.front().items.empty()) {
    return;
  }
  const std::int64_t times = part.items.back().integer;
  for (std::int64_t i = 0; i < times && local.size() <= most; ++i) {
    for (const Value& type : part.items.front().items) {
      local.push_back(type.text == "local");
    }
  }
}

/// The shape of those with several names for their keys.
void read_gpt(Reader& in, const ShapeKeys& keys, std::string_view ffn, Transformer& model) {
  read_widths(in, keys, model);
  read_grouped_heads(in, keys, {}, model);
  model.ffn = in.maybe_integer(ffn, 1, kMostWidth).value_or(4 * model.hidden);
  model.norm = Norm::layernorm;
  model.biases = kAll;
  model.tied_embeddings = in.flag("tie_word_embeddings", true);
  model.vocabulary = in.integer("vocab_size", 1, kMostTokens);
  model.dropout = has_dropout(in, false);
}

}  // namespace

/// Where there is no table's length by one name, by its old one; and no encoder.
void read_gpt2_rest(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  if (!in.has("n_positions")) {
    model.max_sequence = in.maybe_integer("n_ctx", 1, kMostTokens).value_or(model.max_sequence);
    model.position_rows = model.max_sequence;
  }
  if (in.flag("add_cross_attention", false)) {
    in.fail("add_cross_attention", "expected false: there is no encoder to attend to");
  }
}

void read_multi_query(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  model.kv_heads = in.flag("multi_query", true) ? 1 : model.heads;
}

void read_parallel_residual(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  model.parallel = in.flag("use_parallel_residual", true);
}

void read_local_layers(Reader& in, Transformer& /*model*/, LayerKinds& kinds) {
  const auto window = in.maybe_integer("window_size", 1, kMostTokens).value_or(256);
  std::vector<bool> local;
  if (const Value* const types = in.raw("attention_types")) {
    for (const Value& part : types->items) {
      add_attention_types(part, kinds.size(), local);
    }
  } else {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      local.push_back(i % 2 == 1);
    }
  }
  if (local.size() != kinds.size()) {
    in.fail("attention_types",
            "expected \"global\" or \"local\" for each of the " + std::to_string(kinds.size()) +
                " layers, as [[[\"global\", \"local\"], 12]]");
    return;
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].window = local[i] ? std::optional(window) : std::nullopt;
  }
}

/// The smallest but one has its norms behind the sums, and none at the end.
void read_opt_rest(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  if (in.maybe_integer("word_embed_proj_dim", 1, kMostWidth).value_or(model.hidden) !=
      model.hidden) {
    in.fail("word_embed_proj_dim",
            "expected the hidden size: there are no projections of narrower embeddings yet");
  }
  const bool before = in.flag("do_layer_norm_before", true);
  model.norm_place = before ? NormPlace::input : NormPlace::sum;
  model.final_norm = before && !in.flag("_remove_final_layer_norm", false);
}

void read_expansion(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  model.ffn = in.maybe_integer("expansion_ratio", 1, 1000).value_or(4) * model.hidden;
}

/// GPT-2 with positions and activations to choose, and widths by which sums are weighed.
void read_jais(Reader& in, Transformer& model, LayerKinds& kinds) {
  model.gated = in.maybe_text("activation_function").value_or("gelu") == "swiglu";
  const bool alibi = in.maybe_text("position_embedding_type").value_or("learned") == "alibi";
  model.positions = alibi ? Positions::alibi : Positions::learned;
  model.position_rows = alibi ? 0 : model.max_sequence;
  skip(in, {"embeddings_scale", "scale_qk_dot_by_d", "width_scale"});
  read_gpt2_rest(in, model, kinds);
}

void read_as_many_keys(Reader& in, Transformer& /*model*/, LayerKinds& /*kinds*/) {
  skip(in, {"num_key_value_heads"});  // the class does not look at it
}

void read_bloom(Reader& in, Transformer& model) {
  read_gpt(in,
           {.layers = written(in, {"n_layer", "num_hidden_layers"}),
            .hidden = written(in, {"hidden_size", "n_embed"}),
            .heads = written(in, {"n_head", "num_attention_heads"}),
            .kv_heads = "",
            .head_dim = ""},
           "n_inner",
           model);
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
           "ffn_hidden_size",
           model);
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

}  // namespace titer::huggingface
