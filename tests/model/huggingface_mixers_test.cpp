// HuggingFace's configurations of models with mixers: published parameter counts, tensor by tensor.
#include <gtest/gtest.h>

#include "model/samples.hpp"
#include "titer/model/huggingface/huggingface.hpp"

namespace titer {
namespace TITER_TEST_FILE {

ImportedModel imported(std::string_view text) {
  const Document document = parse_json(text, "config.json");
  Problems problems;
  Reader in(document, problems);
  ImportedModel model = read_huggingface(in);
  problems.raise();
  EXPECT_TRUE(model.ignored.empty()) << model.ignored.front();
  return model;
}

std::string problem_of(std::string_view text) {
  const Document document = parse_json(text, "config.json");
  Problems problems;
  Reader in(document, problems);
  static_cast<void>(read_huggingface(in));
  try {
    problems.raise();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Mamba-2: input product, convolution with bias, decay, D and bias of each head, norm, output.
std::int64_t mamba2(std::int64_t h, std::int64_t heads, std::int64_t groups, std::int64_t state) {
  const std::int64_t d = heads * 64;
  const std::int64_t convolved = d + 2 * groups * state;
  return h * (d + convolved + heads) + convolved * (4 + 1) + 3 * heads + d + d * h;
}

constexpr std::string_view kMamba2 =
    R"({"model_type": "mamba2", "hidden_size": 2560, "num_hidden_layers": 64, "num_heads": 80,
        "head_dim": 64, "state_size": 128, "n_groups": 1, "vocab_size": 50288, "expand": 2,
        "tie_word_embeddings": true, "use_mamba_kernels": true, "time_step_rank": 160})";

// [Dao & Gu 2024; state-spaces/mamba2-2.7b]
TEST(HuggingFaceMixers, CountMamba2) {
  const Transformer model = imported(kMamba2).model;
  const std::int64_t h = 2560;
  const std::int64_t expected = 64 * (mamba2(h, 80, 1, 128) + h) + 50'288 * h + h;
  EXPECT_EQ(expected, 2'702'599'680);
  EXPECT_EQ(parameters(model), expected);
  EXPECT_FALSE(model.has_attention());
  EXPECT_FALSE(model.shares_kv_heads(1));  // of which it has none
  Transformer shipped = samples::shipped("mamba2-2.7b");
  shipped.vocabulary = 50'288;  // its 50277 rows, padded
  EXPECT_EQ(parameters(shipped), expected);
  EXPECT_EQ(shipped.mixer, model.mixer);
}

// Gu & Dao's 2.8 billion: time steps of rank 160, no norms inside. [state-spaces/mamba-2.8b]
TEST(HuggingFaceMixers, CountMamba) {
  const std::int64_t h = 2560;
  const std::int64_t d = 2 * h;
  const std::int64_t layer =
      h * 2 * d + d * (4 + 1) + d * (160 + 2 * 16) + 160 * d + d + d * 16 + d + d * h + h;
  const Transformer model = imported(R"({"model_type": "mamba", "hidden_size": 2560,
      "num_hidden_layers": 64, "vocab_size": 50280, "state_size": 16, "time_step_rank": "auto"})")
                                .model;
  EXPECT_EQ(64 * layer + 50'280 * h + h, 2'768'345'600);
  EXPECT_EQ(parameters(model), 2'768'345'600);
}

constexpr std::string_view kNemotron =
    R"({"architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "hidden_size": 4096,
        "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
        "num_hidden_layers": 52, "intermediate_size": 21504, "num_attention_heads": 32,
        "num_key_value_heads": 8, "attention_head_dim": 128, "mamba_num_heads": 128,
        "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8, "chunk_size": 128,
        "max_position_embeddings": 8192, "vocab_size": 131072, "mlp_hidden_act": "relu2",
        "tie_word_embeddings": false, "residual_in_fp32": false, "time_step_floor": 0.0001})";

// 24 of Mamba-2, 24 MLPs, 4 of attention, each with its norm. [nvidia/Nemotron-H-8B-Base-8K]
TEST(HuggingFaceMixers, CountNemotronH) {
  const Transformer model = imported(kNemotron).model;
  const std::int64_t h = 4096;
  const std::int64_t attention = h * 128 * (32 + 2 * 8) + 32 * 128 * h;
  const std::int64_t expected = 24 * (mamba2(h, 128, 8, 128) + h) + 24 * (2 * h * 21'504 + h) +
                                4 * (attention + h) + 2 * 131'072 * h + h;
  EXPECT_EQ(expected, 8'100'852'736);
  EXPECT_EQ(parameters(model), expected);
  const Transformer shipped = samples::shipped("nemotron-h-8b");
  EXPECT_EQ(shipped.mixer, model.mixer);
  EXPECT_EQ(shipped.kinds, model.kinds);
  EXPECT_EQ(shipped.runs(), model.runs());
  EXPECT_EQ(parameters(shipped), expected);
}

void expect_shipped(const char* name, const Transformer& model) {
  SCOPED_TRACE(name);
  const Transformer shipped = samples::shipped(name);
  EXPECT_EQ(shipped.mixer, model.mixer);
  EXPECT_EQ(shipped.runs(), model.runs());
  EXPECT_EQ(shipped.positions, model.positions);
  EXPECT_EQ(parameters(shipped), parameters(model));
}

// Patterns as their configurations write them: 27 and 28 mixers, 4 and 6 of attention.
TEST(HuggingFaceMixers, CountNemotronNano2) {
  struct Case {
    const char* shipped;
    std::string config;
  };
  const std::string common =
      R"("model_type": "nemotron_h", "num_attention_heads": 40, "num_key_value_heads": 8,
         "head_dim": 128, "mamba_num_heads": 128, "mamba_head_dim": 80, "n_groups": 8,
         "ssm_state_size": 128, "conv_kernel": 4, "chunk_size": 128, "vocab_size": 131072,
         "tie_word_embeddings": false, "max_position_embeddings": 131072, )";
  const std::array cases = {
      Case{"nemotron-nano-9b-v2",
           R"("hidden_size": 4480, "num_hidden_layers": 56, "intermediate_size": 15680,
              "hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-")"},
      Case{"nemotron-nano-12b-v2",
           R"("hidden_size": 5120, "num_hidden_layers": 62, "intermediate_size": 20480,
              "hybrid_override_pattern": "M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M-")"}};
  for (const Case& one : cases) {
    expect_shipped(one.shipped, imported("{" + common + one.config + "}").model);
  }
}

constexpr std::string_view kNemotron3Nano =
    R"({"architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "hidden_size": 2688,
        "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
        "num_hidden_layers": 52, "intermediate_size": 1856, "num_attention_heads": 32,
        "num_key_value_heads": 2, "head_dim": 128, "mamba_num_heads": 64, "mamba_head_dim": 64,
        "ssm_state_size": 128, "n_groups": 8, "chunk_size": 128, "n_routed_experts": 128,
        "num_experts_per_tok": 6, "moe_intermediate_size": 1856, "n_shared_experts": 1,
        "moe_shared_expert_intermediate_size": 3712, "moe_latent_size": null,
        "num_nextn_predict_layers": 0, "max_position_embeddings": 262144, "vocab_size": 131072})";

// 23 of Mamba-2, 23 of experts, 6 of attention. [nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16, whose
// 31.6 billion parameters its card rounds to 30]
TEST(HuggingFaceMixers, CountNemotron3Nano) {
  const Transformer model = imported(kNemotron3Nano).model;
  const std::int64_t h = 2688;
  const std::int64_t attention = h * 128 * (32 + 2 * 2) + 32 * 128 * h;
  const std::int64_t router = 128 * h + 128;
  const std::int64_t expert = 2 * h * 1856;
  const std::int64_t expected = 23 * (mamba2(h, 64, 8, 128) + h) + 6 * (attention + h) +
                                23 * (128 * expert + 2 * h * 3712 + router + h) + 2 * 131'072 * h +
                                h;
  EXPECT_EQ(expected, 31'577'940'288);
  EXPECT_EQ(parameters(model), expected);
  EXPECT_EQ(active_parameters(model), expected - 23 * (128 - 6) * expert);
  const Transformer shipped = samples::shipped("nemotron-3-nano-30b-a3b");
  EXPECT_EQ(shipped.mixer, model.mixer);
  EXPECT_EQ(shipped.runs(), model.runs());
  EXPECT_EQ(parameters(shipped), expected);
}

// 40 of Mamba-2, 40 of 512 experts that work on latents of 1024, 8 of attention; a module for
// further tokens besides. Newer files leave the number of layers to their list.
// [nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16]
TEST(HuggingFaceMixers, CountNemotron3Super) {
  const Transformer shipped = samples::shipped("nemotron-3-super-120b-a12b");
  std::string types;
  for (const LayerRun& run : shipped.runs()) {
    const LayerKind& kind = shipped.kinds[static_cast<std::size_t>(run.kind)];
    const char* type = kind.experts                        ? "moe"
                       : kind.tokens == TokenMixing::mixer ? "mamba"
                                                           : "attention";
    types += (types.empty() ? "\"" : ", \"") + std::string(type) + "\"";
    EXPECT_EQ(run.count, 1);
  }
  const Transformer model = imported(R"({"model_type": "nemotron_h", "hidden_size": 4096,
      "layers_block_type": [)" + types +
                                     R"(], "num_hidden_layers": null,
      "intermediate_size": 2688, "num_attention_heads": 32, "num_key_value_heads": 2,
      "head_dim": 128, "mamba_num_heads": 128, "mamba_head_dim": 64, "ssm_state_size": 128,
      "n_groups": 8, "chunk_size": 128, "n_routed_experts": 512, "num_experts_per_tok": 22,
      "moe_intermediate_size": 2688, "moe_latent_size": 1024, "n_shared_experts": 1,
      "moe_shared_expert_intermediate_size": 5376, "num_nextn_predict_layers": 1,
      "mtp_layers_block_type": ["attention", "moe"], "vocab_size": 131072})")
                                .model;
  const std::int64_t h = 4096;
  const std::int64_t attention = h * 128 * (32 + 2 * 2) + 32 * 128 * h + h;
  const std::int64_t expert = 2 * 1024 * 2688;
  const std::int64_t experts = 512 * expert + 2 * h * 1024 + 2 * h * 5376 + 512 * h + 512 + h;
  const std::int64_t expected =
      40 * (mamba2(h, 128, 8, 128) + h) + 8 * attention + 40 * experts + 2 * 131'072 * h + h;
  EXPECT_EQ(expected, 120'668'707'840);
  EXPECT_EQ(parameters(model), expected);
  EXPECT_EQ(parameters(shipped), expected);
  EXPECT_EQ(active_parameters(model), expected - 40 * (512 - 22) * expert);
  EXPECT_EQ(prediction_parameters(model).total(), 2 * h * h + attention + experts + 3 * h);
  EXPECT_EQ(prediction_parameters(shipped), prediction_parameters(model));
  EXPECT_EQ(model.predicted_layer, shipped.predicted_layer);
  EXPECT_EQ(model.experts->latent, 1024);
}

TEST(HuggingFaceMixers, RefuseNemotronsModulesOfMoreThanALayer) {
  std::string text(kNemotron3Nano);
  const std::string none = "\"num_nextn_predict_layers\": 0";
  text.replace(text.find(none),
               none.size(),
               R"("num_nextn_predict_layers": 1, "mtp_hybrid_override_pattern": "M*E")");
  EXPECT_NE(
      problem_of(text).find("mtp_hybrid_override_pattern: \"M*E\": expected one layer, or one "
                            "that mixes tokens"),
      std::string::npos)
      << problem_of(text);
}

TEST(HuggingFaceMixers, RefuseNemotronsPatternsThatSayOtherwise) {
  std::string longer(kNemotron);
  longer.replace(longer.find(": 52"), 4, ": 53");
  EXPECT_NE(problem_of(longer).find("num_hidden_layers: 53: expected the 52 layers of the pattern"),
            std::string::npos);
  std::string other(kNemotron);
  other.replace(other.find("M-M-M-M*"), 1, "G");
  EXPECT_NE(problem_of(other).find("there are none of G yet"), std::string::npos);
}

// Three of four layers gated delta-net, the fourth with a gate as wide as its queries; 512 experts
// and one for all tokens. Published weights have a module for a further token besides.
// [Qwen/Qwen3-Next-80B-A3B-Instruct]
TEST(HuggingFaceMixers, CountQwen3Next) {
  const Transformer model = imported(R"({"model_type": "qwen3_next", "hidden_size": 2048,
      "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 2,
      "head_dim": 256, "intermediate_size": 5120, "num_experts": 512, "num_experts_per_tok": 10,
      "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
      "linear_num_value_heads": 32, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
      "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "full_attention_interval": 4,
      "max_position_embeddings": 262144, "vocab_size": 151936, "partial_rotary_factor": 0.25})")
                                .model;
  const std::int64_t h = 2048;
  const std::int64_t keys = 16 * 128;
  const std::int64_t values = 32 * 128;
  const std::int64_t delta = h * (2 * keys + 2 * values) + h * 2 * 32 + (2 * keys + values) * 4 +
                             2 * 32 + 128 + values * h;
  const std::int64_t attention = h * 256 * (2 * 16 + 2 * 2) + 16 * 256 * h + 2 * 256;
  const std::int64_t expert = 3 * h * 512;
  const std::int64_t every = (512 + 1) * expert + 512 * h + h + 2 * h;
  const std::int64_t expected = 36 * delta + 12 * attention + 48 * every + 2 * 151'936 * h + h;
  EXPECT_EQ(expected, 79'674'391'296);
  EXPECT_EQ(parameters(model), expected);
  EXPECT_EQ(active_parameters(model), expected - 48 * (512 - 10) * expert);
  const Transformer shipped = samples::shipped("qwen3-next-80b-a3b");
  EXPECT_EQ(shipped.mixer, model.mixer);
  EXPECT_EQ(shipped.runs(), model.runs());
  EXPECT_EQ(parameters(shipped), expected);
}

// Seven of eight layers lightning attention, all with 32 experts. [MiniMaxAI/MiniMax-Text-01]
TEST(HuggingFaceMixers, CountMiniMaxText01) {
  std::string types;
  for (int layer = 0; layer < 80; ++layer) {
    types += (layer > 0 ? ", " : "") + std::string(layer % 8 == 7 ? "1" : "0");
  }
  const Transformer model =
      imported(R"({"model_type": "minimax_text_01", "architectures": ["MiniMaxText01ForCausalLM"],
      "hidden_size": 6144, "num_hidden_layers": 80, "num_attention_heads": 64,
      "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 9216,
      "num_local_experts": 32, "num_experts_per_tok": 2, "shared_intermediate_size": 0,
      "max_position_embeddings": 10240000, "vocab_size": 200064, "postnorm": true,
      "attn_type_list": [)" +
               types + "]}")
          .model;
  const std::int64_t h = 6144;
  const std::int64_t d = 64 * 128;
  const std::int64_t lightning = h * 3 * d + h * d + d + d * h;
  const std::int64_t attention = h * 128 * (64 + 2 * 8) + d * h;
  const std::int64_t every = 32 * 3 * h * 9216 + 32 * h + 2 * h;
  const std::int64_t expected = 70 * lightning + 10 * attention + 80 * every + 2 * 200'064 * h + h;
  EXPECT_EQ(expected, 456'089'655'296);
  EXPECT_EQ(parameters(model), expected);
  const Transformer shipped = samples::shipped("minimax-text-01");
  EXPECT_EQ(shipped.mixer, model.mixer);
  EXPECT_EQ(shipped.runs(), model.runs());
  EXPECT_EQ(parameters(shipped), expected);
}

// One of eight layers attention, every second with 16 experts; Mamba with norms of its own.
// [ai21labs/Jamba-v0.1]
TEST(HuggingFaceMixers, CountJamba) {
  const Transformer model = imported(R"({"model_type": "jamba", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 14336, "num_experts": 16, "num_experts_per_tok": 2,
      "mamba_dt_rank": 256, "max_position_embeddings": 262144, "vocab_size": 65536})")
                                .model;
  const std::int64_t h = 4096;
  const std::int64_t d = 2 * h;
  const std::int64_t mamba = h * 2 * d + d * (4 + 1) + d * (256 + 2 * 16) + 256 * d + d + d * 16 +
                             d + d * h + (256 + 2 * 16);
  const std::int64_t attention = h * 128 * (32 + 2 * 8) + h * h;
  const std::int64_t mlp = 3 * h * 14'336;
  const std::int64_t expected = 28 * mamba + 4 * attention + 16 * mlp + 16 * (16 * mlp + 16 * h) +
                                32 * 2 * h + 2 * 65'536 * h + h;
  EXPECT_EQ(expected, 51'570'323'328);
  EXPECT_EQ(parameters(model), expected);
  expect_shipped("jamba-1.5-mini", model);
  const Transformer large = imported(R"({"model_type": "jamba", "hidden_size": 8192,
      "num_hidden_layers": 72, "num_attention_heads": 64, "num_key_value_heads": 8,
      "intermediate_size": 24576, "num_experts": 16, "num_experts_per_tok": 2,
      "mamba_dt_rank": 512, "max_position_embeddings": 262144, "vocab_size": 65536})")
                                .model;
  expect_shipped("jamba-1.5-large", large);
}

// [ibm-ai-platform/Bamba-9B; ibm-granite/granite-4.0-h-tiny]
TEST(HuggingFaceMixers, CountBambaAndGranite) {
  const Transformer bamba = imported(R"({"model_type": "bamba", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 14336, "attn_layer_indices": [9, 18, 27], "mamba_n_heads": 128,
      "mamba_d_head": 64, "mamba_d_state": 128, "mamba_n_groups": 1, "mamba_expand": 2,
      "max_position_embeddings": 262144, "vocab_size": 128256})")
                                .model;
  const std::int64_t h = 4096;
  EXPECT_EQ(parameters(bamba),
            29 * mamba2(h, 128, 1, 128) + 3 * (h * 128 * (32 + 2 * 8) + h * h) +
                32 * (3 * h * 14'336 + 2 * h) + 2 * 128'256 * h + h);
  expect_shipped("bamba-9b", bamba);

  std::string types;
  for (int layer = 0; layer < 40; ++layer) {
    types +=
        (layer > 0 ? ", " : "") + std::string(layer % 10 == 5 ? R"("attention")" : R"("mamba")");
  }
  const std::string config = R"({"model_type": "granitemoehybrid", "hidden_size": 1536,
      "num_hidden_layers": 40, "num_attention_heads": 12, "num_key_value_heads": 4,
      "intermediate_size": 512, "shared_intermediate_size": 1024, "num_local_experts": 64,
      "num_experts_per_tok": 6, "mamba_n_heads": 48, "mamba_d_head": "auto", "mamba_d_state": 128,
      "mamba_n_groups": 1, "position_embedding_type": "nope", "tie_word_embeddings": true,
      "max_position_embeddings": 131072, "vocab_size": 100352, "logits_scaling": 6,
      "layer_types": [)" + types +
                             "]}";
  const std::int64_t g = 1536;
  const std::int64_t experts = 64 * 3 * g * 512 + 64 * g + 3 * g * 1024;
  EXPECT_EQ(parameters(imported(config).model),
            36 * mamba2(g, 48, 1, 128) + 4 * (g * 128 * (12 + 2 * 4) + g * g) +
                40 * (experts + 2 * g) + 100'352 * g + g);
  std::string dense = config;
  dense.replace(dense.find(R"("num_local_experts": 64)"), 23, R"("num_local_experts": 0)");
  EXPECT_EQ(imported(dense).model.ffn, 1024);
  EXPECT_EQ(imported(dense).model.experts, std::nullopt);
  const std::string small = R"({"model_type": "granitemoehybrid", "hidden_size": 4096,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 768, "shared_intermediate_size": 1536, "num_local_experts": 72,
      "num_experts_per_tok": 10, "mamba_n_heads": 128, "mamba_d_head": 64, "mamba_d_state": 128,
      "mamba_n_groups": 1, "position_embedding_type": "nope", "tie_word_embeddings": true,
      "max_position_embeddings": 131072, "vocab_size": 100352, "layer_types": [)" +
                            types + "]}";
  expect_shipped("granite-4.0-h-small", imported(small).model);
}

// Three of four layers delta attention with decays of low rank, latent attention without positions,
// 256 experts but in the first layer. [moonshotai/Kimi-Linear-48B-A3B-Base]
TEST(HuggingFaceMixers, CountKimiLinear) {
  const Transformer model = imported(R"({"model_type": "kimi_linear", "hidden_size": 2304,
      "num_hidden_layers": 27, "num_attention_heads": 32, "num_key_value_heads": 32,
      "head_dim": 72, "intermediate_size": 9216, "kv_lora_rank": 512, "q_lora_rank": null,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "mla_use_nope": true,
      "num_experts": 256, "num_experts_per_token": 8, "num_shared_experts": 1,
      "moe_intermediate_size": 1024, "first_k_dense_replace": 1, "moe_layer_freq": 1,
      "num_expert_group": 1, "vocab_size": 163840, "linear_attn_config": {
        "full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "num_heads": 32, "head_dim": 128,
        "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
        "short_conv_kernel_size": 4}})")
                                .model;
  const std::int64_t h = 2304;
  const std::int64_t d = 32 * 128;
  const std::int64_t low_rank = h * 128 + 128 * d;  // of decays, and of gates
  const std::int64_t delta = 3 * h * d + 3 * d * 4 + h * 32 + 2 * low_rank + 32 + d + 128 + d * h;
  const std::int64_t latent = h * 32 * (128 + 64) + h * (512 + 64) + 512 + 512 * 32 * 256 + d * h;
  const std::int64_t expert = 3 * h * 1024;
  const std::int64_t expected = 20 * delta + 7 * latent + 3 * h * 9216 +
                                26 * (257 * expert + 256 * h + 256) + 27 * 2 * h + 2 * 163'840 * h +
                                h;
  EXPECT_EQ(expected, 49'122'681'728);
  EXPECT_EQ(parameters(model), expected);
}

TEST(HuggingFaceMixers, RefuseListsOfOtherLengthsAndHeadsThatDoNotShare) {
  std::string heads(kMamba2);
  heads.replace(heads.find(R"("n_groups": 1)"), 13, R"("n_groups": 3)");
  EXPECT_NE(problem_of(heads).find("expected heads of keys that divide the 80 heads of values"),
            std::string::npos);
  EXPECT_NE(problem_of(R"({"model_type": "minimax", "hidden_size": 64, "num_hidden_layers": 4,
      "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 64,
      "num_local_experts": 4, "num_experts_per_tok": 2, "vocab_size": 100,
      "max_position_embeddings": 64, "attn_type_list": [0, 1]})")
                .find("expected one for each of the 4 layers, not 2"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
