// Scripts that start a program with configurations in files of their own.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "temporary_folder.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::member;
using testing::refusal_of;

constexpr std::string_view kNeox =
    "{\n  \"pipe-parallel-size\": 1,\n  \"model-parallel-size\": 2,\n  \"num-layers\": 4,\n"
    "  \"hidden-size\": 64,\n  \"num-attention-heads\": 4,\n  \"seq-length\": 128,\n"
    "  \"max-position-embeddings\": 128,\n  \"train_micro_batch_size_per_gpu\": 4,\n"
    "  \"hidden-dropout\": 0.1,\n  \"attention-dropout\": 0.1,\n"
    "  \"fp16\": {\"enabled\": true}\n}\n";
constexpr std::string_view kData =
    "{\n  \"train-data-paths\": [\"a\"],\n  \"vocab-file\": \"gpt2-vocab.json\"\n}\n";
constexpr std::string_view kModelFlags =
    "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
    "--max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 64 "
    "--vocab-size 1024 --bf16";

ImportedRun imported(const std::vector<std::filesystem::path>& files) {
  return import_files(files, {});
}

std::string refusal(const std::vector<std::filesystem::path>& files) {
  return refusal_of([&] { return imported(files); });
}

TEST(Launched, FilesOfGptNeoxAreOneConfiguration) {
  const testing::TemporaryFolder folder;
  const std::string model = folder.file("small.yml", kNeox);
  const std::string data = folder.file("data.yml", kData);
  const ImportedRun run = imported({model, data});
  EXPECT_EQ(run.model->layers, 4);
  EXPECT_TRUE(run.model->dropout);
  EXPECT_TRUE(run.unread.empty());
  EXPECT_EQ(run.model->vocabulary, 50257);  // of the other file's vocabulary
}

TEST(Launched, TheOlderMlpOfGptNeoxHasThreeMatrices) {
  std::string text(kNeox);
  text.insert(2, "  \"mlp_type\": \"llama\",\n  \"activation\": \"silu\",\n");
  const testing::TemporaryFolder folder;
  const ImportedRun run = imported({folder.file("small.yml", text)});
  EXPECT_TRUE(run.model->gated);
  EXPECT_EQ(run.model->ffn, 256);  // 8 / 3 of 64, up to a multiple of 256
  EXPECT_FALSE(run.model->biases.mlp);
  EXPECT_TRUE(run.model->biases.qkv);
}

TEST(Launched, AScriptTellsTheConfigurationAndItsJobTheDevices) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "configs");
  const std::string script =
      folder.file("run.sh",
                  "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:a100:4\n"
                  "python ./deepy.py train.py -d configs small.yml data.yml\n");
  EXPECT_EQ(refusal({script}),
            script +
                ": starts a program with small.yml, data.yml, which is not beside it; --with "
                "gives such a file");
  static_cast<void>(folder.file("configs/small.yml", kNeox));
  static_cast<void>(folder.file("configs/data.yml", kData));
  const ImportedRun run = imported({script});
  EXPECT_EQ(run.format, "a GPT-NeoX configuration");
  EXPECT_EQ(member(run.plan, "tensor"), "2");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(2 * 4 / 2));
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(4 * 4));
}

TEST(Launched, Picotron) {
  const testing::TemporaryFolder folder;
  const std::string script =
      folder.file("run.sh", "torchrun --nproc_per_node 8 train.py --config small.json\n");
  static_cast<void>(
      folder.file("small.json",
                  R"({"distributed": {"tp_size": 2, "cp_size": 1, "pp_size": 2, "dp_size": 2,
                          "pp_engine": "afab"},
          "model": {"name": "HuggingFaceTB/SmolLM-1.7B", "num_hidden_layers": 16,
                    "num_attention_heads": 16, "num_key_value_heads": 8,
                    "use_flash_attention": false},
          "training": {"seq_length": 512, "micro_batch_size": 4,
                       "gradient_accumulation_steps": 8, "seed": 42}})"));
  const ImportedRun run = imported({script});
  EXPECT_EQ(run.model->layers, 16);
  EXPECT_EQ(run.model->heads, 16);
  EXPECT_EQ(run.model->head_dim, 2048 / 16);
  EXPECT_EQ(run.model->kv_heads, 8);
  EXPECT_EQ(member(run.plan, "schedule"), "\"gpipe\"");
  EXPECT_EQ(member(run.plan, "attention"), "\"materialised\"");
  EXPECT_EQ(member(run.plan, "data"), "2");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(4 * 8 * 2));
  EXPECT_EQ(member(run.training, "sequence"), "512");
  EXPECT_TRUE(run.unread.empty());
}

TEST(Launched, OtherFlagsOfTheProgramAreNotRead) {
  const testing::TemporaryFolder folder;
  static_cast<void>(folder.file("small.yml", kNeox));
  const std::string script =
      folder.file("run.sh", "torchrun --nproc_per_node 4 train.py --config small.yml --pack 7\n");
  EXPECT_EQ(refusal({script}), script + ":1:57: --pack: 7: is not read, and may change the result");
}

TEST(Launched, WhatSbatchStartsHasItsOwnLines) {
  const testing::TemporaryFolder folder;
  static_cast<void>(folder.file("train.slurm",
                                "#SBATCH --nodes=2\n#SBATCH --gpus-per-node=4\n"
                                "srun torchrun --nnodes $SLURM_NNODES --nproc_per_node "
                                "$SLURM_GPUS_PER_NODE pretrain_gpt.py " +
                                    std::string(kModelFlags)));
  EXPECT_EQ(member(imported({folder.file("a.sh", "sbatch train.slurm\n")}).plan, "data"),
            std::to_string(2 * 4));
  // What sbatch itself is given goes before.
  EXPECT_EQ(member(imported({folder.file("b.sh", "sbatch --nodes=8 train.slurm\n")}).plan, "data"),
            std::to_string(8 * 4));
  // A shell does not read them.
  EXPECT_EQ(member(imported({folder.file("c.sh", "bash train.slurm\n")}).plan, "data"),
            "\"left open by the import\"");
}

TEST(Launched, AModelFromItsFirstWeightsIsOfATypeWithChanges) {
  const ImportedRun run = import_text(
      "torchrun --nproc_per_node 4 run_clm.py --model_type gpt2 "
      "--config_overrides n_embd=1024,n_head=16,n_layer=24 --block_size 512 "
      "--per_device_train_batch_size 2 --bf16",
      "run.sh");
  EXPECT_EQ(run.model->layers, 24);
  EXPECT_EQ(run.model->hidden, 1024);
  EXPECT_EQ(run.model->vocabulary, 50257);
  EXPECT_EQ(run.model->max_sequence, 1024);  // as the class has it
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(2 * 4));
  EXPECT_THROW(static_cast<void>(import_text("--model_type gpt2 --config_overrides large "
                                             "--per_device_train_batch_size 2",
                                             "run.sh")),
               InputError);
}

TEST(Launched, APathIsFromAFolderAroundTheScripts) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(
      std::filesystem::path(folder.file("a.txt", "")).parent_path() / "scripts/train");
  std::filesystem::create_directories(
      std::filesystem::path(folder.file("a.txt", "")).parent_path() / "configs");
  static_cast<void>(folder.file(
      "configs/tune.yml",
      "base_model: Qwen/Qwen2.5-1.5B\ndatasets: []\nmicro_batch_size: 3\nsequence_len: 512\n"));
  const std::string script =
      folder.file("scripts/train/run.sh", "axolotl train configs/tune.yml\n");
  ImportOptions options;
  options.devices = 1;
  const ImportedRun run = import_files(std::vector<std::filesystem::path>{script}, options);
  EXPECT_EQ(member(run.plan, "micro_batch"), "3");
  const std::string other = folder.file("scripts/train/up.sh", "axolotl train ../configs/no.yml\n");
  EXPECT_NE(refusal({other}).find("which is not beside it"), std::string::npos);
}

TEST(Launched, APipelineOfGptNeoxSharesOutAnyNumberOfLayers) {
  std::string text(kNeox);
  text.replace(text.find("\"pipe-parallel-size\": 1"), 23, "\"pipe-parallel-size\": 3");
  const testing::TemporaryFolder folder;
  const ImportedRun run = imported({folder.file("small.yml", text)});
  EXPECT_EQ(member(run.plan, "pipeline"), "3");
  EXPECT_EQ(run.model->layers, 4);
  text.replace(text.find("\"pipe-parallel-size\": 3"), 23, "\"pipe-parallel-size\": 5");
  EXPECT_NE(refusal({folder.file("five.yml", text)}).find("expected at most the 4 layers"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
