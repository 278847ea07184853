// Commands of trainers that name a model and let their program find the rest: ms-swift, OpenRLHF.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::member;
using testing::refusal_of;

ImportedRun of(const std::string& text, std::optional<std::int64_t> devices = {}) {
  ImportOptions options;
  options.devices = devices;
  return import_text(text, "run.sh", options);
}

std::string refusal(const std::string& text) {
  return refusal_of([&] { return of(text); });
}

TEST(TrainerCommands, SwiftTrainsAdaptersOnTheDevicesOfItsEnvironment) {
  const std::string common =
      "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a --max_length 2048 "
      "--per_device_train_batch_size 1 --deepspeed zero2 ";
  const ImportedRun run = of("n=2\nNPROC_PER_NODE=$n " + common +
                             "--gradient_accumulation_steps $(expr 16 / $n) --lora_rank 4");
  EXPECT_EQ(run.model->hidden, 3584);
  EXPECT_EQ(member(run.plan, "data"), "2");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero2\"");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");  // unless it is told otherwise
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(1 * (16 / 2) * 2));
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":4,"targets":"all-linear"})");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const ImportedRun full = of("CUDA_VISIBLE_DEVICES=0,1,2,3 " + common + "--train_type full");
  EXPECT_EQ(member(full.plan, "data"), "4");
  EXPECT_EQ(member(full.training, "adapters"), "absent");
  // How many micro-batches a step has is nobody's to guess.
  EXPECT_EQ(
      member(of("NPROC_PER_NODE=2 " + common + "--gradient_accumulation_steps $(nproc)").training,
             "global_batch"),
      "\"left open by the import\"");
  EXPECT_NE(refusal("swift rlhf --model Qwen/Qwen2.5-7B --per_device_train_batch_size 1")
                .find("have more passes"),
            std::string::npos);
}

TEST(TrainerCommands, SwiftOverMegatronNamesAModelOrItsCheckpoint) {
  const ImportedRun run =
      of("NPROC_PER_NODE=8 NNODES=2 megatron sft --load models/Qwen3-30B-A3B-mcore --dataset a "
         "--pipeline_model_parallel_size 2 --expert_model_parallel_size 8 --micro_batch_size 1 "
         "--global_batch_size 16 --max_length 8192 --attention_backend flash --packing true "
         "--recompute_granularity full --recompute_method uniform --recompute_num_layers 1");
  EXPECT_EQ(run.shipped, "qwen3-30b-a3b");
  EXPECT_EQ(run.stack, "megatron-core");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(16 / 2));
  EXPECT_EQ(member(run.plan, "expert"), "8");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero1\"");
  EXPECT_EQ(member(run.plan, "attention"), "\"flash\"");
  EXPECT_EQ(member(run.training, "sequence"), "8192");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_NE(refusal("python t.py --max_length 8 --micro_batch_size 1").find("megatron sft"),
            std::string::npos);
}

TEST(TrainerCommands, OpenRlhfTakesItsArgumentsFromATextThatIsRead) {
  const std::string script =
      "read -r -d '' commands <<EOF\nopenrlhf.cli.train_sft \\\n  --pretrain "
      "meta-llama/Llama-2-7b-hf \\\n  --train_batch_size 128 --micro_train_batch_size 2 \\\n"
      "  --max_len 2048 --zero_stage 3 --adam_offload --bf16 --flash_attn \\\n"
      "  --gradient_checkpointing --save_path a --ring_attn_size 2\nEOF\n"
      "deepspeed --num_gpus 8 --module $commands\n";
  const ImportedRun run = of(script);
  EXPECT_EQ(run.shipped, "llama2-7b");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(8 / 2));
  EXPECT_EQ(member(run.plan, "context"), "2");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "offload"), R"({"optimizer":"host"})");
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.training, "global_batch"), "128");
  EXPECT_EQ(member(run.training, "sequence"), "2048");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_NE(refusal("deepspeed train_dpo.py --pretrain a --micro_train_batch_size 1")
                .find("train_dpo.py: steps of what is no supervised fine-tuning"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
