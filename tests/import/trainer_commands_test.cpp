// Commands of trainers that name a model and let their program find the rest: ms-swift, OpenRLHF.

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
  EXPECT_EQ(member(run.plan, "offload"),
            R"({"optimizer":"host","gradients":"host","update":"host"})");
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.training, "global_batch"), "128");
  EXPECT_EQ(member(run.training, "sequence"), "2048");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_NE(refusal("deepspeed train_dpo.py --pretrain a --micro_train_batch_size 1")
                .find("train_dpo.py: steps of what is no supervised fine-tuning"),
            std::string::npos);
}

TEST(TrainerCommands, SwiftHasDefaultsOfItsOwn) {
  // Nothing of a batch: one sequence at a time, and steps of at least sixteen.
  const ImportedRun run =
      of("NPROC_PER_NODE=3 swift sft --model Qwen/Qwen2.5-7B --dataset a --max_length 4096 "
         "--attn_impl flash_attn");
  EXPECT_EQ(member(run.plan, "micro_batch"), "1");
  EXPECT_EQ(member(run.plan, "attention"), "\"flash\"");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(3 * ((16 + 2) / 3)));
  EXPECT_TRUE(any_has(run.assumed, "taken as 6, with which a step has 16 sequences or more"));
}

TEST(TrainerCommands, SwiftBeforeItsThirdReleaseCalledItsSettingsOtherwise) {
  const ImportedRun run =
      of("CUDA_VISIBLE_DEVICES=0 python llm_sft.py --model_type qwen-14b-chat --sft_type lora "
         "--dtype AUTO --lora_target_modules ALL --batch_size 2 --gradient_accumulation_steps 8 "
         "--quantization_bit 4 --lora_dropout_p 0. --tuner_backend peft --template_type chatml "
         "--train_dataset_sample -1 --check_dataset_strategy warning --use_flash_attn true");
  EXPECT_EQ(run.model->hidden, 5120);
  EXPECT_EQ(run.model->kv_heads, 40);
  EXPECT_EQ(member(run.plan, "data"), "1");  // the one that Python sees
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.plan, "attention"), "\"flash\"");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "sequence"), "2048");
  EXPECT_EQ(member(run.training, "global_batch"), "16");
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":8,"targets":"all-linear","base":"nf4"})");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const ImportedRun full =
      of("NPROC_PER_NODE=2 swift sft --model_id_or_path models/Qwen2-1___5B-Instruct "
         "--sft_type full --batch_size 4 --gradient_accumulation_steps 1 --max_length 8192 "
         "--deepspeed default-zero3");
  EXPECT_EQ(full.model->hidden, 1536);
  EXPECT_EQ(member(full.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(full.training, "global_batch"), std::to_string(4 * 2));
}

TEST(TrainerCommands, LlamaCookbookHasFieldsOfItsOwn) {
  const std::string command =
      "torchrun --nnodes 1 --nproc_per_node 4 finetuning.py --model_name meta-llama/Llama-2-7b-hf "
      "--enable_fsdp --low_cpu_fsdp --use_fast_kernels --dist_checkpoint_folder a --lr 1e-5 ";
  const ImportedRun run = of(command);
  EXPECT_EQ(run.shipped, "llama2-7b");
  EXPECT_EQ(run.stack, "fsdp");
  EXPECT_EQ(member(run.plan, "data"), "4");
  EXPECT_EQ(member(run.plan, "micro_batch"), "4");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "master_precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "sequence"), "4096");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(4 * 4));
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_TRUE(any_has(run.assumed, "as the checkpoint has them (torch_dtype auto), in bf16"));
  // Adapters; what FSDP is told, by its own name or without.
  const ImportedRun tuned =
      of(command +
         "--use_peft --peft_method lora --batch_size_training 2 --context_length 2048 "
         "--gradient_accumulation_steps 8 --fsdp_config.fsdp_activation_checkpointing False "
         "--fsdp_config.sharding_strategy SHARD_GRAD_OP --pure_bf16 --lora_config.r 16");
  EXPECT_EQ(member(tuned.plan, "sharding"), "\"zero2\"");
  EXPECT_EQ(member(tuned.plan, "recompute"), "\"none\"");
  EXPECT_EQ(member(tuned.plan, "reduce_every_pass"), "absent");  // each pass reduces
  EXPECT_EQ(member(tuned.training, "global_batch"), std::to_string(2 * 8 * 4));
  EXPECT_EQ(member(tuned.training, "master_precision"), "absent");
  EXPECT_EQ(member(tuned.training, "adapters"), R"({"rank":16,"targets":["query","value"]})");
  const ImportedRun alone =
      of("python finetuning.py --model_name meta-llama/Llama-2-7b-hf --use_peft "
         "--batch_size_training 1 --quantization 8bit",
         "run.sh",
         1);
  EXPECT_EQ(member(alone.plan, "recompute"), "\"none\"");
  EXPECT_EQ(member(alone.training, "adapters"),
            R"({"rank":8,"targets":["query","value"],"base":"int8"})");
  EXPECT_NE(refusal(command + "--freeze_layers").find("which layers are frozen is not read"),
            std::string::npos);
}

TEST(TrainerCommands, AlpacaLoraTellsTheBatchOfAllDevices) {
  const std::string command = " finetune.py --base_model 'yahma/llama-7b-hf' --data_path a.json ";
  const ImportedRun run =
      of("torchrun --nproc_per_node=4" + command +
         "--batch_size 256 --micro_batch_size 8 --cutoff_len 512 --num_epochs 1 "
         "--lora_target_modules='[q_proj,k_proj,v_proj,o_proj]' --lora_r=16 --group_by_length");
  EXPECT_EQ(run.model->ffn, 11008);
  EXPECT_EQ(member(run.plan, "data"), "4");
  EXPECT_EQ(member(run.plan, "micro_batch"), "8");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.training, "precision"), "\"fp16\"");
  EXPECT_EQ(member(run.training, "sequence"), "512");
  EXPECT_EQ(member(run.training, "global_batch"), "256");
  EXPECT_EQ(member(run.training, "adapters"),
            R"({"rank":16,"targets":["query","key","value","output"],"base":"int8"})");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(
      member(of("BATCH=$1\npython" + command + "--cutoff_len 256 --batch_size $BATCH", "run.sh", 2)
                 .training,
             "global_batch"),
      "\"left open by the import\"");
  const ImportedRun usual = of("python" + command + "--cutoff_len 256", "run.sh", 2);
  EXPECT_EQ(member(usual.training, "global_batch"), "128");
  EXPECT_EQ(member(usual.plan, "micro_batch"), "4");
}

TEST(TrainerCommands, LlamaFactorysFirstProgramTookHalfAsManyTokens) {
  const std::string rest =
      " --model_name_or_path Qwen/Qwen1.5-1.8B --finetuning_type full --template qwen "
      "--per_device_train_batch_size 1 --bf16 ";
  const ImportedRun old = of("deepspeed --num_gpus 8 src/train_bash.py --stage sft" + rest);
  EXPECT_EQ(member(old.training, "sequence"), "1024");
  EXPECT_TRUE(any_has(old.assumed, "taken as 1024, its default"));
  EXPECT_EQ(
      member(of("deepspeed --num_gpus 8 src/train.py --stage sft" + rest).training, "sequence"),
      "2048");
}

TEST(TrainerCommands, AProgramWhoseArgumentsAreNotKnownIsNamed) {
  EXPECT_EQ(refusal("torchrun --nproc_per_node=1 src/main.py --n_embd 768 --n_layer 24"),
            "run.sh: starts src/main.py, whose arguments are not known here");
  EXPECT_EQ(refusal("python main.py"),
            "run.sh: starts main.py, and tells nothing of a model itself; import that instead");
  EXPECT_EQ(refusal("mpirun -np 8 ./train_gpt2cu -b 64 -t 1024 -d 524288 -e d12"),
            "run.sh: starts a program of llm.c, which is not read");
  EXPECT_EQ(refusal("torchrun xtuner/v1/train/cli/sft.py --load-from Qwen3-8B --dataset a.jsonl"),
            "run.sh: starts a program of XTuner, which is not read");
  EXPECT_EQ(refusal("from colossalai.amp import AMP_TYPE\nBATCH_SIZE = 8\n", "config.py"),
            "config.py: is a program of ColossalAI, which is not read");
  EXPECT_EQ(refusal("deepspeed --num_gpus 8 train.py --init_ckpt a --pipe_parallel_size 4"),
            "run.sh: is arguments of fmengine, which is not read; its models are in its "
            "checkpoints");
}

TEST(TrainerCommands, DeepSpeedChatIsToldAStageAndNoFile) {
  const std::string command =
      "deepspeed --num_gpus 8 main.py --data_path a b --data_split 2,4,4 --model_name_or_path "
      "facebook/opt-6.7b --per_device_train_batch_size 6 --gradient_accumulation_steps 2 "
      "--num_warmup_steps 0 --deepspeed --zero_stage ";
  const ImportedRun run = of(command + "3 --offload --gradient_checkpointing --max_seq_len 1024");
  EXPECT_EQ(run.stack, "deepspeed");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "offload"),
            R"({"optimizer":"host","weights":"host","gradients":"host","update":"host"})");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.training, "precision"), "\"fp16\"");
  EXPECT_EQ(member(run.training, "sequence"), "1024");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(6 * 2 * 8));
  EXPECT_EQ(member(run.training, "adapters"), "absent");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const ImportedRun plain = of(command + "0 --dtype bf16");
  EXPECT_EQ(member(plain.plan, "sharding"), "\"none\"");
  EXPECT_EQ(member(plain.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(plain.training, "sequence"), "512");
  EXPECT_EQ(member(of("STAGE=$1\n" + command + "$STAGE").plan, "sharding"),
            "\"left open by the import\"");
}

TEST(TrainerCommands, AFolderOfTheHubsCacheNamesItsModel) {
  const ImportedRun run =
      of("torchrun --nproc_per_node 2 train.py --bf16 True --per_device_train_batch_size 1 "
         "--model_name_or_path ../a/models--Qwen--Qwen2.5-7B-Instruct/snapshots/a09a35458c");
  EXPECT_EQ(run.model->hidden, 3584);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
