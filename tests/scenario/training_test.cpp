#include "titer/scenario/training.hpp"

#include <gtest/gtest.h>

#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/input/read_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Scenario scenario_of(const Plan& plan = {}) {
  Scenario scenario = plain::scenario(plan, "megatron-18.4b");
  scenario.stack.overlap_slowdown = 1;
  scenario.training.precision = DataType::bf16;
  return scenario;
}

StepCosts costs_of(const Scenario& scenario) {
  StepCosts costs;
  step_costs(scenario, costs);
  return costs;
}

Training training_of(const std::string& text, const Model& model) {
  const Document document = parse_json(text, "training.json");
  Problems problems;
  Reader in(document, problems);
  Training training = read_training(in, model);
  problems.raise();
  return training;
}

TEST(OptimizerTraffic, CountsReadsAndWritesOfTheFusedRule) {
  struct Row {
    OptimizerRule rule;
    Bytes per_updated;
    Bytes unfused;
  };
  // fp32 gradients and masters, bf16 weights.
  const std::vector<Row> rows = {{kAdam, 4_B + 2 * (4_B + 8_B) + 2_B, 2 * 4_B + 16 * 4_B + 2_B},
                                 {kMomentumSgd, 4_B + 2 * (4_B + 4_B) + 2_B, 4_B + 7 * 4_B + 2_B},
                                 {kPlainSgd, 4_B + 2 * 4_B + 2_B, 4_B + 2 * 4_B + 2_B},
                                 {kAdafactor, 3 * 4_B + 2 * 4_B + 2_B, 2 * 4_B + 12 * 4_B + 2_B}};
  for (const Row& row : rows) {
    Scenario scenario = scenario_of();
    scenario.training.gradient_precision = DataType::fp32;
    scenario.training.optimizer = row.rule;
    EXPECT_EQ(optimizer_traffic(scenario).per_updated, row.per_updated) << row.rule.name;
    EXPECT_EQ(optimizer_traffic(scenario).per_gradient, 2 * 4_B) << row.rule.name;
    scenario.training.fused_optimizer = false;
    EXPECT_EQ(optimizer_traffic(scenario).per_updated, row.unfused) << row.rule.name;
    EXPECT_EQ(optimizer_traffic(scenario).kernels, row.rule.unfused.kernels) << row.rule.name;
  }
}

TEST(OptimizerTraffic, TakesALaunchForEveryKernel) {
  Scenario scenario = scenario_of();
  scenario.training.fused_optimizer = false;
  const Seconds without = costs_of(scenario).tails.front().optimizer;
  scenario.cluster.chip.launch_floor = 5_us;
  EXPECT_NEAR((costs_of(scenario).tails.front().optimizer - without).si(), 7 * 5e-6, 1e-12);
}

TEST(OptimizerRule, KeepsRowsAndColumnsOfAFactoredMoment) {
  const Model model = shipped::model("megatron-18.4b");
  const auto hidden = static_cast<double>(model.transformer().hidden);
  const Training training = training_of(R"({"global_batch": 8, "optimizer": "adafactor"})", model);
  // n + m numbers of an n x m matrix, no narrower than the model.
  EXPECT_DOUBLE_EQ(training.optimizer.state_bytes, 4 * (hidden + hidden) / (hidden * hidden));
  EXPECT_EQ(
      training_of(R"({"global_batch": 8, "optimizer": "sgd-plain"})", model).optimizer.state_bytes,
      0.0);
}

TEST(ParameterBytes, FollowTheTypesOfTheTensors) {
  TensorTypes types{.weight = DataType::bf16, .gradient = DataType::bf16};
  EXPECT_EQ(parameter_bytes(kAdam, types).optimizer, 4_B + 4_B + 4_B);
  types.state = DataType::bf16;
  EXPECT_EQ(parameter_bytes(kAdam, types).optimizer, 2_B + 2_B + 4_B);
  types.master = DataType::bf16;
  EXPECT_EQ(parameter_bytes(kAdam, types).optimizer, 2_B + 2_B) << "no copy";
  types.state = DataType::int8;
  EXPECT_EQ(parameter_bytes(kAdam, types).optimizer, 1_B + 1_B);
  types.narrow = NarrowCopies{.number = 1_B};
  EXPECT_EQ(parameter_bytes(kAdam, types).weight, 2_B + 2 * 1_B) << "and turned round";
}

TEST(ParameterBytes, OfNarrowProductsAreByWhatIsHeld) {
  struct Row {
    NarrowWeights held;
    Bytes weight;
    Bytes gathered;
    Bytes written;
  };
  const std::vector<Row> rows = {
      {NarrowWeights::cast, 2_B, 2_B, 2_B},
      {NarrowWeights::gathered, 2_B, 2 * 1_B, 2_B},
      {NarrowWeights::beside, 2_B + 2 * 1_B, 2_B + 2 * 1_B, 2_B + 2 * 1_B},
      {NarrowWeights::instead, 2 * 1_B, 2 * 1_B, 2 * 1_B}};
  for (const Row& row : rows) {
    const TensorTypes types{.weight = DataType::bf16,
                            .narrow = NarrowCopies{.held = row.held, .number = 1_B}};
    const ParameterBytes bytes = parameter_bytes(kAdam, types);
    EXPECT_EQ(bytes.weight, row.weight);
    EXPECT_EQ(bytes.gathered, row.gathered);
    EXPECT_EQ(written_copies(types), row.written);
    EXPECT_EQ(bytes.optimizer, 8_B + 4_B) << "there is a master copy of all of them";
  }
}

TEST(NarrowCopies, AreTurnedRoundUnlessTheChipReadsColumnsOfWholeTensors) {
  Scenario scenario = scenario_of();
  EXPECT_EQ(scenario.narrow_copies(), std::nullopt) << "in bf16";
  scenario.training.precision = DataType::fp8;
  EXPECT_EQ(scenario.narrow_copies()->bytes(), 2 * 1_B);
  scenario.cluster.chip.reads_narrow_columns = true;
  EXPECT_EQ(scenario.narrow_copies()->bytes(), 1_B);
  scenario.training.narrow_scaling = NarrowScaling::block;
  EXPECT_DOUBLE_EQ(scenario.narrow_copies()->bytes().si(), 2 * (1 + 1 / 32.0));
  scenario.training.precision = DataType::fp4;
  EXPECT_DOUBLE_EQ(scenario.narrow_copies()->bytes().si(), 2 * (1 / 2.0 + 1 / 16.0));
}

TEST(Fp8Attention, NeedsNarrowProductsAFusedKernelAndAChipWhereItWasMeasured) {
  Scenario scenario = scenario_of();
  scenario.training.fp8_attention = true;
  scenario.plan.attention = AttentionKernel::materialised;
  scenario.cluster.chip.narrow_attention.reset();
  EXPECT_EQ(texts(scenario),
            (Lines{"training.fp8_attention: true: expected the precision fp8 or fp4",
                   "training.fp8_attention: true: expected the attention kernel flash",
                   "training.fp8_attention: true: expected a chip of which attention.fp8 is "
                   "known"}));
  scenario.training.precision = DataType::fp8;
  scenario.plan.attention = AttentionKernel::flash;
  scenario.cluster.chip.narrow_attention = NarrowAttention{.forward = 0.5, .backward = 0.5};
  EXPECT_EQ(texts(scenario), Lines());
  EXPECT_TRUE(scenario.slice().fp8_attention);
}

TEST(NarrowCopies, AreOneWhereTheyAreTransposedForEachProduct) {
  Scenario scenario = scenario_of();
  scenario.training.precision = DataType::fp8;
  EXPECT_FALSE(scenario.slice().transposes_weights);
  scenario.training.transposes_narrow_weights = true;
  EXPECT_EQ(scenario.narrow_copies()->bytes(), 1_B);
  EXPECT_TRUE(scenario.slice().transposes_weights);
  scenario.cluster.chip.reads_narrow_columns = true;
  EXPECT_FALSE(scenario.slice().transposes_weights) << "none is needed";
  scenario.training.narrow_scaling = NarrowScaling::block;
  EXPECT_EQ(texts(scenario),
            (Lines{"training.transposes_narrow_weights: true: expected the precision fp8 with "
                   "narrow_scaling tensor: blocks and rows have other scales than columns"}));
}

TEST(NarrowCopies, AreTheStacksUnlessTheTrainingSays) {
  Scenario scenario = scenario_of();
  scenario.stack.memory.fp8_weights = NarrowWeights::instead;
  scenario.training.precision = DataType::fp8;
  EXPECT_EQ(scenario.narrow_copies()->held, NarrowWeights::instead);
  EXPECT_EQ(scenario.weight_message(), 1_B) << "as they are held";
  scenario.training.narrow_scaling = NarrowScaling::block;
  EXPECT_EQ(scenario.weight_message(), 2_B) << "cut into blocks behind the gather";
  scenario.training.narrow_scaling = NarrowScaling::row;
  EXPECT_EQ(scenario.weight_message(), 2_B) << "scaled behind the gather";
  scenario.training.narrow_scaling = NarrowScaling::tensor;
  scenario.training.narrow_weights = NarrowWeights::beside;
  EXPECT_EQ(scenario.weight_message(), 2_B);
  scenario.training.precision = DataType::fp4;
  scenario.training.narrow_weights.reset();
  EXPECT_EQ(scenario.narrow_copies()->held, NarrowWeights::beside) << "of fp4 it says nothing";
}

TEST(NarrowCopies, AreMadeForEachProductOfWeightsThatComeWide) {
  Scenario scenario = scenario_of();
  scenario.plan.sharding = Sharding::zero3;
  EXPECT_FALSE(scenario.slice().casts_weights) << "in bf16";
  scenario.training.precision = DataType::fp8;
  scenario.training.narrow_weights = NarrowWeights::cast;
  EXPECT_TRUE(scenario.slice().casts_weights);
  scenario.training.narrow_weights = NarrowWeights::gathered;
  EXPECT_FALSE(scenario.slice().casts_weights) << "each rank's part, before it is gathered";
  scenario.training.narrow_scaling = NarrowScaling::row;
  EXPECT_TRUE(scenario.slice().casts_weights) << "all of it, behind that";
  scenario.training.narrow_scaling = NarrowScaling::tensor;
  scenario.plan.sharding = Sharding::none;
  EXPECT_TRUE(scenario.slice().casts_weights) << "nothing is gathered";
  scenario.training.narrow_weights = NarrowWeights::beside;
  EXPECT_FALSE(scenario.slice().casts_weights) << "by every step";
}

TEST(NarrowCopies, AreRefusedWhereProductsAreWide) {
  Scenario scenario = scenario_of();
  scenario.training.narrow_weights = NarrowWeights::instead;
  scenario.training.narrow_scaling = NarrowScaling::block;
  EXPECT_EQ(
      texts(scenario),
      (Lines{"training.narrow_weights: instead: expected the precision fp8, fp4 or int8, in which "
             "weights may be held",
             "training.narrow_scaling: block: expected the precision fp8: only its products "
             "scale their numbers"}));
  scenario.training.precision = DataType::fp8;
  EXPECT_EQ(texts(scenario), Lines());
}

TEST(TensorTypes, OfShardedMastersHaveNoOtherShards) {
  Scenario scenario = scenario_of({});
  scenario.plan.data = 4;
  scenario.stack.memory.shards_master_weights = true;
  const auto bytes = [&] { return parameter_bytes(kAdam, scenario.tensor_types()); };
  EXPECT_EQ(bytes().weight + bytes().optimizer, 2_B + 12_B);
  scenario.plan.sharding = Sharding::zero3;
  EXPECT_EQ(bytes().weight + bytes().optimizer, 4_B + 8_B);
  EXPECT_EQ(bytes().gathered, 2_B);
  EXPECT_EQ(scenario.weight_message(), 2_B);
}

/// What software has words of its own for is the same as what these stand for.
TEST(Precision, HasTheWordsOfBlockFormats) {
  const auto read = [](const std::string& text) {
    return read_document(parse_json(text, "training"), [](Reader& in) {
      Training training;
      read_fields(training_fields(), in, training);
      return training;
    });
  };
  const Training mxfp8 = read(R"({"global_batch": 1, "precision": "mxfp8"})");
  EXPECT_EQ(mxfp8.precision, DataType::fp8);
  EXPECT_EQ(mxfp8.narrow_scaling, NarrowScaling::block);
  EXPECT_EQ(mxfp8.precision_name(Chip{}), "mxfp8");
  const Training fp8 =
      read(R"({"global_batch": 1, "precision": "fp8", "narrow_scaling": "block"})");
  EXPECT_EQ(fp8.precision_name(Chip{}), "mxfp8");
  EXPECT_EQ(read(R"({"global_batch": 1, "precision": "fp8"})").precision_name(Chip{}), "fp8");
  const Training nvfp4 = read(R"({"global_batch": 1, "precision": "nvfp4"})");
  EXPECT_EQ(nvfp4.precision, DataType::fp4);
  Chip chip;
  chip.vendor = "NVIDIA";
  EXPECT_EQ(nvfp4.precision_name(chip), "nvfp4");
  chip.vendor = "AMD";
  EXPECT_EQ(nvfp4.precision_name(chip), "mxfp4");
  EXPECT_EQ(read(R"({"global_batch": 1, "precision": "mxfp4"})").precision, DataType::fp4);
  EXPECT_THROW(static_cast<void>(read(
                   R"({"global_batch": 1, "precision": "mxfp8", "narrow_scaling": "tensor"})")),
               InputError);
  EXPECT_THROW(static_cast<void>(
                   read(R"({"global_batch": 1, "precision": "mxfp8", "narrow_scaling": "row"})")),
               InputError);
}

TEST(Precision, OfFp8IsForProductsWithWeightsOnly) {
  Scenario scenario = scenario_of();
  scenario.training.precision = DataType::fp8;
  EXPECT_EQ(scenario.slice().type, DataType::bf16);
  EXPECT_EQ(scenario.slice().product_type, DataType::fp8);
  EXPECT_EQ(scenario.training.weight_type(), DataType::bf16);
  EXPECT_EQ(texts(scenario), Lines());
  Chip chip = scenario.cluster.chip;
  chip.matrix[static_cast<std::size_t>(DataType::fp8)]->peak = 200_TFLOPps;
  const KernelClock clock(chip, DataType::bf16, DataType::fp8);
  const Flops work = 1_TFLOP;
  Kernel kernel{.kind = KernelKind::matrix, .flops = work, .bytes = {}};
  EXPECT_EQ(clock.time(kernel), work / plain::kPeak);
  kernel.narrow = true;
  EXPECT_EQ(clock.time(kernel), work / 200_TFLOPps);
  kernel.kind = KernelKind::attention;
  EXPECT_EQ(clock.time(kernel), work / plain::kPeak) << "core attention stays as it is";
}

/// What a step computes of the model.
Flops flops_of(const StepResult& result) {
  return result.iteration_time * result.model_flops_per_device;
}

TEST(FrozenLayers, TakeNoGradientsStatesOrSynchronisation) {
  Plan plan;
  plan.tensor = 8;
  plan.data = 4;
  Scenario scenario = scenario_of(plan);
  const StepCosts all = costs_of(scenario);
  const StepResult whole = estimate(scenario);
  const auto layers = static_cast<double>(scenario.model.layers());
  scenario.training.frozen.first = 10;
  const StepCosts costs = costs_of(scenario);
  const StepResult result = estimate(scenario);
  const BlockCost& layer = all.kinds.front();
  EXPECT_NEAR(result.breakdown.forward.si(), whole.breakdown.forward.si(), 1e-9);
  const double micro_batches = static_cast<double>(scenario.micro_batches());
  const Seconds backward =
      micro_batches * ((layers - 10) * layer.backward.compute + all.head.backward.compute);
  EXPECT_NEAR(result.breakdown.backward.si(), backward.si(), 1e-9);
  const StageMemory& memory = result.memory.front();
  const DeviceParameters trained = trained_parameters(costs.blocks, costs.contents, plan, 0);
  const double n = on_device(all.blocks.kinds.front().parameters, plan).total();
  const double head = on_device(all.blocks.head.parameters, plan).total();
  EXPECT_DOUBLE_EQ(trained.total(), (layers - 10) * n + head);
  EXPECT_EQ(memory.weights, whole.memory.front().weights);
  EXPECT_DOUBLE_EQ(memory.optimizer.si(), trained.total() * 12);
  EXPECT_LT(memory.activations, whole.memory.front().activations);
  const OptimizerTraffic traffic = optimizer_traffic(scenario);
  EXPECT_NEAR(
      costs.tails.front().optimizer.si(),
      trained.total() * (traffic.per_updated + traffic.per_gradient).si() / plain::kMemory.si(),
      1e-9);
  // Of the model's FLOPs only what is done: the forward pass of frozen layers.
  const double left_out = (1.0 - flops_of(result) / flops_of(whole)) / (2.0 / 3.0 * 10 / layers);
  EXPECT_GT(left_out, 0.9) << "but for the head's";
  EXPECT_LT(left_out, 1.0);
}

TEST(FrozenLayers, InTheMiddlePassGradientsOnFinding_T24) {
  Plan plan;
  plan.tensor = 8;
  Scenario scenario = scenario_of(plan);
  const StepCosts all = costs_of(scenario);
  scenario.training.frozen.others = {20, 21};
  const StepCosts costs = costs_of(scenario);
  ASSERT_EQ(costs.kinds.size(), 2U);
  EXPECT_EQ(costs.contents.kinds(0)[1], 2.0);
  // About half of the backward pass stays: the input gradients.
  const double left = costs.kinds[1].backward.compute / all.kinds[0].backward.compute;
  EXPECT_GT(left, 0.45);
  EXPECT_LT(left, 0.7);
  EXPECT_EQ(costs.kinds[1].forward.compute, all.kinds[0].forward.compute);
  const auto layers = static_cast<double>(scenario.model.layers());
  const StepResult result = estimate(scenario);
  scenario.training.frozen = {};
  const double left_out =
      (1.0 - flops_of(result) / flops_of(estimate(scenario))) / (1.0 / 3.0 * 2 / layers);
  EXPECT_GT(left_out, 0.9) << "of the model's FLOPs those of two layers' weights";
  EXPECT_LT(left_out, 1.0);
  scenario.training.frozen = {.first = 20, .others = {20, 21}};
  EXPECT_EQ(costs_of(scenario).kinds[1].backward.compute, Seconds{}) << "nothing before is trained";
}

TEST(Validate, RefusesShardsThatNothingNeeds) {
  Plan plan;
  plan.data = 8;
  Scenario scenario = scenario_of(plan);
  EXPECT_EQ(texts(scenario), Lines());
  scenario.plan.shard = 4;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.shard: 4: expected the sharding zero1, zero2 or zero3, which splits "
                  "something"});
  scenario.plan.shard.reset();
  scenario.plan.reshard_after_forward = false;
  scenario.plan.servers = 2;
  EXPECT_EQ(texts(scenario),
            (Lines{"plan.servers: 2: expected the sharding parameter-server, which has servers",
                   "plan.reshard_after_forward: false: expected the sharding zero3, whose "
                   "parameters are gathered by every pass"}));
  scenario.plan = plan;
  scenario.plan.sharding = Sharding::parameter_server;
  scenario.plan.servers = 9;
  EXPECT_EQ(texts(scenario),
            Lines{"plan.servers: 9: expected a number of servers, no more than the 8 workers"});
}

TEST(Validate, RefusesOffloadingToWhereNothingIs) {
  Scenario scenario = scenario_of();
  scenario.plan.offload = {.optimizer = HostPlace::nvme};
  scenario.cluster.host_memory.reset();
  EXPECT_EQ(texts(scenario),
            (Lines{"plan.offload.optimizer: nvme: expected a cluster with node.host_memory "
                   "(capacity, bandwidth and device_bandwidth), which dgx-a100-80gb has not",
                   "plan.offload.optimizer: nvme: expected a cluster with node.nvme (capacity, "
                   "bandwidth and device_bandwidth), which dgx-a100-80gb has not"}));
}

TEST(Validate, RefusesTypesThatNumbersDoNotHave) {
  Scenario scenario = scenario_of();
  scenario.training.gradient_precision = DataType::bf16;
  scenario.training.gradient_messages = DataType::fp32;
  scenario.training.weight_precision = DataType::fp8;
  scenario.training.frozen.others = {3, 400};
  EXPECT_EQ(
      texts(scenario),
      (Lines{"training.weight_precision: fp8: expected fp32, fp16 or bf16: narrower products "
             "read copies of them",
             "training.gradient_messages: fp32: expected a type no wider than bf16, which is "
             "kept",
             "training.frozen_layers: 400: expected layers of megatron-18.4b, numbered 0 to 39"}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
