// The bytes that a layer's kernels read and write.
#include <gtest/gtest.h>

#include <cmath>

#include "model/samples.hpp"
#include "titer/model/transformer/transformer_layer.hpp"

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

TEST(LayerBytes, ProductsReadTwoMatricesAndWriteOne) {
  const double t = 8;
  const double tokens = kBatch * kSequence;
  const double h = 12288;
  const double columns = 4 * h / t;
  const Operation up = named(
      transformer_layer(samples::gpt3(), slice_of(8, AttentionKernel::materialised)), "MLP up");
  const double input = 2 * tokens * h;
  const double weight = 2 * h * columns;
  const double output = 2 * tokens * columns;
  EXPECT_EQ(up.forward.kind, KernelKind::matrix);
  expect_close(up.forward.bytes.si(), input + weight + output);
  expect_close(up.input_gradient.bytes.si(), output + weight + input);
  // The weight's gradient is added in fp32: four bytes read and four written per weight.
  expect_close(up.weight_gradient.bytes.si(), input + output + (4 + 4) * h * columns);
  expect_close(up.forward.flops.si(), 2 * tokens * h * columns);
}

TEST(LayerBytes, RowProductsSplitTheInnerDimension) {
  const double t = 8;
  const double tokens = kBatch * kSequence;
  const double h = 12288;
  const double rows = 4 * h / t;
  const Operation down = named(
      transformer_layer(samples::gpt3(), slice_of(8, AttentionKernel::materialised)), "MLP down");
  expect_close(down.forward.flops.si(), 2 * tokens * rows * h);
  expect_close(down.forward.bytes.si(), 2 * (tokens * rows + rows * h + tokens * h));
}

TEST(LayerBytes, GroupedQueriesHaveFewerKeysAndValues) {
  const OperationList list =
      transformer_layer(samples::llama(), slice_of(2, AttentionKernel::flash));
  const double tokens = kBatch * kSequence;
  const double h = 4096;
  const double kv = 8 * 128;
  expect_close(named(list, "query, key, value").forward.flops.si(),
               2 * tokens * h * (h + 2 * kv) / 2);
  // Queries and context, keys and values once each, and one fp32 number per row and head.
  expect_close(named(list, "flash attention").forward.bytes.si(),
               2 * tokens * (2 * h + 2 * kv) / 2 + 4 * tokens * 32 / 2);
  // Backward, the context and three gradients are moved besides.
  expect_close(named(list, "flash attention").input_gradient.bytes.si(),
               2 * tokens * (4 * h + 4 * kv) / 2 + 4 * tokens * 32 / 2);
  // Queries and keys are turned in place, and their gradients back: read and written.
  const double turned = 2 * 2 * tokens * (h + kv) / 2;
  expect_close(named(list, "rotary positions").forward.bytes.si(), turned);
  expect_close(named(list, "rotary positions").input_gradient.bytes.si(), turned);
}

TEST(LayerBytes, GatedMlpsHaveThreeMatrices) {
  const OperationList list =
      transformer_layer(samples::llama(), slice_of(2, AttentionKernel::flash));
  const double tokens = kBatch * kSequence;
  const double h = 4096;
  const double f = 14336;
  expect_close(named(list, "MLP gate and up").forward.flops.si(), 2 * tokens * h * 2 * f / 2);
  expect_close(named(list, "MLP down").forward.flops.si(), 2 * tokens * f * h / 2);
  // Gate and up are read, their product written; backward, they and its gradient are read and
  // their two gradients written.
  expect_close(named(list, "gated activation").input_gradient.bytes.si(),
               2 * tokens * (3 + 2) * f / 2);
  expect_close(named(list, "gated activation").forward.bytes.si(), 2 * tokens * (2 + 1) * f / 2);
}

TEST(LayerBytes, ScoresPassThroughMemoryUnlessFused) {
  const double t = 8;
  const double scores = 2.0 * kBatch * 96 * kSequence * kSequence / t;
  const OperationList list =
      transformer_layer(samples::gpt3(), slice_of(8, AttentionKernel::materialised));
  expect_close(named(list, "softmax").forward.bytes.si(), 2 * scores);         // read, write
  expect_close(named(list, "softmax").input_gradient.bytes.si(), 3 * scores);  // two in, one out
  expect_close(named(list, "attention dropout").forward.bytes.si(), 2.5 * scores);  // byte mask
  expect_close(named(list, "attention dropout").input_gradient.bytes.si(), 2.5 * scores);
  const double one_head = 2.0 * (2 * kSequence * 128);
  const double heads = kBatch * 96 / t;
  expect_close(named(list, "attention scores").forward.bytes.si(), heads * one_head + scores);
  expect_close(named(list, "attention context").forward.bytes.si(), heads * one_head + scores);
}

TEST(LayerBytes, ScoresOfHeadsThatNoFusedSoftmaxTakesAreScaledAndMaskedOneByOne) {
  const Transformer model = samples::gpt3();
  Slice slice = slice_of(8, AttentionKernel::materialised);
  const double heads = kBatch * 96.0 / 8.0;
  const double scores = 2.0 * heads * kSequence * kSequence;
  slice.softmax_heads = 5;
  ASSERT_NE(std::fmod(heads, 5.0), 0.0);
  const OperationList steps = transformer_layer(model, slice);
  Bytes forward;
  Bytes backward;
  for (const std::string_view step : {"scores to fp32",
                                      "scale of scores",
                                      "mask of scores",
                                      "softmax",
                                      "probabilities from fp32"}) {
    forward += named(steps, step).forward.bytes;
    backward += named(steps, step).input_gradient.bytes;
  }
  // Three steps read and write 4 bytes of each, two 4 on one side and 2 on the other; backward the
  // softmax reads its result, too.
  expect_close(forward.si(), (3 * 2 * 2 + 2 * (2 + 1)) * scores);
  expect_close(backward.si(), (3 * 2 * 2 + 2 + 2 * (2 + 1)) * scores);
  slice.softmax_heads = 4;
  ASSERT_EQ(std::fmod(heads, 4.0), 0.0);
  EXPECT_EQ(transformer_layer(model, slice).size() + 4, steps.size());
  slice.type = DataType::fp32;  // no such kernel is fused, and nothing is converted
  EXPECT_EQ(transformer_layer(model, slice).size() + 2, steps.size());
}

TEST(LayerBytes, WithoutDropoutThereAreNoMasks) {
  Transformer plain = samples::gpt3();
  plain.dropout = false;
  const OperationList list = transformer_layer(plain, slice_of(8, AttentionKernel::materialised));
  EXPECT_EQ(list.size(), 13U - 1U);
  const double x = 2.0 * kBatch * kSequence * 12288;
  expect_close(named(list, "attention residual").forward.bytes.si(), 3 * x);
}

TEST(LayerBytes, NormsAndResidualsAreSplitBySequenceParallelismOnly) {
  const double x = 2.0 * kBatch * kSequence * 12288;
  for (const std::int64_t t : {1, 8}) {
    for (const bool sequence_parallel : {false, true}) {
      const OperationList list = transformer_layer(
          samples::gpt3(), slice_of(t, AttentionKernel::materialised, sequence_parallel));
      const double share = sequence_parallel ? 1.0 / static_cast<double>(t) : 1.0;
      expect_close(named(list, "MLP norm").forward.bytes.si(), 2 * x * share);
      expect_close(named(list, "MLP norm").input_gradient.bytes.si(), 3 * x * share);
      // Two in, one out, and a mask of one byte where an element has two.
      expect_close(named(list, "MLP residual").forward.bytes.si(), 3.5 * x * share);
      expect_close(named(list, "MLP residual").input_gradient.bytes.si(), 2.5 * x * share);
    }
  }
}

TEST(LayerBytes, ActivationsOfAPlainMlpAreOneToOne) {
  const Operation gelu = named(
      transformer_layer(samples::gpt3(), slice_of(8, AttentionKernel::materialised)), "activation");
  const double f = 2.0 * kBatch * kSequence * (4 * 12288) / 8;
  expect_close(gelu.forward.bytes.si(), (1 + 1) * f);         // read, write
  expect_close(gelu.input_gradient.bytes.si(), (2 + 1) * f);  // input and gradient in, one out
}

TEST(OutputHeadBytes, CrossEntropyIsInFp32) {
  const Operation loss =
      named(output_head(samples::gpt3(), slice_of(8, AttentionKernel::flash)), "cross-entropy");
  const double elements = 1.0 * kBatch * kSequence * 51200 / 8;
  // Up-cast (2 in, 4 out), maximum (4 in), and three passes that read and write.
  expect_close(loss.forward.bytes.si(), elements * (2 + 4 + 4 + 3 * (4 + 4)));
  // Probabilities in and out, and the gradient in the layer's own type.
  expect_close(loss.input_gradient.bytes.si(), elements * (4 + 4 + 2));
}

TEST(EmbeddingBytes, LooksUpRowsAndAddsTheirGradients) {
  const OperationList list = embedding(samples::gpt3(), slice_of(1, AttentionKernel::flash));
  ASSERT_EQ(list.size(), 1U);
  const double elements = 1.0 * kBatch * kSequence * 12288;
  const Operation& op = *list.begin();
  EXPECT_EQ(op.forward.flops, Flops());
  expect_close(op.forward.bytes.si(), (2 + 2 + 1) * elements);          // row in, row out, mask
  expect_close(op.weight_gradient.bytes.si(), (2 + 4 + 4) * elements);  // read, and add into fp32
}

TEST(LayerBytes, Fp32MovesTwiceTheBytesButForMasks) {
  Transformer model = samples::gpt3();
  model.dropout = false;
  Slice half = slice_of(8, AttentionKernel::materialised);
  Slice full = half;
  full.type = DataType::fp32;
  const OperationList narrow = transformer_layer(model, half);
  const OperationList wide = transformer_layer(model, full);
  for (std::ptrdiff_t i = 0; i < std::ssize(narrow); ++i) {
    const Operation& a = narrow.begin()[i];
    const Operation& b = wide.begin()[i];
    EXPECT_EQ(b.forward.flops, a.forward.flops) << a.name;
    expect_close(b.forward.bytes.si(), 2 * a.forward.bytes.si());
    expect_close((b.saved + b.core_saved).si() + 1, 2 * (a.saved + a.core_saved).si() + 1);
  }
}

TEST(LayerBytes, OfTheLongestSliceDoNotOverflow) {
  Slice slice = slice_of(1, AttentionKernel::flash);
  slice.micro_batch = 10'000'000;
  slice.sequence = 1'000'000'000'000;
  const double tokens = 1e7 * 1e12;
  expect_close(layer_input_bytes(samples::llama(), slice).si(), 2 * tokens * 4096);
  expect_close(named(transformer_layer(samples::llama(), slice), "MLP norm").forward.bytes.si(),
               2 * 2 * tokens * 4096);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
