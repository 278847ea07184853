// What names and notes of measured runs say that no column has.
#include <gtest/gtest.h>

#include "measured/made_run.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::Cells;
using testing::readings;

Scenario read_as(const Cells& cells) {
  const RunReadings read = readings(cells);
  EXPECT_EQ(read.skip_reason, "");
  return read.readings.at(0).scenarios.at(0);
}

TEST(RunNotes, TellTheOptimizer) {
  const auto optimizer = [](const char* notes) {
    return read_as({{"notes", notes}}).training.optimizer.name;
  };
  EXPECT_EQ(optimizer("paged AdamW 8-bit; flash"), "adam-8bit");
  EXPECT_EQ(optimizer("adamw_8bit"), "adam-8bit");
  EXPECT_EQ(optimizer("8-bit Lion"), "lion-8bit");
  EXPECT_EQ(optimizer("base in 8 bits; AdamW"), "adam");
  EXPECT_EQ(optimizer("MXNet; LARS"), "sgd");
  EXPECT_EQ(read_as({{"notes", "AdEMAMix"}}).training.optimizer.state_bytes, 3 * 4)
      << "three moments";
  EXPECT_EQ(readings({{"notes", "GaLore 8-bit AdamW, rank 1024"}}).skip_reason,
            "the optimizer galore is not modelled");
  const auto of_recipe = [](const char* model) {
    return read_as({{"family", "megatron_bridge"},
                    {"model_name", model},
                    {"mla", "q_lora 1536,kv_lora 512,rope 64,nope 128,v 128"},
                    {"recompute", ""},
                    {"dp_kind", "zero1"}})
        .training.optimizer.name;
  };
  EXPECT_EQ(of_recipe("Kimi_K2"), "muon");
  EXPECT_EQ(of_recipe("LLAMA3_8B"), "adam");
}

TEST(RunNotes, TellWhatIsCaptured) {
  const auto graph = [](const char* column, const char* notes) {
    return read_as({{"stack", "megatron-core"}, {"cuda_graph", column}, {"notes", notes}})
        .plan.cuda_graph;
  };
  EXPECT_EQ(graph("", "drop-out 0; CUDA graphs"), graph("1", ""));
  EXPECT_TRUE(captures_all(graph("", "full-iteration CUDA graph")));
  EXPECT_EQ(graph("", "without CUDA graphs"), 0);
  EXPECT_EQ(graph("attn", "CUDA graphs"), graph("attn", ""));
}

TEST(RunNotes, TellHowMuchAnExpertTakes) {
  const auto routing = [](const char* notes) {
    return read_as({{"n_experts", "8"}, {"top_k", "2"}, {"notes", notes}})
        .model.if_transformer()
        ->experts->routing;
  };
  EXPECT_FALSE(routing("dropless").padded);
  EXPECT_EQ(routing("dropping, capacity factor 1.25").capacity_factor, 1.25);
  EXPECT_TRUE(routing("dropping, capacity factor 1.25").padded);
  EXPECT_EQ(routing("drop-and-pad experts").capacity_factor, 1.0);
  EXPECT_FALSE(routing("dropout 0, capacity factor 1.25").padded);
  EXPECT_FALSE(routing("padded vocabulary").padded);
}

TEST(RunNotes, LeaveSamplesOfOtherModelsTheirOwn) {
  const Scenario scenario = read_as({{"model_name", "ResNet50 v1.5"},
                                     {"layers", ""},
                                     {"hidden", ""},
                                     {"heads", ""},
                                     {"ffn", ""},
                                     {"seq", ""},
                                     {"p", "1"},
                                     {"t", "1"},
                                     {"d", "16"},
                                     {"recompute", "none"}});
  EXPECT_EQ(scenario.model.name(), "resnet-50");
  EXPECT_EQ(scenario.training.sequence, 1);
}

TEST(RunNotes, TellToWhatPowerIsLimited) {
  const auto power = [](const char* notes) {
    return read_as({{"hw_key", "H100-SXM5-80GB"}, {"stack", "torchtitan"}, {"notes", notes}})
        .cluster.chip.power;
  };
  EXPECT_EQ(power("power limit 500 W"), 500_W);
  EXPECT_EQ(power("GPUs capped at 600W; eager"), 600_W);
  EXPECT_EQ(power("torch.compile; 500 steps"), 700_W);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
