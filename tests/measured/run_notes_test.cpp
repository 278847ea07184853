// What names and notes of measured runs say that no column has.
#include <gtest/gtest.h>

#include "measured/made_run.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::Cells;
using testing::named_only;
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
  EXPECT_EQ(optimizer("adamw_bnb_8bit"), "adam-8bit");
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

TEST(RunNotes, TellAdaptersInTheWordsOfTheirPrograms) {
  struct Case {
    const char* notes;
    std::int64_t rank;
    WeightRoles targets;
  };
  constexpr WeightRoles query = role_bit(WeightRole::query);
  constexpr WeightRoles value = role_bit(WeightRole::value);
  constexpr WeightRoles of_attention =
      query | role_bit(WeightRole::key) | value | role_bit(WeightRole::output);
  constexpr WeightRoles of_mlp =
      role_bit(WeightRole::gate) | role_bit(WeightRole::up) | role_bit(WeightRole::down);
  const std::vector<Case> cases = {
      {"LoRA r=8 on q_proj, v_proj", 8, query | value},
      {"lora_r=16; q,k,v,o,gate,up,down", 16, of_attention | of_mlp},
      {"LoRA r=32 on q, k, v, proj, mlp, head", 32, of_attention | of_mlp},
      {"lora_rank 8, lora_attn_modules q_proj,v_proj,output_proj; apply_lora_to_mlp",
       8,
       query | value | role_bit(WeightRole::output) | of_mlp},
      {"LoRA r 32 alpha 16 target linear", 32, kAllLinear},
      {"LoRA rank 4 on attention", 4, of_attention}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.notes);
    const auto adapters = read_as({{"notes", one.notes}, {"ffn_gated", "1"}}).training.adapters;
    ASSERT_TRUE(adapters.has_value());
    EXPECT_EQ(adapters->rank, one.rank);
    EXPECT_EQ(adapters->targets, one.targets);
  }
  const auto plain = read_as({{"notes", "LoRA r=8 on q, mlp"}}).training.adapters;
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->targets, query | role_bit(WeightRole::up) | role_bit(WeightRole::down))
      << "no gate, where there is none";
  // Where the row does not say whether there is one, it is adapted in the reading that has it.
  const RunReadings both =
      readings({{"notes", "LoRA r=8 on q, mlp"}, {"ffn", "5504"}, {"ffn_gated", ""}});
  ASSERT_EQ(both.readings.size(), 2U);
  for (const RunReading& one : both.readings) {
    const Scenario& scenario = one.scenarios.front();
    EXPECT_EQ(scenario.training.adapters->is_target(WeightRole::gate),
              scenario.model.transformer().gated);
  }
  EXPECT_EQ(readings({{"notes", "LoRA r=8"}}).skip_reason,
            "rank and place of its adapters not stated");
}

TEST(RunNotes, TellWhatGoesToTheHost) {
  const auto offload = [](const char* column, const char* notes) {
    return read_as({{"stack", "megatron-core"}, {"offload", column}, {"notes", notes}})
        .plan.offload;
  };
  EXPECT_EQ(offload("", "FSDP; CPU offload of 10 layers").activations, HostPlace::host);
  EXPECT_EQ(offload("", "FSDP; CPU offload of 10 layers").layers, 10);
  EXPECT_TRUE(offload("", "activation offloading").activations.has_value());
  EXPECT_FALSE(offload("none", "activation offloading").any());
  EXPECT_FALSE(offload("", "nothing is offloaded").any());
  for (const char* notes : {"ZeRO-3 with full offload", "ZeRO-Offload", "CPU Adam"}) {
    const std::string reason = readings({{"offload", ""}, {"notes", notes}}).skip_reason;
    EXPECT_NE(reason.find("of hosts"), std::string::npos) << notes << ": " << reason;
  }
}

TEST(RunNotes, TellHowManyTokensAnImageHas) {
  const auto tokens = [](const char* model, const char* notes) {
    return read_as(named_only({{"stack", "fsdp"},
                               {"model_name", model},
                               {"seq", ""},
                               {"recompute", "none"},
                               {"notes", notes}}))
        .training.sequence;
  };
  EXPECT_EQ(tokens("sd3-medium", "1024x1024"), 64 * 64 + 154);
  EXPECT_EQ(tokens("DiT-XL/2", "256 x 256 images"), 256);
}

TEST(RunNotes, TellThatSequencesAreNotPadded) {
  const auto tokens = [](const char* model, const char* notes) {
    return read_as({{"model_name", model}, {"notes", notes}}).training.sequence;
  };
  EXPECT_EQ(tokens("BERT-large", "unpadded; LAMB"), 1024);
  EXPECT_EQ(tokens("BERT-large", "LAMB"), 2048);
  EXPECT_EQ(tokens("GPT 1.3B", "unpadded"), 2048) << "where they are packed";
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
  const Scenario scenario =
      read_as(named_only({{"model_name", "ResNet50 v1.5"}, {"seq", ""}, {"recompute", "none"}}));
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
