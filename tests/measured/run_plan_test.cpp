// Plans of measured runs, by the words and numbers of their rows.
#include <gtest/gtest.h>

#include "measured/made_run.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::Cells;
using testing::readings;

TEST(RunPlan, DerivesWhatTheNumbersOfDevicesAndSequencesTell) {
  const RunReadings read =
      readings({{"p", ""}, {"micro_batch", ""}, {"grad_accum", "8"}, {"global_batch", "32"}});
  ASSERT_EQ(read.skip_reason, "");
  const Plan& plan = read.readings.front().scenarios.front().plan;
  EXPECT_EQ(plan.pipeline, 2);     // 16 / (4 x 2)
  EXPECT_EQ(plan.micro_batch, 2);  // 32 / (2 x 8)
}

TEST(RunPlan, ReadsListsOfWhatIsRecomputedAndOffloaded) {
  struct Case {
    Cells cells;
    Recompute recompute;
    Modules modules;
    bool offloads;
  };
  const Modules products =
      bits(Module::attention_result, Module::layer_norm, Module::mlp_activation);
  const Modules heads =
      bits(Module::attention_result, Module::attention_output, Module::layer_norm, Module::mlp);
  const std::vector<Case> cases = {
      {{{"recompute", "selective:layernorm+mlp"}},
       Recompute::modules,
       bits(Module::layer_norm, Module::mlp),
       false},
      {{{"recompute", "selective(attention)"}}, Recompute::selective, 0, false},
      {{{"recompute", "selective(op)"}}, Recompute::operations, 0, false},
      {{{"recompute", "minimal"}}, Recompute::modules, products, false},
      {{{"recompute", "qkv_proj_offloaded"}}, Recompute::modules, heads, true},
      {{{"recompute", "custom (saves/offloads decoder_layer_input)"}}, Recompute::full, 0, true},
      {{{"offload", "cpu: activation checkpoints"}}, Recompute::full, 0, true},
      {{{"offload", "none"}}, Recompute::full, 0, false}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.cells.begin()->second);
    const RunReadings read = readings(one.cells);
    ASSERT_EQ(read.skip_reason, "");
    const Plan& plan = read.readings.front().scenarios.front().plan;
    EXPECT_EQ(plan.recompute, one.recompute);
    EXPECT_EQ(plan.recomputed, one.modules);
    EXPECT_EQ(plan.offload.activations.has_value(), one.offloads);
  }
}

TEST(RunPlan, KnowsSchedulesAndShardingsByWhatTheirSourcesCallThem) {
  const auto plan_of = [](const Cells& cells) {
    const RunReadings read = readings(cells);
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).plan;
  };
  EXPECT_EQ(name(plan_of({{"sched", "1f1b (DeepSpeed)"}}).schedule), "1f1b");
  EXPECT_EQ(name(plan_of({{"sched", "zero-bubble 1p"}}).schedule), "zb-h1");
  EXPECT_EQ(name(plan_of({{"sched", "zero-bubble 2p"}}).schedule), "zb-h2");
  EXPECT_EQ(plan_of({{"dp_kind", "fsdp-grad-op(zero2)"}}).sharding, Sharding::zero2);
  EXPECT_EQ(plan_of({{"dp_kind", "zero1(distributed optimizer)"}}).sharding, Sharding::zero1);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
