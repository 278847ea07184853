// Towers in front of language models: what a run asks of them, and what they take.
#include "titer/model/transformer/tower.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::int64_t kImages = 2;

/// Four layers of 64 columns; 16 patches of 8 pixels, 2 x 2 of them a token of the language model.
std::shared_ptr<const Tower> small_tower(std::int64_t hidden) {
  Tower tower;
  tower.encoder = {.name = "tower",
                   .title = "",
                   .source = "",
                   .layers = 4,
                   .hidden = 64,
                   .heads = 4,
                   .kv_heads = 4,
                   .head_dim = 16,
                   .ffn = 256,
                   .norm = Norm::layernorm,
                   .biases = {.qkv = true, .output = true, .mlp = true},
                   .dropout = false,
                   .positions = Positions::learned,
                   .position_rows = 16,
                   .causal = false};
  tower.patches = {.side = 8, .bias = true};
  tower.image = 32;
  tower.projector = {.side = 2, .norm = Norm::layernorm, .widths = {512, hidden}, .bias = true};
  return std::make_shared<const Tower>(tower);
}

Scenario seeing(const Plan& plan = {}, std::int64_t images = kImages) {
  Scenario scenario = plain::scenario(plan, "llama3.2-1b");
  Transformer& model = scenario.model.transformer();
  model.tower = small_tower(model.hidden);
  scenario.training.images = images;
  return scenario;
}

Plan split_by(std::int64_t pipeline, std::int64_t tensor, std::int64_t data) {
  Plan plan;
  plan.pipeline = pipeline;
  plan.tensor = tensor;
  plan.data = data;
  return plan;
}

std::int64_t tower_size(const Scenario& scenario) {
  return tower_parameters(*scenario.model.if_tower()).total();
}

TEST(Towers, HaveTheParametersOfTheirParts) {
  const Scenario scenario = seeing();
  const std::int64_t h = 64;
  const std::int64_t wide = scenario.model.transformer().hidden;
  const std::int64_t layer = 4 * h * h + 2 * h * 256 + (4 + 1 + 4) * h + 256;
  const std::int64_t input = 3 * 8 * 8 * h + h + 16 * h;
  const std::int64_t projector = 2 * h + (4 * h * 512 + 512) + (512 * wide + wide);
  EXPECT_EQ(tower_size(scenario), input + 4 * layer + projector + 2 * h) << "and a final norm";
  EXPECT_EQ(parameters(scenario.model) - tower_size(scenario),
            parameters(plain::scenario({}, "llama3.2-1b").model));
}

TEST(Towers, OfARunOfTextsAreNotThere) {
  const Scenario texts_only = seeing({}, 0);
  const Scenario alone = plain::scenario({}, "llama3.2-1b");
  EXPECT_EQ(texts(texts_only), Lines());
  EXPECT_EQ(estimate(texts_only).iteration_time, estimate(alone).iteration_time);
  EXPECT_EQ(estimate(texts_only).memory_peak, estimate(alone).memory_peak);
  EXPECT_EQ(parameters(texts_only), parameters(alone));
}

TEST(Towers, TakeTheTimeOfTheirProductsAndMore) {
  const Scenario scenario = seeing();
  const Scenario alone = plain::scenario({}, "llama3.2-1b");
  const auto batch = static_cast<double>(scenario.training.global_batch);
  const ForwardFlops tower = forward_flops(*scenario.model.if_tower(), batch, scenario.images());
  const double h = 64;
  const double wide = static_cast<double>(scenario.model.transformer().hidden);
  const double of_image =
      16 * (3 * 8 * 8 * h + 4 * (4 * h * h + 2 * h * 256)) + 4 * (4 * h * 512 + 512 * wide);
  EXPECT_DOUBLE_EQ(tower.layers.si(), 2 * batch * kImages * of_image);
  EXPECT_DOUBLE_EQ(tower.core_attention.si(), 2 * batch * kImages * 4 * 2 * h * 16 * 16);
  EXPECT_EQ(tower.logits, Flops{});
  EXPECT_GT(estimate(scenario).iteration_time,
            estimate(alone).iteration_time + 3.0 * tower.total() / plain::kPeak);
}

TEST(Towers, AreOnTheFirstStageOnly) {
  const Scenario scenario = seeing(split_by(4, 2, 2));
  Scenario alone = scenario;
  alone.training.images = 0;
  ASSERT_EQ(texts(scenario), Lines());
  const StepResult with = estimate(scenario);
  const StepResult without = estimate(alone);
  EXPECT_GT(with.memory.front().weights, without.memory.front().weights);
  EXPECT_GT(with.memory.front().activations, without.memory.front().activations);
  for (std::size_t stage = 1; stage < with.memory.size(); ++stage) {
    EXPECT_EQ(with.memory[stage].weights, without.memory[stage].weights) << stage;
    EXPECT_EQ(with.memory[stage].activations, without.memory[stage].activations) << stage;
  }
  const ParameterCount count = tower_parameters(*scenario.model.if_tower());
  const double on_rank =
      static_cast<double>(count.split) / 2 + static_cast<double>(count.replicated);
  EXPECT_NEAR(with.memory.front().weights / 1_B - without.memory.front().weights / 1_B,
              on_rank * 2,
              1e-3 * on_rank);
}

TEST(Towers, TakeAsLongInTheClosedFormAsExecuted) {
  Plan split = split_by(4, 2, 2);
  split.sequence_parallel = true;
  Plan sharded = split_by(1, 1, 8);
  sharded.sharding = Sharding::zero3;
  Plan chunks = split_by(4, 1, 2);
  chunks.virtual_stages = 2;
  Plan repeated = split_by(2, 1, 4);
  repeated.recompute = Recompute::full;
  repeated.recompute_layers = 3;
  for (const Plan& plan : {split, sharded, chunks, repeated}) {
    const Scenario scenario = seeing(plan);
    ASSERT_EQ(texts(scenario), Lines());
    Estimator memory;
    StepResult closed;
    StepResult event;
    evaluate(scenario, Fidelity::closed, memory, closed);
    evaluate(scenario, Fidelity::event, memory, event);
    EXPECT_EQ(closed.iteration_time, event.iteration_time);
    EXPECT_EQ(closed.memory_peak, event.memory_peak);
    EXPECT_NEAR(closed.breakdown.total().si(), closed.iteration_time.si(), 1e-11);
  }
}

TEST(Towers, OfShippedModelsTakeAsLongInTheClosedFormAsExecuted) {
  for (const std::string_view name : {"gemma3-4b",
                                      "llama3.2-11b-vision",
                                      "llava-1.5-7b",
                                      "qwen2.5-vl-7b",
                                      "qwen3-vl-8b",
                                      "whisper-large-v3"}) {
    SCOPED_TRACE(name);
    Plan plan = split_by(4, 2, 2);
    plan.sequence_parallel = true;
    Scenario scenario = plain::scenario(plan, name);
    scenario.training.sequence = name == "whisper-large-v3" ? 448 : 1024;
    ASSERT_EQ(texts(scenario), Lines());
    Estimator memory;
    StepResult closed;
    StepResult event;
    evaluate(scenario, Fidelity::closed, memory, closed);
    evaluate(scenario, Fidelity::event, memory, event);
    EXPECT_EQ(closed.iteration_time, event.iteration_time);
    EXPECT_EQ(closed.memory_peak, event.memory_peak);
    scenario.training.frozen_tower = true;
    EXPECT_LT(estimate(scenario).iteration_time, closed.iteration_time);
  }
}

TEST(Towers, ThatAreFrozenKeepNothingAndTrainTheirProjector) {
  Scenario scenario = seeing();
  scenario.training.frozen_tower = true;
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  EXPECT_EQ(blocks.front, 1 + 4 + 1);
  std::int64_t trained = 0;
  std::int64_t left = blocks.front;
  for (const LayerRun& run : blocks.order) {
    const Block& block = blocks.kinds[static_cast<std::size_t>(run.kind)];
    trained += left > 0 ? run.count * block.trained().total() : 0;
    EXPECT_EQ(block.frozen, left > 1) << block.name;
    EXPECT_EQ(block.backward, left <= 1) << block.name;
    left -= run.count;
  }
  EXPECT_EQ(trained, projector_parameters(*scenario.model.if_tower()).total());
  EXPECT_LT(estimate(scenario).iteration_time, estimate(seeing()).iteration_time);
  EXPECT_LT(estimate(scenario).memory_peak, estimate(seeing()).memory_peak);
}

TEST(Towers, BehindWhichAllLayersAreFrozenPassGradientsOn) {
  Scenario scenario = seeing();
  scenario.training.frozen.first = scenario.model.layers();
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  const Block& last = blocks.kinds[static_cast<std::size_t>(blocks.order.back().kind)];
  EXPECT_TRUE(last.frozen);
  EXPECT_TRUE(last.backward) << "the projector is trained";
  EXPECT_FALSE(blocks.embedding.backward);
}

TEST(Towers, BesideAdaptersAreNotTrained) {
  Scenario scenario = seeing();
  scenario.training.adapters = Adapters{.rank = 8};
  Scenario alone = scenario;
  alone.training.images = 0;
  EXPECT_EQ(adapter_parameters(scenario), adapter_parameters(alone));
  EXPECT_EQ(estimate(scenario).memory.front().gradients, estimate(alone).memory.front().gradients);
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  ModelBlocks blocks_alone;
  scenario_blocks(alone, blocks_alone);
  const auto batch = static_cast<double>(scenario.training.global_batch);
  const Flops forward = forward_flops(*scenario.model.if_tower(), batch, scenario.images()).total();
  EXPECT_NEAR((trained_flops(scenario, blocks).full - trained_flops(alone, blocks_alone).full).si(),
              forward.si(),
              1e-6 * forward.si());
}

TEST(Towers, RefuseWhatDoesNotGoWithThem) {
  Scenario heads = seeing(split_by(1, 8, 1));
  EXPECT_EQ(texts(heads).front(),
            "plan.tensor: 8: expected a divisor of the tower's 4 attention heads");
  Scenario many = seeing({}, 1000);
  EXPECT_EQ(texts(many),
            Lines{"training.images: 1000: expected images of 4 tokens each to be part of a "
                  "sequence of 1024 tokens"});
  Scenario sized = seeing();
  sized.training.image_size = 64;
  EXPECT_EQ(texts(sized),
            Lines{"training.image_size: 64: expected the 32 pixels that the positions of this "
                  "model's tower are for"});
  Scenario none = plain::scenario({}, "llama3.2-1b");
  none.training.images = 1;
  EXPECT_EQ(texts(none),
            Lines{"training.images: 1: expected a model with a tower of images or sounds"});
}

TEST(Towers, SayWhatWasTakenForThem) {
  Scenario scenario = seeing();
  EXPECT_EQ(images_note(scenario), std::nullopt);
  scenario.training.images.reset();
  EXPECT_EQ(images_note(scenario),
            "training.images is not given: 1 image of 32 x 32 pixels with each sequence, 4 tokens "
            "each");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
