// Recipes of Megatron-Bridge that make their whole configuration at once.

#include <gtest/gtest.h>

#include <string>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;

std::string recipe(const std::string& overlap) {
  return "def model_config(tensor: int = 1, context: int = 2):\n"
         "    return Llama31ModelProvider8B(\n"
         "        tensor_model_parallel_size=tensor,\n"
         "        context_parallel_size=context,\n"
         "    )\n"
         "def pretrain_config(\n"
         "    tensor: int = 4,\n"
         "    global_batch_size: int = 64,\n"
         "    precision: str = \"bf16_mixed\",\n"
         "    overlap: Optional[CommOverlapConfig] = " +
         overlap +
         ",\n"
         ") -> ConfigContainer:\n"
         "    blend, split = get_blend_fields(paths)\n"
         "    model_cfg = model_config(tensor=tensor)\n"
         "    opt, scheduler = distributed_fused_adam_with_cosine_annealing(max_lr=1e-4)\n"
         "    cfg = ConfigContainer(\n"
         "        model=model_cfg,\n"
         "        train=TrainingConfig(global_batch_size=global_batch_size, micro_batch_size=1),\n"
         "        optimizer=opt,\n"
         "        scheduler=scheduler,\n"
         "        ddp=DistributedDataParallelConfig(use_distributed_optimizer=True),\n"
         "        dataset=GPTDatasetConfig(sequence_length=8192, blend=blend, split=split),\n"
         "        tokenizer=TokenizerConfig(vocab_size=DEFAULT_VOCAB_SIZE),\n"
         "        comm_overlap=overlap,\n"
         "        mixed_precision=precision,\n"
         "    )\n"
         "    if cfg.comm_overlap is None:\n"
         "        cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=True)\n"
         "    return cfg\n";
}

ImportedRun of(const std::string& overlap) {
  return testing::of(recipe(overlap), "llama31_8b.py", 32);
}

TEST(ImportBridge, AConfigurationMadeAtOnceIsReadWithTheModelOfItsClass) {
  const ImportedRun run = of("None");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(run.stack, "megatron-bridge");
  EXPECT_EQ(run.model->layers, 32);
  EXPECT_EQ(run.model->max_sequence, 131'072);
  EXPECT_EQ(member(run.plan, "tensor"), "4");
  EXPECT_EQ(member(run.plan, "context"), "2");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(32 / (4 * 2)));
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero1\"");
  EXPECT_EQ(member(run.training, "global_batch"), "64");
  EXPECT_EQ(member(run.training, "sequence"), "8192");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "gradient_precision"), "\"fp32\"");
  EXPECT_TRUE(any_has(run.assumed, "the token table is taken as the model's on the Hub"));
}

TEST(ImportBridge, WhatTheConfigurationLeavesOutDecidesItsConditions) {
  EXPECT_EQ(member(of("None").plan, "tensor_overlap"), "\"ring\"");
  EXPECT_EQ(member(of("CommOverlapConfig(tp_comm_overlap=False)").plan, "tensor_overlap"),
            "absent");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
