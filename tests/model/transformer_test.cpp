#include "titer/model/transformer.hpp"

#include <gtest/gtest.h>

#include "model/samples.hpp"

namespace titer {
namespace {

using samples::read_model;
using samples::shipped;

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
  EXPECT_FALSE(model.bias);  // RMSNorm models have none
  EXPECT_FALSE(model.dropout);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_EQ(model.vocabulary_multiple, 1);
  EXPECT_TRUE(model.causal);
  EXPECT_EQ(model.attention, AttentionKernel::flash);
  EXPECT_EQ(model.positions, Positions::rotary);
}

TEST(ReadTransformer, GivesLayernormModelsBiases) {
  std::string text(kLeast);
  text.replace(text.find("rmsnorm"), 7, "layernorm");
  EXPECT_TRUE(read_model(text).bias);
}

TEST(ReadTransformer, TakesHeadsOfAnyWidth) {
  std::string text(kLeast);
  text.replace(text.find("\"heads\": 4"), 10, R"("heads": 4, "kv_heads": 2, "head_dim": 40)");
  const Transformer model = read_model(text);
  EXPECT_EQ(model.query_width(), 4 * 40);
  EXPECT_EQ(model.kv_width(), 2 * 40);
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
                                     "layernorm, rmsnorm"});
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

TEST(Transformer, CountsItsLargestAdmittedSelfWithoutOverflow) {
  Transformer model = samples::llama();
  model.layers = 100'000;
  model.hidden = model.ffn = model.heads = model.kv_heads = 1'000'000;
  model.head_dim = 1;
  model.vocabulary = model.max_sequence = 1'000'000'000;
  // 4 attention matrices and 3 of the MLP, the norms, two tables and the last norm.
  const std::int64_t h = model.hidden;
  EXPECT_EQ(parameters(model), model.layers * (7 * h * h + 2 * h) + 2 * model.vocabulary * h + h);
}

TEST(PaddedVocabulary, IsAMultipleForEachTensorRank) {
  Transformer model = samples::gpt3();
  model.vocabulary = 50257;
  EXPECT_EQ(model.padded_vocabulary(1), 393 * 128);      // 50304
  EXPECT_EQ(model.padded_vocabulary(2), 197 * 2 * 128);  // 50432
  EXPECT_EQ(model.padded_vocabulary(8), 50 * 8 * 128);   // 51200, as the papers print
  EXPECT_EQ(shipped("gpt3-175b").padded_vocabulary(8), 51200);
}

TEST(PaddedVocabulary, OfAMultipleIsItself) {
  for (const std::int64_t t : {1, 2, 4, 8, 16}) {
    EXPECT_EQ(samples::gpt({.hidden = 64}).padded_vocabulary(t), 51200) << t;
  }
  Transformer unpadded = samples::llama();
  unpadded.vocabulary = 32001;
  unpadded.vocabulary_multiple = 1;
  EXPECT_EQ(unpadded.padded_vocabulary(1), 32001);
}

TEST(LayerParameters, SplitTheProductsAndReplicateTheNorms) {
  const std::int64_t h = 12288;
  const ParameterCount count = layer_parameters(samples::gpt3());
  // Query, key, value, output and the two MLP matrices; the column-split products' biases.
  EXPECT_EQ(count.split, 12 * h * h + 3 * h + 4 * h);
  // Two norms with weight and bias; the row-split products' biases.
  EXPECT_EQ(count.replicated, 2 * (2 * h) + 2 * h);
  EXPECT_EQ(count.total(), 12 * h * h + 13 * h);
}

TEST(LayerParameters, OfAGatedGroupedLayer) {
  const std::int64_t h = 4096;
  const auto kv = std::int64_t{8} * 128;
  const std::int64_t f = 14336;
  const ParameterCount count = layer_parameters(samples::llama());
  EXPECT_EQ(count.split, h * (h + 2 * kv) + h * h + 3 * h * f);
  EXPECT_EQ(count.replicated, 2 * h);  // RMSNorm: a weight only
}

TEST(EmbeddingParameters, SplitTheTableAndReplicateThePositions) {
  Transformer model = samples::gpt3();
  model.vocabulary = 50257;
  EXPECT_EQ(embedding_parameters(model, 8).split, 51200 * model.hidden);
  EXPECT_EQ(embedding_parameters(model, 1).split, 50304 * model.hidden);
  EXPECT_EQ(embedding_parameters(model, 8).replicated, 2048 * model.hidden);
  EXPECT_EQ(embedding_parameters(samples::llama(), 8).replicated, 0);  // rotary: none
}

TEST(HeadParameters, HaveAnOutputMatrixUnlessTied) {
  EXPECT_EQ(head_parameters(samples::gpt3(), 8).split, 0);
  EXPECT_EQ(head_parameters(samples::gpt3(), 8).replicated, 2 * 12288);
  EXPECT_EQ(head_parameters(samples::llama(), 8).split, 126 * 8 * 128 * 4096);
  EXPECT_EQ(head_parameters(samples::llama(), 1).split, 128256 * 4096);
  EXPECT_EQ(head_parameters(samples::llama(), 8).replicated, 4096);
}

TEST(ParameterCount, AddsAndScalesByClass) {
  ParameterCount sum = 3 * ParameterCount{.split = 10, .replicated = 1};
  sum += {.split = 4, .replicated = 2};
  EXPECT_EQ(sum.split, 3 * 10 + 4);
  EXPECT_EQ(sum.replicated, 3 * 1 + 2);
  EXPECT_EQ(sum.total(), 34 + 5);
}

TEST(Parameters, AreThePublishedCountsOfLlama) {
  EXPECT_EQ(parameters(shipped("llama2-7b")), 6'738'415'616);
  EXPECT_EQ(parameters(shipped("llama2-13b")), 13'015'864'320);
  EXPECT_EQ(parameters(shipped("llama2-70b")), 68'976'648'192);
  EXPECT_EQ(parameters(shipped("llama3-8b")), 8'030'261'248);
  EXPECT_EQ(parameters(shipped("llama3-70b")), 70'553'706'496);
  EXPECT_EQ(parameters(shipped("llama3-405b")), 405'853'388'800);
  EXPECT_EQ(parameters(shipped("llama3.2-1b")), 1'235'814'400);
  EXPECT_EQ(parameters(shipped("llama3.2-3b")), 3'212'749'824);
}

/// P = 12 l h^2 (1 + 13/(12h) + (V+s)/(12 l h)) in integers, and the final norm's weight and bias,
/// which the papers leave out. [Narayanan 2021, eq. 2]
std::int64_t gpt_parameters(const Transformer& m) {
  return 12 * m.layers * m.hidden * m.hidden + 13 * m.layers * m.hidden +
         (m.vocabulary + m.max_sequence) * m.hidden + 2 * m.hidden;
}

TEST(Parameters, T28_CountEmbeddingsBiasesAndNorms) {
  for (const char* name : {"gpt3-175b", "megatron-1.7b", "megatron-22b", "mt-nlg-530b"}) {
    const Transformer model = shipped(name);
    EXPECT_EQ(parameters(model), gpt_parameters(model)) << name;
  }
  EXPECT_NEAR(static_cast<double>(parameters(shipped("gpt3-175b"))), 175e9, 0.5e9);
  EXPECT_NEAR(static_cast<double>(parameters(shipped("megatron-22b"))), 22e9, 0.5e9);
  EXPECT_NEAR(static_cast<double>(parameters(shipped("mt-nlg-530b"))), 530e9, 0.5e9);
}

TEST(Parameters, AreThePrintedBillionsOfMegatronsTable) {
  struct Row {
    const char* name;
    double billions;
  };
  // [Narayanan 2021, table 1: "number of parameters (billion)"]
  constexpr std::array rows = {Row{"megatron-1.7b", 1.7},
                               Row{"megatron-3.6b", 3.6},
                               Row{"megatron-7.5b", 7.5},
                               Row{"megatron-18.4b", 18.4},
                               Row{"megatron-39.1b", 39.1},
                               Row{"megatron-76.1b", 76.1},
                               Row{"megatron-145.6b", 145.6},
                               Row{"megatron-310.1b", 310.1},
                               Row{"megatron-529.6b", 529.6},
                               Row{"megatron-1t", 1008.0}};
  for (const Row& row : rows) {
    const Transformer model = shipped(row.name);
    EXPECT_EQ(parameters(model), gpt_parameters(model)) << row.name;
    EXPECT_NEAR(static_cast<double>(parameters(model)) / 1e9, row.billions, 0.05) << row.name;
  }
}

TEST(Parameters, DoNotDependOnThePadding) {
  Transformer model = shipped("gpt3-175b");
  const std::int64_t published = parameters(model);
  model.vocabulary_multiple = 4096;
  EXPECT_EQ(parameters(model), published);
}

}  // namespace
}  // namespace titer
