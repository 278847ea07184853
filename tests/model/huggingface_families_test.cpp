// What rows of the tables of HuggingFace's models say beyond counts of parameters.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/published_counts.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// A small model of a type, with more keys and without a longest sequence.
std::string config(std::string_view type, std::string_view more) {
  return R"({"model_type": ")" + std::string(type) + R"(", "num_hidden_layers": 8,
             "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 96,
             "vocab_size": 1000)" +
         std::string(more) + "}";
}

Transformer model_of(const std::string& text) {
  return imported_from(parse_json(text, "config.json")).model;
}

std::vector<std::string> problems_of(const std::string& text) {
  try {
    static_cast<void>(model_of(text));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(HuggingFaceFamilies, TakeWhatTheirClassesHaveForKeysLeftOut) {
  struct Row {
    std::string_view type;
    std::int64_t kv_heads;
    std::int64_t head_dim;
    std::int64_t max_sequence;
    bool tied;
  };
  constexpr std::array rows = {Row{"llama", 4, 16, 2048, false},
                               Row{"mistral", 8, 16, 131072, false},
                               Row{"glm", 2, 128, 131072, false},
                               Row{"glm4", 2, 128, 131072, false},
                               Row{"cohere", 4, 16, 8192, true},
                               Row{"cohere2", 4, 16, 8192, true},
                               Row{"olmo2", 4, 16, 2048, false},
                               Row{"starcoder2", 2, 16, 4096, true},
                               Row{"ernie4_5", 2, 128, 131072, true},
                               Row{"smollm3", 4, 16, 32768, true},
                               Row{"seed_oss", 8, 128, 524288, false},
                               Row{"internlm3", 2, 16, 32768, false},
                               Row{"minicpm", 4, 16, 2048, true},
                               Row{"bert", 4, 16, 512, true}};
  for (const Row& row : rows) {
    // Eight key-value heads need as many heads.
    const std::string text =
        row.kv_heads == 8 ? config(row.type, R"(, "head_dim": )" + std::to_string(row.head_dim))
                          : config(row.type, "");
    std::string wide = text;
    if (row.kv_heads == 8) {
      wide.replace(wide.find("\"num_attention_heads\": 4"), 24, "\"num_attention_heads\": 8");
    }
    const Transformer model = model_of(wide);
    EXPECT_EQ(model.kv_heads, row.kv_heads) << row.type;
    EXPECT_EQ(model.head_dim, row.head_dim) << row.type;
    EXPECT_EQ(model.max_sequence, row.max_sequence) << row.type;
    EXPECT_EQ(model.tied_embeddings, row.tied) << row.type;
  }
}

TEST(HuggingFaceFamilies, DropOutWhereTheirClassesDo) {
  const std::string gpt2 =
      R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 10)";
  const std::string opt =
      R"({"model_type": "opt", "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 10,
          "num_attention_heads": 4, "ffn_dim": 256)";
  EXPECT_TRUE(model_of(gpt2 + "}").dropout);
  EXPECT_FALSE(model_of(gpt2 + R"(, "resid_pdrop": 0, "attn_pdrop": 0, "embd_pdrop": 0})").dropout);
  EXPECT_TRUE(model_of(opt + "}").dropout);
  EXPECT_FALSE(model_of(opt + R"(, "dropout": 0.0, "attention_dropout": 0.0})").dropout);
}

TEST(HuggingFaceFamilies, HaveTheirNormsWhereTheirClassesHaveThem) {
  EXPECT_EQ(model_of(config("olmo", "")).norm, Norm::layernorm_without_weights);
  const Transformer olmo = model_of(config("olmo2", ""));
  EXPECT_EQ(olmo.norm_place, NormPlace::output);
  EXPECT_EQ(olmo.qk_norm_of, QkNorm::all_heads);
  const Transformer cohere = model_of(config("cohere", ""));
  EXPECT_TRUE(cohere.parallel);
  EXPECT_EQ(cohere.norms, 1);
  EXPECT_FALSE(cohere.qk_norm);
  EXPECT_EQ(model_of(config("glm4", "")).norms, 4);
  EXPECT_FALSE(model_of(config("stablelm", R"(, "num_key_value_heads": 4)")).parallel);
  const Transformer opt =
      model_of(config("opt", R"(, "ffn_dim": 96, "do_layer_norm_before": false)"));
  EXPECT_EQ(opt.norm_place, NormPlace::sum);
  EXPECT_FALSE(opt.final_norm);
}

TEST(HuggingFaceFamilies, HaveBiasesWhereTheirClassesHaveThem) {
  EXPECT_EQ(model_of(config("glm", "")).biases, (Biases{.qkv = true}));
  EXPECT_EQ(model_of(config("glm", R"(, "attention_bias": false)")).biases, Biases{});
  EXPECT_EQ(model_of(config("starcoder2", R"(, "use_bias": false)")).biases, Biases{});
  EXPECT_EQ(model_of(config("internlm3", R"(, "bias": true)")).biases,
            (Biases{.output = true, .mlp = true}));
  EXPECT_EQ(model_of(config("gpt_neox", "")).biases,
            (Biases{.qkv = true, .output = true, .mlp = true}));
}

TEST(HuggingFaceFamilies, HaveWindowsAndPositionsByTheirRules) {
  const LayerKind slides{.window = 4096};
  const LayerKind nowhere{.rotary = false};
  EXPECT_EQ(model_of(config("olmo3", "")).kinds, (std::vector{slides, LayerKind{}}));
  EXPECT_EQ(model_of(config("cohere2", "")).kinds, (std::vector{slides, nowhere}));
  const Transformer exaone = model_of(
      config("exaone4", R"(, "num_key_value_heads": 4, "sliding_window_pattern": "LLLG")"));
  EXPECT_EQ(exaone.runs(), (std::vector<LayerRun>{{0, 3}, {1, 1}, {0, 3}, {1, 1}}));
  EXPECT_EQ(exaone.kinds, (std::vector{slides, nowhere}));
  const Transformer whole =
      model_of(config("exaone4", R"(, "num_key_value_heads": 4, "sliding_window": null)"));
  EXPECT_EQ(whole.kinds, std::vector<LayerKind>(1));
  EXPECT_EQ(model_of(config("smollm3", R"(, "num_key_value_heads": 4)")).runs(),
            (std::vector<LayerRun>{{0, 3}, {1, 1}, {0, 3}, {1, 1}}));
  const Transformer smol =
      model_of(config("smollm3",
                      R"(, "no_rope_layers": [1, 0, 1, 1, 1, 1, 1, 1], "use_sliding_window": true,
         "sliding_window": 32)"));
  EXPECT_EQ(smol.kinds, (std::vector<LayerKind>{{}, {.window = 32, .rotary = false}}));
  EXPECT_EQ(model_of(config("gpt_neo", R"(, "num_layers": 2, "num_heads": 4)")).kinds,
            (std::vector<LayerKind>{{}, {.window = 256}}));
  EXPECT_EQ(model_of(config("baichuan", R"(, "model_max_length": 4096)")).positions,
            Positions::alibi);
}

TEST(HuggingFaceFamilies, PlaceTheirExperts) {
  const std::string ernie = R"(, "moe_num_experts": 8, "moe_k": 2, "moe_intermediate_size": 16,
      "num_key_value_heads": 4, "moe_layer_start_index": 2, "moe_layer_end_index": 6,
      "moe_layer_interval": 2)";
  // The fourth and the sixth: every second from the third to the seventh.
  EXPECT_EQ(model_of(config("ernie4_5_moe", ernie)).runs(),
            (std::vector<LayerRun>{{0, 3}, {1, 1}, {0, 1}, {1, 1}, {0, 2}}));
  const Transformer granite = model_of(config(
      "granitemoeshared",
      R"(, "num_local_experts": 8, "num_experts_per_tok": 2, "shared_intermediate_size": 40)"));
  EXPECT_EQ(granite.experts->shared_ffn, 40);
  EXPECT_EQ(model_of(config("hunyuan_v1_moe", R"(, "num_experts": 8, "moe_topk": [2, 2])"))
                .experts->per_token,
            2);
  const std::string glm = R"(, "moe_intermediate_size": 16, "n_routed_experts": 8,
      "num_experts_per_tok": 2, "num_key_value_heads": 4, "num_nextn_predict_layers": 1)";
  const Transformer model = model_of(config("glm4_moe", glm));
  EXPECT_EQ(model.runs(), (std::vector<LayerRun>{{0, 1}, {1, 7}}));
  EXPECT_EQ(model.predicted_tokens, 1);
  EXPECT_TRUE(model.experts->router_bias);
}

TEST(HuggingFaceFamilies, HaveStacksOfEncoderAndDecoder) {
  const Transformer t5 = model_of(R"({"model_type": "t5", "num_layers": 3, "d_model": 64,
      "num_heads": 4, "num_decoder_layers": 2, "d_ff": 128, "vocab_size": 1000})");
  EXPECT_EQ(t5.kinds, (std::vector<LayerKind>{{.bidirectional = true}, {.cross_attention = true}}));
  EXPECT_EQ(t5.runs(), (std::vector<LayerRun>{{0, 3}, {1, 2}}));
  EXPECT_EQ(t5.layers, 3 + 2);
  EXPECT_EQ(t5.positions, Positions::relative);
  EXPECT_FALSE(t5.gated);
  const Transformer bert = model_of(config("bert", ""));
  EXPECT_FALSE(bert.causal);
  EXPECT_EQ(bert.token_types, 2);
  EXPECT_EQ(model_of(config("roberta", R"(, "max_position_embeddings": 514)")).max_sequence, 512);
}

TEST(HuggingFaceFamilies, RefuseWhatTheyAreNotReadWith) {
  struct Row {
    std::string text;
    std::string_view line;  // the end of the only one
  };
  const std::vector<Row> rows = {
      {config("smollm3", R"(, "no_rope_layers": [1])"),
       "no_rope_layers: [1]: expected one for each of the 8 layers, not 1"},
      {config("hunyuan_v1_moe", R"(, "num_experts": [8, 4], "moe_topk": 1)"),
       "num_experts: [8,4]: expected the same positive integer for all layers"},
      {config("hunyuan_v1_moe", R"(, "num_experts": 8, "moe_topk": 9)"),
       "moe_topk: 9: expected at most the 8 experts that there are"},
      {config("gpt_neo",
              R"(, "num_layers": 4, "num_heads": 4, "attention_types": [[["global"], 3]])"),
       "expected \"global\" or \"local\" for each of the 4 layers, as [[[\"global\", \"local\"], "
       "12]]"},
      {config("bert", R"(, "position_embedding_type": "relative_key")"),
       "position_embedding_type: \"relative_key\": expected \"absolute\": there are no others of "
       "encoders yet"},
      {config("bert", R"(, "is_decoder": true)"),
       "is_decoder: true: expected false: as a decoder it is another model"},
      {R"({"model_type": "bart", "encoder_layers": 2, "d_model": 64, "encoder_attention_heads": 4,
           "encoder_ffn_dim": 128, "decoder_ffn_dim": 64, "vocab_size": 1000})",
       "decoder_ffn_dim: 64: expected the encoder's 128: there are no decoders of other widths "
       "yet"},
      {R"({"model_type": "dbrx", "n_layers": 2, "d_model": 64, "n_heads": 4, "vocab_size": 1000,
           "attn_config": {"kv_n_heads": 3},
           "ffn_config": {"moe_num_experts": 8, "moe_top_k": 2, "ffn_hidden_size": 32}})",
       "attn_config.kv_n_heads: 3: expected a divisor of the 4 heads"}};
  for (const Row& row : rows) {
    const std::vector<std::string> lines = problems_of(row.text);
    ASSERT_EQ(lines.size(), 1U) << row.line;
    EXPECT_TRUE(lines.front().ends_with(row.line)) << lines.front();
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
