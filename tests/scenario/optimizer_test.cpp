// Rules of updates: what they keep, what they take, and what they do not go with.

#include <gtest/gtest.h>

#include <cmath>

#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/plan/memory/matrices.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Scenario trained_by(const OptimizerRule& rule, const Plan& plan = {}) {
  Scenario scenario = plain::scenario(plan);
  scenario.training.precision = DataType::bf16;
  scenario.training.gradient_precision = DataType::fp32;
  scenario.training.optimizer = rule;
  return scenario;
}

StepCosts costs_of(const Scenario& scenario) {
  StepCosts costs;
  step_costs(scenario, costs);
  return costs;
}

/// Of a GPT's layers: query, key, value and output; up and down, four times as long as high.
struct GptMatrices {
  explicit GptMatrices(const Scenario& scenario)
      : hidden(static_cast<double>(scenario.model.transformer().hidden)),
        layers(static_cast<double>(scenario.model.layers())) {}
  [[nodiscard]] double parameters() const { return layers * 12 * hidden * hidden; }
  /// Five steps of X X', A A and B X: 2 n² m + 2 n³ + 2 n² m each.
  [[nodiscard]] Flops flops() const {
    const double square = 5 * (2 + 2 + 2);
    const double oblong = 5 * (2 * 4 + 2 + 2 * 4);
    return Flops::from_si(layers * (4 * square + 2 * oblong) * std::pow(hidden, 3));
  }

  double hidden;
  double layers;
};

TEST(OptimizerRules, KeepWhatTheirPapersSay) {
  const TensorTypes types{.weight = DataType::fp32};
  EXPECT_DOUBLE_EQ(parameter_bytes(kAdam8Bit, types).optimizer.si(), 2 * (1 + 4.0 / 256));
  EXPECT_DOUBLE_EQ(parameter_bytes(kLion8Bit, types).optimizer.si(), 1 + 4.0 / 256);
  EXPECT_EQ(parameter_bytes(kLion, types).optimizer, 0.5 * parameter_bytes(kAdam, types).optimizer);
  EXPECT_EQ(parameter_bytes(kLamb, types).optimizer, parameter_bytes(kAdam, types).optimizer);
  EXPECT_EQ(parameter_bytes(kMuon, types).optimizer, 8_B);
  EXPECT_EQ(parameter_bytes(kMuon, types).matrix, 4_B);
  EXPECT_EQ(parameter_bytes(kMuon, {.weight = DataType::bf16}).matrix, 4_B + 4_B);
  EXPECT_FALSE(parameter_bytes(kAdam, types).matrix);
}

TEST(OptimizerRules, ReadAndWriteWhatTheyKeep) {
  struct Row {
    OptimizerRule rule;
    Bytes fused;
    Bytes unfused;
  };
  // fp32 gradients and masters, bf16 weights.
  const std::vector<Row> rows = {
      {kLion, 4_B + 2 * (4_B + 4_B) + 2_B, 2 * 4_B + 11 * 4_B + 2_B},
      {kLamb, 4_B + 2 * (4_B + 8_B) + 5 * 4_B + 2_B, 2 * 4_B + 20 * 4_B + 2_B}};
  for (const Row& row : rows) {
    Scenario scenario = trained_by(row.rule);
    EXPECT_EQ(optimizer_traffic(scenario).per_updated, row.fused) << row.rule.name;
    scenario.training.fused_optimizer = false;
    EXPECT_EQ(optimizer_traffic(scenario).per_updated, row.unfused) << row.rule.name;
  }
  EXPECT_DOUBLE_EQ(optimizer_traffic(trained_by(kAdam8Bit)).per_updated.si(),
                   4 + 2 * (4 + 2 * (1 + 4.0 / 256)) + 2);
}

TEST(Muon, HasHalfTheMomentsOfMatrices) {
  const Scenario scenario = trained_by(kMuon);
  const GptMatrices matrices(scenario);
  const double all = costs_of(scenario).trained.front().total();
  const Bytes expected =
      Bytes::from_si((all - matrices.parameters()) * (4 + 8) + matrices.parameters() * (4 + 4));
  EXPECT_EQ(estimate(scenario).memory.front().optimizer, expected);
  EXPECT_EQ(model_state(scenario).optimizer, expected);
}

TEST(Muon, OrthogonalisesByProductsInBf16) {
  const Scenario scenario = trained_by(kMuon);
  const GptMatrices matrices(scenario);
  const StepCosts costs = costs_of(scenario);
  const double all = costs.trained.front().total();
  const OptimizerTraffic traffic = optimizer_traffic(scenario);
  // Gradient twice, moment three times, the update in bf16 five times; weights and their copy.
  const Bytes each = 2 * 4_B + 3 * 4_B + 5 * 2_B + 2 * 4_B + 2_B;
  const Bytes moved = matrices.parameters() * each + all * traffic.per_gradient +
                      (all - matrices.parameters()) * traffic.per_updated;
  const Seconds expected = matrices.flops() / plain::kPeak + moved / plain::kMemory;
  EXPECT_NEAR(costs.tails.front().optimizer / expected, 1, 1e-9);
}

TEST(Muon, HasAnOwnerOfEachMatrixWithZero1) {
  Plan plan;
  plan.data = 4;
  const Seconds alone =
      matrix_update(trained_by(kMuon, plan), costs_of(trained_by(kMuon, plan)), 0).time;
  const Bytes whole = estimate(trained_by(kMuon, plan)).memory.front().optimizer;
  plan.sharding = Sharding::zero1;
  const Scenario shared = trained_by(kMuon, plan);
  // 24 layers' matrices go into four equal parts.
  EXPECT_NEAR(matrix_update(shared, costs_of(shared), 0).time / alone, 0.25, 1e-12);
  EXPECT_NEAR(estimate(shared).memory.front().optimizer / whole, 0.25, 1e-12);
}

TEST(Muon, OrthogonalisesWhatATensorParallelRankHas) {
  Plan plan;
  plan.tensor = 2;
  const StepCosts costs = costs_of(trained_by(kMuon, plan));
  const RankMatrices matrices = trained_matrices(costs.blocks, costs.contents, 0);
  const double hidden = GptMatrices(trained_by(kMuon)).hidden;
  EXPECT_EQ(matrices.dense.size(), 6U);
  EXPECT_EQ(matrices.dense.front().rows, hidden);
  EXPECT_EQ(matrices.dense.front().columns, hidden / 2);
  EXPECT_EQ(matrices.parameters().dense, GptMatrices(trained_by(kMuon)).parameters() / 2);
}

TEST(Muon, CountsEveryExpertsMatrices) {
  Scenario scenario = trained_by(kMuon);
  scenario.model = shipped::model("mixtral-8x7b");
  const Transformer& model = scenario.model.transformer();
  const StepCosts costs = costs_of(scenario);
  const RankMatrices matrices = trained_matrices(costs.blocks, costs.contents, 0);
  const ParameterCount layer = layer_parameters(model, model.kinds.front());
  EXPECT_EQ(matrices.parameters().experts, static_cast<double>(model.layers * layer.experts));
  ASSERT_EQ(matrices.experts.size(), 2U);
  EXPECT_EQ(matrices.experts.front().count, static_cast<double>(model.layers * 8 * 2));
  EXPECT_EQ(matrices.experts.front().columns, static_cast<double>(model.experts->ffn));
}

TEST(BusiestOwner, HasWhatTheOthersHaveNotTaken) {
  const std::vector<WeightMatrix> matrices = {{.rows = 4, .columns = 4, .count = 5},
                                              {.rows = 8, .columns = 8, .count = 1}};
  const auto parameters = [&](int ranks) {
    double sum = 0;
    for (const WeightMatrix& matrix : busiest_owner(matrices, ranks)) {
      sum += matrix.parameters();
    }
    return sum;
  };
  EXPECT_EQ(parameters(1), 64 + 5 * 16);
  EXPECT_EQ(parameters(2), 64 + 16) << "the fifth small one goes to either";
  EXPECT_EQ(parameters(3), 64);
  EXPECT_EQ(parameters(100), 64);
}

TEST(OptimizerRules, BringMatricesTogetherThatShardsCut) {
  Plan plan;
  plan.data = 8;
  plan.sharding = Sharding::zero3;
  const StepCosts by_adam = costs_of(trained_by(kAdam, plan));
  const StepCosts by_muon = costs_of(trained_by(kMuon, plan));
  EXPECT_EQ(by_adam.tails[0].parameter_sync, Seconds{});
  // There and back, an eighth of all in bf16 each way, as one exchange.
  const SyncGroup& group = by_muon.groups.dense_shard;
  const Bytes own = by_muon.trained[0].total() / 8 * (2 * size_of(DataType::bf16));
  EXPECT_DOUBLE_EQ(by_muon.tails[0].parameter_sync.si(),
                   group_time(Collective::all_to_all, own, group.group, group.fabric).si());
  EXPECT_GT(by_muon.tails[0].optimizer, by_adam.tails[0].optimizer);
  // Each rank keeps an eighth of the states: one moment and the copy of matrices, Adam's of others.
  const auto kept = [&](const OptimizerRule& rule, Sharding sharding) {
    plan.sharding = sharding;
    return estimate(trained_by(rule, plan)).memory.front().optimizer;
  };
  const double matrices = GptMatrices(trained_by(kMuon, plan)).parameters();
  EXPECT_NEAR((kept(kAdam, Sharding::zero3) - kept(kMuon, Sharding::zero3)).si(),
              matrices * 4 / 8,
              1e-9 * matrices);
  EXPECT_LE(kept(kMuon, Sharding::zero3), kept(kMuon, Sharding::zero1)) << "whose owners have most";
}

TEST(MatrixBlocks, HaveSidesUpToAnExtent) {
  const WeightMatrix matrix{.rows = 2048, .columns = 12'000, .count = 3};
  const MatrixBlocks cut = blocks_of(*kShampoo.preconditioner, matrix);
  EXPECT_EQ(cut.count, 3 * 2 * 12);
  EXPECT_EQ(cut.row_side, 1024);
  EXPECT_EQ(cut.column_side, 1000);
  const MatrixBlocks whole = blocks_of(*kSoap.preconditioner, matrix);
  EXPECT_EQ(whole.count, 3);
  EXPECT_EQ(whole.row_side, 2048);
  EXPECT_EQ(whole.column_side, 0) << "longer than 10,000";
}

// Of every matrix Adam's moments, and of each side's sums and what is made of them.
TEST(OptimizerRules, KeepSidesOfMatrices) {
  const std::vector<WeightMatrix> matrices = {{.rows = 100, .columns = 200, .count = 2}};
  const ParameterBytes soap = parameter_bytes(kSoap, {});
  EXPECT_DOUBLE_EQ(matrix_states(soap, matrices).si(),
                   2 * (100 * 200 * 12 + 2 * (100 * 100 + 200 * 200) * 4));
  const ParameterBytes muon = parameter_bytes(kMuon, {});
  EXPECT_DOUBLE_EQ(matrix_states(muon, matrices).si(), 2 * 100 * 200 * (4 + 4));
  for (const OptimizerRule& rule : {kShampoo, kSoap}) {
    Plan plan;
    plan.data = 8;
    const StepResult alone = estimate(trained_by(rule, plan));
    EXPECT_GT(alone.memory.front().optimizer,
              estimate(trained_by(kAdam, plan)).memory.front().optimizer);
    plan.sharding = Sharding::zero1;
    const StepResult shared = estimate(trained_by(rule, plan));
    EXPECT_LT(shared.memory.front().optimizer, 0.2 * alone.memory.front().optimizer);
    EXPECT_LT(shared.breakdown.optimizer, 0.2 * alone.breakdown.optimizer) << "each has its own";
    EXPECT_EQ(simulate(trained_by(rule, plan)).result.iteration_time, shared.iteration_time);
  }
}

// On a machine without floors: 3 products with each side in a step, an update of all, and a tenth
// of 14/3 n^3.
TEST(OptimizerRules, MultiplyGradientsBySides) {
  const StepCosts costs = costs_of(trained_by(kSoap));
  const StepCosts by_adam = costs_of(trained_by(kAdam));
  double flops = 0;
  for (const WeightMatrix& matrix : trained_matrices(costs.blocks, costs.contents, 0).dense) {
    const double n = matrix.rows;
    const double m = matrix.columns;
    const double roots = (2 + 8.0 / 3) / 10;
    flops += matrix.count * (3 * (2 * n * n * m + 2 * n * m * m) + roots * (n * n * n + m * m * m));
  }
  EXPECT_GT(flops, 0);
  EXPECT_NEAR((costs.tails[0].optimizer - by_adam.tails[0].optimizer).si(),
              flops / plain::kPeak.si(),
              0.01 * flops / plain::kPeak.si());
}

TEST(OptimizerRules, AddUpNormsOfTensorsOverShards) {
  Plan plan;
  plan.data = 8;
  plan.sharding = Sharding::zero1;
  const Scenario scenario = trained_by(kLamb, plan);
  EXPECT_EQ(texts(scenario), Lines{});
  const StepCosts by_lamb = costs_of(scenario);
  const StepCosts by_adam = costs_of(trained_by(kAdam, plan));
  // Norms of weights and update of about as many tensors as there are squares of the hidden size,
  // and as many vectors: some kilobytes.
  const SyncGroup& group = by_lamb.groups.dense_shard;
  const auto hidden = static_cast<double>(scenario.model.transformer().hidden);
  const Bytes norms = by_lamb.trained[0].total() * Bytes::from_si(16) / (hidden * hidden);
  EXPECT_LT(norms, 100 * 1_KiB);
  EXPECT_NEAR((by_lamb.tails[0].parameter_sync - by_adam.tails[0].parameter_sync).si(),
              group_time(Collective::all_reduce, norms, group.group, group.fabric).si(),
              1e-12);
}

TEST(Validate, RefusesWhatAnOptimizerDoesNotGoWith) {
  Plan plan;
  plan.data = 2;
  plan.sharding = Sharding::zero2;
  EXPECT_EQ(texts(trained_by(kMuon, plan)), Lines{});
  Scenario images = trained_by(kLamb, plan);
  images.model = shipped::any_model("resnet-50");
  EXPECT_EQ(texts(images),
            Lines{"training.optimizer: lamb: expected the sharding none, or zero1 or zero2 of a "
                  "transformer, over whose shards the norms of whole tensors that its steps need "
                  "are added up"});
  Scenario layered = trained_by(kMuon);
  layered.model = shipped::any_model("resnet-50");
  EXPECT_EQ(texts(layered),
            Lines{"training.optimizer: muon: expected a transformer, whose hidden layers have "
                  "matrices"});
  EXPECT_EQ(texts(trained_by(kSoap, plan)),
            Lines{"training.optimizer: soap: expected the sharding none or zero1, whose ranks have "
                  "whole gradients of matrices"});
  Scenario old = trained_by(kMuon);
  old.cluster.chip.matrix[static_cast<std::size_t>(DataType::bf16)].reset();
  old.training.precision = DataType::fp16;
  EXPECT_EQ(texts(old),
            Lines{"training.optimizer: muon: expected a chip that computes in bf16, in which "
                  "updates are orthogonalised"});
  Scenario quantised = trained_by(kAdam8Bit);
  quantised.training.state_precision = DataType::bf16;
  quantised.training.fused_optimizer = false;
  EXPECT_EQ(texts(quantised),
            (Lines{"training.state_precision: bf16: expected an optimizer whose moments are not "
                   "quantised already",
                   "training.fused_optimizer: false: expected true: quantised moments are updated "
                   "by one kernel"}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
