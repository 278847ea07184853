// Every setting that a framework's own definition lists, as the framework has it by itself: read,
// or known to be harmless, or refused where the list says so.

#include <gtest/gtest.h>

#include <fstream>

#include "import/imports.hpp"
#include "paths.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

struct Definition {
  std::string name;  // of the list in tests/data/import/definitions
  std::string file;
  std::string base;  // that one of its settings is put behind
};

const Definition kMegatron = {
    "megatron",
    "run.sh",
    "python pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 "
    "--seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 "
    "--global-batch-size 64 --vocab-size 50304 --num-experts 8 --lr 1e-4 "
    "--pipeline-model-parallel-size 2 --tensor-model-parallel-size 2 "};
const Definition kMaxText = {"maxtext",
                             "run.yml",
                             "base_config: base.yml\nper_device_batch_size: 4\n"
                             "max_target_length: 2048\nmodel_name: default\n"};
const Definition kTorchtitan = {"torchtitan",
                                "run.toml",
                                "training.local_batch_size = 4\ntraining.seq_len = 8192\n"
                                "model.name = \"llama3\"\nmodel.flavor = \"8B\"\n"};
const Definition kAxolotl = {
    "axolotl",
    "run.yml",
    "base_model: Qwen/Qwen2.5-7B\ndatasets:\n  - path: x\n    type: alpaca\nsequence_len: 4096\n"
    "micro_batch_size: 2\ngradient_accumulation_steps: 4\nlearning_rate: 1e-4\n"
    "optimizer: adamw_torch\nbf16: true\nadapter: lora\nlora_r: 8\nlora_target_linear: true\n"};
const Definition kTrainer = {"trainer",
                             "run.yml",
                             "model_name_or_path: Qwen/Qwen2.5-7B\n"
                             "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
                             "bf16: true\nmax_seq_length: 2048\n"};
const Definition kLlamaFactory = {
    "llama_factory",
    "run.yml",
    "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: full\ncutoff_len: 2048\n"
    "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\n"};

const std::string kTrainerYaml =
    "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 2\n"
    "gradient_accumulation_steps: 4\nbf16: true\nmax_seq_length: 2048\n";
const Definition kNeox = {
    "neox",
    "run.yml",
    "num_layers: 12\nhidden_size: 768\nnum_attention_heads: 12\nseq_length: 2048\n"
    "max_position_embeddings: 2048\ntrain_micro_batch_size_per_gpu: 4\n"
    "gradient_accumulation_steps: 1\nprecision: fp16\n"
    "optimizer: {\"type\": \"Adam\", \"params\": {\"lr\": 0.0006}}\n"};
const Definition kNanotron = {
    "nanotron",
    "run.yml",
    "general:\n  project: x\nparallelism:\n  dp: 64\n  pp: 1\n  tp: 1\nmodel:\n"
    "  model_config:\n    is_llama_config: true\n    hidden_size: 2048\n"
    "    intermediate_size: 8192\n    num_attention_heads: 32\n    num_hidden_layers: 16\n"
    "    vocab_size: 50304\ntokens:\n  sequence_length: 2048\n  micro_batch_size: 2\n"
    "  batch_accumulation_per_replica: 4\n"};
const Definition kLitGptDefinition = {
    "litgpt",
    "run.yml",
    "model_name: Llama-3.2-1B\nlitgpt: pretrain\ndevices: 8\ntrain:\n  global_batch_size: 512\n"
    "  micro_batch_size: 4\n  max_seq_length: 2048\n"};
const Definition kLlmFoundry = {
    "llm_foundry",
    "run.yml",
    "max_seq_len: 2048\nglobal_train_batch_size: 256\ndevice_train_microbatch_size: 4\nmodel:\n"
    "  name: mpt_causal_lm\n  d_model: 768\n  n_heads: 12\n  n_layers: 12\n  expansion_ratio: 4\n"
    "  max_seq_len: 2048\n  vocab_size: 50368\ntokenizer:\n  name: EleutherAI/gpt-neox-20b\n"
    "train_loader:\n  name: text\noptimizer:\n  name: decoupled_adamw\n"};
const Definition kAccelerateDefinition = {
    "accelerate",
    "run.yml",
    kTrainerYaml + "distributed_type: FSDP\nnum_processes: 64\nnum_machines: 8\n"};
const Definition kDeepSpeedDefinition = {"deepspeed", "run.yml", kTrainerYaml};
const Definition kNemo = {
    "nemo",
    "run.yml",
    "name: megatron_gpt\ntrainer:\n  devices: 8\n  num_nodes: 8\n  precision: bf16\nmodel:\n"
    "  micro_batch_size: 4\n  global_batch_size: 256\n  tensor_model_parallel_size: 1\n"
    "  pipeline_model_parallel_size: 1\n  encoder_seq_length: 512\n  num_layers: 12\n"
    "  hidden_size: 768\n  num_attention_heads: 12\n  data:\n    seq_length: 512\n"};
const Definition kMegatronBridge = {
    "megatron_bridge",
    "run.yml",
    "train.micro_batch_size: 1\ntrain.global_batch_size: 128\nmodel.num_layers: 16\n"
    "model.hidden_size: 2048\nmodel.ffn_hidden_size: 8192\nmodel.num_attention_heads: 32\n"
    "model.seq_length: 4096\ndataset.seq_length: 4096\n"};
const Definition kTorchtuneDefinition = {
    "torchtune",
    "run.yml",
    "model._component_: torchtune.models.llama3_1.llama3_1_8b\n"
    "tokenizer._component_: torchtune.models.llama3.llama3_tokenizer\n"
    "checkpointer._component_: torchtune.training.FullModelHFCheckpointer\n"
    "dataset._component_: torchtune.datasets.alpaca_dataset\n"
    "optimizer._component_: torch.optim.AdamW\nbatch_size: 2\n"};

const Definition kOlmoCore = {
    "olmo_core",
    "run.yml",
    "model.d_model: 2048\nmodel.n_layers: 16\nmodel.vocab_size: 100352\n"
    "model.block.attention.n_heads: 16\nmodel.block.feed_forward.hidden_size: 8192\n"
    "dataset.sequence_length: 4096\ndata_loader.global_batch_size: 1048576\n"
    "train_module:\n  rank_microbatch_size: 8192\n  max_sequence_length: 4096\n"
    "  optim:\n    lr: 0.0004\n  dp_config:\n    name: hsdp\n    param_dtype: bfloat16\n"};

/// Whether `titer import` takes it without --accept-unknown.
bool is_taken(const std::string& text, const std::string& file) {
  ImportOptions options;
  options.devices = 64;
  try {
    return import_text(text, file, options).unread.empty();
  } catch (const InputError&) {
    return false;
  }
}

class Definitions : public ::testing::TestWithParam<Definition> {};

TEST_P(Definitions, EverySettingIsReadOrHarmlessOrRefusedAsListed) {
  const Definition& of = GetParam();
  std::ifstream list(testing::root() / "tests/data/import/definitions" / (of.name + ".txt"));
  ASSERT_TRUE(list);
  ASSERT_TRUE(is_taken(of.base + "\n", of.file));
  std::size_t settings = 0;
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const bool is_refused = line.starts_with("! ");
    const std::string setting = is_refused ? line.substr(2) : line;
    EXPECT_NE(is_taken(of.base + setting + "\n", of.file), is_refused) << setting;
    ++settings;
  }
  EXPECT_GT(settings, 35U);
}

TEST_P(Definitions, WhatNoDefinitionListsIsRefused) {
  const Definition& of = GetParam();
  const std::string unheard = of.file == "run.sh"     ? "--quite-unheard-of 3"
                              : of.file == "run.toml" ? "training.quite_unheard_of = 3"
                                                      : "quite_unheard_of: 3";
  EXPECT_FALSE(is_taken(of.base + unheard + "\n", of.file));
}

INSTANTIATE_TEST_SUITE_P(Frameworks,
                         Definitions,
                         ::testing::Values(kMegatron,
                                           kMaxText,
                                           kTorchtitan,
                                           kAxolotl,
                                           kTrainer,
                                           kLlamaFactory,
                                           kNeox,
                                           kNanotron,
                                           kLitGptDefinition,
                                           kLlmFoundry,
                                           kAccelerateDefinition,
                                           kDeepSpeedDefinition,
                                           kNemo,
                                           kMegatronBridge,
                                           kOlmoCore,
                                           kTorchtuneDefinition),
                         [](const ::testing::TestParamInfo<Definition>& one) {
                           return one.param.name;
                         });

TEST(UsualValues, AnotherValueThanTheUsualOneIsStillRefused) {
  // Both are in the list as their program has them by itself.
  EXPECT_TRUE(is_taken(kMaxText.base + "mu_dtype: ''\n", kMaxText.file));
  EXPECT_FALSE(is_taken(kMaxText.base + "mu_dtype: bfloat16\n", kMaxText.file));
  EXPECT_FALSE(is_taken(kMaxText.base + "logits_via_embedding: maybe\n", kMaxText.file));
}

TEST(UsualValues, ReplicasThatFollowOneAnotherAreRefused) {
  const std::string off = "fault_tolerance.enable = true\n";
  EXPECT_TRUE(is_taken(kTorchtitan.base + off + "fault_tolerance.group_size = 1\n", "run.toml"));
  EXPECT_FALSE(is_taken(kTorchtitan.base + off + "fault_tolerance.group_size = 2\n", "run.toml"));
}

TEST(UsualValues, AFormatThatAnotherFileTellsIsNotTakenForTheWidest) {
  const std::string script =
      "python train.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 "
      "--gradient_accumulation_steps 4 --max_seq_length 2048 --output_dir x ";
  EXPECT_EQ(testing::member(testing::of(script, "run.sh", 8).training, "precision"), "\"fp32\"");
  EXPECT_NE(
      testing::member(testing::of(script + "--bf16 ${BF16}\n", "run.sh", 8).training, "precision"),
      "\"fp32\"");
}

TEST(UsualValues, AxolotlTrainsInBf16UnlessAFormatIsTold) {
  const std::string base =
      "base_model: Qwen/Qwen2.5-7B\nmicro_batch_size: 2\nsequence_len: 4096\nadapter: qlora\n"
      "lora_target_linear: true\n";
  const auto precision = [&](const std::string& more) {
    return testing::member(testing::of(base + more, "run.yml", 1).training, "precision");
  };
  EXPECT_EQ(precision(""), "\"bf16\"");
  EXPECT_EQ(precision("fp16: true\n"), "\"fp16\"");
  EXPECT_EQ(precision("bf16: false\n"), "\"fp32\"");
}

TEST(UsualValues, WhatIsCompiledIsSaid) {
  const auto said = [](const std::string& more, const Definition& of) {
    return testing::any_has(testing::of(of.base + more, of.file, 64).assumed, "not compiled");
  };
  EXPECT_FALSE(said("torch_compile: false\n", kTrainer));
  EXPECT_TRUE(said("torch_compile: true\n", kTrainer));
  EXPECT_TRUE(said("dynamo_config: {\"dynamo_backend\": \"INDUCTOR\"}\n", kAccelerateDefinition));
  EXPECT_TRUE(said("compile_config: {\"mode\": \"max-autotune\"}\n", kLlmFoundry));
  EXPECT_TRUE(said("compile: true\n", kTorchtuneDefinition));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
