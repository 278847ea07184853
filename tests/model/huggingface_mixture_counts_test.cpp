// Parameter counts of mixtures of experts, to the parameter: those of the published weights, or
// added up tensor by tensor.
#include "model/published_counts.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::array kMixtures = {
    Published{"OLMoE 1B-7B",
              R"({"model_type": "olmoe", "num_hidden_layers": 16, "hidden_size": 2048,
                  "num_attention_heads": 16, "num_key_value_heads": 16,
                  "intermediate_size": 1024, "vocab_size": 50304, "num_experts": 64,
                  "num_experts_per_tok": 8})",
              6'919'161'856},
    Published{"Granite 3.0 1B-A400M",
              R"({"model_type": "granitemoe", "num_hidden_layers": 24, "hidden_size": 1024,
                  "num_attention_heads": 16, "num_key_value_heads": 8, "intermediate_size": 512,
                  "vocab_size": 49155, "num_local_experts": 32, "num_experts_per_tok": 8,
                  "tie_word_embeddings": true})",
              1'334'628'352},
    // Biases of attention and of the output matrix, layernorms.
    Published{"Phi-3.5 MoE",
              R"({"model_type": "phimoe", "num_hidden_layers": 32, "hidden_size": 4096,
                  "num_attention_heads": 32, "num_key_value_heads": 8,
                  "intermediate_size": 6400, "vocab_size": 32064, "num_local_experts": 16,
                  "num_experts_per_tok": 2, "attention_bias": true, "lm_head_bias": true})",
              41'873'153'344},
    Published{"DBRX",
              R"({"model_type": "dbrx", "n_layers": 40, "d_model": 6144, "n_heads": 48,
                  "vocab_size": 100352, "max_seq_len": 32768,
                  "attn_config": {"kv_n_heads": 8, "clip_qkv": 8},
                  "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})",
              131'596'523'520},
    // Four norms; the table is the output matrix, too: 64 layers of 2 (48 + 8) 128 h + 8 (3 h f +
    // h) + 4 h, V h and a norm.
    Published{"Grok-1",
              R"({"model_type": "grok-1", "num_hidden_layers": 64, "hidden_size": 6144,
                  "num_attention_heads": 48, "num_key_value_heads": 8,
                  "intermediate_size": 32768, "vocab_size": 131072, "num_experts": 8,
                  "num_experts_per_tok": 2})",
              315'684'820'992},
    Published{"Hunyuan A13B",
              R"({"model_type": "hunyuan_v1_moe", "num_hidden_layers": 32, "hidden_size": 4096,
                  "num_attention_heads": 32, "num_key_value_heads": 8,
                  "intermediate_size": 3072, "vocab_size": 128167, "head_dim": 128,
                  "num_experts": 64,
                  "moe_topk": [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8],
                  "tie_word_embeddings": true})",
              80'393'183'232},
    Published{"dots.llm1",
              R"({"model_type": "dots1", "num_hidden_layers": 62, "hidden_size": 4096,
                  "num_attention_heads": 32, "num_key_value_heads": 32,
                  "intermediate_size": 10944, "vocab_size": 152064,
                  "moe_intermediate_size": 1408, "n_routed_experts": 128, "n_shared_experts": 2,
                  "num_experts_per_tok": 6, "first_k_dense_replace": 1})",
              142'774'381'696},
    Published{"ERNIE 4.5 21B-A3B",
              R"({"model_type": "ernie4_5_moe", "num_hidden_layers": 28, "hidden_size": 2560,
                  "num_attention_heads": 20, "num_key_value_heads": 4,
                  "intermediate_size": 12288, "vocab_size": 103424, "moe_num_experts": 64,
                  "moe_k": 6, "moe_intermediate_size": 1536})",
              21'825'437'888},
    // 62 layers of (48 + 2 8) d h + 48 d h + (48 + 8) d + 256 (3 h f + h + 1) + 2 h, two tables
    // and a norm.
    Published{"MiniMax M2",
              R"({"model_type": "minimax_m2", "num_hidden_layers": 62, "hidden_size": 3072,
                  "num_attention_heads": 48, "num_key_value_heads": 8,
                  "intermediate_size": 1536, "vocab_size": 200064, "head_dim": 128,
                  "num_local_experts": 256, "num_experts_per_tok": 8,
                  "attn_type_list": [1, 1, 1], "use_mtp": true, "num_mtp_modules": 3,
                  "mtp_transformer_layers": 1, "qk_norm_type": "per_layer"})",
              228'689'764'864},
    // Without the layer for a further token, which has tables of its own in the published 358
    // billion.
    Published{"GLM-4.5",
              R"({"model_type": "glm4_moe", "num_hidden_layers": 92, "hidden_size": 5120,
                  "num_attention_heads": 96, "num_key_value_heads": 8,
                  "intermediate_size": 12288, "vocab_size": 151552, "head_dim": 128,
                  "attention_bias": true, "use_qk_norm": true, "moe_intermediate_size": 1536,
                  "n_routed_experts": 160, "n_shared_experts": 1, "num_experts_per_tok": 8,
                  "first_k_dense_replace": 3, "num_nextn_predict_layers": 1})",
              352'797'829'024},
    Published{"GLM-4.5 Air",
              R"({"model_type": "glm4_moe", "num_hidden_layers": 46, "hidden_size": 4096,
                  "num_attention_heads": 96, "num_key_value_heads": 8,
                  "intermediate_size": 10944, "vocab_size": 151552, "head_dim": 128,
                  "attention_bias": true, "moe_intermediate_size": 1408,
                  "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8,
                  "first_k_dense_replace": 1, "num_nextn_predict_layers": 1})",
              106'852'251'264},
    // Of 744 billion: 78 layers of latent attention with an indexer each, 75 of experts, two
    // tables; without the layer for a further token.  [GLM-5 2026]
    Published{"GLM-5",
              R"({"model_type": "glm_moe_dsa", "num_hidden_layers": 78, "hidden_size": 6144,
                  "num_attention_heads": 64, "num_key_value_heads": 64,
                  "intermediate_size": 12288, "vocab_size": 154880, "head_dim": 64, "max_position_embeddings": 202752,
                  "kv_lora_rank": 512, "q_lora_rank": 2048, "qk_rope_head_dim": 64,
                  "v_head_dim": 256, "qk_nope_head_dim": 192, "moe_intermediate_size": 2048,
                  "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
                  "first_k_dense_replace": 3, "num_nextn_predict_layers": 1,
                  "index_topk": 2048, "index_head_dim": 128, "index_n_heads": 32})",
              743'911'218'432},
    // As without eyes.
    Published{"Qwen3-VL 30B-A3B, its language model",
              R"({"model_type": "qwen3_vl_moe", "text_config": {
                  "model_type": "qwen3_vl_moe_text", "num_hidden_layers": 48,
                  "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 4,
                  "head_dim": 128, "intermediate_size": 6144, "vocab_size": 151936,
                  "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8}})",
              30'532'122'624},
};

TEST(HuggingFace, RefusesLayersThatShareTheirChoiceOfTokens) {
  const auto refusal = [](const std::string& key) -> std::string {
    try {
      static_cast<void>(imported_from(parse_json(
          R"({"model_type": "glm_moe_dsa", "num_hidden_layers": 2, "hidden_size": 64,
              "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 1024,
              "kv_lora_rank": 16, "q_lora_rank": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
              "qk_nope_head_dim": 8, "n_routed_experts": null, "max_position_embeddings": 64,
              "index_topk": 16,
              "index_head_dim": 16, "index_n_heads": 2, )" +
              key + "}",
          "config.json")));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(R"("index_topk_freq": 1, "indexer_types": ["full", "full"])"), "");
  EXPECT_NE(refusal(R"("indexer_types": ["full", "shared"])").find("indexer_types"),
            std::string::npos);
  EXPECT_NE(refusal(R"("index_topk_freq": 4)").find("index_topk_freq"), std::string::npos);
  EXPECT_NE(refusal(R"("index_topk_pattern": "FS")").find("index_topk_pattern"), std::string::npos);
}

TEST(HuggingFace, CountsMixturesToTheParameter) { expect_counts(kMixtures); }

}  // namespace TITER_TEST_FILE
}  // namespace titer
