// Parameter counts of published models, to the parameter, from configurations of only the keys that
// the count follows from.
#include <filesystem>

#include "model/published_counts.hpp"
#include "paths.hpp"
#include "titer/input/file.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::array kModels = {
    // GPT-2: tied, all biases. [Radford 2019; counts of the published weights]
    Published{"GPT-2",
              R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12,
                  "vocab_size": 50257, "n_positions": 1024})",
              124'439'808},
    Published{"GPT-2 medium",
              R"({"model_type": "gpt2", "n_layer": 24, "n_embd": 1024, "n_head": 16,
                  "vocab_size": 50257, "n_positions": 1024})",
              354'823'168},
    Published{"GPT-2 large",
              R"({"model_type": "gpt2", "n_layer": 36, "n_embd": 1280, "n_head": 20,
                  "vocab_size": 50257, "n_positions": 1024})",
              774'030'080},
    Published{"GPT-2 XL",
              R"({"model_type": "gpt2", "n_layer": 48, "n_embd": 1600, "n_head": 25,
                  "vocab_size": 50257, "n_positions": 1024})",
              1'557'611'200},
    // A bias of the output matrix, none in attention; one norm for both branches.
    Published{"GPT-J 6B",
              R"({"model_type": "gptj", "n_layer": 28, "n_embd": 4096, "n_head": 16,
                  "vocab_size": 50400, "n_positions": 2048})",
              6'050'882'784},
    // [Black 2022; Pythia: Biderman 2023, table 1]
    Published{"GPT-NeoX 20B",
              R"({"model_type": "gpt_neox", "num_hidden_layers": 44, "hidden_size": 6144,
                  "num_attention_heads": 64, "intermediate_size": 24576, "vocab_size": 50432,
                  "max_position_embeddings": 2048})",
              20'554'567'680},
    Published{"Pythia 160M",
              R"({"model_type": "gpt_neox", "num_hidden_layers": 12, "hidden_size": 768,
                  "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 50304,
                  "max_position_embeddings": 2048})",
              162'322'944},
    Published{"Pythia 12B",
              R"({"model_type": "gpt_neox", "num_hidden_layers": 36, "hidden_size": 5120,
                  "num_attention_heads": 40, "intermediate_size": 20480, "vocab_size": 50688,
                  "max_position_embeddings": 2048})",
              11'846'072'320},
    // OPT: two more positions than told. [Zhang 2022]
    Published{"OPT 125M",
              R"({"model_type": "opt", "num_hidden_layers": 12, "hidden_size": 768,
                  "num_attention_heads": 12, "ffn_dim": 3072, "vocab_size": 50272,
                  "max_position_embeddings": 2048, "word_embed_proj_dim": 768})",
              125'239'296},
    Published{"OPT 1.3B",
              R"({"model_type": "opt", "num_hidden_layers": 24, "hidden_size": 2048,
                  "num_attention_heads": 32, "ffn_dim": 8192, "vocab_size": 50272,
                  "max_position_embeddings": 2048, "word_embed_proj_dim": 2048})",
              1'315'758'080},
    Published{"OPT 6.7B",
              R"({"model_type": "opt", "num_hidden_layers": 32, "hidden_size": 4096,
                  "num_attention_heads": 32, "ffn_dim": 16384, "vocab_size": 50272,
                  "max_position_embeddings": 2048, "word_embed_proj_dim": 4096})",
              6'658'473'984},
    // BLOOM: a norm behind the embedding, no table of positions. [Le Scao 2022, table 3]
    Published{"BLOOM 560M",
              R"({"model_type": "bloom", "n_layer": 24, "hidden_size": 1024,
                  "num_attention_heads": 16, "vocab_size": 250880})",
              559'214'592},
    Published{"BLOOM 7B1",
              R"({"model_type": "bloom", "n_layer": 30, "hidden_size": 4096,
                  "num_attention_heads": 32, "vocab_size": 250880})",
              7'069'016'064},
    Published{"BLOOM 176B",
              R"({"model_type": "bloom", "n_layer": 70, "n_embed": 14336,
                  "num_attention_heads": 112, "vocab_size": 250880})",
              176'247'271'424},
    // Falcon: one key-value head and one norm; groups and two norms in the larger.
    Published{"Falcon 7B",
              R"({"model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544,
                  "num_attention_heads": 71, "vocab_size": 65024, "multi_query": true,
                  "parallel_attn": true, "bias": false, "alibi": false})",
              6'921'720'704},
    Published{"Falcon 40B",
              R"({"model_type": "falcon", "num_hidden_layers": 60, "hidden_size": 8192,
                  "num_attention_heads": 128, "num_kv_heads": 8, "vocab_size": 65024,
                  "new_decoder_architecture": true, "bias": false, "alibi": false})",
              41'303'293'952},
    Published{"Phi-2",
              R"({"model_type": "phi", "num_hidden_layers": 32, "hidden_size": 2560,
                  "num_attention_heads": 32, "intermediate_size": 10240, "vocab_size": 51200,
                  "max_position_embeddings": 2048})",
              2'779'683'840},
    Published{"Phi-3 mini",
              R"({"model_type": "phi3", "num_hidden_layers": 32, "hidden_size": 3072,
                  "num_attention_heads": 32, "num_key_value_heads": 32,
                  "intermediate_size": 8192, "vocab_size": 32064, "sliding_window": 2047,
                  "max_position_embeddings": 4096})",
              3'821'079'552},
    // [Touvron 2023; Llama 3 2024]
    Published{"Llama 2 13B",
              R"({"model_type": "llama", "num_hidden_layers": 40, "hidden_size": 5120,
                  "num_attention_heads": 40, "intermediate_size": 13824, "vocab_size": 32000,
                  "max_position_embeddings": 4096})",
              13'015'864'320},
    Published{"Llama 2 70B",
              R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 80,
                  "hidden_size": 8192, "num_attention_heads": 64, "num_key_value_heads": 8,
                  "intermediate_size": 28672, "vocab_size": 32000,
                  "max_position_embeddings": 4096})",
              68'976'648'192},
    Published{"Llama 3.2 1B",
              R"({"model_type": "llama", "num_hidden_layers": 16, "hidden_size": 2048,
                  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
                  "intermediate_size": 8192, "vocab_size": 128256,
                  "max_position_embeddings": 131072, "tie_word_embeddings": true})",
              1'235'814'400},
    Published{"Llama 3.2 3B",
              R"({"model_type": "llama", "num_hidden_layers": 28, "hidden_size": 3072,
                  "num_attention_heads": 24, "num_key_value_heads": 8, "head_dim": 128,
                  "intermediate_size": 8192, "vocab_size": 128256,
                  "max_position_embeddings": 131072, "tie_word_embeddings": true})",
              3'212'749'824},
    Published{"Mistral 7B",
              R"({"model_type": "mistral", "num_hidden_layers": 32, "hidden_size": 4096,
                  "num_attention_heads": 32, "num_key_value_heads": 8,
                  "intermediate_size": 14336, "vocab_size": 32000, "sliding_window": 4096,
                  "max_position_embeddings": 32768})",
              7'241'732'096},
    Published{"Mixtral 8x22B",
              R"({"model_type": "mixtral", "num_hidden_layers": 56, "hidden_size": 6144,
                  "num_attention_heads": 48, "num_key_value_heads": 8, "num_local_experts": 8,
                  "num_experts_per_tok": 2, "intermediate_size": 16384, "vocab_size": 32768,
                  "max_position_embeddings": 65536})",
              140'630'071'296},
    // Biases of queries, keys and values.
    Published{"Qwen2 0.5B",
              R"({"model_type": "qwen2", "num_hidden_layers": 24, "hidden_size": 896,
                  "num_attention_heads": 14, "num_key_value_heads": 2,
                  "intermediate_size": 4864, "vocab_size": 151936, "tie_word_embeddings": true,
                  "max_position_embeddings": 131072})",
              494'032'768},
    Published{"Qwen2 72B",
              R"({"model_type": "qwen2", "num_hidden_layers": 80, "hidden_size": 8192,
                  "num_attention_heads": 64, "num_key_value_heads": 8,
                  "intermediate_size": 29568, "vocab_size": 152064,
                  "max_position_embeddings": 131072})",
              72'706'203'648},
    Published{"Qwen1.5 MoE A2.7B",
              R"({"model_type": "qwen2_moe", "num_hidden_layers": 24, "hidden_size": 2048,
                  "num_attention_heads": 16, "num_key_value_heads": 16,
                  "intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4,
                  "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
                  "vocab_size": 151936, "max_position_embeddings": 8192})",
              14'315'784'192},
    Published{"Qwen3 0.6B",
              R"({"model_type": "qwen3", "num_hidden_layers": 28, "hidden_size": 1024,
                  "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
                  "intermediate_size": 3072, "vocab_size": 151936, "tie_word_embeddings": true,
                  "max_position_embeddings": 40960})",
              596'049'920},
    Published{"Qwen3 8B",
              R"({"model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096,
                  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
                  "intermediate_size": 12288, "vocab_size": 151936,
                  "max_position_embeddings": 40960})",
              8'190'735'360},
    // Latent attention, shared experts, dense layers first. [DeepSeek-V2 2024; Kimi K2 2025]
    Published{"DeepSeek V2",
              R"({"model_type": "deepseek_v2", "num_hidden_layers": 60, "hidden_size": 5120,
                  "num_attention_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512,
                  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
                  "intermediate_size": 12288, "moe_intermediate_size": 1536,
                  "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6,
                  "n_group": 8, "topk_group": 3, "topk_method": "group_limited_greedy",
                  "first_k_dense_replace": 1, "vocab_size": 102400,
                  "max_position_embeddings": 163840})",
              235'741'434'880},
    Published{"Kimi K2",
              R"({"model_type": "kimi_k2", "num_hidden_layers": 61, "hidden_size": 7168,
                  "num_attention_heads": 64, "q_lora_rank": 1536, "kv_lora_rank": 512,
                  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
                  "intermediate_size": 18432, "moe_intermediate_size": 2048,
                  "n_routed_experts": 384, "n_shared_experts": 1, "num_experts_per_tok": 8,
                  "n_group": 1, "topk_group": 1, "topk_method": "noaux_tc",
                  "first_k_dense_replace": 1, "vocab_size": 163840,
                  "max_position_embeddings": 131072})",
              1'026'408'232'448},
    // Gemma: tied, wide heads; four norms from the second on. [Gemma 2 2024; Gemma 3 2025]
    Published{"Gemma 2B",
              R"({"model_type": "gemma", "num_hidden_layers": 18, "hidden_size": 2048,
                  "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256,
                  "intermediate_size": 16384, "vocab_size": 256000,
                  "max_position_embeddings": 8192})",
              2'506'172'416},
    Published{"Gemma 7B",
              R"({"model_type": "gemma", "num_hidden_layers": 28, "hidden_size": 3072,
                  "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 256,
                  "intermediate_size": 24576, "vocab_size": 256000,
                  "max_position_embeddings": 8192})",
              8'537'680'896},
    Published{"Gemma 2 9B",
              R"({"model_type": "gemma2", "num_hidden_layers": 42, "hidden_size": 3584,
                  "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
                  "intermediate_size": 14336, "vocab_size": 256000, "sliding_window": 4096,
                  "max_position_embeddings": 8192})",
              9'241'705'984},
    Published{"Gemma 2 27B",
              R"({"model_type": "gemma2", "num_hidden_layers": 46, "hidden_size": 4608,
                  "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
                  "intermediate_size": 36864, "vocab_size": 256000, "sliding_window": 4096,
                  "max_position_embeddings": 8192})",
              27'227'128'320},
    Published{"Gemma 3 1B",
              R"({"model_type": "gemma3_text", "num_hidden_layers": 26, "hidden_size": 1152,
                  "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256,
                  "intermediate_size": 6912, "vocab_size": 262144, "sliding_window": 512,
                  "max_position_embeddings": 32768})",
              999'885'952},
    // Biases everywhere, sinks. [gpt-oss model card 2025, table 1]
    Published{"gpt-oss 20B",
              R"({"model_type": "gpt_oss", "num_hidden_layers": 24, "hidden_size": 2880,
                  "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
                  "intermediate_size": 2880, "num_local_experts": 32, "num_experts_per_tok": 4,
                  "vocab_size": 201088, "sliding_window": 128,
                  "max_position_embeddings": 131072})",
              20'914'757'184},
    Published{"gpt-oss 120B",
              R"({"model_type": "gpt_oss", "num_hidden_layers": 36, "hidden_size": 2880,
                  "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
                  "intermediate_size": 2880, "num_local_experts": 128,
                  "num_experts_per_tok": 4, "vocab_size": 201088, "sliding_window": 128,
                  "max_position_embeddings": 131072})",
              116'829'156'672},
};

TEST(HuggingFace, CountsPublishedModelsToTheParameter) { expect_counts(kModels); }

/// Files as their authors publish them.
struct Sample {
  std::string_view file;
  std::int64_t parameters;
  std::int64_t further;      // parameters of modules that predict further tokens
  std::string_view shipped;  // the same model in this program's own keys
};
// An indexer: queries of 64 heads of 128 from their latent, a key and its norm, 64 weights.
constexpr std::int64_t kIndexer = 1536 * 64 * 128 + 7168 * 128 + 2 * 128 + 7168 * 64;
constexpr std::int64_t kDeepSeekV3 = 671'026'419'200;
// Two hidden states to one, three norms, and a layer of experts: what 58 such layers, 3 dense ones
// and two tables make of the whole, less these.  [DeepSeek-V3 2024, section 4.2]
constexpr std::int64_t kDeepSeekDense = 3 * 7168 * 18432;
constexpr std::int64_t kDeepSeekExperts =
    (256 + 1) * 3LL * 7168 * 2048 + 7168 * 256 + 256;  // and the router with its bias
constexpr std::int64_t kDeepSeekAttention =
    (kDeepSeekV3 - 2 * 129280LL * 7168 - 7168 - 58 * kDeepSeekExperts - 3 * kDeepSeekDense) / 61;
constexpr std::int64_t kFurther =
    kDeepSeekAttention + kDeepSeekExperts + 2LL * 7168 * 7168 + 3 * 7168;
constexpr std::array kSamples = {
    Sample{"deepseek-ai--DeepSeek-V3", kDeepSeekV3, kFurther, "deepseek-v3"},
    Sample{"deepseek-ai--DeepSeek-V3.2", kDeepSeekV3 + 61 * kIndexer, kFurther + kIndexer, ""},
    Sample{"deepseek-v2-lite", 15'706'484'224, 0, "deepseek-v2-lite"},
    Sample{"llama-2-7b-hf", 6'738'415'616, 0, "llama2-7b"},
    Sample{"llama2-7b-flagperf", 6'738'415'616, 0, "llama2-7b"},
    Sample{"meta-llama--Llama-4-Scout-17B-16E-Instruct", 107'769'861'120, 0, "llama4-scout"},
    Sample{"meta-llama--Meta-Llama-3.1-8B", 8'030'261'248, 0, "llama3-8b"},
    Sample{"meta-llama--Meta-Llama-3.1-70B", 70'553'706'496, 0, "llama3-70b"},
    Sample{"meta-llama--Meta-Llama-3.1-405B", 405'853'388'800, 0, "llama3-405b"},
    Sample{"mistralai--Mixtral-8x7B-v0.1", 46'702'792'704, 0, "mixtral-8x7b"},
    Sample{"qwen2.5-7b-instruct", 7'615'616'512, 0, ""},
    Sample{"Qwen--Qwen3-30B-A3B", 30'532'122'624, 0, "qwen3-30b-a3b"},
    Sample{"Qwen--Qwen3-235B-A22B", 235'093'634'560, 0, "qwen3-235b-a22b"},
};

const std::filesystem::path kFolder = testing::root() / "../shared/samples/hf_config";

TEST(HuggingFace, CountsFilesAsPublishedToTheParameter) {
  if (!std::filesystem::exists(kFolder)) {
    GTEST_SKIP() << kFolder << " is not there";
  }
  for (const Sample& row : kSamples) {
    const ImportedModel read =
        imported_from(load_json(kFolder / (std::string(row.file) + ".json")));
    EXPECT_EQ(parameters(read.model), row.parameters) << row.file;
    EXPECT_EQ(prediction_parameters(read.model).total(), row.further) << row.file;
    EXPECT_TRUE(read.ignored.empty()) << row.file << ": " << read.ignored.front();
  }
}

/// All that the layers' operations follow from.
void expect_same(const Transformer& read, const Transformer& shipped, std::string_view file) {
  EXPECT_EQ(read.kinds, shipped.kinds) << file;
  EXPECT_EQ(read.runs(), shipped.runs()) << file;
  for (const LayerKind& kind : read.kinds) {
    EXPECT_EQ(layer_parameters(read, kind), layer_parameters(shipped, kind)) << file;
  }
  EXPECT_EQ(head_parameters(read, 1).total(), head_parameters(shipped, 1).total()) << file;
  EXPECT_EQ(active_parameters(read), active_parameters(shipped)) << file;
  EXPECT_EQ(read.dropout, shipped.dropout) << file;
  EXPECT_EQ(read.positions, shipped.positions) << file;
  const auto flops = [](const Transformer& model) {
    return forward_flops(model, 1, 32768, AttentionCount::causal).total();
  };
  EXPECT_EQ(flops(read), flops(shipped)) << file;
  ASSERT_EQ(read.experts.has_value(), shipped.experts.has_value()) << file;
  if (read.experts) {
    EXPECT_EQ(read.experts->routing.groups, shipped.experts->routing.groups) << file;
    EXPECT_EQ(read.experts->routing.groups_chosen, shipped.experts->routing.groups_chosen) << file;
  }
}

TEST(HuggingFace, FilesAreTheShippedModelsOfTheirNames) {
  if (!std::filesystem::exists(kFolder)) {
    GTEST_SKIP() << kFolder << " is not there";
  }
  for (const Sample& row : kSamples) {
    if (!row.shipped.empty()) {
      Transformer shipped = samples::shipped(std::string(row.shipped));
      shipped.vocabulary_multiple = 1;
      const std::filesystem::path file = kFolder / (std::string(row.file) + ".json");
      expect_same(imported_from(load_json(file)).model, shipped, row.file);
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
