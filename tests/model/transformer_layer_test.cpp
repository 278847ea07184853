#include <gtest/gtest.h>

#include "model/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::expect_close;
using samples::named;

constexpr std::int64_t kBatch = 4;
constexpr std::int64_t kSequence = 2048;

Slice slice_of(std::int64_t tensor, AttentionKernel attention, bool sequence_parallel = false) {
  return {.micro_batch = kBatch,
          .sequence = kSequence,
          .tensor = tensor,
          .sequence_parallel = sequence_parallel,
          .type = DataType::bf16,
          .attention = attention};
}

struct LayerFlops {
  double forward = 0;
  double backward = 0;
};
LayerFlops flops_of(const OperationList& list) {
  LayerFlops sum;
  for (const Operation& op : list) {
    sum.forward += op.forward.flops.si();
    sum.backward += op.input_gradient.flops.si() + op.weight_gradient.flops.si();
  }
  return sum;
}

std::vector<std::string> names_of(const OperationList& list) {
  std::vector<std::string> names;
  for (const Operation& op : list) {
    names.emplace_back(op.name);
  }
  return names;
}

TEST(LayerOperations, OfAGptAreInForwardOrder) {
  const OperationList list =
      transformer_layer(samples::gpt3(), slice_of(8, AttentionKernel::materialised));
  EXPECT_EQ(names_of(list),
            (std::vector<std::string>{"attention norm",
                                      "query, key, value",
                                      "attention scores",
                                      "softmax",
                                      "attention dropout",
                                      "attention context",
                                      "attention output",
                                      "attention residual",
                                      "MLP norm",
                                      "MLP up",
                                      "activation",
                                      "MLP down",
                                      "MLP residual"}));
}

TEST(LayerOperations, OfALlamaAreInForwardOrder) {
  const OperationList list =
      transformer_layer(samples::llama(), slice_of(8, AttentionKernel::flash));
  EXPECT_EQ(names_of(list),
            (std::vector<std::string>{"attention norm",
                                      "query, key, value",
                                      "rotary positions",
                                      "flash attention",
                                      "attention output",
                                      "attention residual",
                                      "MLP norm",
                                      "MLP gate and up",
                                      "gated activation",
                                      "MLP down",
                                      "MLP residual"}));
}

TEST(LayerFlops, OfAGptAre24And4DividedByTheRanks) {
  const double b = kBatch;
  const double s = kSequence;
  const double h = 12288;
  const double forward = 24 * b * s * h * h + 4 * b * s * s * h;
  for (const std::int64_t t : {1, 2, 8}) {
    for (const bool sequence_parallel : {false, true}) {
      const LayerFlops flops = flops_of(transformer_layer(
          samples::gpt3(), slice_of(t, AttentionKernel::materialised, sequence_parallel)));
      expect_close(flops.forward, forward / static_cast<double>(t));
      expect_close(flops.backward, 2 * forward / static_cast<double>(t));
    }
  }
}

TEST(LayerFlops, OfEveryShippedModelAreItsForwardFlops) {
  for (const char* name :
       {"gpt3-175b", "megatron-1.7b", "llama2-7b", "llama3-8b", "llama3-405b", "llama3.2-3b"}) {
    const Transformer model = samples::shipped(name);
    const ForwardFlops whole = forward_flops(model, kBatch, kSequence, AttentionCount::full);
    for (const std::int64_t t : {1, 2, 4, 8}) {
      SCOPED_TRACE(std::string(name) + " on " + std::to_string(t));
      const double ranks = static_cast<double>(model.layers * t);
      const LayerFlops flops =
          flops_of(transformer_layer(model, slice_of(t, AttentionKernel::materialised)));
      expect_close(ranks * flops.forward, (whole.layers + whole.core_attention).si());
      expect_close(ranks * flops.backward, 2 * (whole.layers + whole.core_attention).si());
    }
  }
}

TEST(LayerFlops, FlashSkipsTheUpperTilesAndRepeatsTheScores) {
  const Transformer model = samples::llama();
  const double q = 4096;
  const double t = 4;
  const Operation flash =
      named(transformer_layer(model, slice_of(4, AttentionKernel::flash)), "flash attention");
  const double causal_half = 4.0 * kBatch * kSequence * kSequence * q / t / 2;
  expect_close(flash.forward.flops.si(), causal_half);
  // Five products of s x s x d in the backward kernel, two in the forward one.
  expect_close(flash.input_gradient.flops.si(), 5.0 / 2.0 * causal_half);
  EXPECT_EQ(flash.forward.kind, KernelKind::attention);
  EXPECT_EQ(flash.input_gradient.kind, KernelKind::attention);
  EXPECT_TRUE(flash.is_part_of(Module::core_attention));
}

TEST(LayerFlops, FlashDoesAllTilesOfAModelThatSeesAllTokens) {
  Transformer encoder = samples::llama();
  encoder.causal = false;
  const OperationList list = transformer_layer(encoder, slice_of(1, AttentionKernel::flash));
  expect_close(named(list, "flash attention").forward.flops.si(),
               4.0 * kBatch * kSequence * kSequence * 4096);
}

TEST(LayerFlops, OnlyProductsHaveFlops) {
  for (const AttentionKernel attention : {AttentionKernel::materialised, AttentionKernel::flash}) {
    for (const Operation& op : transformer_layer(samples::gpt3(), slice_of(8, attention))) {
      for (const Kernel& kernel : {op.forward, op.input_gradient, op.weight_gradient}) {
        EXPECT_EQ(kernel.flops > Flops(), kernel.exists() && kernel.kind != KernelKind::memory)
            << op.name;
      }
      EXPECT_GT(op.forward.bytes, Bytes()) << op.name;
      EXPECT_GT(op.input_gradient.bytes, Bytes()) << op.name;
    }
  }
}

TEST(LayerKernels, GradientsOfWeightsBelongToOperationsWithWeights) {
  const auto with_weight_gradient = [](const OperationList& list) {
    std::vector<std::string> names;
    for (const Operation& op : list) {
      if (op.weight_gradient.exists()) {
        names.emplace_back(op.name);
      }
    }
    return names;
  };
  const Slice materialised = slice_of(8, AttentionKernel::materialised);
  const Slice flash = slice_of(8, AttentionKernel::flash);
  EXPECT_EQ(
      with_weight_gradient(transformer_layer(samples::gpt3(), materialised)),
      (std::vector<std::string>{"query, key, value", "attention output", "MLP up", "MLP down"}));
  EXPECT_EQ(with_weight_gradient(transformer_layer(samples::llama(), flash)),
            (std::vector<std::string>{
                "query, key, value", "attention output", "MLP gate and up", "MLP down"}));
  EXPECT_EQ(with_weight_gradient(embedding(samples::gpt3(), flash)),
            std::vector<std::string>{"embedding"});
  EXPECT_EQ(with_weight_gradient(output_head(samples::gpt3(), flash)),
            std::vector<std::string>{"logits"});
}

TEST(LayerKernels, CoreAttentionIsWhatSelectiveRecomputationRepeats) {
  std::vector<std::string> core;
  for (const Operation& op :
       transformer_layer(samples::gpt3(), slice_of(8, AttentionKernel::materialised))) {
    if (op.is_part_of(Module::core_attention)) {
      core.emplace_back(op.name);
    }
  }
  EXPECT_EQ(core,
            (std::vector<std::string>{
                "attention scores", "softmax", "attention dropout", "attention context"}));
}

TEST(OutputHead, MultipliesByThePaddedVocabulary) {
  Transformer model = samples::gpt3();
  model.vocabulary = 50257;
  const OperationList list = output_head(model, slice_of(8, AttentionKernel::flash));
  EXPECT_EQ(names_of(list), (std::vector<std::string>{"final norm", "logits", "cross-entropy"}));
  expect_close(named(list, "logits").forward.flops.si(),
               2.0 * kBatch * kSequence * 12288 * (51200 / 8.0));
  expect_close(flops_of(list).backward, 2 * flops_of(list).forward);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
