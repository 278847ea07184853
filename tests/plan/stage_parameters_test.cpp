// The parameters of a stage of the model, and of a rank of the pipeline.
#include <gtest/gtest.h>

#include "plan/blocks.hpp"
#include "plan/layouts.hpp"
#include "plan/pipeline_graph.hpp"
#include "plan/shipped.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using layouts::small_gpt;

TEST(StageParameters, OfOneDeviceAreTheModel) {
  for (const std::string& name : shipped::transformers()) {
    Transformer model = shipped::model(name);
    model.tower.reset();  // what a rank has of it depends on the images of a sequence
    model.vocabulary_multiple = 1;
    model.predicted_tokens = 0;  // which published counts leave out
    EXPECT_DOUBLE_EQ(rank_parameters(model, {}, 0), static_cast<double>(parameters(model))) << name;
  }
}

TEST(StageParameters, OverAllStagesAreTheModelAndTheTiedCopy) {
  for (const std::string& name : shipped::transformers()) {
    Transformer model = shipped::model(name);
    model.tower.reset();  // what a rank has of it depends on the images of a sequence
    model.vocabulary_multiple = 1;
    model.predicted_tokens = 0;  // which published counts leave out
    const double copy =
        model.tied_embeddings ? static_cast<double>(model.vocabulary * model.hidden) : 0.0;
    for (int p = 2; p <= model.layers; ++p) {
      if (model.layers % p != 0) {
        continue;
      }
      Plan plan;
      plan.pipeline = p;
      double sum = 0;
      for (int rank = 0; rank < p; ++rank) {
        sum += rank_parameters(model, plan, rank);
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
    Plan plan;
    plan.pipeline = 24;
    plan.tensor = t;
    EXPECT_DOUBLE_EQ(rank_parameters(model, plan, 5), split / t + whole);
    const double table = 51200 * h / t;  // 51200 is a multiple of 128 t for these t
    EXPECT_DOUBLE_EQ(rank_parameters(model, plan, 0), split / t + whole + table + 2048 * h);
    EXPECT_DOUBLE_EQ(rank_parameters(model, plan, 23), split / t + whole + table + 2 * h);
  }
}

TEST(StageParameters, SplitKeyValueHeadsOverMoreRanksThanThereAre) {
  Transformer model = small_gpt();
  model.kv_heads = 2;
  const ParameterCount layer = layer_parameters(model, model.kinds.front());
  Plan plan;
  plan.pipeline = 24;
  plan.tensor = 8;
  const auto whole = static_cast<double>(layer.replicated);
  EXPECT_DOUBLE_EQ(8 * (rank_parameters(model, plan, 5) - whole), static_cast<double>(layer.split));
}

TEST(StageParameters, PadTheVocabularyForTheTensorDegree) {
  Transformer model = small_gpt();
  model.vocabulary = 50257;
  Plan plan;
  plan.pipeline = 24;
  plan.tensor = 8;
  const double middle = rank_parameters(model, plan, 1);
  const double padded = 51200;  // the next multiple of 128 x 8
  EXPECT_DOUBLE_EQ(rank_parameters(model, plan, 23) - middle, (padded / 8 + 2) * 1024);
}

TEST(StageParameters, OfAnUntiedLastStageAreAnOutputTable) {
  Transformer model = small_gpt();
  Plan plan;
  plan.pipeline = 2;
  const double tied = rank_parameters(model, plan, 1);
  model.tied_embeddings = false;
  EXPECT_EQ(rank_parameters(model, plan, 1), tied) << "a copy and an own table are as large";
  const Plan whole;
  const double own = rank_parameters(model, whole, 0);
  model.tied_embeddings = true;
  EXPECT_DOUBLE_EQ(own - rank_parameters(model, whole, 0), 51200.0 * 1024.0);
}

/// A plan of every shape that the schedules allow and the small GPT's layers share out over.
std::vector<Plan> plans() {
  std::vector<Plan> plans;
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape& shape : pipeline_test::shapes_of(schedule)) {
      Plan plan;
      plan.schedule = schedule;
      plan.pipeline = shape.stages;
      plan.virtual_stages = shape.virtual_stages;
      const int stages = model_stages(placement(schedule), shape);
      for (const LayerRule rule : {LayerRule::even, LayerRule::lighter_ends}) {
        plan.layers = rule;
        if (!refusal(plan.layers, small_gpt().layers, stages)) {
          plans.push_back(plan);
        }
      }
    }
  }
  return plans;
}

std::string text_of(const Plan& plan) {
  return std::string(name(plan.schedule)) + ", p = " + std::to_string(plan.pipeline) +
         ", v = " + std::to_string(plan.virtual_stages) + ", layers " + text_of(plan.layers);
}

PipelineShape shape_of(const Plan& plan) {
  return {.stages = static_cast<int>(plan.pipeline),
          .virtual_stages = static_cast<int>(plan.virtual_stages)};
}

/// Token tables beyond the one of each copy of the model: the last stage's, where its rank has not
/// the first stage too.
int table_copies(const Plan& plan) {
  const auto last = static_cast<int>(plan.pipeline * plan.virtual_stages) - 1;
  switch (placement(plan.schedule)) {
    case Placement::loop:
      return plan.pipeline > 1 ? 1 : 0;
    case Placement::wave:
      return place_of(Placement::wave, last, 0, shape_of(plan)).rank == 0 ? 0 : 1;
    case Placement::two_ways:
      return 0;  // both ends of the pipeline have both ends of the model
  }
  return 0;
}

TEST(RankParameters, AreTheModelsForEveryScheduleAndSplit) {
  const Transformer model = small_gpt();
  const auto table = static_cast<double>(model.vocabulary * model.hidden);
  const auto whole = static_cast<double>(parameters(model));
  int uneven = 0;
  for (const Plan& plan : plans()) {
    double sum = 0;
    for (int rank = 0; rank < plan.pipeline; ++rank) {
      sum += rank_parameters(model, plan, rank);
    }
    const int models = placement(plan.schedule) == Placement::two_ways ? 2 : 1;
    EXPECT_DOUBLE_EQ(sum, models * whole + table_copies(plan) * table) << text_of(plan);
    uneven += plan.layers == LayerSplit(LayerRule::even) ? 0 : 1;
  }
  EXPECT_GT(uneven, 5);
}

TEST(StageParameters, FollowTheListOfLayers) {
  const Transformer model = small_gpt();
  const double layer = static_cast<double>(layer_parameters(model, model.kinds.front()).total());
  Plan plan;
  plan.pipeline = 2;
  plan.virtual_stages = 2;
  plan.layers = std::vector<std::int64_t>{0, 13, 11, 0};
  const double table = 51200.0 * 1024;
  EXPECT_DOUBLE_EQ(rank_parameters(model, plan, 0), 11 * layer + table + 2048.0 * 1024);
  EXPECT_DOUBLE_EQ(rank_parameters(model, plan, 1), 13 * layer + table + 2.0 * 1024);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
