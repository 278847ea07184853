// Device memory of sharded parameters, and of what is offloaded.

#include <gtest/gtest.h>

#include "plan/blocks.hpp"
#include "plan/layouts.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using layouts::Layout;

Layout sharded(Sharding sharding, std::int64_t data = 8) {
  Layout layout;
  layout.plan.data = data;
  layout.plan.sharding = sharding;
  return layout;
}

StageMemory memory_of(const Layout& layout) { return layout.stages().front(); }

struct Sizes {
  explicit Sizes(const Layout& layout) {
    const ModelBlocks blocks = layout.blocks();
    layer = on_device(blocks.kinds.front().parameters, layout.plan).total();
    table = on_device(blocks.embedding.parameters, layout.plan).total();
    head = on_device(blocks.head.parameters, layout.plan).total() +
           static_cast<double>(blocks.tied_table);
    all = rank_parameters(blocks, layout.plan, 0).total();
  }
  double layer = 0;
  double table = 0;
  double head = 0;
  double all = 0;
};

/// Weights, and those that are gathered for a while with their gradients.
double held(const StageMemory& memory) { return (memory.weights + memory.buffers).si(); }

TEST(GatheredBytes, AreTheTwoLargestBlocksInARowAndTheGradientsOfOne) {
  const Layout layout = sharded(Sharding::zero3);
  const Sizes sizes(layout);
  const StageMemory memory = memory_of(layout);
  // The table is with the embedding and with the head; a layer is beside it.
  const double unit = std::max(sizes.table, sizes.head);
  EXPECT_DOUBLE_EQ(held(memory), sizes.all / 8 * 2 + (unit + sizes.layer) * 2 + unit * 4);
  EXPECT_DOUBLE_EQ(memory.gradients.si(), sizes.all / 8 * 4);
  EXPECT_DOUBLE_EQ(memory.optimizer.si(), sizes.all / 8 * 12);
}

TEST(GatheredBytes, AreOneBlockWithoutPrefetchAndAllWithoutResharding) {
  Layout layout = sharded(Sharding::zero3);
  const Sizes sizes(layout);
  const double unit = std::max(sizes.table, sizes.head);
  layout.plan.prefetch = false;
  EXPECT_DOUBLE_EQ(held(memory_of(layout)), sizes.all / 8 * 2 + unit * 2 + unit * 4);
  layout.plan.reshard_after_forward = false;
  EXPECT_DOUBLE_EQ(held(memory_of(layout)), sizes.all / 8 * 2 + sizes.all * 2 + unit * 4);
}

TEST(GatheredBytes, AreOneBlockWhereMatricesComeOneByOne) {
  const Layout layout = sharded(Sharding::zero3);
  const Sizes sizes(layout);
  const ModelBlocks blocks = layout.blocks();
  MemoryNeeds needs = layout.needs(blocks);
  needs.buffers.gathers_by_matrix = true;
  const double unit = std::max(sizes.table, sizes.head);
  EXPECT_DOUBLE_EQ(held(layouts::stage_memory(layout.plan, needs).front()),
                   sizes.all / 8 * 2 + unit * 2 + unit * 4);
}

TEST(GatheredBytes, AreGradientsAloneWithZero2) {
  const Layout layout = sharded(Sharding::zero2);
  const Sizes sizes(layout);
  const double unit = std::max(sizes.table, sizes.head);
  EXPECT_DOUBLE_EQ(held(memory_of(layout)), sizes.all * 2 + unit * 4);
  EXPECT_DOUBLE_EQ(memory_of(layout).gradients.si(), sizes.all / 8 * 4);
}

// Experts that no other rank has are neither gathered nor reduced.
TEST(GatheredBytes, AreNoExpertsThatOneRankAloneHas) {
  Layout layout = sharded(Sharding::zero3);
  const Sizes sizes(layout);
  ModelBlocks blocks = layout.blocks();
  const auto buffers = [&](std::int64_t expert) {
    layout.plan.expert = expert;
    return layouts::stage_memory(layout.plan, layout.needs(blocks)).front().buffers.si();
  };
  const double dense = buffers(1);
  const auto experts = static_cast<std::int64_t>(8e9);  // of a layer, more than all the rest
  blocks.kinds.front().parameters.experts = experts;
  EXPECT_DOUBLE_EQ(buffers(8), dense);
  const double each = sizes.layer + 8e9 / 4;
  EXPECT_DOUBLE_EQ(buffers(4), 2 * each * 2 + each * 4);
}

TEST(GatheredBytes, AreNothingWhereParametersStay) {
  for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
    const Layout layout = sharded(sharding);
    EXPECT_DOUBLE_EQ(memory_of(layout).weights.si(), Sizes(layout).all * 2);
  }
}

TEST(ShardedMemory, FallsWithEveryStageOfZeroAndWithTheShard) {
  Bytes before = memory_of(sharded(Sharding::none, 64)).total();
  for (const Sharding sharding : {Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
    const Bytes now = memory_of(sharded(sharding, 64)).total();
    EXPECT_LT(now, before) << name(sharding);
    before = now;
  }
  Layout hybrid = sharded(Sharding::zero3, 64);
  hybrid.plan.shard = 8;
  EXPECT_DOUBLE_EQ(memory_of(hybrid).optimizer.si(), Sizes(hybrid).all / 8 * 12);
}

TEST(OffloadedMemory, LeavesTheDevice) {
  Layout layout;
  layout.plan.pipeline = 2;  // the first stage is without the output head
  layout.micro_batches = 1;
  const StageMemory usual = memory_of(layout);
  const Sizes sizes(layout);
  layout.plan.offload = {
      .weights = HostPlace::host, .optimizer = HostPlace::host, .activations = HostPlace::host};
  const StageMemory memory = memory_of(layout);
  EXPECT_EQ(memory.weights, Bytes{});
  EXPECT_DOUBLE_EQ(held(memory), (sizes.table + sizes.layer) * 2);
  EXPECT_EQ(memory.optimizer, Bytes{});
  EXPECT_EQ(memory.gradients, usual.gradients);
  const ModelBlocks blocks = layout.blocks();
  const Bytes layer = saved_bytes(blocks.kinds.front().operations);
  EXPECT_DOUBLE_EQ((memory.working - usual.working).si(), 2 * layer.si());
  EXPECT_DOUBLE_EQ((usual.activations - memory.activations).si(), 12 * layer.si());
}

TEST(OffloadedMemory, OfSomeLayersLeavesTheOthersActivations) {
  Layout layout;
  layout.plan.pipeline = 2;
  layout.micro_batches = 1;
  const StageMemory usual = memory_of(layout);
  layout.plan.offload = {.activations = HostPlace::host, .layers = 3};
  const StageMemory memory = memory_of(layout);
  const ModelBlocks blocks = layout.blocks();
  const Bytes layer = saved_bytes(blocks.kinds.front().operations);
  EXPECT_DOUBLE_EQ((usual.activations - memory.activations).si(), 3 * layer.si());
  layout.plan.offload.layers = 1000;
  const StageMemory all = memory_of(layout);
  layout.plan.offload.layers.reset();
  EXPECT_EQ(memory_of(layout).activations, all.activations);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
