#include "huggingface_mixers.hpp"

#include <algorithm>

namespace titer::huggingface {
namespace {

/// Keys that tell nothing about time or memory in these classes alone.
void skip(Reader& in) {
  for (const std::string_view key : {"A_initializer_range",
                                     "attention_multiplier",
                                     "embedding_multiplier",
                                     "expand",
                                     "full_attn_alpha_factor",
                                     "full_attn_beta_factor",
                                     "intermediate_act",
                                     "linear_attn_alpha_factor",
                                     "linear_attn_beta_factor",
                                     "logits_scaling",
                                     "mamba_d_ssm",
                                     "mamba_expand",
                                     "mamba_hidden_act",
                                     "mamba_ssm_cache_dtype",
                                     "mlp_alpha_factor",
                                     "mlp_beta_factor",
                                     "mlp_hidden_act",
                                     "norm_before_gate",
                                     "num_logits_to_keep",
                                     "postnorm",
                                     "rescale_prenorm_residual",
                                     "residual_in_fp32",
                                     "residual_multiplier",
                                     "time_step_floor",
                                     "time_step_init_scheme",
                                     "time_step_limit",
                                     "time_step_max",
                                     "time_step_min",
                                     "time_step_scale",
                                     "use_mamba_kernels"}) {
    static_cast<void>(in.raw(key));
  }
}

}  // namespace

std::int64_t width_or(Reader& in, std::string_view key, std::int64_t otherwise) {
  return in.maybe_integer(key, 1, kMostWidth).value_or(otherwise);
}

std::int64_t width_or_auto(Reader& in, std::string_view key, std::int64_t otherwise) {
  const Value* value = in.raw(key);
  const bool follows =
      value != nullptr && value->kind == Value::Kind::text && value->text == "auto";
  return follows ? otherwise : width_or(in, key, otherwise);
}

void set_mixer(Reader& in, std::string_view key, const Mixer& mixer, Transformer& model) {
  check_mixer(in, key, mixer);
  model.mixer = mixer;
  skip(in);
}

void mark_listed(Reader& in, std::string_view key, std::string_view mixer, LayerKinds& kinds) {
  const std::vector<std::string> types = in.texts(key);
  if (in.has("num_hidden_layers")) {
    expect_one_each(in, key, types.size(), kinds.size());
  }
  for (std::size_t i = 0; i < std::min(types.size(), kinds.size()); ++i) {
    if (types[i] == mixer || types[i] == "linear_attention") {
      kinds[i].tokens = TokenMixing::mixer;
    } else if (types[i] != "attention" && types[i] != "full_attention") {
      in.fail(key, "there are no layers of " + types[i] + " yet");
      return;
    }
  }
}

void mark_numbered(Reader& in, std::string_view key, TokenMixing tokens, LayerKinds& kinds) {
  const auto layers = static_cast<std::int64_t>(kinds.size());
  for (const std::int64_t layer : integers(in, key)) {
    if (layer < 0 || layer >= layers) {
      in.fail(key, "expected layers from 0 to " + std::to_string(layers - 1));
      break;
    }
    kinds[static_cast<std::size_t>(layer)].tokens = tokens;
  }
}

}  // namespace titer::huggingface
