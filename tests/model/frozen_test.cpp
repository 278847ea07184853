#include "titer/model/frozen.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

Kernel product(double flops) {
  return {.kind = KernelKind::matrix, .flops = Flops::from_si(flops), .bytes = {}};
}

/// A product that keeps its input for its weights, and a function that keeps its own.
ModelBlocks blocks_of(std::int64_t layers) {
  ModelBlocks blocks;
  const Operation linear{.name = "linear",
                         .forward = product(1),
                         .input_gradient = product(1),
                         .weight_gradient = product(1),
                         .saved = 10_B,
                         .weight_input = 10_B,
                         .output_gradient = 5_B};
  const Operation function{
      .name = "function", .forward = product(2), .input_gradient = product(2), .saved = 7_B};
  blocks.kinds = {{.name = "layer",
                   .operations = {linear, function},
                   .parameters = {.split = 100},
                   .input = 3_B,
                   .output = 3_B}};
  blocks.embedding = {.name = "embedding",
                      .operations = {linear},
                      .parameters = {.split = 50},
                      .input = 3_B,
                      .output = 3_B};
  blocks.order = {{.kind = 0, .count = layers}};
  return blocks;
}

TEST(FrozenLayers, InFrontHaveNoBackwardPass) {
  ModelBlocks blocks = blocks_of(12);
  freeze(blocks, {.first = 5});
  ASSERT_EQ(blocks.kinds.size(), 2U);
  const Block& frozen = blocks.kinds[1];
  EXPECT_EQ(blocks.order,
            (std::vector<LayerRun>{{.kind = 1, .count = 5}, {.kind = 0, .count = 7}}));
  EXPECT_TRUE(frozen.frozen);
  EXPECT_FALSE(frozen.backward);
  EXPECT_TRUE(blocks.embedding.frozen);
  EXPECT_EQ(saved_bytes(frozen.operations), Bytes{});
  for (const Operation& op : frozen.operations) {
    EXPECT_TRUE(op.forward.exists());
    EXPECT_FALSE(op.input_gradient.exists() || op.weight_gradient.exists());
  }
  EXPECT_EQ(frozen.parameters, (ParameterCount{.split = 100})) << "they are held";
}

TEST(FrozenLayers, InTheMiddlePassGradientsOnAndKeepNothingForTheirWeights) {
  ModelBlocks blocks = blocks_of(12);
  freeze(blocks, {.others = {3, 4, 11}});
  ASSERT_EQ(blocks.kinds.size(), 2U);
  EXPECT_EQ(blocks.order,
            (std::vector<LayerRun>{{.kind = 0, .count = 3},
                                   {.kind = 1, .count = 2},
                                   {.kind = 0, .count = 6},
                                   {.kind = 1, .count = 1}}));
  const Block& frozen = blocks.kinds[1];
  EXPECT_TRUE(frozen.backward);
  EXPECT_FALSE(blocks.embedding.frozen);
  EXPECT_EQ(saved_bytes(frozen.operations), 7_B) << "the function's";
  EXPECT_TRUE(frozen.operations.front().input_gradient.exists());
  EXPECT_FALSE(frozen.operations.front().weight_gradient.exists());
}

TEST(FrozenLayers, AreOfThreeKindsAtTheMost) {
  ModelBlocks blocks = blocks_of(12);
  freeze(blocks, {.first = 2, .others = {2, 7}});
  // Layer 2 has nothing trained before it, layer 7 has.
  EXPECT_EQ(blocks.order,
            (std::vector<LayerRun>{{.kind = 1, .count = 3},
                                   {.kind = 0, .count = 4},
                                   {.kind = 2, .count = 1},
                                   {.kind = 0, .count = 4}}));
  EXPECT_FALSE(blocks.kinds[1].backward);
  EXPECT_TRUE(blocks.kinds[2].backward);
}

TEST(FrozenLayers, LeaveAModelWithoutAnyAsItIs) {
  ModelBlocks blocks = blocks_of(12);
  freeze(blocks, {});
  EXPECT_EQ(blocks.kinds.size(), 1U);
  EXPECT_FALSE(blocks.kinds.front().frozen || blocks.embedding.frozen);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
