#include "titer/scenario/scenario.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenario/scenarios.hpp"
#include "scenario/violations.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// A sound scenario on as many devices as it likes.
Scenario sound() {
  Scenario scenario = scenarios::shipped_run();
  scenario.cluster.nodes.reset();
  return scenario;
}

TEST(Validate, FindsNothingWrongWithAShippedRun) {
  EXPECT_EQ(texts(scenarios::shipped_run()), Lines());
  EXPECT_EQ(texts(sound()), Lines());
}

TEST(Validate, DemandsThatTensorRanksShareTheHeads) {
  Scenario scenario = sound();
  scenario.plan.tensor = 5;
  scenario.plan.sequence_parallel = false;
  EXPECT_EQ(texts(scenario),
            (Lines{"plan.tensor: 5: expected a divisor of the 96 attention heads",
                   "plan.tensor: 5: expected a divisor of the MLP width 49152"}));
}

TEST(Validate, DemandsThatTensorRanksShareTheKeyValueHeads) {
  Scenario scenario = sound();
  scenario.model = shipped::model("llama2-70b");
  scenario.plan.tensor = 16;
  scenario.plan.virtual_stages = 1;
  EXPECT_EQ(texts(scenario), Lines()) << "two ranks each share a head";
  scenario.model.transformer().kv_heads = 32;
  scenario.model.transformer().heads = 96;
  scenario.model.transformer().ffn = 48 * 512;
  scenario.plan.tensor = 48;
  scenario.plan.sequence_parallel = false;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.tensor: 48: expected a divisor or a multiple of the 32 key-value heads"});
  scenario.model.transformer().kv_heads = 1;
  scenario.model.transformer().head_dim = 100;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.tensor: 48: expected a divisor of the 200 columns of keys and values, "
                  "which are fewer heads than ranks"});
}

TEST(Validate, DemandsThatTensorRanksShareTheMlp) {
  Scenario scenario = sound();
  scenario.model.transformer().ffn = 49156;
  EXPECT_EQ(texts(scenario), Lines{"plan.tensor: 8: expected a divisor of the MLP width 49156"});
}

TEST(Validate, DemandsThatTensorRanksShareTheSequenceWhereTheySplitIt) {
  Scenario scenario = sound();
  scenario.training.sequence = 2044;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.sequence_parallel: true: expected a tensor degree that divides the "
                  "sequence of 2044 tokens, not 8"});
  scenario.plan.sequence_parallel = false;
  EXPECT_EQ(texts(scenario), Lines());
}

TEST(Validate, DemandsThatStagesShareTheLayers) {
  Scenario scenario = sound();
  scenario.plan.pipeline = 7;
  scenario.plan.virtual_stages = 1;
  EXPECT_EQ(texts(scenario), Lines()) << "14 on the first five stages, 13 on the others";
  scenario.plan.pipeline = 192;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.pipeline: 192: expected pipeline x virtual_stages of at most the 96 "
                  "layers, got 192 x 1; or \"layers\": a list of 192 numbers such as 96 x 1 and "
                  "96 x 0"});
}

TEST(Validate, TakesAnySplitThatAddsUp) {
  Scenario scenario = sound();
  scenario.plan.pipeline = 2;
  scenario.plan.virtual_stages = 2;
  scenario.plan.layers = std::vector<std::int64_t>{0, 50, 46, 0};
  EXPECT_EQ(texts(scenario), Lines());
  scenario.plan.layers = std::vector<std::int64_t>{48, 48};
  EXPECT_EQ(texts(scenario),
            Lines{"plan.layers: [48, 48]: expected 4 numbers, one for each stage of the model, "
                  "got 2"});
  scenario.plan.layers = std::vector<std::int64_t>{24, 24, 24, 25};
  EXPECT_EQ(texts(scenario),
            Lines{"plan.layers: [24, 24, 24, 25]: expected numbers that add up to the 96 layers, "
                  "got 97, such as 4 x 24"});
  scenario.plan.layers = LayerRule::lighter_ends;
  EXPECT_EQ(texts(scenario), Lines());
  scenario.plan.layers = EndLayers{.first = 47, .last = 48};
  EXPECT_EQ(texts(scenario),
            Lines{"plan.layers: {\"first\": 47, \"last\": 48}: expected first and last to leave "
                  "one of the 96 layers or more for each of the other 2 stages"});
  scenario.plan.layers = EndLayers{.first = 46, .last = 48};
  EXPECT_EQ(texts(scenario), Lines());
}

TEST(Validate, DemandsThatChunksShareTheLayersOfAStage) {
  Scenario scenario = sound();
  scenario.plan.virtual_stages = 5;
  EXPECT_EQ(texts(scenario), Lines());
  scenario.plan.virtual_stages = 13;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.virtual_stages: 13: expected pipeline x virtual_stages of at most the 96 "
                  "layers, got 8 x 13; or \"layers\": a list of 104 numbers such as 96 x 1 and "
                  "8 x 0"});
}

TEST(Validate, RefusesInterleavingOnOneStage) {
  Scenario scenario = sound();
  scenario.plan.pipeline = 1;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.virtual_stages: 3: expected 1, since there is only one "
                  "pipeline stage"});
}

TEST(Validate, RefusesInterleavingWhereTheScheduleHasNone) {
  Scenario scenario = sound();
  scenario.plan.schedule = named_schedule("gpipe");
  EXPECT_EQ(texts(scenario),
            Lines{"plan.virtual_stages: 3: expected 1: the schedule gpipe has no "
                  "other number of chunks per rank"});
}

TEST(Validate, DemandsWholeGroupsOfMicroBatchesForInterleaving) {
  Scenario scenario = sound();
  scenario.training.global_batch = 60;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.virtual_stages: 3: expected the 60 micro-batches to be a multiple of the 8 "
                  "stages, as interleaving needs"});
  scenario.plan.virtual_stages = 1;
  EXPECT_EQ(texts(scenario), Lines());
}

TEST(Validate, DemandsWholeMicroBatches) {
  Scenario scenario = sound();
  scenario.plan.micro_batch = 3;
  scenario.plan.data = 2;
  EXPECT_EQ(texts(scenario),
            Lines{"training.global_batch: 64: expected a multiple of micro_batch x data = 3 x 2 = "
                  "6"});
}

TEST(Validate, RefusesMorePassesThanCanBeEvaluated) {
  Scenario scenario = sound();
  scenario.training.global_batch = 8'000'000;
  EXPECT_EQ(texts(scenario),
            Lines{"training.global_batch: 8000000: expected at most 100000000 "
                  "passes in one iteration"});
}

TEST(Validate, RefusesMoreVirtualStagesThanCanBeNumbered) {
  Scenario scenario = sound();
  scenario.model.transformer().layers = 20'000;
  scenario.plan.pipeline = 10'000;
  scenario.plan.virtual_stages = 2;
  scenario.training.global_batch = 10'000;
  const Lines lines = texts(scenario);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0], "plan.pipeline: 10000: expected pipeline x virtual_stages of at most 10900");
}

TEST(Validate, RefusesMoreDevicesThanCanBeNumbered) {
  Scenario scenario = sound();
  scenario.model.transformer().heads = scenario.model.transformer().kv_heads =
      scenario.model.transformer().ffn = 10'000'000;
  scenario.plan.tensor = 10'000'000;
  scenario.plan.sequence_parallel = false;
  scenario.plan.data = 10'000'000;
  scenario.plan.virtual_stages = 1;
  scenario.training.global_batch = 10'000'000;
  scenario.cluster.nodes = 8;
  EXPECT_EQ(
      texts(scenario),
      Lines{"plan.data: 10000000: expected at most 100000000 devices in all, got 8 x 10000000 "
            "x 10000000"});
}

TEST(Validate, DemandsADataTypeThatTheChipHas) {
  Scenario scenario = sound();
  scenario.cluster = shipped::cluster("dgx1-v100");
  scenario.training.precision = DataType::bf16;
  const Lines lines = texts(scenario);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0],
            "training.precision: bf16: expected one of the data types of v100-sxm2-16gb: " +
                data_type_names(scenario.cluster.chip));
  EXPECT_EQ(lines[0].find("bf16", lines[0].find("16gb")), std::string::npos)
      << "the chip has no bf16";
}

TEST(Validate, TakesNarrowProducts) {
  Scenario scenario = sound();
  scenario.cluster = shipped::cluster("dgx-b200");
  for (const DataType type : {DataType::fp8, DataType::fp4, DataType::int8}) {
    scenario.training.precision = type;
    EXPECT_EQ(texts(scenario), Lines()) << name(type);
  }
  scenario.training.fp8_attention = true;
  ASSERT_FALSE(texts(scenario).empty());
  EXPECT_EQ(texts(scenario).front(),
            "training.fp8_attention: true: expected the precision fp8 or fp4");
}

TEST(Validate, RefusesSequencesBeyondTheLearnedPositions) {
  Scenario scenario = sound();
  scenario.training.sequence = 4096;
  EXPECT_EQ(texts(scenario),
            Lines{"training.sequence: 4096: expected at most the 2048 learned "
                  "positions of gpt3-175b"});
}

TEST(Validate, LetsRotaryPositionsGoOn) {
  Scenario scenario = sound();
  scenario.model = shipped::model("llama2-7b");
  scenario.plan.virtual_stages = 1;
  scenario.training.sequence = 32768;
  EXPECT_EQ(texts(scenario), Lines());
}

TEST(Validate, DemandsThatAPlanFillsAFixedCluster) {
  Scenario scenario = sound();
  scenario.cluster.nodes = 16;
  EXPECT_EQ(texts(scenario),
            Lines{"cluster.nodes: 16: expected pipeline x tensor x data = 8 x 8 x 1 = 64 to be the "
                  "128 devices of 16 nodes"});
}

TEST(Validate, DemandsTheUtilizationThatTheFormulaOfTheSeedsTakesAsGiven) {
  Scenario scenario = sound();
  scenario.formula = Formula::e7;
  EXPECT_EQ(texts(scenario),
            Lines{"formula.utilization: missing: expected the GPU utilization u "
                  "that the formula e7 takes as given, such as 0.4"});
  scenario.e7.utilization = 0.4;
  EXPECT_EQ(texts(scenario), Lines());
  scenario.training.input_rate = 100;
  EXPECT_EQ(texts(scenario),
            Lines{"training.input_rate: 100: expected none: the formula e7 has no input"});
}

TEST(Validate, TakesRunningOutOfMemoryForAnAnswer) {
  Scenario scenario = sound();
  scenario.cluster.chip.memory.capacity = 1_GiB;
  EXPECT_EQ(texts(scenario), Lines());
}

TEST(Validate, ReportsEverythingAtOnce) {
  Scenario scenario = sound();
  scenario.plan.tensor = 7;
  scenario.plan.pipeline = 11;
  scenario.training.sequence = 9999;
  scenario.training.precision = DataType::int8;
  scenario.cluster.nodes = 3;
  EXPECT_GE(texts(scenario).size(), 6U);
}

TEST(Scenario, CountsMicroBatches) {
  Scenario scenario = sound();
  scenario.plan.data = 4;
  scenario.plan.micro_batch = 2;
  EXPECT_EQ(scenario.micro_batches(), 64 / (4 * 2));
  EXPECT_EQ(scenario.shape(),
            (PipelineShape{.stages = 8, .micro_batches = 8, .virtual_stages = 3}));
}

TEST(Scenario, SlicesTheModelAsThePlanSays) {
  Scenario scenario = sound();
  Slice slice = scenario.slice();
  EXPECT_EQ(slice.tensor, 8);
  EXPECT_TRUE(slice.sequence_parallel);
  EXPECT_EQ(slice.sequence, 2048);
  EXPECT_EQ(slice.type, DataType::fp16);
  EXPECT_EQ(slice.attention, AttentionKernel::materialised) << "the model's";
  scenario.plan.attention = AttentionKernel::flash;
  EXPECT_EQ(scenario.slice().attention, AttentionKernel::flash) << "the plan's";
  scenario.plan.tensor = 1;
  EXPECT_FALSE(scenario.slice().sequence_parallel) << "there is nobody to split with";
}

TEST(Scenario, TakesGradientTypeAndOverlapFromTheStackUnlessGiven) {
  Scenario scenario = sound();
  EXPECT_EQ(scenario.gradient_type(), DataType::fp16);
  EXPECT_EQ(scenario.tensor_overlap(), scenario.stack.tensor_overlap);
  scenario.training.gradient_precision = DataType::fp32;
  scenario.plan.tensor_overlap = TensorOverlap::none;
  EXPECT_EQ(scenario.gradient_type(), DataType::fp32);
  EXPECT_EQ(scenario.tensor_overlap(), TensorOverlap::none);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
