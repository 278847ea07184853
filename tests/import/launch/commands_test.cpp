// Which command of a script is its training, and what the script itself writes for it.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::member;
using testing::of;
using testing::of_file;
using testing::refusal;

const std::string kFlags =
    "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
    "--max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 64 --vocab-size 1024 ";

TEST(Commands, WhatTrainsGoesBeforeWhatEvaluatesHoweverMuchThatTells) {
  const ImportedRun run = of("torchrun --nproc_per_node 2 pretrain_gpt.py --bf16 " + kFlags +
                             "\ntorchrun --nproc_per_node 8 tasks/evaluate.py --fp16 --task X "
                             "--log-interval 1 --save y --load z " +
                             kFlags);
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.plan, "data"), "2");
}

TEST(Commands, AScriptThatOnlyConvertsOrEvaluatesIsRefused) {
  EXPECT_EQ(refusal("python tools/checkpoint/convert.py --bf16 " + kFlags),
            "run.sh: runs tools/checkpoint/convert.py, which by its name works on checkpoints, "
            "data or answers; expected a script that trains");
  // A name with "train" in it trains.
  EXPECT_EQ(refusal("python train_and_evaluate.py --bf16 " + kFlags), "not refused");
}

TEST(Commands, AModuleIsTheFileThatItIsIn) {
  const std::string flags =
      " --model_name_or_path lmsys/vicuna-7b-v1.5 --version v1 --per_device_train_batch_size 4 "
      "--bf16 True --model_max_length 2048 --gradient_checkpointing True";
  const ImportedRun run = of("deepspeed --num_gpus 8 --module llava.train.train_mem" + flags +
                             " --vision_tower openai/clip-vit-large-patch14");
  EXPECT_EQ(of("deepspeed --num_gpus 8 llava/train/train_mem.py" + flags +
               " --vision_tower openai/clip-vit-large-patch14")
                .unread,
            run.unread);
}

const std::string kAxolotl =
    "base_model: meta-llama/Meta-Llama-3-8B\nsequence_len: 4096\nmicro_batch_size: 2\n"
    "gradient_accumulation_steps: ${STEPS}\nbf16: auto\nsample_packing: true\n";

TEST(Commands, WhatTheScriptWritesIsTheConfigurationThatItStartsWith) {
  const ImportedRun run =
      of_file("STEPS=8\nNAME=/w/run-$( date '+%F-%H' ).yml\ncat > ${NAME} << EOF\n" + kAxolotl +
                  "EOF\naccelerate launch -m axolotl.cli.train ${NAME} --debug\n",
              "run.sh",
              4);
  EXPECT_EQ(run.format, "an axolotl configuration");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(2 * 8 * 4));
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
}

TEST(Commands, WhatEchoWritesIsAConfigurationWhereverItIsMovedTo) {
  const ImportedRun run = of_file(
      "echo 'base_config: base.yml\nper_device_batch_size: 4\nmodel_name: llama2-7b\n"
      "max_target_length: 2048' > $OUT/small.yml\ncp $OUT/small.yml configs/.\n"
      "python MaxText/train.py configs/small.yml run_name=x\n",
      "run.sh",
      8);
  EXPECT_EQ(member(run.training, "global_batch"), "32");
  EXPECT_EQ(member(run.training, "sequence"), "2048");
}

TEST(Commands, DevicesInFrontOfACommandAreItsOwn) {
  const std::string sft =
      "NPROC_PER_NODE=4 swift sft --model Qwen/Qwen2.5-7B --dataset x --train_type full "
      "--torch_dtype bfloat16 --per_device_train_batch_size 2 --max_length 2048\n";
  EXPECT_EQ(
      member(of(sft + "NPROC_PER_NODE=3 swift rlhf --rlhf_type grpo --model x\n").plan, "data"),
      "4");
  EXPECT_EQ(member(of(sft).training, "gradient_precision"), "\"bf16\"");
  // Those of a command before it are none of its own.
  EXPECT_EQ(
      member(of("NPROC_PER_NODE=3 swift rlhf --rlhf_type grpo --model x\n" + sft).plan, "data"),
      "4");
  EXPECT_EQ(member(of("export NPROC_PER_NODE=2\n" + sft.substr(17)).plan, "data"), "2");
  EXPECT_NE(member(of("NPROC_PER_NODE=3 python x.py\n" + sft.substr(17)).plan, "data"), "3");
}

TEST(Commands, GpusAreThoseOfTheirOwnResource) {
  const auto data = [](const std::string& gres) {
    return member(of("#SBATCH --nodes=2\n#SBATCH --gres=" + gres +
                     "\nsrun torchrun --nnodes $SLURM_NNODES --nproc_per_node "
                     "$SLURM_GPUS_ON_NODE pretrain_gpt.py --bf16 " +
                     kFlags)
                      .plan,
                  "data");
  };
  EXPECT_EQ(data("gpu:a100:4"), "8");
  EXPECT_EQ(data("gpu:2,VramPerGpu:24GB"), "4");
  EXPECT_EQ(data("lscratch:400,gpu:h100:8"), "16");
  EXPECT_EQ(data("gpu:8(S:0-1)"), "16");
  EXPECT_EQ(data("lscratch:400"), "absent");  // left open
}

TEST(Commands, AGatherBesideNoReduceIsTakenOff) {
  const std::string script =
      "torchrun --nproc_per_node 8 pretrain_gpt.py --bf16 "
      "--use-distributed-optimizer --overlap-param-gather " +
      kFlags;
  const ImportedRun off = of(script);
  EXPECT_EQ(member(off.plan, "overlap_param_gather"), "false");
  EXPECT_TRUE(testing::any_has(off.assumed, "taken off, as --overlap-grad-reduce is"));
  EXPECT_EQ(member(of(script + "--overlap-grad-reduce").plan, "overlap_param_gather"), "true");
}

TEST(Commands, AnOlderNameOfWhatIsSavedSplit) {
  const ImportedRun run =
      of("torchrun --nproc_per_node 8 pretrain_gpt.py --bf16 --tensor-model-parallel-size 2 "
         "--checkpoint-activations --distribute-checkpointed-activations " +
         kFlags);
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.plan, "distribute_saved_activations"), "true");
}

TEST(Commands, ExpertsOfSwiftAreWholeUnlessTold) {
  const std::string script =
      "NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B --tensor_model_parallel_size 2 "
      "--expert_model_parallel_size 4 --micro_batch_size 1 --global_batch_size 16 "
      "--max_length 2048 --packing true ";
  EXPECT_EQ(member(of(script).plan, "expert_tensor"), "1");
  EXPECT_EQ(member(of(script + "--expert_tensor_parallel_size 2").plan, "expert_tensor"), "2");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
