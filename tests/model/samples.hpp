#pragma once
// Models that the tests of this room share.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "model/operations.hpp"
#include "paths.hpp"
#include "titer/input/file.hpp"
#include "titer/input/reader.hpp"

namespace titer::samples {

/// Equal but for the rounding of a few sums and products in another order than the formula's.
inline void expect_close(double actual, double expected) {
  EXPECT_NEAR(actual, expected, 1e-13 * expected);
}

/// A copy of the operation of that name: the list may be a temporary.
inline Operation named(const OperationList& list, std::string_view name) {
  for (const Operation& op : list) {
    if (op.name == name) {
      return op;
    }
  }
  throw std::out_of_range("no operation " + std::string(name));
}

/// A GPT as the papers count it: f = 4h, biases, dropout, learned positions, tied embeddings.
struct GptShape {
  std::int64_t layers = 1;
  std::int64_t hidden = 0;
  std::int64_t heads = 1;
  std::int64_t vocabulary = 51200;
  std::int64_t sequence = 2048;
};
inline Transformer gpt(const GptShape& shape) {
  return {.name = "gpt",
          .title = "GPT",
          .source = "test",
          .layers = shape.layers,
          .hidden = shape.hidden,
          .heads = shape.heads,
          .kv_heads = shape.heads,
          .head_dim = shape.hidden / shape.heads,
          .ffn = 4 * shape.hidden,
          .gated = false,
          .norm = Norm::layernorm,
          .biases = {.qkv = true, .output = true, .mlp = true},
          .dropout = true,
          .positions = Positions::learned,
          .tied_embeddings = true,
          .vocabulary = shape.vocabulary,
          .vocabulary_multiple = 128,
          .max_sequence = shape.sequence,
          .position_rows = shape.sequence,
          .attention = AttentionKernel::materialised,
          .causal = true};
}

/// GPT-3's widths. [Brown et al. 2020, table 2.1]
inline Transformer gpt3() { return gpt({96, 12288, 96, 51200, 2048}); }

/// Grouped queries, a gated MLP, no biases: Llama 3 8B's widths.
inline Transformer llama() {
  return {.name = "llama",
          .title = "Llama",
          .source = "test",
          .layers = 32,
          .hidden = 4096,
          .heads = 32,
          .kv_heads = 8,
          .head_dim = 128,
          .ffn = 14336,
          .gated = true,
          .norm = Norm::rmsnorm,
          .biases = {},
          .dropout = false,
          .positions = Positions::rotary,
          .tied_embeddings = false,
          .vocabulary = 128256,
          .vocabulary_multiple = 128,
          .max_sequence = 8192,
          .attention = AttentionKernel::flash,
          .causal = true};
}

/// Latent attention, experts behind a few dense layers, a module for a further token: DeepSeek-V3.
inline Transformer deepseek() {
  Transformer model = llama();
  model.name = "deepseek";
  model.layers = 61;
  model.hidden = 7168;
  model.heads = 128;
  model.kv_heads = 128;
  model.head_dim = 128 + 64;
  model.ffn = 18432;
  model.vocabulary = 129280;
  model.latent = {
      .q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .value_dim = 128};
  model.experts = {.count = 256,
                   .per_token = 8,
                   .ffn = 2048,
                   .shared_ffn = 2048,
                   .shared_gate = false,
                   .router_bias = true,
                   .routing = {}};
  model.predicted_tokens = 1;
  model.kinds = {{}, {.experts = true}};
  model.order = {{.kind = 0, .count = 3}, {.kind = 1, .count = 58}};
  return model;
}

/// Experts in every layer: Mixtral 8x7B's widths.
inline Transformer mixtral() {
  Transformer model = llama();
  model.name = "mixtral";
  model.vocabulary = 32000;
  model.experts = {.count = 8,
                   .per_token = 2,
                   .ffn = 14336,
                   .shared_ffn = 0,
                   .shared_gate = false,
                   .router_bias = false,
                   .routing = {}};
  model.kinds = {{.experts = true}};
  return model;
}

/// Five windows of 1024 tokens to a layer that sees all, norms before and behind, norms of heads.
inline Transformer windowed() {
  Transformer model = llama();
  model.name = "windowed";
  model.layers = 12;
  model.norms = 4;
  model.qk_norm = true;
  model.kinds = {{.window = 1024}, {}};
  model.order = {{0, 5}, {1, 1}, {0, 5}, {1, 1}};
  return model;
}

inline Transformer read_model(std::string_view text, const std::string& file = "model.json") {
  const Document document = parse_json(text, file);
  Problems problems;
  Reader in(document, problems);
  Transformer model = read_transformer(in);
  problems.raise();
  return model;
}

/// A model of the models folder.
inline Transformer shipped(const std::string& name) {
  const auto file = testing::root() / "models" / (name + ".json");
  const Document document = load_json(file);
  Problems problems;
  Reader in(document, problems);
  Transformer model = read_transformer(in);
  problems.raise();
  return model;
}

}  // namespace titer::samples
