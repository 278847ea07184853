// Low-rank adapters beside weights that are not trained.

#include <gtest/gtest.h>

#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/plan/memory/matrices.hpp"
#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Scenario adapted(std::string_view model, const Adapters& adapters, const Plan& plan = {}) {
  Scenario scenario = plain::scenario(plan, model);
  scenario.training.precision = DataType::bf16;
  scenario.training.gradient_precision = DataType::bf16;
  scenario.training.adapters = adapters;
  return scenario;
}

constexpr WeightRoles kQueryAndValue = role_bit(WeightRole::query) | role_bit(WeightRole::value);

double trained_parameters_in_matrices(const Scenario& scenario) {
  StepCosts costs;
  step_costs(scenario, costs);
  return trained_matrices(costs.blocks, costs.contents, 0).parameters().total();
}

TEST(Adapters, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(adapter_parameters(adapted("llama2-7b", {.rank = 8, .targets = kQueryAndValue})),
            4194304);
  EXPECT_EQ(adapter_parameters(adapted("llama3-8b", {.rank = 16})), 41943040);
  // r (in + out): query and output 2 h, key and value h + h / 8, MLP three times h + f.
  const std::int64_t h = 8192;
  const std::int64_t f = 28672;
  EXPECT_EQ(adapter_parameters(adapted("llama2-70b", {.rank = 64})),
            80 * 64 * (2 * 2 * h + 2 * (h + h / 8) + 3 * (h + f)));
}

TEST(Adapters, AreOneBesideMatricesThatAreOneWhereTheyAreFused) {
  const std::int64_t h = 8192;
  const std::int64_t f = 28672;
  const WeightRoles attention = kQueryAndValue | role_bit(WeightRole::output);
  // r (in + out): query, key and value h + h + 2 h / 8, output 2 h. Any of the three asks for one.
  EXPECT_EQ(
      adapter_parameters(adapted("llama2-70b", {.rank = 16, .targets = attention, .fused = true})),
      80 * 16 * (h + h + 2 * h / 8 + 2 * h));
  EXPECT_EQ(adapter_parameters(adapted("llama2-70b", {.rank = 16, .fused = true})),
            80 * 16 * (h + h + 2 * h / 8 + 2 * h + h + 2 * f + f + h));
  const WeightRoles down = role_bit(WeightRole::down);
  EXPECT_EQ(adapter_parameters(adapted("llama2-70b", {.rank = 1, .targets = down, .fused = true})),
            80 * (f + h));
}

TEST(Adapters, AloneHaveGradientsAndStates) {
  const Scenario scenario = adapted("llama3-8b", {.rank = 16});
  const StageMemory memory = estimate(scenario).memory.front();
  const double trained = 41943040;
  EXPECT_EQ(memory.gradients, trained * 2_B);
  EXPECT_EQ(memory.optimizer, trained * 12_B);
  const double base = static_cast<double>(parameters(scenario.model));
  EXPECT_EQ(memory.weights, (base + trained) * 2_B);
  EXPECT_EQ(model_state(scenario).weights, trained * 2_B) << "the base has its own file";
  StepCosts costs;
  step_costs(scenario, costs);
  EXPECT_EQ(costs.trained.front().total(), trained);
}

TEST(Adapters, GoBesideProductsInFp8) {
  Scenario wide = adapted("llama3-8b", {.rank = 16});
  Scenario narrow = wide;
  narrow.training.precision = DataType::fp8;
  ASSERT_EQ(texts(narrow), Lines());
  ModelBlocks blocks;
  scenario_blocks(narrow, blocks);
  for (const Block& kind : blocks.kinds) {
    for (const Operation& op : kind.operations) {
      EXPECT_FALSE(op.is_adapter && op.forward.narrow) << op.name;
    }
  }
  // The base is kept as other weights are: in 16 bits, and twice in 8.
  const double base = static_cast<double>(parameters(narrow.model));
  EXPECT_EQ(estimate(narrow).memory.front().weights, (base + 41943040) * 4_B);
  EXPECT_EQ(estimate(narrow).memory.front().optimizer, estimate(wide).memory.front().optimizer);
}

TEST(Adapters, PassGradientsOnAndKeepInputsForThemselves) {
  const Scenario scenario = adapted("llama3-8b", {.rank = 16});
  Scenario all = scenario;
  all.training.adapters.reset();
  ModelBlocks with;
  ModelBlocks without;
  scenario_blocks(scenario, with);
  scenario_blocks(all, without);
  const auto flops = [](const ModelBlocks& blocks, Kernel Operation::*kernel) {
    Flops sum;
    for (const Operation& op : blocks.kinds.front().operations) {
      sum += (op.*kernel).flops;
    }
    return sum;
  };
  const double tokens = 1024;
  const Flops small = Flops::from_si(2 * tokens * 41943040 / 32);  // of a layer
  EXPECT_NEAR(flops(with, &Operation::weight_gradient) / small, 1, 1e-9);
  EXPECT_NEAR(
      (flops(with, &Operation::forward) - flops(without, &Operation::forward)) / small, 1, 1e-6);
  EXPECT_NEAR(
      (flops(with, &Operation::input_gradient) - flops(without, &Operation::input_gradient)) /
          small,
      1,
      1e-6);
  // What products read is kept as before, and r columns for each of seven adapters.
  const Bytes more =
      saved_bytes(with.kinds.front().operations) - saved_bytes(without.kinds.front().operations);
  EXPECT_DOUBLE_EQ(more.si(), 7 * tokens * 16 * 2);
  EXPECT_FALSE(with.embedding.backward);
  EXPECT_FALSE(with.head.operations[1].weight_gradient.exists());
  EXPECT_TRUE(with.head.operations[1].input_gradient.exists());
}

TEST(Adapters, KeepNoInputOfProductsThatTheyAreNotBeside) {
  const auto kept = [](WeightRoles targets) {
    ModelBlocks blocks;
    scenario_blocks(adapted("llama3-8b", {.rank = 16, .targets = targets}), blocks);
    return saved_bytes(blocks.kinds.front().operations);
  };
  const double tokens = 1024;
  const Bytes small = tokens * 16 * 2_B;
  // Key and value read what the query reads.
  EXPECT_EQ(kept(kQueryAndValue) - kept(role_bit(WeightRole::query)), small);
  EXPECT_EQ(kept(kQueryAndValue | role_bit(WeightRole::down)) - kept(kQueryAndValue),
            small + tokens * 14336 * 2_B);
}

TEST(Adapters, AreSplitAsTheProductsTheyAreBeside) {
  Plan plan;
  plan.tensor = 8;
  plan.sequence_parallel = true;
  const Scenario scenario = adapted("llama3-8b", {.rank = 16}, plan);
  StepCosts costs;
  step_costs(scenario, costs);
  const double h = 4096;
  const double f = 14336;
  // A of query, key, value, gate and up, and B of output and down, are on every rank.
  const double whole = 5 * h + 2 * h;
  const double parts = (h + 2 * 1024 + 2 * f + h + f) / 8;
  EXPECT_DOUBLE_EQ(costs.trained.front().total(), 32 * 16 * (whole + parts));
  for (const Operation& op : costs.blocks.kinds.front().operations) {
    if (op.name == "query adapter out") {
      EXPECT_EQ(op.backward_transfer.kind, Collective::all_reduce);
      EXPECT_EQ(op.backward_transfer.size, 1024.0 * 16 * 2_B);
    }
    if (op.name == "down adapter in") {
      EXPECT_EQ(op.forward_transfer.kind, Collective::reduce_scatter);
      EXPECT_EQ(op.backward_transfer.kind, Collective::all_gather);
    }
  }
}

TEST(Adapters, SynchroniseNoGradientsButTheirOwn) {
  Plan plan;
  plan.data = 4;
  Scenario scenario = adapted("llama3-8b", {.rank = 16}, plan);
  scenario.plan.overlap_grad_reduce = false;
  StepCosts costs;
  step_costs(scenario, costs);
  const Seconds expected = group_time(
      Collective::all_reduce, 41943040 * 2_B, costs.groups.dense.group, costs.groups.dense.fabric);
  EXPECT_EQ(costs.tails.front().gradient_sync, expected);
}

TEST(QuantisedBase, Has4Point127BitsForAParameterOfAMatrix) {
  const WeightMatrix matrix{.rows = 64 * 256, .columns = 10, .count = 3};
  EXPECT_NEAR(8 * quantised_bytes(BaseFormat::nf4, matrix) / Bytes::from_si(matrix.parameters()),
              4 + 8.0 / 64 + 32.0 / (64 * 256),
              1e-12);
  EXPECT_EQ(quantised_bytes(BaseFormat::int8, matrix), matrix.parameters() * 1_B + 3 * 10 * 4_B);
}

TEST(QuantisedBase, LetsA65BModelBeTrainedOn48GB) {
  Scenario scenario = adapted("llama2-70b", {.rank = 64, .base = BaseFormat::nf4});
  Transformer& model = scenario.model.transformer();
  model.heads = 64;
  model.kv_heads = 64;  // LLaMA-65B: 80 layers of 8192, 22016 wide
  model.ffn = 22016;
  scenario.training.sequence = 512;
  scenario.training.global_batch = 16;
  scenario.plan.recompute = Recompute::full;
  const double base = static_cast<double>(parameters(scenario.model));
  EXPECT_NEAR(base / 65.3e9, 1, 0.01);
  const StageMemory memory = estimate(scenario).memory.front();
  const double tables = 2.0 * 32000 * 8192;
  const double norms = 161.0 * 8192;
  const double trained = static_cast<double>(adapter_parameters(scenario));
  EXPECT_NEAR(
      memory.weights.si(),
      (base - tables - norms) * (0.5 + (1 + 4.0 / 256) / 64) + (tables + norms + trained) * 2,
      1e3);
  // Adapters' weights and states are of 16 and 32 bits here, 11 GB; paged or in 16 bits in QLoRA.
  EXPECT_LT((memory.allocated() - memory.optimizer).si(), 48e9);
  EXPECT_GT(memory.allocated().si(), 35e9);
}

TEST(QuantisedBase, IsReadAndWrittenForEveryProduct) {
  ModelBlocks blocks;
  scenario_blocks(adapted("llama3-8b", {.rank = 16, .base = BaseFormat::nf4}), blocks);
  Bytes moved;
  Bytes back;
  int count = 0;
  for (const Operation& op : blocks.kinds.front().operations) {
    if (op.name == "dequantisation") {
      moved += op.forward.bytes;
      back += op.input_gradient.bytes;
      ++count;
    }
  }
  const double h = 4096;
  const double matrices = h * (2 * h + 2 * 1024 + 3 * 14336);
  EXPECT_EQ(count, 4);
  EXPECT_NEAR(moved.si(), matrices * (2 + 0.5 + (1 + 4.0 / 256) / 64), 1);
  EXPECT_EQ(back, moved);
}

TEST(Adapters, AreTheSameAtAllFidelities) {
  Plan plan;
  plan.pipeline = 2;
  plan.tensor = 2;
  plan.data = 2;
  plan.sharding = Sharding::zero1;
  plan.recompute = Recompute::selective;
  const Scenario scenario = adapted("llama3-8b", {.rank = 16, .base = BaseFormat::int8}, plan);
  ASSERT_EQ(texts(scenario), Lines());
  const Seconds closed = estimate(scenario).iteration_time;
  Estimator estimator;
  StepResult simulated;
  evaluate(scenario, Fidelity::event, estimator, simulated);
  EXPECT_EQ(simulated.iteration_time, closed);
  Scenario whole = scenario;
  whole.training.adapters.reset();
  EXPECT_LT(closed, estimate(whole).iteration_time);
}

// Both of an adapter are matrices: their updates are orthogonalised, and of their second moments
// there are a row and a column.
TEST(Adapters, AreMatricesToOptimizers) {
  Scenario scenario = adapted("llama3-8b", {.rank = 16});
  const double trained = 41943040;
  EXPECT_DOUBLE_EQ(trained_parameters_in_matrices(scenario), trained);
  const Seconds adam = estimate(scenario).breakdown.optimizer;
  scenario.training.optimizer = kMuon;
  ASSERT_EQ(texts(scenario), Lines());
  EXPECT_EQ(estimate(scenario).memory.front().optimizer, trained * 8_B) << "a moment, a master";
  EXPECT_GT(estimate(scenario).breakdown.optimizer, adam);
  ScenarioSource source(parse_json(R"({"model": "llama3-8b", "cluster": "dgx-h100",
      "plan": {"data": 8}, "training": {"global_batch": 8, "sequence": 2048, "precision": "bf16",
      "optimizer": "adafactor", "adapters": {"rank": 16}}})",
                                   "run.json"));
  const double factored = kAdafactor.state_bytes + 4.0 / 16 + 4.0 / 4096;
  EXPECT_DOUBLE_EQ(source.read().training.optimizer.state_bytes, factored);
}

TEST(Validate, RefusesWhatAdaptersDoNotGoWith) {
  Plan plan;
  plan.data = 8;
  plan.sharding = Sharding::zero3;
  EXPECT_EQ(texts(adapted("llama3-8b", {.rank = 16, .base = BaseFormat::nf4}, plan)),
            Lines{"training.adapters.base: nf4: expected none: with the sharding zero3 the base is "
                  "gathered as other weights are"});
  EXPECT_EQ(texts(adapted("llama3-8b", {.rank = 16}, plan)), Lines());
  EXPECT_EQ(texts(adapted("mixtral-8x7b", {.rank = 16})),
            Lines{"training.adapters.targets: all-linear: expected query, key, value and output "
                  "only: adapters of experts are not modelled"});
  EXPECT_EQ(texts(adapted("mixtral-8x7b", {.rank = 16, .targets = kQueryAndValue})), Lines());
  Scenario scenario =
      adapted("megatron-1.7b", {.rank = 2048, .targets = role_bit(WeightRole::gate)});
  scenario.training.frozen.first = 3;
  EXPECT_EQ(
      texts(scenario),
      (Lines{"training.adapters: 2048: expected no frozen_layers: all but adapters are frozen",
             "training.adapters.targets: a list: expected no gate, which this model's MLP "
             "has not",
             "training.adapters.rank: 2048: expected at most 1152, half of the hidden size"}));
}

TEST(AdapterFields, ReadAndWriteTargets) {
  const auto read = [](const std::string& text) {
    const Document document = parse_json(text, "adapters.json");
    Problems problems;
    Reader in(document, problems);
    Adapters adapters;
    read_fields(adapter_fields(), in, adapters);
    problems.raise();
    return adapters;
  };
  EXPECT_EQ(read(R"({"rank": 4})"), (Adapters{.rank = 4}));
  const Adapters some = read(R"({"rank": 4, "targets": ["value", "query"], "base": "nf4"})");
  EXPECT_EQ(some, (Adapters{.rank = 4, .targets = kQueryAndValue, .base = BaseFormat::nf4}));
  EXPECT_EQ(to_json(write_fields(adapter_fields(), some), 0),
            R"({"rank":4,"targets":["query","value"],"base":"nf4"})");
  EXPECT_EQ(read(R"({"rank": 4, "fused": true})"), (Adapters{.rank = 4, .fused = true}));
  EXPECT_THROW(read(R"({"rank": 4, "targets": ["router"]})"), InputError);
  EXPECT_THROW(read(R"({"rank": 4, "targets": []})"), InputError);
  EXPECT_THROW(read(R"({"rank": 4, "targets": "linear"})"), InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
