// Megatron-LLM (epfLLM), a fork of 2023 whose models have no biases unless they are told to have
// them.  [megatron/arguments.py, _add_network_size_args]

#include "import/import_parts.hpp"

namespace titer {

void import_megatron_llm(const ImportTask& task) {
  Settings& in = task.in;
  take_only(task, "use_post_ln", {"false"});
  take_only(task, "parallel_attn", {"false"});
  const bool is_rms = in.is_on("use_rms_norm");
  in.suppose("normalization", Value(is_rms ? "RMSNorm" : "LayerNorm"));
  const std::string gate = in.word("glu_activation").value_or("");
  if (!gate.empty()) {  // of two matrices, whichever function is in it
    in.suppose("swiglu", Value(true));
  }
  if (const auto hidden = in.integer("hidden_size", 1, kMostWidth)) {
    in.suppose("ffn_hidden_size", Value(4 * *hidden));
  }
  in.suppose("disable_bias_linear", Value(!in.is_on("use_bias")));
  in.rename("num_attention_heads_kv", "num_query_groups");
  in.suppose("untie_embeddings_and_output_weights", Value(in.is_on("no_tie_embed_logits")));
  if (in.word("position_embedding_type").value_or("absolute") == "absolute") {
    in.replace("position_embedding_type", Value("learned_absolute"));
  }
  ImportTask with_defaults = task;
  with_defaults.defaults = {.is_local = true};
  import_megatron(with_defaults);
  task.into.stack = "megatron-lm";
  in.skip("what the fork has of its own for data, names and logs",
          "model_name model_type use_multiquery_attn layernorm_epsilon "
          "metrics variable_seq_lengths data_type scalar_loss_mask attention_mask "
          "lima_dropout");
}

}  // namespace titer
