// Dense architectures of the time of Llama: RMSNorm, rotary positions, gated MLPs; and those that
// differ from it in their norms.
#include "huggingface_decoder.hpp"

namespace titer::huggingface {
/// The larger model has biases of scores instead of rotary positions, and its length by another
/// name.
void read_baichuan(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  if (in.has("model_max_length") && !in.has("max_position_embeddings")) {
    model.max_sequence = in.integer("model_max_length", 1, kMostTokens);
    model.positions = Positions::alibi;
  }
}

void read_chatglm(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  if (in.flag("multi_query_attention", false)) {
    model.kv_heads = in.maybe_integer("multi_query_group_num", 1, kMostWidth).value_or(1);
  }
  model.norm = in.flag("rmsnorm", true) ? Norm::rmsnorm : Norm::layernorm;
  model.final_norm = in.flag("post_layer_norm", true);
}

/// Some layers have no positions: those whose number in "no_rope_layers" is 0.
void read_smollm3(Reader& in, Transformer& /*model*/, LayerKinds& kinds) {
  if (!mark_rotary(in, kinds)) {
    return;
  }
  const std::int64_t window = in.flag("use_sliding_window", false) ? read_window(in, 0) : 0;
  for (LayerKind& kind : kinds) {
    if (window > 0 && !kind.rotary) {
      kind.window = window;
    }
  }
  static_cast<void>(in.raw("sliding_window"));
  read_layer_types(in, kinds);
}

/// Of parallel branches there is one norm.
void read_one_norm(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  model.parallel = in.flag("use_parallel_residual", false);
  model.norms = model.parallel ? 1 : 2;
}

void read_further_tokens(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  model.predicted_tokens =
      in.maybe_integer("num_nextn_predict_layers", 0, kMostPredictedTokens).value_or(0);
}

}  // namespace titer::huggingface
