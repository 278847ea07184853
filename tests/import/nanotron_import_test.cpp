// YAML of nanotron: what it has in another way than the classes of HuggingFace's by which it is
// read.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"

namespace titer {
namespace TITER_TEST_FILE {

TEST(ImportNanotron, ItsQwenHasBiasesAndAWindowWhereTheyAreAskedFor) {
  const auto model = [](const std::string& more) {
    return *testing::of(
                "model:\n  model_config:\n    is_qwen2_config: true\n    hidden_size: 64\n"
                "    intermediate_size: 96\n    max_position_embeddings: 128\n"
                "    num_attention_heads: 4\n    num_hidden_layers: 2\n"
                "    num_key_value_heads: 4\n    vocab_size: 512\n" +
                    more +
                    "parallelism:\n  dp: 2\n  pp: 1\n  tp: 1\n"
                    "tokens:\n  batch_accumulation_per_replica: 1\n"
                    "  micro_batch_size: 3\n  sequence_length: 128\n",
                "run.yaml")
                .model;
  };
  const Transformer plain = model("    attention_bias: false\n");
  EXPECT_FALSE(plain.biases.qkv);
  EXPECT_FALSE(model("").biases.qkv);
  EXPECT_FALSE(plain.kinds.front().window);
  const Transformer other = model("    attention_bias: true\n    sliding_window_size: 20\n");
  EXPECT_TRUE(other.biases.qkv);
  EXPECT_EQ(other.kinds.front().window, 20);
}

TEST(ImportNanotron, ItsFirstReleasesHadTheOptimizersNumbersBesideIt) {
  const ImportedRun run = testing::of(
      "brrr_data:\n  dataset_folder: /d\nmodel:\n  model_config:\n    is_llama_config: true\n"
      "    hidden_size: 64\n    intermediate_size: 96\n    max_position_embeddings: 128\n"
      "    num_attention_heads: 4\n    num_hidden_layers: 2\n    num_key_value_heads: 4\n"
      "    vocab_size: 512\noptimizer:\n  adam_beta1: 0.9\n  adam_eps: 1.0e-08\n"
      "  torch_adam_is_fused: true\n  zero_stage: 1\nparallelism:\n  dp: 2\n  pp: 1\n  tp: 1\n"
      "tokens:\n  batch_accumulation_per_replica: 1\n  micro_batch_size: 3\n"
      "  sequence_length: 128\n",
      "run.yaml");
  EXPECT_EQ(testing::member(run.plan, "sharding"), "\"zero1\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
