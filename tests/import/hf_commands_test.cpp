// Programs over HuggingFace's trainer: what their names and launchers tell.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;
using testing::of;
using testing::refusal;

const std::string kModel =
    "--model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 2 "
    "--gradient_accumulation_steps 4 --bf16 True --model_max_length 512 ";

TEST(HfCommands, AProgramThatIsToldTheRankOfAdaptersTrainsThem) {
  const ImportedRun run =
      of("deepspeed --include localhost:0,1,2 fastchat/train/train_lora.py "
         "--deepspeed scripts/zero2.json --lora_r 4 " +
         kModel);
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":4,"targets":["query","value"]})");
  EXPECT_EQ(member(run.plan, "data"), "3");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero2\"");
  EXPECT_EQ(member(run.plan, "offload"), "absent");  // which axolotl's zero2.json has
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(2 * 4 * 3));
  // The name is enough, and targets are; a program of another name is said to train them.
  EXPECT_EQ(member(of("torchrun --nproc_per_node 2 run_clm_pt_with_peft.py " + kModel).training,
                   "adapters"),
            R"({"rank":8,"targets":["query","value"]})");
  const ImportedRun own = of(
      "torchrun --nproc_per_node 2 tune.py --lora_rank 16 --trainable q_proj,down_proj " + kModel);
  EXPECT_EQ(member(own.training, "adapters"), R"({"rank":16,"targets":["query","down"]})");
  EXPECT_TRUE(any_has(own.assumed, "--lora_rank: 16: adapters are taken to be trained"));
  // A switch goes before both, and TRL's own program asks for its switch.
  EXPECT_EQ(
      member(of("python tune_lora.py --use_lora False --lora_r 8 " + kModel).training, "adapters"),
      "absent");
  const ImportedRun trl = of("python trl/scripts/sft.py --lora_r 8 " + kModel);
  EXPECT_EQ(member(trl.training, "adapters"), "absent");
  EXPECT_TRUE(any_has(trl.assumed, "counts for nothing without use_peft"));
}

TEST(HfCommands, AProgramForQuantisedWeightsTellsTheirBitsAndTwoLengths) {
  const std::string command =
      "python qlora.py --model_name_or_path meta-llama/Llama-2-7b-hf --lora_modules all --bits 4 "
      "--lora_r 64 --source_max_len 16 --target_max_len 512 --per_device_train_batch_size 4 "
      "--bf16 ";
  const ImportedRun run = of(command);
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":64,"targets":"all-linear","base":"nf4"})");
  EXPECT_EQ(member(run.training, "sequence"), std::to_string(16 + 512));
  EXPECT_EQ(member(of(command + "--full_finetune").training, "adapters"), "absent");
}

TEST(HfCommands, LlavaTrainsAdaptersOfAllProductsOfTheLanguageModel) {
  const std::string command =
      "deepspeed --include a:0,1@b:0,1 llava/train/train_mem.py --lora_enable True "
      "--deepspeed ./scripts/zero3.json --version v1 --vision_tower openai/clip-vit-large-patch14 "
      "--mm_projector_type mlp2x_gelu --mm_projector_lr 2e-5 " +
      kModel;
  const ImportedRun run = of(command);
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":64,"targets":"all-linear"})");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(2 + 2));
  EXPECT_TRUE(any_has(run.assumed, "the language model alone is taken"));
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_NE(refusal(command + "--tune_mm_mlp_adapter True").find("a frozen model is not modelled"),
            std::string::npos);
}

TEST(HfCommands, TrainingByPreferencesIsRefusedByTheNameOfItsProgram) {
  for (const char* const program : {"accelerate launch --num_processes 8 examples/scripts/dpo.py ",
                                    "torchrun --nproc_per_node 8 train_grpo_vlm.py ",
                                    "trl kto ",
                                    "python reward_modeling.py "}) {
    EXPECT_NE(refusal(program + kModel).find("have more passes"), std::string::npos) << program;
  }
  EXPECT_EQ(refusal("torchrun --nproc_per_node 8 dpoint.py " + kModel), "not refused");
  EXPECT_EQ(refusal("trl sft --loss_type dft " + kModel), "not refused");
}

TEST(HfCommands, WhatTrlLeavesOutIsAsItsConfigurationHasIt) {
  const std::string command =
      " --model_name_or_path Qwen/Qwen2.5-0.5B --per_device_train_batch_size 2 ";
  const ImportedRun run = of("CUDA_VISIBLE_DEVICES=0,1 trl sft" + command);
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "sequence"), "1024");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.plan, "data"), "2");
  EXPECT_TRUE(any_has(run.assumed, "bf16: taken as true, as TRL's SFTConfig has it since 0.19"));
  // Releases that called the length so had the trainer's own defaults.
  const ImportedRun old = of("python trl/scripts/sft.py --max_seq_length 512" + command);
  EXPECT_EQ(member(old.training, "precision"), "\"fp32\"");
  EXPECT_EQ(member(old.training, "sequence"), "512");
  EXPECT_EQ(member(old.plan, "recompute"), "\"none\"");
  EXPECT_TRUE(any_has(old.assumed,
                      "bf16: left off, as TRL has it before 0.19, of which max_seq_length is"));
  // Another word of old releases; the length was the same.
  const ImportedRun older = of("trl sft --evaluation_strategy no" + command);
  EXPECT_EQ(member(older.training, "sequence"), "1024");
  EXPECT_EQ(member(older.training, "precision"), "\"fp32\"");
}

TEST(HfCommands, WeightsLoadedInSixteenBitsAreTrainedInThem) {
  const std::string command =
      "torchrun --nproc_per_node 4 train.py --model_name_or_path Qwen/Qwen2.5-0.5B "
      "--per_device_train_batch_size 1 --max_seq_length 512 ";
  const ImportedRun loaded = of(command + "--torch_dtype bfloat16");
  EXPECT_EQ(member(loaded.training, "precision"), "\"bf16\"");
  for (const char* const what : {"gradient_precision", "state_precision", "master_precision"}) {
    EXPECT_EQ(member(loaded.training, what), "\"bf16\"") << what;
  }
  EXPECT_TRUE(any_has(loaded.assumed, "torch_dtype: bfloat16: weights are of this type"));
  // DeepSpeed and FSDP update wide weights, and so do adapters.
  for (const char* const wide : {"--deepspeed zero2.json", "--fsdp full_shard", "--lora_r 8"}) {
    const ImportedRun run = of(command + "--torch_dtype bfloat16 --bf16 True " + wide);
    EXPECT_EQ(member(run.training, "precision"), "\"bf16\"") << wide;
    EXPECT_EQ(member(run.training, "master_precision"), "absent") << wide;
  }
  EXPECT_EQ(member(of(command + "--torch_dtype float32 --bf16 True").training, "master_precision"),
            "absent");
}

TEST(HfCommands, AcceleratesFileIsTakenForWhatItsNameSays) {
  const auto launched = [](const std::string& file) {
    return of("accelerate launch --num_processes 4 --config_file configs/" + file +
              " train.py --model_name_or_path Qwen/Qwen2.5-0.5B --bf16 --max_length 512");
  };
  const ImportedRun zero = launched("deepspeed_zero3.yaml");
  EXPECT_EQ(member(zero.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(zero.stack, "deepspeed");
  EXPECT_TRUE(any_has(zero.assumed, "taken for what its name says"));
  EXPECT_EQ(
      member(of("accelerate launch --config_file=fsdp2.yaml train.py " + kModel).plan, "sharding"),
      "\"zero3\"");
  EXPECT_EQ(member(launched("multi_gpu.yaml").plan, "sharding"), "\"none\"");
  EXPECT_TRUE(any_has(of("accelerate launch --config_file mine.yaml train.py " + kModel).unread,
                      "is not beside the file"));
}

TEST(HfCommands, AcceleratesFileHoldsKeysThatNobodyAsksFor) {
  const testing::TemporaryFolder folder;
  const std::vector<std::filesystem::path> files = {
      folder.file("sft.yaml",
                  "model_name_or_path: Qwen/Qwen3-8B\nper_device_train_batch_size: 1\n"
                  "max_length: 2048\nbf16: true\ncallbacks:\n- push_to_hub\nbenchmarks: []\n"),
      folder.file("zero3.yaml",
                  "distributed_type: DEEPSPEED\nnum_processes: 8\ndeepspeed_config:\n"
                  "  zero_stage: 3\n  deepspeed_multinode_launcher: standard\n"
                  "  overlap_comm: true\n  reduce_bucket_size: 500000000\n")};
  const ImportedRun run = import_files(files);
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(HfCommands, GaudisLauncherTellsTheDevices) {
  const ImportedRun run =
      of("python3 ../gaudi_spawn.py --world_size 8 --use_mpi run_lora_clm.py --use_habana "
         "--use_lazy_mode --use_hpu_graphs_for_inference --lora_rank 4 --throughput_warmup_steps 3 "
         "--gaudi_config_name Habana/llama --use_flash_attention True " +
         kModel);
  EXPECT_EQ(member(run.plan, "data"), "8");
  EXPECT_EQ(member(run.plan, "attention"), "\"flash\"");
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":4,"targets":["query","value"]})");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const std::string gaudi = "python gaudi_spawn.py --gaudi_config_name Habana/a run_clm.py ";
  EXPECT_TRUE(
      any_has(of(gaudi + "--model_name_or_path gpt2 --block_size 8").unread, "may switch bf16 on"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
