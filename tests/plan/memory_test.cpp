#include "titer/plan/memory/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "plan/layouts.hpp"
#include "plan/shipped.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using layouts::Layout;

Bytes total_of(const ParameterBytes& bytes) {
  return bytes.weight + bytes.gradient + bytes.optimizer;
}

TEST(ParameterBytes, AreEighteenForBf16AdamWithFp32Gradients) {
  const ParameterBytes bytes =
      parameter_bytes(kAdam, {.weight = DataType::bf16, .gradient = DataType::fp32});
  EXPECT_EQ(bytes.weight, 2_B);
  EXPECT_EQ(bytes.gradient, 4_B);
  EXPECT_EQ(bytes.optimizer, 4_B + 4_B + 4_B) << "fp32 copy, two moments";
  EXPECT_EQ(total_of(bytes), 18_B);
}

TEST(ParameterBytes, AreSixteenForFp16AdamWithFp16Gradients) {
  EXPECT_EQ(
      total_of(parameter_bytes(kAdam, {.weight = DataType::fp16, .gradient = DataType::fp16})),
      2_B + 2_B + 12_B);
}

TEST(ParameterBytes, NeedNoCopyOfFp32Weights) {
  EXPECT_EQ(
      total_of(parameter_bytes(kAdam, {.weight = DataType::fp32, .gradient = DataType::fp32})),
      4_B + 4_B + 8_B);
  EXPECT_EQ(
      parameter_bytes(kAdam, {.weight = DataType::tf32, .gradient = DataType::fp32}).optimizer,
      8_B);
}

TEST(ParameterBytes, HaveOneMomentWithMomentumSgd) {
  EXPECT_EQ(parameter_bytes(kMomentumSgd, {.weight = DataType::bf16, .gradient = DataType::fp32})
                .optimizer,
            4_B + 4_B);
  EXPECT_EQ(parameter_bytes(kMomentumSgd, {.weight = DataType::fp32, .gradient = DataType::fp32})
                .optimizer,
            4_B);
}

TEST(StageMemory, HoldsEighteenBytesPerParameter) {
  const Layout layout;
  const StageMemory memory = layout.stages().front();
  EXPECT_DOUBLE_EQ((memory.weights + memory.gradients + memory.optimizer).si(),
                   18.0 * memory.parameters.total());
}

// Bytes per parameter with ZeRO-1: 6 + 12 / d.
TEST(StageMemory, SharesTheOptimizerWithZero1) {
  for (const int d : {1, 2, 3, 16, 1024}) {
    Layout layout;
    layout.plan.data = d;
    layout.plan.sharding = Sharding::zero1;
    const StageMemory memory = layout.stages().front();
    EXPECT_DOUBLE_EQ((memory.weights + memory.gradients + memory.optimizer).si(),
                     (6.0 + 12.0 / d) * memory.parameters.total());
  }
}

TEST(StageMemory, DoesNotDependOnDataParallelismWithoutSharding) {
  Layout layout;
  const Bytes alone = layout.stages().front().total();
  layout.plan.data = 64;
  EXPECT_EQ(layout.stages().front().total(), alone);
}

TEST(StageMemory, NeverGrowsWithMoreDataParallelismUnderZero1) {
  for (const int p : {1, 4}) {
    Layout layout;
    layout.plan.pipeline = p;
    layout.plan.sharding = Sharding::zero1;
    std::vector<StageMemory> fewer = layout.stages();
    for (const int d : {2, 3, 4, 8, 64, 512}) {
      layout.plan.data = d;
      const std::vector<StageMemory> more = layout.stages();
      for (std::size_t s = 0; s < more.size(); ++s) {
        EXPECT_LT(more[s].total(), fewer[s].total()) << "d = " << d;
      }
      fewer = more;
    }
  }
}

TEST(StageMemory, TotalIsTheSumOfItsParts) {
  Layout layout;
  layout.plan.pipeline = 4;
  for (const StageMemory& memory : layout.stages()) {
    Bytes sum;
    for (const MemoryPart& part : kMemoryParts) {
      sum += memory.*part.value;
    }
    EXPECT_DOUBLE_EQ(memory.total().si(), sum.si());
    EXPECT_DOUBLE_EQ((memory.fixed() + memory.activations + memory.working).si(), sum.si());
    EXPECT_DOUBLE_EQ((memory.allocated() + memory.runtime).si(), sum.si());
    EXPECT_EQ(memory.runtime, layout.runtime);
  }
}

// Korthikanti et al. 2022, table 2: bytes of one layer and micro-batch.
TEST(Activations, OfOneLayerFollowTheTableOfTheirPaper) {
  Layout layout;
  layout.plan.pipeline = 4;
  const auto kept = [&] {
    return layout.stages()[1].activations.si() / (layout.layers_per_stage() * layout.sbh());
  };
  const double in_flight = 3;  // of the second of four stages
  EXPECT_DOUBLE_EQ(kept(), in_flight * (34 + layout.scores())) << "no parallelism";
  layout.plan.tensor = 8;
  const double t = 8;
  EXPECT_DOUBLE_EQ(kept(), in_flight * (10 + 24 / t + layout.scores() / t)) << "tensor";
  layout.plan.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(kept(), in_flight * (34 + layout.scores()) / t) << "tensor and sequence";
  layout.plan.recompute = Recompute::selective;
  EXPECT_DOUBLE_EQ(kept(), in_flight * 34 / t) << "selective, tensor and sequence";
  layout.plan.sequence_parallel = false;
  EXPECT_DOUBLE_EQ(kept(), in_flight * (10 + 24 / t)) << "selective, tensor";
  layout.plan.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(kept(), in_flight * 2) << "full";
  layout.plan.distribute_saved_activations = true;
  EXPECT_DOUBLE_EQ(kept(), in_flight * 2 / t) << "full, each rank a part of the input";
  layout.plan.distribute_saved_activations = false;
  layout.plan.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(kept(), in_flight * 2 / t) << "full, input split";
}

TEST(Activations, RebuiltInTheBackwardPassAreWorkingMemory) {
  Layout layout;
  layout.plan.pipeline = 4;
  // Beside them the gradients of the scores and their dropout, 3 a s^2 b of the 5 that are kept,
  // and that of the layer's output.
  const double gradients = layout.sbh() * (3.0 / 5.0 * layout.scores() + 2.0);
  const auto working = [&] { return layout.stages()[1].working.si(); };
  EXPECT_DOUBLE_EQ(working(), gradients);
  layout.plan.recompute = Recompute::selective;
  EXPECT_DOUBLE_EQ(working(), gradients + layout.sbh() * layout.scores());
  layout.plan.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(working(), gradients + layout.sbh() * (34 + layout.scores()));
  layout.plan.tensor = 4;
  const double whole = working();
  layout.plan.distribute_saved_activations = true;
  EXPECT_DOUBLE_EQ(working(), whole + 3.0 / 4 * 2 * layout.sbh()) << "gathered from the others";
}

TEST(Activations, RecomputingMoreKeepsLess) {
  Layout layout;
  layout.plan.pipeline = 4;
  Bytes before = layout.stages()[0].activations;
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    layout.plan.recompute = recompute;
    EXPECT_LT(layout.stages()[0].activations, before);
    before = layout.stages()[0].activations;
  }
}

TEST(Activations, AreKeptForTheMicroBatchesInFlight) {
  Layout layout;
  layout.plan.pipeline = 8;
  layout.micro_batches = 5;
  const auto stages = layout.stages();
  const double one = stages[6].activations.si() / 2;  // p - s = 2 in flight
  for (const int s : {1, 2, 3, 4, 5, 6}) {
    EXPECT_DOUBLE_EQ(stages[static_cast<std::size_t>(s)].activations.si(),
                     std::min(5, 8 - s) * one);
  }
}

TEST(Activations, OfTheEmbeddingLieOnTheFirstStage) {
  Layout layout;
  layout.plan.pipeline = 8;
  const auto stages = layout.stages();
  const double layers = stages[6].activations.si() / 2;
  const double ids = 8.0 * 2048.0;  // int64
  EXPECT_DOUBLE_EQ(stages[0].activations.si(), 8 * (layers + ids + layout.sbh()));
}

TEST(Activations, OfTheHeadLieOnTheLastStage) {
  Layout layout;
  layout.plan.pipeline = 8;
  const auto stages = layout.stages();
  const double logits = (4.0 + 2.0) * 2048.0 * 51200.0;
  // The final norm's and the logits' input 2 s b h each, fp32 logits and their 16-bit gradient.
  EXPECT_DOUBLE_EQ(stages[7].working.si(), 4 * layout.sbh() + logits);
  EXPECT_DOUBLE_EQ(stages[7].activations.si(), stages[6].activations.si() / 2);
}

// Seeds' memory facts: llama-3-8b, s = 4096, 16 layers' worth of activations is 8.51 GiB.
TEST(Activations, OfAModernLayerFollowTheirFormula) {
  Layout layout;
  layout.model = shipped::model("llama3-8b");
  layout.sequence = 4096;
  layout.plan.pipeline = 2;
  layout.micro_batches = 1;
  // (s b / t) [8 h + 4 a d + 4 k d + 6 f] + 4 a b s / t, 16 layers on each of two stages
  const double s = 4096;
  const double formula =
      16 * (s * (8.0 * 4096 + 4.0 * 32 * 128 + 4.0 * 8 * 128 + 6.0 * 14336) + 4.0 * 32 * s);
  EXPECT_NEAR(formula, (8.51_GiB).si(), (0.01_GiB).si());
  EXPECT_DOUBLE_EQ(layout.stages()[1].activations.si(), formula);
}

TEST(StageMemory, OfEveryShippedModelIsPositive) {
  for (const std::string& name : shipped::transformers()) {
    Layout layout;
    layout.model = shipped::model(name);
    layout.sequence = 1024;
    for (const StageMemory& memory : layout.stages()) {
      for (const MemoryPart& part : kMemoryParts) {
        EXPECT_GE(memory.*part.value, 0_B) << name << ": " << part.name;
      }
      EXPECT_GT(memory.weights, 0_B) << name;
    }
  }
}

TEST(StepMemory, IsThePeakWhereTheOptimizerNeedsMoreThanThePasses) {
  layouts::Layout layout;
  layout.plan.data = 4;
  layout.plan.sharding = Sharding::zero1;
  const ModelBlocks blocks = layout.blocks();
  MemoryNeeds needs = layout.needs(blocks);
  const StageMemory before = layouts::stage_memory(layout.plan, needs).front();
  needs.step = 1_B;
  EXPECT_EQ(layouts::stage_memory(layout.plan, needs).front().total(), before.total())
      << "passes need more";
  needs.step = 8000_B;
  const StageMemory after = layouts::stage_memory(layout.plan, needs).front();
  EXPECT_DOUBLE_EQ((after.activations + after.working).si(),
                   after.parameters.total() / 4 * needs.step.si());
  EXPECT_EQ(after.fixed(), before.fixed());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
