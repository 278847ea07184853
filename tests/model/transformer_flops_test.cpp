#include <gtest/gtest.h>

#include "model/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::expect_close;
using samples::gpt;
using samples::GptShape;
using samples::shipped;

/// The letters of the formulas: b sequences of s tokens, l layers, h hidden, v vocabulary.
struct Letters {
  double b = 0;
  double s = 0;
  double l = 0;
  double h = 0;
  double v = 0;
};
Letters letters_of(const Transformer& model, double batch, std::int64_t sequence) {
  return {batch,
          static_cast<double>(sequence),
          static_cast<double>(model.layers),
          static_cast<double>(model.hidden),
          static_cast<double>(model.vocabulary)};
}

constexpr std::array kGpts = {"megatron-1.7b",
                              "megatron-18.4b",
                              "megatron-145.6b",
                              "megatron-1t",
                              "megatron-22b",
                              "mt-nlg-530b",
                              "gpt3-175b"};

TEST(T8_FlopsConventions, ModelFlopsAre72WithoutRecomputation) {
  for (const char* name : kGpts) {
    const Transformer model = shipped(name);
    const auto [b, s, l, h, v] = letters_of(model, 1536, 2048);
    const double expected = 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
    expect_close(3 * forward_flops(model, b, 2048, AttentionCount::full).total().si(), expected);
  }
}

TEST(T8_FlopsConventions, HardwareFlopsAre96WithFullRecomputation) {
  // Every layer's forward pass runs once more; the logits' does not.
  for (const char* name : kGpts) {
    const Transformer model = shipped(name);
    const auto [b, s, l, h, v] = letters_of(model, 1536, 2048);
    const ForwardFlops forward = forward_flops(model, b, 2048, AttentionCount::full);
    const Flops hardware = 3.0 * forward.total() + forward.layers + forward.core_attention;
    const double expected = 96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
    expect_close(hardware.si(), expected);
  }
}

TEST(T8_FlopsConventions, SixFlopsPerTokenAndWeightAttentionAside) {
  for (const char* name : {"megatron-18.4b", "llama2-7b", "llama3-70b", "llama3.2-1b"}) {
    const Transformer model = shipped(name);
    const double tokens = 4.0 * 2048;
    Transformer bare = model;  // biases and norms multiply no matrices
    bare.biases = {};
    const auto weights =
        static_cast<double>(model.layers * layer_parameters(bare, bare.kinds.front()).split);
    const auto logits = static_cast<double>(model.vocabulary * model.hidden);
    const ForwardFlops forward = forward_flops(model, 4, 2048, AttentionCount::full);
    expect_close(3 * forward.layers.si(), 6 * weights * tokens);
    expect_close(3 * forward.logits.si(), 6 * logits * tokens);
  }
}

TEST(T8_FlopsConventions, EightFlopsPerTokenAndWeightWithFullRecomputation) {
  // 8 N b s: the s^2 term and the logits dropped. [seed 001]
  const Transformer model = gpt({.layers = 96, .hidden = 12288, .heads = 96});
  const auto [b, s, l, h, v] = letters_of(model, 1, 2048);
  const ForwardFlops forward = forward_flops(model, 1, 2048, AttentionCount::full);
  const double n = 12 * l * h * h;
  expect_close((3.0 * forward.layers + forward.layers).si(), 8 * n * b * s);
}

TEST(E10_ParametersFlopsActivations, WeightsOfTheLayersAre12DDL) {
  for (const auto& [layers, hidden, heads] :
       {std::array{12, 768, 12}, std::array{24, 2064, 24}, std::array{40, 6144, 48}}) {
    Transformer model = gpt({.layers = layers, .hidden = hidden, .heads = heads});
    model.biases = {};
    const std::int64_t d = hidden;
    EXPECT_EQ(layers * layer_parameters(model, model.kinds.front()).split, 12 * d * d * layers);
  }
}

/// A row of the table of models: shape, and the FLOPs as printed, in TFLOP. [seed 003]
struct Row {
  GptShape shape;
  double printed_tflop;
};
constexpr std::array kRows = {Row{{12, 768, 12, 51200, 1024}, 0.6},
                              Row{{24, 2064, 24, 51200, 1024}, 8.2},
                              Row{{32, 2560, 32, 51200, 1024}, 16.5},
                              Row{{32, 4096, 32, 51200, 1024}, 41.2},
                              Row{{40, 5120, 40, 51200, 1024}, 79.9},
                              Row{{40, 6144, 48, 51200, 1024}, 114.4}};

double layer_flops(const Transformer& model, double batch, std::int64_t sequence) {
  const ForwardFlops forward = forward_flops(model, batch, sequence, AttentionCount::full);
  return 3 * (forward.layers + forward.core_attention).si();
}

TEST(E10_ParametersFlopsActivations, FlopsOfTheLayersAre72And12) {
  for (const Row& row : kRows) {
    const Transformer model = gpt(row.shape);
    for (const double sequences : {1.0, 2.0, 7.0}) {
      const auto [b, s, l, d, v] = letters_of(model, sequences, 1024);
      expect_close(layer_flops(model, sequences, 1024), b * (72 * s * d * d + 12 * s * s * d) * l);
    }
  }
}

TEST(E10_ParametersFlopsActivations, FlopsAreThePrintedRow) {
  for (const Row& row : kRows) {
    const double tflop = layer_flops(gpt(row.shape), 1, 1024) / 1e12;
    EXPECT_NEAR(tflop, row.printed_tflop, 0.05) << row.shape.hidden;  // one printed decimal
  }
}

TEST(E10_ParametersFlopsActivations, ActivationsAre34And5) {
  for (const Row& row : kRows) {
    const Transformer model = gpt(row.shape);
    for (const std::int64_t sequences : {1, 2, 7}) {
      const Slice slice{.micro_batch = sequences,
                        .sequence = 1024,
                        .type = DataType::fp16,
                        .attention = AttentionKernel::materialised};
      const auto [b, s, l, d, v] = letters_of(model, static_cast<double>(sequences), 1024);
      const auto a = static_cast<double>(model.heads);
      const Bytes saved = l * saved_bytes(transformer_layer(model, slice));
      expect_close(saved.si(), b * (34 * s * d + 5 * a * s * s) * l);
    }
  }
}

TEST(ForwardFlops, CausalHalvesOnlyAttention) {
  for (const char* name : {"gpt3-175b", "llama3-8b"}) {
    const Transformer model = shipped(name);
    const ForwardFlops full = forward_flops(model, 3, 2048, AttentionCount::full);
    const ForwardFlops causal = forward_flops(model, 3, 2048, AttentionCount::causal);
    EXPECT_EQ(causal.layers, full.layers);
    EXPECT_EQ(causal.logits, full.logits);
    EXPECT_DOUBLE_EQ(causal.core_attention.si(), full.core_attention.si() / 2);
  }
}

TEST(ForwardFlops, OfAModelThatSeesAllTokensAreNotHalved) {
  Transformer encoder = samples::gpt3();
  encoder.causal = false;
  EXPECT_EQ(forward_flops(encoder, 3, 2048, AttentionCount::causal).core_attention,
            forward_flops(encoder, 3, 2048, AttentionCount::full).core_attention);
}

TEST(ForwardFlops, AddUpTheProductsOfAGatedGroupedLayer) {
  const double h = 4096;
  const double kv = 8 * 128;
  const double f = 14336;
  const double b = 2;
  const double s = 8192;
  const ForwardFlops forward = forward_flops(samples::llama(), b, 8192, AttentionCount::full);
  const double qkv_and_output = 2 * h * (h + 2 * kv) + 2 * h * h;
  const double gate_up_down = 3 * 2 * h * f;
  expect_close(forward.layers.si(), b * s * 32 * (qkv_and_output + gate_up_down));
  // Scores and context: all 32 query heads work, however few the key-value heads.
  expect_close(forward.core_attention.si(), 32 * b * (2 * s * s * h + 2 * s * s * h));
  expect_close(forward.logits.si(), b * s * 2 * h * 128256);
}

TEST(ForwardFlops, CountTheUnpaddedVocabulary) {
  const Transformer model = shipped("gpt3-175b");
  const ForwardFlops forward = forward_flops(model, 1, 2048, AttentionCount::full);
  expect_close(forward.logits.si(), 2048.0 * 2 * 12288 * 50257);
}

/// Core attention of one layer of llama() for one sequence, over the FLOPs of a pair of tokens.
double pairs(const LayerKind& kind, std::int64_t length, AttentionCount count) {
  Transformer model = samples::llama();
  model.layers = 1;
  model.kinds = {kind};
  return forward_flops(model, 1, length, count).core_attention.si() / (4.0 * 4096);
}

TEST(ForwardFlops, CountThePairsWithinAWindow) {
  const LayerKind window{.window = 1024};
  const double s = 4096;
  const double w = 1024;
  EXPECT_DOUBLE_EQ(pairs(window, 4096, AttentionCount::full), s * w);
  // The first w tokens see half as much on average.
  EXPECT_DOUBLE_EQ(pairs(window, 4096, AttentionCount::causal), w * w / 2 + (s - w) * w);
  EXPECT_DOUBLE_EQ(pairs(window, 512, AttentionCount::full), 512.0 * 512);
  EXPECT_DOUBLE_EQ(pairs(window, 512, AttentionCount::causal), 512.0 * 512 / 2);
}

TEST(ForwardFlops, CountThePairsWithinChunks) {
  const LayerKind chunk{.window = 1024, .chunked = true};
  EXPECT_DOUBLE_EQ(pairs(chunk, 4096, AttentionCount::causal),
                   4 * pairs({}, 1024, AttentionCount::causal));
  // The last chunk is short.
  EXPECT_DOUBLE_EQ(
      pairs(chunk, 2560, AttentionCount::full),
      2 * pairs({}, 1024, AttentionCount::full) + pairs({}, 512, AttentionCount::full));
}

TEST(ForwardFlops, CountAllPairsOfAnEncoderAndOfCrossAttention) {
  const double s = 1024;
  EXPECT_DOUBLE_EQ(pairs({.bidirectional = true}, 1024, AttentionCount::causal), s * s);
  EXPECT_DOUBLE_EQ(pairs({.cross_attention = true}, 1024, AttentionCount::causal),
                   s * s / 2 + s * s);
  Transformer decoder = samples::llama();
  const Flops plain = forward_flops(decoder, 1, 1024, AttentionCount::full).layers;
  decoder.kinds = {{.cross_attention = true}};
  const Flops both = forward_flops(decoder, 1, 1024, AttentionCount::full).layers;
  const double h = 4096;
  expect_close((both - plain).si(), 32 * 2 * s * (h * h + 2 * h * 8 * 128 + h * h));
}

TEST(ForwardFlops, AreTwoForEachActiveWeightOfAMixtureOfExperts) {
  // All matrices but the token table: every token multiplies each active weight once.
  for (const char* name : {"mixtral-8x7b", "deepseek-v2-lite", "kimi-k2", "llama4-scout"}) {
    const Transformer model = shipped(name);
    const double s = 4096;
    const ForwardFlops forward = forward_flops(model, 1, 4096, AttentionCount::full);
    // Norms and the router's biases multiply no matrices.
    std::int64_t vectors = (2 * model.layers + 1) * model.hidden;
    vectors += model.latent ? model.layers * (model.latent->q_rank + model.latent->kv_rank) : 0;
    for (const LayerRun& run : model.runs()) {
      const bool routed = model.kinds[static_cast<std::size_t>(run.kind)].experts;
      vectors += routed && model.experts->router_bias ? run.count * model.experts->count : 0;
    }
    const std::int64_t weights =
        active_parameters(model) - model.vocabulary * model.hidden - vectors;
    expect_close((forward.layers + forward.logits).si(), 2 * s * static_cast<double>(weights));
  }
}

TEST(ForwardFlops, OfLatentAttentionAreOfWideKeysAndNarrowValues) {
  const Transformer model = shipped("deepseek-v2-lite");
  const double s = 2048;
  const ForwardFlops forward = forward_flops(model, 3, 2048, AttentionCount::full);
  expect_close(forward.core_attention.si(), 3 * 27 * 2 * s * s * 16 * (128 + 64 + 128));
}

TEST(ForwardFlops, OfAnIndexerAreItsScoresAndThePickedPairs) {
  Transformer model = shipped("deepseek-v3");
  model.predicted_tokens = 0;
  const ForwardFlops plain = forward_flops(model, 1, 8192, AttentionCount::causal);
  model.indexer = Indexer{.heads = 64, .head_dim = 128, .top_k = 2048};
  const ForwardFlops picked = forward_flops(model, 1, 8192, AttentionCount::causal);
  const double s = 8192;
  const double k = 2048;
  const double scores = 2 * 64 * 128 * s * s / 2;
  expect_close(picked.core_attention.si(),
               61 * (scores + 2 * 128 * (128 + 64 + 128) * (s * k - k * k / 2)));
  expect_close((picked.layers - plain.layers).si(),
               61 * 2 * s * (1536 * 64 * 128 + 7168 * 128 + 7168 * 64));
}

TEST(ForwardFlops, CountModulesForFurtherTokens) {
  Transformer model = shipped("deepseek-v3");
  const ForwardFlops with = forward_flops(model, 1, 4096, AttentionCount::causal);
  model.predicted_tokens = 0;
  const ForwardFlops without = forward_flops(model, 1, 4096, AttentionCount::causal);
  EXPECT_DOUBLE_EQ(with.logits.si(), 2 * without.logits.si());
  expect_close(with.core_attention.si(), without.core_attention.si() * 62 / 61);
  // A layer of the last kind and a projection.
  Transformer more = model;
  more.order.back().count += 1;
  const Flops layer = forward_flops(more, 1, 4096, AttentionCount::causal).layers - without.layers;
  const Flops projection = Flops::from_si(2 * 4096 * 2.0 * 7168 * 7168);
  EXPECT_NEAR((with.layers - without.layers).si(), (layer + projection).si(), 1e-9 * layer.si());
}

TEST(ForwardFlops, OfModulesForFurtherTokensAreOfTheirOwnLayer) {
  Transformer model = shipped("nemotron-3-super-120b-a12b");
  const ForwardFlops with = forward_flops(model, 1, 8192, AttentionCount::causal);
  Transformer without = model;
  without.predicted_tokens = 0;
  const ForwardFlops plain = forward_flops(without, 1, 8192, AttentionCount::causal);
  EXPECT_DOUBLE_EQ(with.logits.si(), 3 * plain.logits.si());
  // Attention and experts, and a projection of two hidden states to one.
  const double h = 4096;
  const double attention = h * 128 * (32 + 2 * 2) + 32 * 128 * h;
  const double experts = 22 * 2 * 1024.0 * 2688 + 2 * h * 1024 + 2 * h * 5376 + h * 512;
  expect_close((with.layers - plain.layers).si(),
               2 * 2.0 * 8192 * (attention + experts + 2 * h * h));
  expect_close((with.core_attention - plain.core_attention).si(),
               2 * 2.0 * 2 * 32 * 128 * 8192.0 * 8192 / 2);
}

TEST(ForwardFlops, TotalIsTheSumOfItsParts) {
  const ForwardFlops forward = forward_flops(samples::llama(), 1, 4096, AttentionCount::full);
  expect_close(forward.total().si(),
               forward.layers.si() + forward.core_attention.si() + forward.logits.si());
}

TEST(ForwardFlops, GrowWithTheBatchAndAttentionWithTheSquareOfTheLength) {
  const auto at = [](double sequences, std::int64_t length) {
    return forward_flops(samples::llama(), sequences, length, AttentionCount::full);
  };
  expect_close(at(6, 1024).total().si(), 6 * at(1, 1024).total().si());
  expect_close(at(1, 4096).layers.si(), 4 * at(1, 1024).layers.si());
  expect_close(at(1, 4096).logits.si(), 4 * at(1, 1024).logits.si());
  expect_close(at(1, 4096).core_attention.si(), 4 * 4 * at(1, 1024).core_attention.si());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
