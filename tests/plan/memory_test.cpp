#include "titer/plan/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "plan/pipeline_graph.hpp"
#include "plan/shipped.hpp"

namespace titer {
namespace {

/// A GPT with round numbers, 16-bit, as Korthikanti et al. 2022 count it.
Transformer small_gpt() {
  return {.name = "small",
          .title = "small",
          .source = "test",
          .layers = 24,
          .hidden = 1024,
          .heads = 16,
          .kv_heads = 16,
          .head_dim = 64,
          .ffn = 4096,
          .gated = false,
          .norm = Norm::layernorm,
          .bias = true,
          .dropout = true,
          .positions = Positions::learned,
          .tied_embeddings = true,
          .vocabulary = 51200,
          .vocabulary_multiple = 128,
          .max_sequence = 2048,
          .attention = AttentionKernel::materialised,
          .causal = true};
}

struct Layout {
  Transformer model = small_gpt();
  Plan plan;
  int micro_batches = 8;
  std::int64_t sequence = 2048;
  ParameterBytes parameter = parameter_bytes(kAdam, DataType::bf16, DataType::fp32);
  Bytes runtime = 1_GiB;

  [[nodiscard]] Slice slice() const {
    return {.micro_batch = plan.micro_batch,
            .sequence = sequence,
            .tensor = plan.tensor,
            .sequence_parallel = plan.sequence_parallel,
            .type = DataType::bf16,
            .attention = model.attention};
  }
  [[nodiscard]] PipelineShape shape() const {
    return {.stages = static_cast<int>(plan.pipeline),
            .micro_batches = micro_batches,
            .virtual_stages = static_cast<int>(plan.virtual_stages)};
  }
  [[nodiscard]] std::vector<StageMemory> stages() const {
    std::vector<StageMemory> stages;
    ModelOperations operations;
    list_operations(model, slice(), operations);
    stage_memory(plan,
                 {.model = &model,
                  .operations = &operations,
                  .slice = slice(),
                  .shape = shape(),
                  .parameter = parameter,
                  .runtime = runtime},
                 stages);
    return stages;
  }
  /// s b h, the unit of Korthikanti's table 2.
  [[nodiscard]] double sbh() const {
    return static_cast<double>(sequence * plan.micro_batch * model.hidden);
  }
  /// 5 a s / h: the attention scores, softmax and dropout in that unit.
  [[nodiscard]] double scores() const {
    return 5.0 * static_cast<double>(model.heads * sequence) / static_cast<double>(model.hidden);
  }
  [[nodiscard]] double layers_per_stage() const {
    return static_cast<double>(model.layers) / static_cast<double>(plan.pipeline);
  }
};

Bytes total_of(const ParameterBytes& bytes) {
  return bytes.weight + bytes.gradient + bytes.optimizer;
}

TEST(ParameterBytes, AreEighteenForBf16AdamWithFp32Gradients) {
  const ParameterBytes bytes = parameter_bytes(kAdam, DataType::bf16, DataType::fp32);
  EXPECT_EQ(bytes.weight, 2_B);
  EXPECT_EQ(bytes.gradient, 4_B);
  EXPECT_EQ(bytes.optimizer, 4_B + 4_B + 4_B) << "fp32 copy, two moments";
  EXPECT_EQ(total_of(bytes), 18_B);
}

TEST(ParameterBytes, AreSixteenForFp16AdamWithFp16Gradients) {
  EXPECT_EQ(total_of(parameter_bytes(kAdam, DataType::fp16, DataType::fp16)), 2_B + 2_B + 12_B);
}

TEST(ParameterBytes, NeedNoCopyOfFp32Weights) {
  EXPECT_EQ(total_of(parameter_bytes(kAdam, DataType::fp32, DataType::fp32)), 4_B + 4_B + 8_B);
  EXPECT_EQ(parameter_bytes(kAdam, DataType::tf32, DataType::fp32).optimizer, 8_B);
}

TEST(ParameterBytes, HaveOneMomentWithMomentumSgd) {
  EXPECT_EQ(parameter_bytes(kMomentumSgd, DataType::bf16, DataType::fp32).optimizer, 4_B + 4_B);
  EXPECT_EQ(parameter_bytes(kMomentumSgd, DataType::fp32, DataType::fp32).optimizer, 4_B);
}

TEST(StageMemory, HoldsEighteenBytesPerParameter) {
  const Layout layout;
  const StageMemory memory = layout.stages().front();
  EXPECT_DOUBLE_EQ((memory.weights + memory.gradients + memory.optimizer).si(),
                   18.0 * memory.parameters);
}

// Bytes per parameter with ZeRO-1: 6 + 12 / d.
TEST(StageMemory, SharesTheOptimizerWithZero1) {
  for (const int d : {1, 2, 3, 16, 1024}) {
    Layout layout;
    layout.plan.data = d;
    layout.plan.sharding = Sharding::zero1;
    const StageMemory memory = layout.stages().front();
    EXPECT_DOUBLE_EQ((memory.weights + memory.gradients + memory.optimizer).si(),
                     (6.0 + 12.0 / d) * memory.parameters);
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
    EXPECT_EQ(memory.runtime, layout.runtime);
  }
}

TEST(StageParameters, OfOneDeviceAreTheModel) {
  for (const std::string& name : shipped_names(kModelData)) {
    Transformer model = shipped::model(name);
    model.vocabulary_multiple = 1;
    EXPECT_DOUBLE_EQ(stage_parameters(model, 0, {}, 1), static_cast<double>(parameters(model)))
        << name;
  }
}

TEST(StageParameters, OverAllStagesAreTheModelAndTheTiedCopy) {
  for (const std::string& name : shipped_names(kModelData)) {
    Transformer model = shipped::model(name);
    model.vocabulary_multiple = 1;
    const double copy =
        model.tied_embeddings ? static_cast<double>(model.vocabulary * model.hidden) : 0.0;
    for (int p = 2; p <= model.layers; ++p) {
      if (model.layers % p != 0) {
        continue;
      }
      double sum = 0;
      for (int stage = 0; stage < p; ++stage) {
        sum += stage_parameters(model, stage, {.stages = p, .micro_batches = p}, 1);
      }
      EXPECT_DOUBLE_EQ(sum, static_cast<double>(parameters(model)) + copy) << name << ", p = " << p;
    }
  }
}

TEST(StageParameters, SplitAllButNormsBiasesAndPositionsOverTensorRanks) {
  const Transformer model = small_gpt();
  const double h = 1024;
  // One layer: 12 h^2 in products, their column biases 3 h + 4 h split; two norms 2 h each and two
  // row biases h each whole.
  const double split = 12 * h * h + 7 * h;
  const double whole = 2 * 2 * h + 2 * h;
  for (const int t : {1, 2, 4, 16}) {
    const PipelineShape shape{.stages = 24, .micro_batches = 24};
    EXPECT_DOUBLE_EQ(stage_parameters(model, 5, shape, t), split / t + whole);
    const double table = 51200 * h / t;  // 51200 is a multiple of 128 t for these t
    EXPECT_DOUBLE_EQ(stage_parameters(model, 0, shape, t), split / t + whole + table + 2048 * h);
    EXPECT_DOUBLE_EQ(stage_parameters(model, 23, shape, t), split / t + whole + table + 2 * h);
  }
}

TEST(StageParameters, PadTheVocabularyForTheTensorDegree) {
  Transformer model = small_gpt();
  model.vocabulary = 50257;
  const PipelineShape shape{.stages = 24, .micro_batches = 24};
  const double middle = stage_parameters(model, 1, shape, 8);
  const double padded = 51200;  // the next multiple of 128 x 8
  EXPECT_DOUBLE_EQ(stage_parameters(model, 23, shape, 8) - middle, (padded / 8 + 2) * 1024);
}

TEST(StageParameters, OfAnUntiedLastStageAreAnOutputTable) {
  Transformer model = small_gpt();
  const PipelineShape shape{.stages = 2, .micro_batches = 2};
  const double tied = stage_parameters(model, 1, shape, 1);
  model.tied_embeddings = false;
  EXPECT_EQ(stage_parameters(model, 1, shape, 1), tied) << "a copy and an own table are as large";
  const PipelineShape whole{.stages = 1, .micro_batches = 2};
  const double own = stage_parameters(model, 0, whole, 1);
  model.tied_embeddings = true;
  EXPECT_DOUBLE_EQ(own - stage_parameters(model, 0, whole, 1), 51200.0 * 1024.0);
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
  layout.plan.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(kept(), in_flight * 2 / t) << "full, input split";
}

TEST(Activations, RebuiltInTheBackwardPassAreWorkingMemory) {
  Layout layout;
  layout.plan.pipeline = 4;
  EXPECT_EQ(layout.stages()[1].working, 0_B);
  layout.plan.recompute = Recompute::selective;
  EXPECT_DOUBLE_EQ(layout.stages()[1].working.si(), layout.sbh() * layout.scores());
  layout.plan.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(layout.stages()[1].working.si(), layout.sbh() * (34 + layout.scores()));
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
  const double logits = 4.0 * 2048.0 * 51200.0;
  // The final norm's and the logits' input 2 s b h each, fp32 logits.
  EXPECT_DOUBLE_EQ(stages[7].working.si(), 4 * layout.sbh() + logits);
  EXPECT_DOUBLE_EQ(stages[7].activations.si(), stages[6].activations.si() / 2);
}

/// The most bytes alive on a rank at any action of its schedule.
double walked_peak(const Layout& layout, int rank) {
  const PipelineShape shape = layout.shape();
  const double layers =
      static_cast<double>(layout.model.layers) / (shape.stages * shape.virtual_stages);
  const double chunk =
      layers * saved_bytes(transformer_layer(layout.model, layout.slice()), true).si();
  const double first = saved_bytes(embedding(layout.model, layout.slice()), true).si();
  const double last = saved_bytes(output_head(layout.model, layout.slice()), true).si();
  double alive = 0;
  double peak = 0;
  for (int i = 0; i < shape.actions_per_rank(); ++i) {
    const Action a = action(layout.plan.schedule, rank, i, shape);
    const int stage = a.chunk * shape.stages + rank;
    double bytes = chunk;
    bytes += stage == 0 ? first : 0.0;
    bytes += stage == shape.stages * shape.virtual_stages - 1 ? last : 0.0;
    alive += a.backward ? -bytes : bytes;
    peak = std::max(peak, alive);
  }
  return peak;
}

TEST(Activations, AreTheMostAliveAtAnyActionOfTheSchedule) {
  int shapes = 0;
  for (const Schedule& schedule : pipeline_test::all_schedules()) {
    for (const PipelineShape shape : pipeline_test::shapes_of(schedule)) {
      Layout layout;
      layout.plan.schedule = schedule;
      layout.plan.pipeline = shape.stages;
      layout.plan.virtual_stages = shape.virtual_stages;
      layout.micro_batches = shape.micro_batches;
      if (layout.model.layers % (shape.stages * shape.virtual_stages) != 0) {
        continue;
      }
      ++shapes;
      for (const StageMemory& memory : layout.stages()) {
        const double peak = walked_peak(layout, memory.stage);
        EXPECT_NEAR((memory.activations + memory.working).si(), peak, 1e-12 * peak)
            << name(schedule) << ": " << pipeline_test::text_of(shape) << ", stage "
            << memory.stage;
      }
    }
  }
  EXPECT_GT(shapes, 50);
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
  for (const std::string& name : shipped_names(kModelData)) {
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

}  // namespace
}  // namespace titer
