// More tensor-parallel ranks than key-value heads: what is split, gathered and kept.
// [Megatron-Core, transformer/attention.py: num_query_groups < world_size]
#include <gtest/gtest.h>

#include <algorithm>

#include "model/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kTokens = 1024;
constexpr double kQueries = 32 * 128;  // columns of Llama 3 8B's
constexpr double kKeys = 8 * 128;      // and of its keys, and of its values

OperationList layer_of(std::int64_t tensor) {
  const Slice slice{.micro_batch = 1,
                    .sequence = 1024,
                    .tensor = tensor,
                    .sequence_parallel = true,
                    .type = DataType::bf16,
                    .attention = AttentionKernel::flash};
  return transformer_layer(samples::llama(), slice);
}

TEST(SharedHeads, AreGatheredAndTheirGradientsSummed) {
  const Operation gather = samples::named(layer_of(16), "query, key, value gather");
  const Bytes all = kTokens * (kQueries + 2 * kKeys) * 2_B;
  EXPECT_EQ(gather.forward_transfer.kind, Collective::all_gather);
  EXPECT_EQ(gather.forward_transfer.size, all);
  EXPECT_EQ(gather.forward_transfer.group, LayerGroup::tensor);
  EXPECT_EQ(gather.backward_transfer.kind, Collective::reduce_scatter);
  EXPECT_EQ(gather.backward_transfer.size, all);
  EXPECT_EQ(gather.saved, Bytes()) << "what attention reads is kept by attention";
}

TEST(SharedHeads, AreNotGatheredWhereEveryRankHasWholeOnes) {
  for (const std::int64_t tensor : {1, 2, 8}) {
    const OperationList layer = layer_of(tensor);
    EXPECT_TRUE(std::none_of(layer.begin(), layer.end(), [](const Operation& op) {
      return op.name == "query, key, value gather";
    })) << tensor;
  }
}

TEST(SharedHeads, AreOneOnEveryRankThatAttends) {
  for (const std::int64_t tensor : {8, 16, 32}) {
    const Operation attention = samples::named(layer_of(tensor), "flash attention");
    EXPECT_EQ(attention.saved, kTokens * (kQueries / static_cast<double>(tensor) + 2 * 128) * 2_B)
        << tensor;
    EXPECT_EQ(attention.forward.shape.group, 32.0F / static_cast<float>(tensor)) << tensor;
  }
}

TEST(SharedHeads, CostNoProductTwice) {
  const Operation whole = samples::named(layer_of(1), "query, key, value");
  const Operation part = samples::named(layer_of(32), "query, key, value");
  EXPECT_EQ(32.0 * part.forward.flops, whole.forward.flops);
  EXPECT_EQ(32.0 * part.weight_gradient.flops, whole.weight_gradient.flops);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
