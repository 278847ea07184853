// A model in Megatron's names: its defaults are those of Megatron-LM's arguments.

#include <algorithm>

#include "import/import_parts.hpp"
#include "titer/input/words.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

class MegatronModel {
 public:
  explicit MegatronModel(const ImportTask& task) : task_(task), in_(task.in) {
    if (task.options.base) {
      model_ = *task.options.base;
    }
  }

  Transformer read() {
    read_widths();
    read_heads();
    read_latent();
    read_mlp();
    read_style();
    read_tables();
    read_megatron_experts(task_, model_);
    read_further_tokens();
    if (hybrid_layers(in_) > 0) {
      read_hybrid(task_, model_);
    } else {
      read_megatron_layers(task_, model_);
    }
    return std::move(model_);
  }

 private:
  [[nodiscard]] bool has_base() const { return task_.options.base.has_value(); }
  std::int64_t width(std::string_view key, std::int64_t of_base, std::int64_t most = kMostWidth) {
    return has_base() ? in_.integer(key, 1, most).value_or(of_base) : in_.required(key, 1, most);
  }
  bool flag(std::string_view key, bool otherwise) { return in_.flag(key).value_or(otherwise); }

  void read_widths() {
    const bool new_heads = in_.has("num_attention_heads") || in_.has("hidden_size");
    const std::int64_t in_pattern = hybrid_layers(in_);
    model_.layers = in_pattern > 0 && !in_.has("num_layers")
                        ? in_pattern
                        : width("num_layers", model_.layers, kMostLayers);
    model_.hidden = width("hidden_size", model_.hidden);
    model_.heads = width("num_attention_heads", model_.heads);
    const auto channels = in_.integer("kv_channels", 1, kMostWidth);
    if (!channels && model_.hidden % model_.heads != 0) {
      in_.fail("num_attention_heads",
               "expected a divisor of the hidden size " + std::to_string(model_.hidden) +
                   ", or the width of a head");
    }
    if (channels || new_heads || !has_base()) {
      model_.head_dim = channels.value_or(std::max<std::int64_t>(1, model_.hidden / model_.heads));
    }
    if (model_.query_width() > kMostWidth) {
      in_.fail("kv_channels", "expected heads x their width of at most 1000000");
    }
  }

  /// Megatron-LM groups queries only where it is told to; its relatives where they are counted.
  /// BigCode's has one pair of keys and values for all.
  void read_heads() {
    const bool shares_all = in_.word("attention_head_type") == "multiquery";
    const auto groups = shares_all ? std::optional<std::int64_t>(1)
                                   : in_.integer("num_query_groups", 1, kMostWidth);
    const bool is_told = in_.has("group_query_attention");
    const bool grouped = is_told ? in_.is_on("group_query_attention") : groups.has_value();
    if (!has_base() || grouped) {
      model_.kv_heads = grouped ? groups.value_or(1) : model_.heads;
    }
    if (model_.heads % model_.kv_heads != 0) {
      if (has_base() && !grouped) {
        model_.kv_heads = model_.heads;
      } else {
        in_.fail("num_query_groups",
                 "expected a divisor of the " + std::to_string(model_.heads) + " attention heads");
      }
    }
    model_.qk_norm = flag("qk_layernorm", model_.qk_norm);
    if (in_.has("qk_l2_norm")) {
      model_.qk_norm = model_.qk_norm || in_.is_on("qk_l2_norm");
    }
  }

  void read_latent() {
    if (!in_.is_on("multi_latent_attention")) {
      if (in_.has("multi_latent_attention") && model_.latent) {
        model_.latent.reset();
        model_.head_dim = in_.integer("kv_channels", 1, kMostWidth)
                              .value_or(std::max<std::int64_t>(1, model_.hidden / model_.heads));
      }
      return;
    }
    LatentAttention latent;
    latent.q_rank = in_.integer("q_lora_rank", 1, kMostWidth).value_or(0);
    latent.kv_rank = in_.integer("kv_lora_rank", 1, kMostWidth).value_or(32);
    latent.nope_dim = in_.integer("qk_head_dim", 1, kMostWidth).value_or(128);
    latent.rope_dim = in_.integer("qk_pos_emb_head_dim", 1, kMostWidth).value_or(64);
    latent.value_dim = in_.integer("v_head_dim", 1, kMostWidth).value_or(128);
    model_.latent = latent;
    model_.kv_heads = model_.heads;
    model_.head_dim = latent.nope_dim + latent.rope_dim;
    model_.qk_norm = false;  // it is of the latents, which always have theirs
    if (model_.query_width() > kMostWidth || model_.heads * latent.value_dim > kMostWidth) {
      in_.fail("num_attention_heads", "expected heads x their width of at most 1000000");
    }
  }

  void read_mlp() {
    const std::string activation =
        in_.word(in_.first_given("activation activation_func")).value_or("");
    const bool is_glu = activation.find("glu") != std::string::npos;
    bool tells = !activation.empty();
    bool gated = is_glu;
    for (const std::string_view key : {"swiglu", "gated_linear_unit", "geglu", "quick_geglu"}) {
      tells = tells || in_.has(key);
      gated = in_.is_on(key) || gated;
    }
    model_.gated = tells || !has_base() ? gated : model_.gated;
    static_cast<void>(in_.is_on("squared_relu"));  // as many FLOPs in products as any other
    const auto ffn = in_.integer("ffn_hidden_size", 1, kMostWidth);
    // Without, three matrices have about as many parameters as two of 4 h.
    const std::int64_t of_hidden =
        in_.has("swiglu") && model_.gated ? model_.hidden * 4 * 2 / 3 / 64 * 64 : 4 * model_.hidden;
    if (ffn || !has_base()) {
      model_.ffn = ffn.value_or(std::max<std::int64_t>(1, of_hidden));
    }
  }

  [[nodiscard]] bool bias_otherwise() {
    if (in_.has("disable_bias_linear")) {
      return !in_.is_on("disable_bias_linear");
    }
    return !has_base() || model_.biases.mlp;
  }

  void read_style() {
    const bool linear = flag(in_.first_given("add_bias_linear bias"), bias_otherwise());
    const bool qkv = in_.is_on("add_qkv_bias") || (has_base() && model_.biases.qkv);
    model_.biases = {.qkv = linear || qkv, .output = linear, .mlp = linear, .head = false};
    if (const auto norm = in_.word("normalization")) {
      const bool is_rms = norm->find("rms") != std::string::npos;
      if (!is_rms && norm->find("layernorm") == std::string::npos) {
        in_.fail("normalization", "expected LayerNorm or RMSNorm");
      }
      model_.norm = is_rms ? Norm::rmsnorm : Norm::layernorm;
    }
    read_dropout();
    read_positions();
    read_attention();
  }

  void read_dropout() {
    const auto hidden = in_.number("hidden_dropout");
    const auto attention = in_.number("attention_dropout");
    const double usual = has_base() && !model_.dropout ? 0.0 : 0.1;
    model_.dropout = hidden.value_or(usual) > 0 || attention.value_or(usual) > 0;
    static_cast<void>(in_.number("ffn_dropout"));
  }

  void read_positions() {
    const auto kind = in_.word("position_embedding_type");
    if (in_.is_on("no_position_embedding") && !kind) {
      model_.positions = Positions::none;
    }
    if (in_.is_on("use_rotary_position_embeddings")) {
      model_.positions = Positions::rotary;
    }
    if (in_.is_on("use_alibi_mask")) {
      model_.positions = Positions::alibi;
      return;
    }
    if (!kind) {
      return;
    }
    if (*kind == "rope" || *kind == "rotary" || *kind == "mrope" || *kind == "yarn") {
      model_.positions = Positions::rotary;
    } else if (*kind == "learned_absolute") {
      model_.positions =
          in_.is_on("use_rotary_position_embeddings") ? Positions::rotary : Positions::learned;
    } else if (*kind == "none") {
      model_.positions = Positions::none;
    } else if (*kind == "alibi") {
      model_.positions = Positions::alibi;
    } else {
      in_.fail("position_embedding_type", "expected learned_absolute, rope, alibi or none");
    }
  }

  /// No other precision than fp32 is told; fused attention is of 16 bits, or of 8.
  [[nodiscard]] bool is_wide() {
    const std::string trainers = in_.text("trainer.precision").value_or("");
    if (trainers == "32" || trainers == "32-true") {
      return true;
    }
    const bool is_told = in_.any_given(
        "trainer.precision precision precision_recipe mixed_precision fp8_format fp8 recipe "
        "hf_model");
    return !is_told && !task_.options.base && !in_.any_on({"bf16", "fp16"});
  }

  /// The fused kernel, unless the file asks for an unfused one.
  void read_attention() {
    const std::string backend = in_.word("attention_backend").value_or("");
    const std::string implementation = in_.word("transformer_impl").value_or("");
    const bool fused = in_.any_on({"use_flash_attn",
                                   "use_flash_attention",
                                   "use_flash_attn_v1",
                                   "use_flash_attn_v2",
                                   "use_flash_attn_triton",
                                   "use_flash_attn_builder"});
    const bool engine_off = in_.has("transformer_engine") && !in_.is_on("transformer_engine");
    const bool local = implementation == "local" || engine_off ||
                       (implementation.empty() && task_.defaults.is_local);
    model_.attention =
        backend.find("unfused") != std::string::npos || is_wide() || (local && !fused)
            ? AttentionKernel::materialised
            : AttentionKernel::flash;
    model_.attention_gate = in_.flag("attention_output_gate").value_or(model_.attention_gate);
    const std::string softmax = in_.word("softmax_type").value_or("");
    model_.sinks = model_.sinks || softmax == "learnable";
  }

  void read_tables() {
    const auto shared = in_.flag("share_embeddings_and_output_weights");
    const bool told = shared || in_.has("untie_embeddings_and_output_weights");
    if (told || !has_base()) {
      model_.tied_embeddings = shared.value_or(!in_.is_on("untie_embeddings_and_output_weights"));
    }
    const std::string padded = in_.first_given("padded_vocab_size pad_vocab_size_to");
    const bool is_padded = in_.has(padded);
    if (is_padded) {
      static_cast<void>(in_.number("vocab_size"));  // which is less
    }
    const bool embeds_norm = in_.any_on({"embed_layernorm", "use_embedding_layernorm"});
    model_.embedding_norm = model_.embedding_norm || embeds_norm;
    model_.vocabulary = read_vocabulary(
        task_, is_padded ? padded : in_.first_given("vocab_size override_vocab_size"), tokenizer());
    const auto multiple = in_.integer("make_vocab_size_divisible_by", 1, kMostWidth);
    if (multiple || !has_base()) {
      model_.vocabulary_multiple = is_padded ? 1 : multiple.value_or(128);
    }
    // With learned positions a row each; otherwise nothing depends on it.
    const auto longest = in_.integer("max_position_embeddings", 1, kMostTokens);
    const auto sequence = in_.integer("seq_length", 1, kMostTokens);
    if (!longest && !sequence && !has_base()) {
      model_.max_sequence = in_.required("max_position_embeddings", 1, kMostTokens);
    } else {
      model_.max_sequence = longest.value_or(sequence.value_or(model_.max_sequence));
    }
    model_.position_rows = model_.max_sequence;
    if (longest && sequence && *sequence > *longest) {
      in_.fail("seq_length",
               "expected at most the " + std::to_string(*longest) + " positions of the model");
    }
  }

  std::string tokenizer() {
    std::string names;
    for (const std::string_view key :
         words_of("patch_tokenizer_type tokenizer_type tokenizer_model tokenizer_name_or_path "
                  "tokenizer.type tokenizer.model tokenizer.tokenizer_model tokenizer.vocab_file "
                  "vocab_file")) {
      if (const Value* value = in_.raw(key); value != nullptr && !value->text.empty()) {
        add_listed(names, lower(value->text), " ");
      }
    }
    // Only GPT-2's has merges in a file of its own.
    const bool is_open = in_.has("merge_file") && !known_tokenizer(names);
    return is_open ? names + " gpt2bpetokenizer" : names;
  }

  void read_further_tokens() {
    static_cast<void>(in_.flag("use_multi_token_prediction"));  // beside their number
    model_.predicted_tokens = in_.integer("mtp_num_layers", 0, 16).value_or(0);
    const bool repeats = in_.is_on("mtp_use_repeated_layer");
    model_.predicted_by_one = repeats && model_.predicted_tokens > 0;
  }

  const ImportTask& task_;
  Settings& in_;
  Transformer model_;
};

}  // namespace

Transformer megatron_model(const ImportTask& task) {
  const bool is_encoder = learns_masked_words(task);
  if (is_encoder) {
    suppose_word_pieces(task);
  }
  put_image_tokens(task);
  Transformer model = MegatronModel(task).read();
  if (is_encoder) {
    read_masked_words(task, model);
  }
  read_images(task, model);
  return model;
}

}  // namespace titer
