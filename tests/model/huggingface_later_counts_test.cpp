// Parameter counts of classes that came later, to the parameter: those of the published weights, or
// added up tensor by tensor.
#include "model/published_counts.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Of Qwen3.5 every fourth layer attends, with a gate as wide as the
/// queries; the others have delta rules of `heads` values and 16 keys of 128.
constexpr std::int64_t qwen35(std::int64_t layers,
                              std::int64_t h,
                              std::int64_t ffn,
                              std::int64_t attention_heads,
                              std::int64_t heads) {
  const std::int64_t keys = 16 * 128;
  const std::int64_t values = heads * 128;
  const std::int64_t delta = h * (2 * keys + 2 * values + 2 * heads) + 4 * (2 * keys + values) +
                             2 * heads + 128 + values * h;
  const std::int64_t attention = h * 256 * (3 * attention_heads + 2 * 4) + 2 * 256;
  return layers / 4 * (attention + 3 * delta) + layers * (3 * h * ffn + 2 * h) + 2 * 248'320 * h +
         h;
}

constexpr std::array kLater = {
    Published{"Qwen3.5 9B",
              R"({"model_type": "qwen3_5_text", "num_hidden_layers": 32, "hidden_size": 4096,
                  "intermediate_size": 12288, "num_attention_heads": 16, "vocab_size": 248320,
                  "num_key_value_heads": 4, "head_dim": 256, "mtp_num_hidden_layers": 1,
                  "attn_output_gate": true, "linear_num_value_heads": 32})",
              qwen35(32, 4096, 12288, 16, 32)},
    Published{"Qwen3.5 27B",
              R"({"model_type": "qwen3_5_text", "num_hidden_layers": 64, "hidden_size": 5120,
                  "intermediate_size": 17408, "num_attention_heads": 24, "vocab_size": 248320,
                  "num_key_value_heads": 4, "head_dim": 256, "linear_num_value_heads": 48})",
              qwen35(64, 5120, 17408, 24, 48)},
    // [tiiuae/falcon-mamba-7b] Its file tells the channels besides what they are times the width.
    Published{"Falcon Mamba 7B",
              R"({"model_type": "falcon_mamba", "num_hidden_layers": 64, "hidden_size": 4096,
                  "intermediate_size": 8192, "expand": 16, "state_size": 16, "vocab_size": 65024,
                  "time_step_rank": 256, "tie_word_embeddings": false})",
              7'272'665'088},
    Published{"GLM-4.7 Flash",
              R"({"model_type": "glm4_moe_lite", "num_hidden_layers": 47, "hidden_size": 2048,
                  "num_attention_heads": 20, "intermediate_size": 10240, "vocab_size": 154880,
                  "max_position_embeddings": 202752, "n_routed_experts": 64,
                  "num_experts_per_tok": 4, "moe_intermediate_size": 1536, "kv_lora_rank": 512,
                  "q_lora_rank": 768, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64,
                  "v_head_dim": 256})",
              29'943'393'920},
    Published{"GLM-4.1V 9B",
              R"({"model_type": "glm4v_text", "num_hidden_layers": 40, "hidden_size": 4096,
                  "num_attention_heads": 32, "intermediate_size": 13696, "vocab_size": 151552,
                  "attention_bias": true})",
              9'400'279'040},
    Published{"Ling lite 1.5",
              R"({"model_type": "bailing_moe", "num_hidden_layers": 28, "hidden_size": 2048,
                  "num_attention_heads": 16, "num_key_value_heads": 4, "intermediate_size": 1408,
                  "vocab_size": 126464, "num_experts": 64, "num_shared_experts": 2,
                  "num_experts_per_tok": 6, "moe_intermediate_size": 1408})",
              16'801'974'272},
    Published{"Ling mini 2.0",
              R"({"model_type": "bailing_moe_v2", "num_hidden_layers": 20, "hidden_size": 2048,
                  "num_attention_heads": 16, "num_key_value_heads": 4, "intermediate_size": 5120,
                  "vocab_size": 157184, "num_experts": 256, "num_shared_experts": 1,
                  "num_experts_per_tok": 8, "moe_intermediate_size": 512, "head_dim": 128,
                  "first_k_dense_replace": 1, "use_qk_norm": true, "n_group": 8, "topk_group": 4,
                  "moe_router_enable_expert_bias": true})",
              16'255'643'392},
    Published{"Trinity Nano",
              R"({"model_type": "afmoe", "num_hidden_layers": 56, "hidden_size": 1024,
                  "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 3072,
                  "vocab_size": 200192, "num_experts": 128, "num_shared_experts": 1,
                  "num_experts_per_tok": 8, "moe_intermediate_size": 256, "num_dense_layers": 2,
                  "global_attn_every_n_layers": 4, "sliding_window": 2048})",
              6'120'003'328},
    // [deepseek-ai/deepseek-moe-16b-base]
    Published{"DeepSeekMoE 16B",
              R"({"model_type": "deepseek", "num_hidden_layers": 28, "hidden_size": 2048,
                  "num_attention_heads": 16, "num_key_value_heads": 16,
                  "intermediate_size": 10944, "vocab_size": 102400, "n_routed_experts": 64,
                  "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
                  "first_k_dense_replace": 1})",
              16'375'728'128},
    // Values of 64, as wide as heads without a latent.
    Published{"MiniCPM3 4B",
              R"({"model_type": "minicpm3", "num_hidden_layers": 62, "hidden_size": 2560,
                  "num_attention_heads": 40, "intermediate_size": 6400, "vocab_size": 73448,
                  "q_lora_rank": 768, "kv_lora_rank": 256, "qk_nope_head_dim": 64,
                  "qk_rope_head_dim": 32})",
              4'073'875'968},
    Published{"Orion 14B",
              R"({"model_type": "orion", "num_hidden_layers": 40, "hidden_size": 5120,
                  "num_attention_heads": 40, "intermediate_size": 15360, "vocab_size": 84608})",
              14'498'703'360},
    Published{"XVERSE 13B",
              R"({"model_type": "xverse", "num_hidden_layers": 40, "hidden_size": 5120,
                  "num_attention_heads": 40, "intermediate_size": 13824, "vocab_size": 100534})",
              13'717'652'480},
    // With the tower that [mistralai/Mistral-Small-3.1-24B-Base-2503] has.
    Published{"Mistral Small 3.1",
              R"({"model_type": "mistral3", "text_config": {"model_type": "mistral",
                  "num_hidden_layers": 40, "hidden_size": 5120, "head_dim": 128,
                  "intermediate_size": 32768, "num_attention_heads": 32, "vocab_size": 131072},
                  "vision_config": {"model_type": "pixtral", "patch_size": 14,
                  "image_size": 1540}})",
              24'011'361'280},
    Published{"Pixtral 12B",
              R"({"model_type": "llava", "text_config": {"model_type": "mistral",
                  "num_hidden_layers": 40, "hidden_size": 5120, "head_dim": 128,
                  "intermediate_size": 14336, "vocab_size": 131072},
                  "vision_config": {"model_type": "pixtral", "patch_size": 14}})",
              12'682'555'392},
    Published{"Jais 13B",
              R"({"model_type": "jais", "activation_function": "swiglu", "n_embd": 5120,
                  "n_head": 40, "n_inner": 13653, "n_layer": 40, "n_positions": 2048,
                  "position_embedding_type": "alibi", "vocab_size": 84992, "width_scale": 0.111})",
              13'020'811'920},
    Published{"FlexOlmo 7x7B",
              R"({"model_type": "flex_olmo", "num_hidden_layers": 32, "hidden_size": 4096,
                  "num_attention_heads": 32, "num_key_value_heads": 32, "num_experts": 7,
                  "intermediate_size": 11008, "num_experts_per_tok": 5, "vocab_size": 100352})",
              33'270'665'216},
    Published{"Hunyuan A13B",
              R"({"model_type": "hunyuan_v1_moe", "num_hidden_layers": 32, "hidden_size": 4096,
                  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
                  "intermediate_size": 3072, "num_experts": 64, "moe_topk": [8, 8],
                  "moe_intermediate_size": [3072, 3072], "num_shared_expert": [1, 1],
                  "use_mixed_mlp_moe": true, "use_qk_norm": true, "use_cla": false,
                  "cla_share_factor": 2, "tie_word_embeddings": true, "vocab_size": 128167})",
              80'393'183'232},
    Published{"ERNIE 4.5 21B",
              R"({"model_type": "ernie4_5_moe", "num_hidden_layers": 28, "hidden_size": 2560,
                  "num_attention_heads": 20, "num_key_value_heads": 4, "intermediate_size": 12288,
                  "moe_capacity": [64, 64, 64], "moe_gate": "topk", "moe_use_aux_free": true,
                  "moe_intermediate_size": 1536, "moe_k": 6, "moe_layer_start_index": 1,
                  "moe_layer_end_index": 27, "moe_num_experts": 64, "moe_num_shared_experts": 2,
                  "vocab_size": 103424})",
              21'825'437'888},
};

TEST(HuggingFace, CountsLaterClassesToTheParameter) { expect_counts(kLater); }

TEST(HuggingFace, TrinitysLayersThatSeeAllHaveNoPositions) {
  const Transformer model = imported_from(parse_json(kLater[7].config, "config.json")).model;
  std::int64_t whole = 0;
  for (const LayerRun& run : model.runs()) {
    const LayerKind& kind = model.kinds[static_cast<std::size_t>(run.kind)];
    EXPECT_EQ(kind.rotary, kind.window.has_value());
    whole += kind.window ? 0 : run.count;
  }
  EXPECT_EQ(whole, 56 / 4);
  EXPECT_TRUE(model.attention_gate);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
