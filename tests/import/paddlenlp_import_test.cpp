// PaddleNLP's JSON, and programs that are told from others.

#include <gtest/gtest.h>

#include <string>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::member;
using testing::refusal;

ImportedRun of(const std::string& text) { return testing::of(text, "sft.json", 16); }

std::string paddle(const std::string& more) {
  return R"({"model_name_or_path": "meta-llama/Llama-2-7b", "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 8, "max_seq_length": 4096, "bf16": true, "fp16_opt_level": "O2",
    "warmup_steps": 30, "recompute": true, "unified_checkpoint": true, )" +
         more + "}";
}

TEST(ImportPaddleNlp, DegreesLeaveTheRestToData) {
  const ImportedRun run = of(
      paddle(R"("tensor_parallel_degree": 2, "pipeline_parallel_degree": 2, "virtual_pp_degree": 4,
               "sequence_parallel": 1, "sharding": "stage1", "use_flash_attention": true,
               "amp_master_grad": true, "sharding_parallel_degree": 2)"));
  EXPECT_EQ(run.shipped, "llama2-7b");
  EXPECT_EQ(member(run.plan, "tensor"), "2");
  EXPECT_EQ(member(run.plan, "pipeline"), "2");
  EXPECT_EQ(member(run.plan, "virtual_stages"), "4");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(16 / (2 * 2)));
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero1\"");
  EXPECT_EQ(member(run.plan, "shard"), "2");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.plan, "attention"), "\"flash\"");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(2 * 8 * 4));
  EXPECT_EQ(member(run.training, "gradient_precision"), "\"fp32\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(ImportPaddleNlp, MinusOneStandsForWhatIsNotUsed) {
  const ImportedRun run =
      of(paddle(R"("tensor_parallel_degree": -1, "sharding": "stage3 offload", "lora": true,
                  "lora_rank": 4, "recompute_granularity": "core_attn")"));
  EXPECT_EQ(member(run.plan, "tensor"), "1");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_NE(member(run.plan, "offload"), "absent");
  EXPECT_EQ(member(run.plan, "recompute"), "\"selective\"");
  EXPECT_EQ(member(run.plan, "attention"), "\"materialised\"");
  EXPECT_EQ(member(run.training, "gradient_precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":4,"targets":"all-linear"})");
  EXPECT_EQ(
      member(of(paddle(R"("sharding": "stage2", "sharding_parallel_degree": 1)")).plan, "sharding"),
      "\"none\"");
}

TEST(ImportPrograms, OfWhichNothingIsReadAreNamed) {
  EXPECT_NE(refusal("colossalai run --nproc_per_node 4 train_sft.py --pretrain a --plugin zero2 "
                    "--batch_size 4 --max_len 2048")
                .find("ColossalAI"),
            std::string::npos);
  EXPECT_NE(refusal("python3 -m axlearn.common.launch_trainer_main --module=text.gpt.c4_trainer "
                    "--config=fuji-7B-v2-flash --trainer_dir=gs://a")
                .find("starts axlearn with fuji-7B-v2-flash, which is not read"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
