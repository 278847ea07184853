// Short convolutions and RWKV: what they compute, keep and are made of.
#include <gtest/gtest.h>

#include "model/mixers.hpp"
#include "model/operations.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::expect_close;
using samples::hybrid;
using samples::named;

OperationList layer_of(const Mixer& mixer, const Slice& slice) {
  return transformer_layer(hybrid(mixer), slice);
}

std::int64_t counted(const std::string& config) { return parameters(samples::read_model(config)); }

// Three kernels, of two numbers and a gate each but the convolution; six numbers are kept.
TEST(ShortConvolutions, GateWhatGoesInAndOut) {
  const double x = 4096.0 * 4096 * 2;
  const OperationList list = layer_of(samples::kShortConvolution, {.sequence = 4096});
  expect_close(named(list, "mixer input").forward.flops.si(), 2.0 * 4096 * 4096 * 3 * 4096);
  expect_close(named(list, "convolution input gate").forward.bytes.si(), 3 * x);
  expect_close(named(list, "short convolution").forward.bytes.si(), 2 * x);
  expect_close(named(list, "convolution output gate").input_gradient.bytes.si(), 5 * x);
  const double kept = named(list, "convolution input gate").saved.si() +
                      named(list, "short convolution").saved.si() +
                      named(list, "convolution output gate").saved.si();
  expect_close(kept, 5 * x);
}

// Of each version the mixtures that its products are of, and that one of its MLPs'.
TEST(Rwkv, MixesEachTokenWithTheOneBefore) {
  const double x = 4096.0 * 4096 * 2;
  struct Row {
    Mixer mixer;
    double mixtures;
    double of_mlp;
  };
  const std::array rows = {Row{samples::kRwkv4, 3, 2},
                           Row{samples::kRwkv5, 4, 2},
                           Row{samples::kRwkv6, 5, 2},
                           Row{samples::kRwkv7, 6, 1}};
  for (const Row& row : rows) {
    const OperationList list = layer_of(row.mixer, {.sequence = 4096});
    expect_close(named(list, "token shift").forward.bytes.si(), (1 + row.mixtures) * x);
    expect_close(named(list, "MLP token shift").forward.bytes.si(), (1 + row.of_mlp) * x);
    const bool gated = row.of_mlp > 1;
    double gates = 0;
    for (const Operation& op : list) {
      gates += op.name == "MLP gate" ? 1 : 0;
    }
    EXPECT_EQ(gates, gated ? 1 : 0);
  }
}

// What a token takes out of the state and what it puts in its place are keys of their own.
TEST(Rwkv, SevenIsADeltaRuleOfTwoKeys) {
  const double each = 2 * 4096.0 * 64;
  const OperationList list = layer_of(samples::kRwkv7, {.sequence = 4096});
  const double pairs = each * 16 * 64;
  const double state = each * 64 * 64;
  expect_close(named(list, "chunk inverses").forward.flops.si(), 7 * pairs + each * 16 * 16 / 6);
  expect_close(named(list, "chunk states").forward.flops.si(), 3 * state);
  expect_close(named(list, "chunk outputs").forward.flops.si(), 2 * pairs + state);
  expect_close(named(list, "decay up").forward.flops.si(), 2 * 4096.0 * (512 + 96) * 4096);
}

TEST(Rwkv, FirstLayersOfSevenMixNoOthersValuesIn) {
  Transformer model = hybrid(samples::kRwkv7);
  const LayerKind other{.tokens = TokenMixing::mixer};
  LayerKind first = other;
  first.first_values = true;
  EXPECT_EQ(layer_parameters(model, other).total() - layer_parameters(model, first).total(),
            2 * 96 * 4096 + 4096);
  model.kinds = {first};
  model.order = {};
  model.layers = 1;
  const OperationList list = transformer_layer(model, {.sequence = 4096});
  expect_close(named(list, "decay up").forward.flops.si(), 2 * 4096.0 * 512 * 4096);
}

// [LiquidAI/LFM2-1.2B, LFM2-350M, LFM2-8B-A1B]
TEST(ShortConvolutions, CountLfm2) {
  EXPECT_EQ(counted(R"({"model_type": "lfm2", "hidden_size": 2048, "num_hidden_layers": 16,
      "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 65536,
      "block_ff_dim": 12288, "block_multiple_of": 256, "block_ffn_dim_multiplier": 1.0,
      "block_auto_adjust_ff_dim": true, "conv_L_cache": 3, "conv_bias": false,
      "full_attn_idxs": [2, 5, 8, 10, 12, 14]})"),
            1'170'340'608);
  EXPECT_EQ(counted(R"({"model_type": "lfm2", "hidden_size": 1024, "num_hidden_layers": 16,
      "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 65536,
      "block_ff_dim": 6656, "layer_types": ["conv", "conv", "full_attention", "conv", "conv",
      "full_attention", "conv", "conv", "full_attention", "conv", "full_attention", "conv",
      "full_attention", "conv", "full_attention", "conv"]})"),
            354'483'968);
  EXPECT_EQ(counted(R"({"model_type": "lfm2", "hidden_size": 1024, "num_hidden_layers": 2,
      "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 1000,
      "intermediate_size": 4096, "block_auto_adjust_ff_dim": false})"),
            2 * (1024 * 1024 * 2 + 2 * 1024 * 512 + 2 * 64 + 3 * 1024 * 4096 + 2 * 1024) +
                1000 * 1024 + 1024);
  std::string types;
  for (int layer = 0; layer < 24; ++layer) {
    const bool attends = layer == 21 || (layer % 4 == 2 && layer < 22);
    types += (layer > 0 ? ", " : "") + std::string(attends ? "\"full_attention\"" : "\"conv\"");
  }
  const Transformer model = samples::read_model(R"({"model_type": "lfm2_moe", "hidden_size": 2048,
      "intermediate_size": 7168, "moe_intermediate_size": 1792, "num_hidden_layers": 24,
      "num_attention_heads": 32, "num_key_value_heads": 8, "num_experts": 32,
      "num_experts_per_tok": 4, "num_dense_layers": 2, "use_expert_bias": true,
      "vocab_size": 65536, "layer_types": [)" + types +
                                                "]}");
  EXPECT_EQ(parameters(model), 8'339'929'856);
}

// [RWKV-4 169M; the tables of Peng et al. 2024 and 2025]
TEST(Rwkv, CountsOfFourVersions) {
  EXPECT_EQ(counted(R"({"model_type": "rwkv", "attention_hidden_size": 768,
      "context_length": 1024, "hidden_size": 768, "intermediate_size": 3072,
      "num_hidden_layers": 12, "rescale_every": 6, "vocab_size": 50277})"),
            169'342'464);
  const std::string world = R"("attention_hidden_size": 2048, "head_size": 64,
      "head_size_divisor": 8, "hidden_size": 2048, "intermediate_size": null,
      "num_attention_heads": 64, "num_hidden_layers": 24, "vocab_size": 65536})";
  EXPECT_EQ(counted(R"({"model_type": "rwkv5", )" + world), 1'577'754'624);
  EXPECT_EQ(counted(R"({"model_type": "rwkv6", )" + world), 1'599'873'024);
  const std::string finch = R"({"model_type": "rwkv6", "hidden_size": 2048,
      "num_hidden_layers": 24, "vocab_size": 65536, "expand_k": 0.5})";
  EXPECT_THROW((void)counted(finch), InputError) << "another class by the same name";
  const std::string goose = R"({"model_type": "rwkv7", "hidden_size": 768,
      "num_hidden_layers": 12, "head_dim": 64, "vocab_size": 65536, "decay_low_rank_dim": 64,
      "a_low_rank_dim": 64, "v_low_rank_dim": 32, "gate_low_rank_dim": 128, "attn": null,
      "intermediate_size": 3072, "value_dim": [768, 768]})";
  EXPECT_EQ(counted(goose), 191'034'624);
  // As ranks follow from the root of the hidden size, 27.7.
  std::string told = goose;
  for (const char* const key :
       {"decay_low_rank_dim", "a_low_rank_dim", "v_low_rank_dim", "gate_low_rank_dim"}) {
    const std::size_t at = told.find(key) + std::string(key).size() + 3;
    told.replace(at, told.find(',', at) - at, "null");
  }
  EXPECT_EQ(counted(told), 191'034'624);
  EXPECT_EQ(counted(R"({"model_type": "rwkv7", "hidden_size": 2560, "num_hidden_layers": 32,
      "vocab_size": 65536, "decay_low_rank_dim": 96, "a_low_rank_dim": 96, "v_low_rank_dim": 64,
      "gate_low_rank_dim": 320})"),
            2'947'735'040);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
