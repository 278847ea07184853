// nanoGPT's configurations, which are assignments in Python.

#include <gtest/gtest.h>

#include <string>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;

const std::string kConfiguration =
    "# torchrun --standalone --nproc_per_node=8 train.py config/train_gpt2.py\n"
    "wandb_log = True\nwandb_run_name='gpt2'\n"
    "batch_size = 6\nblock_size = 1024\ngradient_accumulation_steps = 4 * 4\n"
    "max_iters = 600000\nlr_decay_iters = max_iters\nweight_decay = 1e-1\n";

ImportedRun of(const std::string& more, std::optional<std::int64_t> devices = 8) {
  return testing::of(kConfiguration + more, "train_gpt2.py", devices);
}

TEST(ImportNanoGpt, WhatIsNotAssignedIsAsItsProgramHasIt) {
  const ImportedRun run = of("");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(run.model->layers, 12);
  EXPECT_EQ(run.model->hidden, 768);
  // 123.59 M, as it says without those of places, and the biases of norms.
  EXPECT_EQ(parameters(*run.model), 123'587'328 + 1024 * 768 + 25 * 768);
  EXPECT_FALSE(run.model->dropout);
  EXPECT_EQ(member(run.plan, "data"), "8");
  EXPECT_EQ(member(run.plan, "micro_batch"), "6");
  EXPECT_EQ(member(run.plan, "sharding"), "\"none\"");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(6 * 16));
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "sequence"), "1024");
  EXPECT_TRUE(any_has(run.assumed, "vocab_size: taken as 50304"));
  EXPECT_TRUE(any_has(run.assumed, "stands for nanoGPT's program"));
}

TEST(ImportNanoGpt, AModelIsSmallOrAnothersOrHasBiases) {
  const ImportedRun run =
      of("dataset = 'shakespeare_char'\nn_layer = 6\nn_head = 6\nn_embd = 384\nblock_size = 256\n"
         "dropout = 0.2\ndtype = 'float16'\n");
  EXPECT_EQ(parameters(*run.model), 10'646'784 + 256 * 384 + 13 * 384);
  EXPECT_TRUE(run.model->dropout);
  EXPECT_EQ(member(run.training, "precision"), "\"fp16\"");
  EXPECT_EQ(member(run.training, "sequence"), "256");
  EXPECT_TRUE(of("bias = True\n").model->biases.mlp);
  const ImportedRun tuned = of("init_from = 'gpt2-xl'\n");
  EXPECT_EQ(tuned.model->layers, 48);
  EXPECT_TRUE(tuned.model->biases.mlp);
}

TEST(ImportNanoGpt, RanksShareTheStepsOfAccumulation) {
  EXPECT_EQ(member(of("", 16).training, "global_batch"), std::to_string(6 * 16));
  EXPECT_NE(testing::refusal(kConfiguration, "train_gpt2.py", 3)
                .find("expected a multiple of the 3 ranks"),
            std::string::npos);
  EXPECT_TRUE(any_has(of("n_experts = 8\n").unread, "n_experts"));
}

TEST(ImportNanoGpt, AFileOfWidthsAloneIsOne) {
  const ImportedRun run = testing::of(
      "out_dir = 'out'\ndataset = 'shakespeare'\nblock_size = 62\nn_layer = 6\nn_head = 8\n"
      "n_embd = 128\n",
      "small.py",
      8);
  EXPECT_EQ(run.model->layers, 6);
  EXPECT_EQ(testing::member(run.training, "global_batch"), std::to_string(12 * 40));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
