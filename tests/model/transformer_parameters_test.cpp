#include <gtest/gtest.h>

#include "model/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::shipped;

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
  const ParameterCount count = layer_parameters(samples::gpt3(), {});
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
  const ParameterCount count = layer_parameters(samples::llama(), {});
  EXPECT_EQ(count.split, h * (h + 2 * kv) + h * h + 3 * h * f);
  EXPECT_EQ(count.replicated, 2 * h);  // RMSNorm: a weight only
}

/// Latents of 24 and 32, heads of 16 + 8 and 12, experts beside a dense layer.
Transformer latent_model() {
  return samples::read_model(R"({
      "name": "latents", "layers": 3, "hidden": 64, "heads": 4, "ffn": 256,
      "norm": "rmsnorm", "positions": "rotary", "vocabulary": 1000, "max_sequence": 128,
      "attention": "flash",
      "latent_attention": {"q_rank": 24, "kv_rank": 32, "nope_dim": 16, "rope_dim": 8,
                           "value_dim": 12},
      "indexer": {"heads": 3, "head_dim": 10, "top_k": 64}, "gated": true,
      "experts": {"count": 8, "per_token": 2, "ffn": 40, "shared_ffn": 80, "shared_gate": true,
                  "router_bias": true},
      "pattern": [{}, {"count": 2, "experts": true}], "predicted_tokens": 2})");
}

TEST(LayerParameters, ReplicateTheLatentsAndSplitTheHeads) {
  const Transformer model = latent_model();
  const ParameterCount count = layer_parameters(model, model.kinds[0]);
  const std::int64_t h = 64;
  EXPECT_EQ(count.split,
            24 * 4 * (16 + 8) + 32 * 4 * (16 + 12) + 4 * 12 * h  // queries; keys, values; output
                + 3 * h * 256);
  EXPECT_EQ(count.replicated,
            h * 24 + 24 + h * (32 + 8) + 32              // latents, and their norms
                + 24 * 3 * 10 + h * 10 + 2 * 10 + h * 3  // indexer: queries, key and norm, weights
                + 2 * h);
  EXPECT_EQ(count.experts, 0);
}

TEST(LayerParameters, ReplicateTheRouterAndSplitTheSharedExperts) {
  const Transformer model = latent_model();
  const ParameterCount dense = layer_parameters(model, model.kinds[0]);
  const ParameterCount count = layer_parameters(model, model.kinds[1]);
  const std::int64_t h = 64;
  EXPECT_EQ(count.experts, 8 * 3 * h * 40);
  EXPECT_EQ(count.split - dense.split, 3 * h * 80 - 3 * h * 256);
  EXPECT_EQ(count.replicated - dense.replicated, h * 8 + 8 + h);  // bias; gate of the shared
}

TEST(LayerParameters, OfNormsSinksAndCrossAttention) {
  Transformer model = samples::llama();
  const ParameterCount plain = layer_parameters(model, model.kinds.front());
  const std::int64_t h = 4096;
  model.norms = 4;
  model.qk_norm = true;
  model.sinks = true;
  EXPECT_EQ(layer_parameters(model, model.kinds.front()).replicated - plain.replicated,
            2 * h + 2 * 128);
  EXPECT_EQ(layer_parameters(model, model.kinds.front()).split - plain.split, 32);
  const ParameterCount both = layer_parameters(model, {.cross_attention = true});
  EXPECT_EQ(both.split - layer_parameters(model, model.kinds.front()).split,
            2 * h * h + 2 * h * 8 * 128);
  EXPECT_EQ(both.replicated - layer_parameters(model, model.kinds.front()).replicated, h);
}

TEST(LayerParameters, OfExpertsWithBiases) {
  Transformer model = samples::llama();
  model.biases.mlp = true;
  model.experts = Experts{.count = 4, .per_token = 1, .ffn = 100};
  const ParameterCount count = layer_parameters(model, {.experts = true});
  EXPECT_EQ(count.experts, 4 * (3 * 4096 * 100 + 2 * 100 + 4096));
}

TEST(LayerParameters, OfExpertsWithLatents) {
  Transformer model = samples::llama();
  model.experts = Experts{.count = 4, .per_token = 1, .ffn = 100, .shared_ffn = 300};
  const ParameterCount plain = layer_parameters(model, {.experts = true});
  model.experts->latent = 64;
  const ParameterCount count = layer_parameters(model, {.experts = true});
  EXPECT_EQ(count.experts, 4 * 3 * 64 * 100);
  EXPECT_EQ(count.split, plain.split);                            // of the shared ones
  EXPECT_EQ(count.replicated - plain.replicated, 2 * 4096 * 64);  // there and back
  model.biases.mlp = true;
  EXPECT_EQ(layer_parameters(model, {.experts = true}).experts, 4 * (3 * 64 * 100 + 2 * 100 + 64));
}

TEST(HeadParameters, HaveOneModuleWhereItPredictsAllFurtherTokens) {
  Transformer model = latent_model();
  const ParameterCount both = prediction_parameters(model);
  model.predicted_by_one = true;
  EXPECT_EQ(2 * prediction_parameters(model), both);
  model.predicted_layer = LayerKind{};
  EXPECT_EQ(prediction_parameters(model).split,
            layer_parameters(model, model.kinds[0]).split + 2 * 64 * 64);
  model.predicted_tokens = 0;
  EXPECT_EQ(prediction_parameters(model), ParameterCount{});
}

TEST(HeadParameters, HaveModulesForFurtherTokens) {
  const Transformer model = latent_model();
  const ParameterCount layer = layer_parameters(model, model.kinds[1]);  // of the last kind
  const ParameterCount further = prediction_parameters(model);
  EXPECT_EQ(further.split, 2 * (layer.split + 2 * 64 * 64));
  EXPECT_EQ(further.replicated, 2 * (layer.replicated + 3 * 64));
  EXPECT_EQ(further.experts, 2 * layer.experts);
  Transformer without = model;
  without.predicted_tokens = 0;
  const std::int64_t both = head_parameters(model, 1).total();
  EXPECT_EQ(both - head_parameters(without, 1).total(), further.total());
  EXPECT_EQ(parameters(model), parameters(without));
}

TEST(EmbeddingParameters, HaveANormAndRowsOfPositions) {
  Transformer model = samples::gpt3();
  model.position_rows += 2;
  model.embedding_norm = true;
  model.final_norm = false;
  model.biases.head = true;
  EXPECT_EQ(embedding_parameters(model, 1).replicated, (2048 + 2) * 12288 + 2 * 12288);
  EXPECT_EQ(head_parameters(model, 1), (ParameterCount{.split = 51200}));
}

TEST(ActiveParameters, AreThoseOfTheChosenExperts) {
  const Transformer model = latent_model();
  EXPECT_EQ(parameters(model) - active_parameters(model), 2 * (8 - 2) * 3 * 64 * 40);
  EXPECT_EQ(active_parameters(samples::llama()), parameters(samples::llama()));
}

TEST(ActiveParameters, AreThePublishedBillions) {
  struct Row {
    const char* name;
    double billions;
    bool with_table;  // whether the publication counts the token table, which multiplies nothing
  };
  constexpr std::array rows = {Row{"mixtral-8x7b", 12.9, true},  // [Mixtral 2024]
                               Row{"qwen3-30b-a3b", 3.3, true},  // [Qwen3 2025]
                               Row{"qwen3-235b-a22b", 22.2, true},
                               Row{"deepseek-v3", 36.6, false},  // [DeepSeek-V3 2024]
                               Row{"gpt-oss-20b", 3.61, false},  // [gpt-oss 2025, table 1]
                               Row{"gpt-oss-120b", 5.13, false}};
  for (const Row& row : rows) {
    const Transformer model = shipped(row.name);
    const std::int64_t table = row.with_table ? 0 : model.vocabulary * model.hidden;
    const auto active = static_cast<double>(active_parameters(model) - table);
    EXPECT_NEAR(active / 1e9, row.billions, 0.06) << row.name;
  }
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

TEST(Parameters, AreThePublishedCountsOfOtherShippedModels) {
  EXPECT_EQ(parameters(shipped("gpt2-1.5b")), 1'557'611'200);
  EXPECT_EQ(parameters(shipped("mistral-7b")), 7'241'732'096);
  EXPECT_EQ(parameters(shipped("mixtral-8x7b")), 46'702'792'704);
  EXPECT_EQ(parameters(shipped("mixtral-8x22b")), 140'630'071'296);
  EXPECT_EQ(parameters(shipped("qwen3-30b-a3b")), 30'532'122'624);
  EXPECT_EQ(parameters(shipped("qwen3-235b-a22b")), 235'093'634'560);
  EXPECT_EQ(parameters(shipped("deepseek-v2-lite")), 15'706'484'224);
  EXPECT_EQ(parameters(shipped("deepseek-v3")), 671'026'419'200);
  EXPECT_EQ(parameters(shipped("kimi-k2")), 1'026'408'232'448);
  EXPECT_EQ(parameters(shipped("gemma2-9b")), 9'241'705'984);
  EXPECT_EQ(parameters(shipped("gpt-oss-20b")), 20'914'757'184);
  EXPECT_EQ(parameters(shipped("gpt-oss-120b")), 116'829'156'672);
  EXPECT_EQ(parameters(shipped("llama4-scout")), 107'769'861'120);
  // Held against HuggingFace's files of the same models in the tests of these.
  EXPECT_EQ(parameters(shipped("olmo2-7b")), 7'298'617'344);
  EXPECT_EQ(parameters(shipped("olmo2-32b")), 32'234'279'936);
  EXPECT_EQ(parameters(shipped("starcoder2-15b")), 15'957'889'024);
  EXPECT_EQ(parameters(shipped("command-r-plus")), 103'810'674'688);
  EXPECT_EQ(parameters(shipped("dbrx")), 131'596'523'520);
  EXPECT_EQ(parameters(shipped("grok-1")), 315'684'820'992);
  EXPECT_EQ(parameters(shipped("glm-4.5")), 352'797'829'024);
  EXPECT_EQ(parameters(shipped("glm-4.5-air")), 106'852'251'264);
  EXPECT_EQ(parameters(shipped("t5-11b")), 11'307'321'344);
  EXPECT_EQ(parameters(shipped("bert-large")), 335'174'458);
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

}  // namespace TITER_TEST_FILE
}  // namespace titer
