#include "titer/model/transformer/transformer.hpp"

#include <gtest/gtest.h>

#include "model/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::read_model;

constexpr std::string_view kLeast = R"({
  "name": "small",
  "layers": 2, "hidden": 64, "heads": 4, "ffn": 256,
  "norm": "rmsnorm", "positions": "rotary",
  "vocabulary": 1000, "max_sequence": 128, "attention": "flash"
})";

std::vector<std::string> problems_with(std::string_view from, std::string_view to) {
  std::string text(kLeast);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  try {
    static_cast<void>(read_model(text.replace(at, from.size(), to)));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(ReadTransformer, FillsInWhatFollowsFromTheRest) {
  const Transformer model = read_model(kLeast);
  EXPECT_EQ(model.title, "small");
  EXPECT_EQ(model.source, "given by the user");
  EXPECT_EQ(model.kv_heads, 4);       // every head has its own keys and values
  EXPECT_EQ(model.head_dim, 64 / 4);  // h / a
  EXPECT_FALSE(model.gated);
  EXPECT_EQ(model.biases, Biases{});  // RMSNorm models have none
  EXPECT_FALSE(model.dropout);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_EQ(model.vocabulary_multiple, 1);
  EXPECT_TRUE(model.causal);
  EXPECT_EQ(model.attention, AttentionKernel::flash);
  EXPECT_EQ(model.positions, Positions::rotary);
  EXPECT_EQ(model.norms, 2);
  EXPECT_TRUE(model.final_norm);
  EXPECT_FALSE(model.parallel || model.qk_norm || model.embedding_norm || model.sinks);
  EXPECT_FALSE(model.latent || model.indexer || model.experts);
  EXPECT_EQ(model.kinds, std::vector<LayerKind>(1));
  EXPECT_EQ(model.runs(), (std::vector<LayerRun>{{.kind = 0, .count = 2}}));
}

TEST(ReadTransformer, GivesLayernormModelsBiases) {
  std::string text(kLeast);
  text.replace(text.find("rmsnorm"), 7, "layernorm");
  EXPECT_EQ(read_model(text).biases, (Biases{.qkv = true, .output = true, .mlp = true}));
}

TEST(ReadTransformer, TakesHeadsOfAnyWidth) {
  std::string text(kLeast);
  text.replace(text.find("\"heads\": 4"), 10, R"("heads": 4, "kv_heads": 2, "head_dim": 40)");
  const Transformer model = read_model(text);
  EXPECT_EQ(model.query_width(), 4 * 40);
  EXPECT_EQ(model.kv_width(), 2 * 40);
}

/// The least model, less what a key replaces, and with more.
Transformer read_with(std::string_view from, std::string_view to) {
  std::string text(kLeast);
  return read_model(text.replace(text.find(from), from.size(), to));
}

TEST(ReadTransformer, TakesBiasesOneByOne) {
  const Transformer model =
      read_with(R"("ffn": 256)", R"("ffn": 256, "bias": {"qkv": true, "head": true})");
  EXPECT_EQ(model.biases, (Biases{.qkv = true, .head = true}));
}

TEST(ReadTransformer, SpellsAPatternOut) {
  const Transformer model = read_with(R"("layers": 2)", R"("layers": 20,
      "experts": {"count": 8, "per_token": 2, "ffn": 32, "shared_ffn": 16, "shared_gate": true},
      "pattern": [{"count": 2},
                  {"repeat": 3, "of": [{"count": 4, "experts": true, "window": 16},
                                       {"experts": true, "chunk": 32, "rotary": false}]},
                  {"count": 2, "experts": true, "chunk": 32, "rotary": false},
                  {"bidirectional": true, "cross_attention": true}])");
  const std::vector<LayerKind> kinds = {
      {},
      {.experts = true, .window = 16},
      {.experts = true, .window = 32, .chunked = true, .rotary = false},
      {.bidirectional = true, .cross_attention = true}};
  EXPECT_EQ(model.kinds, kinds);
  // Neighbours of the same kind are one run: the last 1 of 4 + 1 and the 2 that follow.
  const std::vector<LayerRun> order = {
      {0, 2}, {1, 4}, {2, 1}, {1, 4}, {2, 1}, {1, 4}, {2, 3}, {3, 1}};
  EXPECT_EQ(model.runs(), order);
  ASSERT_TRUE(model.experts.has_value());
  EXPECT_EQ(model.experts->shared_ffn, 16);
  EXPECT_TRUE(model.experts->shared_gate);
}

TEST(ReadTransformer, GivesAllLayersExpertsWithoutAPattern) {
  const Transformer model =
      read_with(R"("ffn": 256)", R"("experts": {"count": 8, "per_token": 2, "ffn": 32,
                                                "routing": {"shape": "zipf", "exponent": 0.5}})");
  EXPECT_EQ(model.kinds, std::vector<LayerKind>{{.experts = true}});
  EXPECT_EQ(model.experts->routing.shape, RoutingShape::zipf);
}

TEST(ReadTransformer, TakesTheWidthOfHeadsFromTheLatents) {
  const Transformer model = read_with(R"("heads": 4)", R"("heads": 5,
      "latent_attention": {"kv_rank": 32, "nope_dim": 16, "rope_dim": 8, "value_dim": 12},
      "predicted_tokens": 2)");
  ASSERT_TRUE(model.latent.has_value());
  EXPECT_EQ(model.latent->q_rank, 0);
  EXPECT_EQ(model.head_dim, 16 + 8);
  EXPECT_EQ(model.kv_heads, 5);
  EXPECT_EQ(model.predicted_tokens, 2);
}

TEST(ReadTransformer, TakesTheLayerOfModulesForFurtherTokens) {
  const Transformer model = read_with(R"("ffn": 256)", R"("ffn": 256,
      "experts": {"count": 8, "per_token": 2, "ffn": 32, "latent": 16},
      "pattern": [{}, {"experts": true, "tokens": "none"}], "predicted_tokens": 2,
      "predicted_by_one": true, "predicted_layer": {"experts": true})");
  EXPECT_EQ(model.experts->latent, 16);
  EXPECT_TRUE(model.predicted_by_one);
  EXPECT_EQ(model.prediction_kind(), (LayerKind{.experts = true}));
  EXPECT_EQ(read_with(R"("ffn": 256)", R"("ffn": 256)").prediction_kind(), LayerKind{});
}

/// What is put into the least model, and the end of the only line it gets.
struct Refused {
  std::string_view from;
  std::string_view to;
  std::string_view line;
};

TEST(ReadTransformer, RefusesContradictions) {
  constexpr std::array rows = {
      Refused{R"("layers": 2)",
              R"("layers": 2, "predicted_layer": {"experts": true})",
              "expected \"experts\" of the model, since this layer has them"},
      Refused{R"("layers": 2)",
              R"("layers": 2, "predicted_layer": {"tokens": "mixer"})",
              "expected a \"mixer\" of the model, since this layer has it"},
      Refused{R"("layers": 2)",
              R"("layers": 2, "pattern": [{"count": 3}])",
              R"(pattern: [{"count":3}]: expected the model's 2 layers in all, not 3)"},
      Refused{R"("layers": 2)",
              R"("layers": 2, "pattern": [{"count": 2, "experts": true}])",
              "expected \"experts\" of the model, since some layers have them"},
      Refused{
          R"("layers": 2)",
          R"("layers": 2, "pattern": [{"count": 2, "window": 4, "chunk": 4}])",
          "pattern.0.chunk: 4: expected no \"window\" beside it: attention is within one or the "
          "other"},
      Refused{R"("ffn": 256)",
              R"("ffn": 256, "experts": {"count": 8, "per_token": 9, "ffn": 1})",
              "experts.per_token: 9: expected at most the 8 experts that there are"},
      Refused{R"("ffn": 256)",
              R"("ffn": 256, "experts": {"count": 4000, "per_token": 2, "ffn": 6000})",
              "experts.count: 4000: expected experts x their width of at most 20000000"},
      Refused{R"("ffn": 256)",
              R"("ffn": 256, "experts": {"count": 8, "per_token": 2, "ffn": 1,
                 "routing": {"groups": 3, "groups_chosen": 2}})",
              "experts.routing: 3 groups do not divide 8 experts"},
      Refused{R"("layers": 2, "hidden": 64, "heads": 4, "ffn": 256)",
              R"("layers": 2, "hidden": 64, "heads": 4, "pattern": [{"experts": true}, {}],
                 "experts": {"count": 8, "per_token": 2, "ffn": 1})",
              "ffn: missing; expected the width of the layers without experts"},
      Refused{R"("ffn": 256)",
              R"("ffn": 256, "norms": 3)",
              "norms: 3: expected 2, 4 with norms behind attention and MLP too, or 1 before both"},
      Refused{R"("ffn": 256)",
              R"("ffn": 256, "norms": 1)",
              "expected \"parallel\": true, since attention and MLP read the same norm"},
      Refused{R"("ffn": 256)",
              R"("ffn": 256, "indexer": {"heads": 2, "head_dim": 8, "top_k": 16})",
              "expected latent attention with a latent of queries, which the indexer reads"}};
  for (const Refused& row : rows) {
    const std::vector<std::string> lines = problems_with(row.from, row.to);
    ASSERT_EQ(lines.size(), 1U) << row.to;
    EXPECT_TRUE(lines.front().ends_with(row.line)) << lines.front();
  }
}

TEST(ReadTransformer, RefusesAPatternOfMoreLayersThanAnyModelHasSoon) {
  std::string inner = "{}";
  for (int depth = 0; depth < 60; ++depth) {
    inner = R"({"repeat": 100000, "of": [)" + inner + "]}";
  }
  const std::vector<std::string> lines =
      problems_with(R"("layers": 2)", R"("layers": 2, "pattern": [)" + inner + "]");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines.front().ends_with("expected the model's 2 layers in all, not 100001"));
}

TEST(ReadTransformer, RefusesLayersOfVeryManyKinds) {
  std::string parts = "{}";
  for (int window = 1; window <= 64; ++window) {
    parts += R"(, {"window": )" + std::to_string(window) + "}";
  }
  const std::vector<std::string> lines =
      problems_with(R"("layers": 2)", R"("layers": 65, "pattern": [)" + parts + "]");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines.front().ends_with("expected layers of at most 64 different kinds"));
}

TEST(ReadTransformer, RefusesHeadsThatDoNotDivide) {
  EXPECT_EQ(problems_with(R"("heads": 4)", R"("heads": 5)"),
            std::vector<std::string>{"model.json:3:39: heads: 5: expected a divisor of the hidden "
                                     "size 64, or a \"head_dim\""});
  EXPECT_EQ(
      problems_with(R"("heads": 4)", R"("heads": 4, "kv_heads": 3)"),
      std::vector<std::string>{"model.json:3:54: kv_heads: 3: expected a divisor of the 4 heads"});
}

TEST(ReadTransformer, RefusesUnknownAlternativesAndKeys) {
  EXPECT_EQ(problems_with(R"("flash")", R"("flesh")"),
            std::vector<std::string>{"model.json:5:57: attention: \"flesh\": expected one of: "
                                     "materialised, flash; did you mean \"flash\"?"});
  EXPECT_EQ(problems_with(R"("rmsnorm")", R"("batchnorm")"),
            std::vector<std::string>{"model.json:4:11: norm: \"batchnorm\": expected one of: "
                                     "layernorm, layernorm_without_bias, "
                                     "layernorm_without_weights, rmsnorm"});
  EXPECT_EQ(problems_with(R"("rotary")", R"("rotary", "kv_head": 4)"),
            std::vector<std::string>{
                "model.json:4:45: kv_head: unknown key; did you mean \"kv_heads\"?"});
}

TEST(ReadTransformer, ComplainsAboutAMissingWidthOnly) {
  EXPECT_EQ(problems_with(R"("hidden": 64, )", ""),
            std::vector<std::string>{
                "model.json:1:1: hidden: missing; expected an integer from 1 to 1000000"});
  EXPECT_EQ(problems_with(R"("hidden": 64)", R"("hidden": "64")"),
            std::vector<std::string>{"model.json:3:26: hidden: \"64\": expected an integer from 1 "
                                     "to 1000000; did you mean 64?"});
}

TEST(ReadTransformer, RefusesModelsTooLargeToCount) {
  EXPECT_EQ(problems_with(R"("heads": 4)", R"("heads": 1000000, "head_dim": 1000000)"),
            std::vector<std::string>{"model.json:3:60: head_dim: 1000000: expected heads x "
                                     "head_dim of at most 1000000"});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
