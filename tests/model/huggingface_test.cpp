#include "titer/model/huggingface/huggingface.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "model/samples.hpp"
#include "paths.hpp"
#include "titer/input/file.hpp"
#include "titer/model/transformer/tower.hpp"

namespace titer {
namespace TITER_TEST_FILE {

ImportedModel imported(std::string_view text, std::string_view name_otherwise = "") {
  const Document document = parse_json(text, "config.json");
  Problems problems;
  Reader in(document, problems);
  ImportedModel model = read_huggingface(in, name_otherwise);
  problems.raise();
  return model;
}

std::vector<std::string> problems_of(std::string_view text) {
  try {
    static_cast<void>(imported(text));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

/// A small configuration of a type, with more keys.
std::string config(std::string_view type, std::string_view more) {
  return R"({"model_type": ")" + std::string(type) + R"(", "num_hidden_layers": 12,
             "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
             "intermediate_size": 96, "vocab_size": 1000, "max_position_embeddings": 512, )" +
         std::string(more) + "}";
}
constexpr std::string_view kDeepSeek = R"("q_lora_rank": 24, "kv_lora_rank": 32,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 12, "moe_intermediate_size": 40,
    "n_routed_experts": 8, "num_experts_per_tok": 2)";

std::string deepseek(std::string_view type, std::string_view more) {
  return config(type, std::string(kDeepSeek) + std::string(more));
}

std::vector<LayerRun> runs_of(std::string_view type, std::string_view more) {
  return imported(config(type, more)).model.runs();
}

TEST(HuggingFace, IsReadWhereverAModelIs) {
  const Transformer model = samples::read_model(config("llama", R"("bos_token_id": 1)"));
  EXPECT_EQ(model.name, "llama");
  EXPECT_EQ(model.kv_heads, 2);
  EXPECT_EQ(model.head_dim, 64 / 4);
  EXPECT_TRUE(model.gated);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_EQ(model.norm, Norm::rmsnorm);
  EXPECT_EQ(model.biases, Biases{});
}

TEST(HuggingFace, NamesTheModelByItsPathThenAsAskedThenByItsType) {
  const std::string named = config("llama", R"("_name_or_path": "meta-llama/Llama-2-7b-hf/")");
  EXPECT_EQ(imported(named, "file").model.name, "Llama-2-7b-hf");
  const std::string unnamed = config("llama", R"("_name_or_path": "")");
  EXPECT_EQ(imported(unnamed, "file").model.name, "file");
  EXPECT_EQ(imported(unnamed).model.name, "llama");
}

TEST(HuggingFace, ListsKeysThatItDoesNotFollow) {
  const ImportedModel model = imported(
      config("llama",
             R"("torch_dtype": "bfloat16", "rope_theta": 1e4, "quantization_config": {"bits": 8},
         "use_bidirectional_attention": null, "residual_scale": 0.5)"));
  EXPECT_EQ(model.ignored, (std::vector<std::string>{"residual_scale"}));
}

TEST(HuggingFace, ReadsBothPartsOfAModelOfTextsAndImages) {
  const ImportedModel model = imported(R"({
      "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
      "vision_config": {"hidden_size": 1152, "num_attention_heads": 16, "image_size": 896,
                        "patch_size": 14, "new_key": 1}, "tie_word_embeddings": false,
      "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "sliding_window": 1024,
                      "intermediate_size": 10240, "num_hidden_layers": 34, "new_key": 1}})");
  EXPECT_EQ(model.ignored,
            (std::vector<std::string>{"vision_config.new_key", "text_config.new_key"}));
  ASSERT_NE(model.model.tower, nullptr);
  EXPECT_EQ(model.model.tower->encoder.layers, 12) << "as the class has it";
  EXPECT_EQ(model.model.heads, 8);  // as the class has it
  EXPECT_EQ(model.model.head_dim, 256);
  EXPECT_EQ(model.model.vocabulary, 262'208);
  EXPECT_FALSE(model.model.tied_embeddings);
  // Five layers with a window to one without: 5 times 5 + 1, and the last 4.
  std::int64_t windows = 0;
  for (const LayerRun& run : model.model.runs()) {
    windows += model.model.kinds[static_cast<std::size_t>(run.kind)].window ? run.count : 0;
  }
  EXPECT_EQ(windows, 5 * 5 + 4);
}

TEST(HuggingFace, KnowsItsArchitecturesByTypeOrClass) {
  for (const std::string& type : huggingface_architectures()) {
    const std::vector<std::string> lines = problems_of(R"({"model_type": ")" + type + R"("})");
    ASSERT_FALSE(lines.empty()) << type;
    for (const std::string& line : lines) {
      EXPECT_NE(line.find("missing; expected"), std::string::npos) << line;
    }
  }
  std::string text = config("own_type", R"("architectures": ["Qwen3ForCausalLM"])");
  EXPECT_TRUE(imported(text).model.qk_norm);
}

TEST(HuggingFace, TakesWindowsAsEachClassDoes) {
  using Runs = std::vector<LayerRun>;
  const std::string window = R"("sliding_window": 128)";
  const LayerKind slides{.window = 128};
  EXPECT_EQ(imported(config("mistral", window)).model.kinds, std::vector{slides});
  EXPECT_EQ(imported(config("mistral", R"("sliding_window": null)")).model.kinds,
            std::vector<LayerKind>(1));
  const Transformer silent = imported(config("mistral", R"("rope_theta": 1e4)")).model;
  EXPECT_EQ(silent.kinds, std::vector<LayerKind>{{.window = 4096}});
  // Only if switched on, and from a layer on.
  EXPECT_EQ(runs_of("qwen2", window), (Runs{{0, 12}}));
  EXPECT_EQ(runs_of("qwen2", window + R"(, "use_sliding_window": true, "max_window_layers": 5)"),
            (Runs{{0, 5}, {1, 7}}));
  EXPECT_EQ(imported(config("gemma2", window)).model.kinds, (std::vector{slides, LayerKind{}}));
  EXPECT_EQ(runs_of("gemma3_text", window), (Runs{{0, 5}, {1, 1}, {0, 5}, {1, 1}}));
}

TEST(HuggingFace, TakesListedLayerTypes) {
  std::string list;
  for (int i = 0; i < 12; ++i) {
    list += std::string(i == 0 ? "" : ", ") +
            (i < 9 ? R"("sliding_attention")" : R"("full_attention")");
  }
  const std::string more = R"("sliding_window": 128, "layer_types": [)" + list + "]";
  EXPECT_EQ(runs_of("gemma2", more), (std::vector<LayerRun>{{0, 9}, {1, 3}}));
}

TEST(HuggingFace, PlacesExperts) {
  using Runs = std::vector<LayerRun>;
  const std::string qwen = R"("num_experts": 8, "num_experts_per_tok": 2,
                              "moe_intermediate_size": 40)";
  EXPECT_EQ(runs_of("qwen3_moe", qwen + R"(, "decoder_sparse_step": 6, "mlp_only_layers": [11])"),
            (Runs{{0, 5}, {1, 1}, {0, 6}}));
  const Transformer dense =
      imported(config("qwen3_moe", qwen + R"(, "decoder_sparse_step": 24)")).model;
  EXPECT_FALSE(dense.experts.has_value());
  const std::string llama = R"("num_local_experts": 8, "num_experts_per_tok": 1,
      "intermediate_size_mlp": 128, "attention_chunk_size": 64)";
  const Transformer every_second =
      imported(config("llama4_text", llama + R"(, "interleave_moe_layer_step": 2)")).model;
  const std::vector<LayerKind> kinds = {{.window = 64, .chunked = true},
                                        {.experts = true, .window = 64, .chunked = true},
                                        {.experts = true, .rotary = false}};  // the fourth of four
  EXPECT_EQ(every_second.kinds, kinds);
  EXPECT_EQ(every_second.ffn, 128);
  EXPECT_EQ(every_second.experts->ffn, 96);
  EXPECT_EQ(every_second.experts->shared_ffn, 96);
  std::string types = R"("layer_types": ["full_attention")";
  for (int i = 1; i < 12; ++i) {
    types += R"(, "chunked_attention")";
  }
  const std::vector<LayerKind> listed = {
      {.experts = true},
      {.experts = true, .window = 64, .chunked = true},
      {.experts = true, .window = 64, .chunked = true, .rotary = false}};
  EXPECT_EQ(imported(config("llama4_text", llama + ", " + types + "]")).model.kinds, listed);
  const Transformer deepseek_v3 =
      imported(deepseek("deepseek_v3",
                        R"(, "n_group": 4, "topk_group": 2, "n_shared_experts": 2,
                           "num_nextn_predict_layers": 1)"))
          .model;
  EXPECT_EQ(deepseek_v3.runs(), (Runs{{0, 3}, {1, 9}}));  // three dense, as the class has it
  EXPECT_EQ(deepseek_v3.experts->shared_ffn, 2 * 40);
  EXPECT_TRUE(deepseek_v3.experts->router_bias);
  EXPECT_EQ(deepseek_v3.experts->routing.groups, 4);
  EXPECT_EQ(deepseek_v3.experts->routing.groups_chosen, 2);
  EXPECT_EQ(deepseek_v3.predicted_tokens, 1);
}

TEST(HuggingFace, TakesNoGroupsWhereTheBestExpertsAreTakenOfAll) {
  const std::string groups = R"(, "n_group": 4, "topk_group": 2, "first_k_dense_replace": 1)";
  const Transformer greedy = imported(deepseek("deepseek_v2", groups)).model;
  EXPECT_EQ(greedy.experts->routing.groups, 1);
  EXPECT_FALSE(greedy.experts->router_bias);
  const std::string limited = groups + R"(, "topk_method": "group_limited_greedy")";
  EXPECT_EQ(imported(deepseek("deepseek_v2", limited)).model.experts->routing.groups, 4);
}

TEST(HuggingFace, TakesBiasesAndNormsAsEachClassDoes) {
  EXPECT_EQ(imported(config("qwen2", R"("attention_dropout": 0.1)")).model.biases,
            (Biases{.qkv = true}));
  EXPECT_EQ(imported(config("llama", R"("attention_bias": true)")).model.biases,
            (Biases{.qkv = true, .output = true}));
  const Transformer neox = imported(config("gpt_neox", R"("hidden_dropout": 0.1)")).model;
  EXPECT_TRUE(neox.parallel && neox.dropout);
  EXPECT_EQ(neox.norms, 2);
  const Transformer phi = imported(config("phi", R"("qk_layernorm": true)")).model;
  EXPECT_TRUE(phi.parallel && phi.qk_norm && phi.biases.head);
  EXPECT_EQ(phi.norms, 1);
  EXPECT_EQ(imported(config("gemma2", R"("sliding_window": 8)")).model.norms, 4);
}

TEST(HuggingFace, RefusesWhatIsMissingOrContradictsItself) {
  struct Row {
    std::string text;
    std::string_view line;  // the end of the only one
  };
  const std::string experts = R"("num_local_experts": 8, "num_experts_per_tok": 9)";
  const std::vector<Row> rows = {
      {config("falcon", R"("num_attention_heads_": 3, "n_head_kv": 3,
                           "new_decoder_architecture": true)"),
       "n_head_kv: 3: expected a divisor of the 4 heads"},
      {R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
           "num_attention_heads": 5, "intermediate_size": 8, "vocab_size": 10,
           "max_position_embeddings": 8})",
       "num_attention_heads: 5: expected a divisor of the hidden size 64, or a \"head_dim\""},
      {R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 5, "vocab_size": 10,
           "n_positions": 8})",
       "n_head: 5: expected a divisor of the hidden size 64"},
      {R"({"model_type": "mistral", "num_hidden_layers": 2, "hidden_size": 64,
           "num_attention_heads": 4, "num_key_value_heads": 3, "intermediate_size": 8,
           "vocab_size": 10, "max_position_embeddings": 8})",
       "num_key_value_heads: 3: expected a divisor of the 4 heads"},
      {config("mixtral", experts),
       "num_experts_per_tok: 9: expected at most the 8 experts that there are"},
      {config("gemma2", R"("layer_types": ["full_attention"])"),
       "expected one for each of the 12 layers, not 1"},
      {config("llama4_text", R"("num_local_experts": 8, "num_experts_per_tok": 1,
                                "intermediate_size_mlp": 128, "no_rope_layers": [1, 0])"),
       "no_rope_layers: [1,0]: expected one for each of the 12 layers, not 2"},
      {config("llama4_text", R"("num_local_experts": 8, "num_experts_per_tok": 1,
                                "intermediate_size_mlp": 128, "moe_layers": [12])"),
       "moe_layers: [12]: expected layers from 0 to 11"},
      {deepseek("deepseek_v3", R"(, "n_group": 3, "topk_group": 1)"),
       "n_group: 3: 3 groups do not divide 8 experts"},
      {deepseek("deepseek_v3", R"(, "n_group": 4, "topk_group": 5)"),
       "topk_group: 5: expected at most the 4 groups that there are"},
      {config("deepseek_v3",
              R"("kv_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
                 "v_head_dim": 12, "n_routed_experts": null)"),
       "q_lora_rank: missing; expected an integer, or null where queries have no latent"},
      {deepseek("deepseek_v32", R"(, "index_n_heads": 2, "index_topk": 16)"),
       "index_head_dim: missing; expected an integer from 1 to 1000000"},
      {config("opt", R"("ffn_dim": 96, "word_embed_proj_dim": 32)"),
       "word_embed_proj_dim: 32: expected the hidden size: there are no projections of narrower "
       "embeddings yet"},
      {R"({"architectures": []})", "architectures: []: expected a name"}};
  for (const Row& row : rows) {
    const std::vector<std::string> lines = problems_of(row.text);
    ASSERT_EQ(lines.size(), 1U) << row.line;
    EXPECT_TRUE(lines.front().ends_with(row.line)) << lines.front();
  }
}

TEST(HuggingFace, RefusesOtherArchitecturesAndSaysWhatTheyHave) {
  struct Row {
    std::string_view text;
    std::string_view line;
  };
  constexpr std::array rows = {
      Row{R"({"model_type": "falcon_h1"})",
          R"(config.json:1:16: model_type: "falcon_h1": this architecture has attention beside )"
          "Mamba-2 in the same layers, which are not modelled yet"},
      Row{R"({"architectures": ["Zamba2ForCausalLM"]})",
          R"(config.json:1:19: architectures: ["Zamba2ForCausalLM"]: this architecture has attention )"
          "layers that share their weights, which are not modelled yet"},
      Row{R"({"model_type": "vit", "architectures": ["ViTModel"]})",
          R"(config.json:1:16: model_type: "vit": this architecture has an encoder of images, )"
          "which are not modelled yet"}};
  for (const Row& row : rows) {
    EXPECT_EQ(problems_of(row.text), std::vector<std::string>{std::string(row.line)});
  }
  const std::vector<std::string> unknown = problems_of(R"({"model_type": "mixtrl"})");
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_TRUE(unknown.front().ends_with("did you mean \"mixtral\"?")) << unknown.front();
}

TEST(HuggingFace, ReadsPublishedHybrids) {
  const auto folder = testing::root() / "../shared/samples/hf_config";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " is not there";
  }
  const auto refusal_of = [&](const char* file) {
    const std::vector<std::string> lines = problems_of(read_text(folder / file));
    return lines.size() == 1 ? lines.front() : std::to_string(lines.size()) + " lines";
  };
  EXPECT_EQ(refusal_of("nvidia--Nemotron-H-56B-Base-8K.json"), "0 lines");
  EXPECT_EQ(refusal_of("Qwen--Qwen3.5-397B-A17B.json"), "0 lines");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
