// YAML of Levanter, MaxText and NeuronX Distributed Training.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;

ImportedRun of(const std::string& text, std::optional<std::int64_t> devices = {}) {
  return testing::of_file(text, "run.yaml", devices);
}

std::string refusal(const std::string& text) {
  return testing::refusal_of([&] { return of(text, 16); });
}

std::string levanter(const std::string& model, const std::string& trainer) {
  return "data:\n  train_urls: [\"gs://a/b.jsonl.gz\"]\n  tokenizer: \"EleutherAI/gpt-neox-20b\"\n"
         "model:\n" +
         model +
         "trainer:\n  tracker:\n    type: wandb\n    tags: [\"a\"]\n"
         "  mp: p=f32,c=bfloat16\n  train_batch_size: 256\n" +
         trainer + "optimizer:\n  learning_rate: 4E-4\n  weight_decay: 0.1\n";
}

const std::string kLlama =
    "  type: llama\n  seq_len: 2048\n  hidden_dim: 2048\n  num_layers: 24\n  num_heads: 16\n"
    "  num_kv_heads: 8\n  intermediate_dim: 5632\n";

TEST(ImportLevanter, ShardsOverTheDataAxisAndRecomputesUnlessItIsTold) {
  const ImportedRun run = of(levanter(kLlama, "  num_train_steps: 100\n"), 32);
  EXPECT_EQ(run.stack, "maxtext");
  EXPECT_EQ(run.model->layers, 24);
  EXPECT_EQ(run.model->kv_heads, 8);
  EXPECT_EQ(run.model->ffn, 5632);
  EXPECT_TRUE(run.model->gated);
  EXPECT_FALSE(run.model->tied_embeddings);
  EXPECT_EQ(run.model->vocabulary, 50277);
  EXPECT_EQ(member(run.plan, "data"), "32");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "micro_batch"), std::to_string(256 / 32));
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.plan, "attention"), "\"flash\"");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "master_precision"), "absent");
  EXPECT_EQ(member(run.training, "global_batch"), "256");
  EXPECT_EQ(member(run.training, "sequence"), "2048");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(ImportLevanter, AxesAndMicroBatchesAreAsTold) {
  const ImportedRun run =
      of(levanter(kLlama + "  gradient_checkpointing: false\n  use_flash_attention: false\n"
                           "  use_bias: true\n",
                  "  model_axis_size: 4\n  tensor_parallel_axes: [\"mlp\", \"heads\"]\n"
                  "  replica_dcn_axis_size: 2\n  per_device_parallelism: 2\n"),
         64);
  EXPECT_EQ(member(run.plan, "tensor"), "4");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(64 / 4));
  EXPECT_EQ(member(run.plan, "shard"), std::to_string(64 / 4 / 2));
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.plan, "recompute"), "\"none\"");
  EXPECT_EQ(member(run.plan, "attention"), "\"materialised\"");
  EXPECT_NE(refusal(levanter(kLlama, "  model_axis_size: 3\n"))
                .find("expected model and replica axes, 3, to divide the 16 devices"),
            std::string::npos);
}

TEST(ImportLevanter, WhatIsLeftOutIsAsItsClassesHaveIt) {
  const ImportedRun small =
      of("data: !include data/web.yaml\nmodel:\n  type: gpt2\n"
         "trainer:\n  num_train_steps: 9\n",
         8);
  EXPECT_EQ(small.model->hidden, 768);
  EXPECT_EQ(small.model->ffn, 4 * 768);
  EXPECT_TRUE(small.model->tied_embeddings);
  EXPECT_EQ(member(small.training, "precision"), "\"fp32\"");
  const ImportedRun narrow = of("model:\n  type: gpt2\ntrainer:\n  mp: p=bfloat16\n", 8);
  EXPECT_EQ(member(narrow.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(narrow.training, "master_precision"), "\"bf16\"");
  EXPECT_EQ(member(small.training, "sequence"), "512");
  EXPECT_EQ(member(small.training, "global_batch"), "512");
  EXPECT_TRUE(any_has(small.assumed, "train_batch_size: taken as 512, as TrainerConfig has it"));
  EXPECT_TRUE(any_has(small.assumed, "for want of a tokenizer that is known"));
  const ImportedRun wide = of(levanter("  type: mistral\n", "  fsdp_axis: null\n"), 8);
  EXPECT_EQ(wide.model->kv_heads, 8);
  EXPECT_EQ(wide.model->ffn, 14336);
  EXPECT_EQ(wide.model->kinds, std::vector<LayerKind>(1));  // its layers are Llama's
  EXPECT_FALSE(small.model->dropout);
  EXPECT_TRUE(
      of("model:\n  type: gpt2\n  resid_pdrop: 0.1\ntrainer:\n  mp: f32\n", 8).model->dropout);
  EXPECT_EQ(member(wide.plan, "sharding"), "\"none\"");
  const ImportedRun open = of(levanter(kLlama, ""));
  EXPECT_EQ(member(open.plan, "data"), "\"left open by the import\"");
  EXPECT_EQ(member(open.plan, "micro_batch"), "\"left open by the import\"");
}

TEST(ImportLevanter, DataOfAnotherFileTellTheTokenizer) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "data");
  static_cast<void>(folder.file("data/web.yaml", "tokenizer: meta-llama/Llama-2-7b-hf\n"));
  const std::vector<std::filesystem::path> files = {
      folder.file("run.yaml",
                  "data: !include data/web.yaml\nmodel:\n  type: gpt2\ntrainer:\n"
                  "  mp: f32\n")};
  const ImportedRun run = import_files(files);
  EXPECT_EQ(run.model->vocabulary, 32000);
  EXPECT_TRUE(any_has(run.assumed, "data: data/web.yaml: is read for its tokenizer"));
}

TEST(ImportLevanter, WhatItsModelsAreNotIsRefused) {
  EXPECT_NE(refusal(levanter("  type: backpack\n", "")).find("expected llama, mistral"),
            std::string::npos);
  EXPECT_NE(refusal(levanter(kLlama, "") + "beta: 0.1\n").find("training by preferences"),
            std::string::npos);
  EXPECT_NE(refusal(levanter("  type: gpt2\n", "") + "optimizer_: 1\n").find("is not read"),
            std::string::npos);
}

TEST(ImportLevanter, ItsTrackersMayBeAList) {
  const ImportedRun run = testing::of(
      "model:\n  type: gpt2\ntrainer:\n  train_batch_size: 64\n"
      "  tracker:\n    - type: tensorboard\n      logdir: logs\n    - type: wandb\n",
      "run.yaml",
      8);
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

std::string neuron(const std::string& source, const std::string& more) {
  return "name: run\nmodel_source: " + source +
         "\ntrainer:\n  devices: 32\n  num_nodes: 8\n  max_steps: 100\n"
         "distributed_strategy:\n  tensor_model_parallel_size: 8\n"
         "  pipeline_model_parallel_size: 4\n  virtual_pipeline_model_parallel_size: 1\n"
         "  zero1: True\n  sequence_parallel: True\n  kv_replicator: 1\n"
         "data:\n  micro_batch_size: 1\n  global_batch_size: 512\n"
         "  seq_length: ${model.encoder_seq_length}\n"
         "  tokenizer:\n    library: huggingface\n    type: /data/llama_tokenizer\n" +
         more;
}

const std::string kNeuronModel =
    "model:\n  encoder_seq_length: 4096\n  max_position_embeddings: ${.encoder_seq_length}\n"
    "  num_layers: 32\n  hidden_size: 4096\n  ffn_hidden_size: 14336\n"
    "  num_attention_heads: 32\n  num_kv_heads: 8\n  hidden_dropout: 0\n  attention_dropout: 0\n"
    "  normalization: rmsnorm\n  make_vocab_size_divisible_by: 8\n"
    "  share_embeddings_and_output_weights: False\n  position_embedding_type: rope\n"
    "  activation: swiglu\n  transformer_block_type: pre_ln\n  has_bias: False\n"
    "  activations_checkpoint_granularity: selective\n"
    "  activations_checkpoint_recompute: [CoreAttention]\n"
    "  optim:\n    name: adamw_fp32OptState\n    capturable: True\n    lr: 3e-4\n";

TEST(ImportNeuron, MegatronsNamesStandInSectionsOfItsOwn) {
  const ImportedRun run =
      of(neuron("megatron",
                kNeuronModel + "  fusions:\n    softmax: True\n    flash_attention: False\n"
                               "precision:\n  type: mixed_precision\n  master_weights: False\n"
                               "compiler_flags: '--model-type transformer'\n"
                               "aync_exec_max_inflight_requests: 5\n"));
  EXPECT_EQ(run.stack, "neuronx");
  EXPECT_EQ(run.model->kv_heads, 8);
  EXPECT_TRUE(run.model->gated);
  EXPECT_EQ(run.model->vocabulary, 32000);
  EXPECT_EQ(run.model->attention, AttentionKernel::materialised);
  EXPECT_EQ(member(run.plan, "tensor"), "8");
  EXPECT_EQ(member(run.plan, "pipeline"), "4");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(32 * 8 / (8 * 4)));
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero1\"");
  EXPECT_EQ(member(run.plan, "sequence_parallel"), "true");
  EXPECT_EQ(member(run.plan, "recompute"), "\"selective\"");
  EXPECT_EQ(member(run.training, "global_batch"), "512");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "master_precision"), "absent");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(ImportNeuron, PrecisionsAndKernelsAreByTheirNames) {
  const auto with = [](const std::string& precision) {
    return of(neuron("megatron",
                     kNeuronModel + "  fusions:\n    flash_attention: True\nprecision:\n  type: " +
                         precision + "\n"));
  };
  EXPECT_EQ(with("mixed_precisionSR").model->attention, AttentionKernel::flash);
  EXPECT_EQ(member(with("bf16SR").training, "master_precision"), "\"bf16\"");
  EXPECT_EQ(member(with("manual\n  master_weights: True").training, "master_precision"), "absent");
  EXPECT_EQ(member(with("manual").training, "master_precision"), "\"bf16\"");
  EXPECT_EQ(member(with("fp32").training, "precision"), "\"fp32\"");
  EXPECT_THROW(static_cast<void>(with("fp8")), InputError);
}

TEST(ImportNeuron, AModelOfHuggingFacesIsItsConfigurations) {
  const std::string tuned =
      "model:\n  model_config: models/Llama-3.1-8B\n  encoder_seq_length: 8192\n"
      "  num_layers: 32\n  hidden_size: 4096\n  qkv_linear: True\n  fuse_qkv: True\n"
      "  activations_checkpoint_granularity: full\n"
      "  fusions:\n    flash_attention: True\n"
      "model_alignment_strategy:\n  sft:\n    packing: True\n  peft:\n    lora_rank: 16\n"
      "    target_modules: [\"qkv_proj\"]\n    lora_alpha: 32\n    merge_lora: False\n"
      "precision:\n  type: autocast\n";
  const ImportedRun run = of(neuron("hf", tuned));
  EXPECT_EQ(run.model->layers, 32);
  EXPECT_EQ(run.model->vocabulary, 128256);
  EXPECT_EQ(member(run.plan, "attention"), "\"flash\"");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.training, "adapters"),
            R"({"rank":16,"targets":["query","key","value"],"fused":true})");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_NE(refusal(neuron("hf", tuned + "model_alignment_strategy.dpo: 1\n")).find("preferences"),
            std::string::npos);
}

TEST(ImportMaxText, BlocksWithExpertsTellTheirWidths) {
  const std::string widths =
      "base_emb_dim: 2880\nbase_num_query_heads: 64\nbase_num_kv_heads: 8\nhead_dim: 64\n"
      "base_mlp_dim: 2880\nbase_moe_mlp_dim: 1440\nbase_num_decoder_layers: 24\n"
      "vocab_size: 201088\nnum_experts: 32\nnum_experts_per_tok: 4\nsliding_window_size: 128\n"
      "dataset_type: synthetic\nper_device_batch_size: 2\nmax_target_length: 2048\n"
      "decoder_block: ";
  const ImportedRun run = testing::of(widths + "gpt_oss\nattention_sink: True\n", "oss.yml", 8);
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(run.model->layers, 24);
  ASSERT_TRUE(run.model->experts.has_value());
  EXPECT_EQ(run.model->experts->count, 32);
  EXPECT_EQ(run.model->experts->per_token, 4);
  EXPECT_EQ(run.model->experts->ffn, 1440);
  const auto has_window = [](const LayerKind& kind) { return kind.window == 128; };
  EXPECT_TRUE(std::any_of(run.model->kinds.begin(), run.model->kinds.end(), has_window));
  EXPECT_FALSE(std::all_of(run.model->kinds.begin(), run.model->kinds.end(), has_window));
  const ImportedRun qwen = testing::of(widths + "qwen3_moe\n", "qwen.yml", 8);
  EXPECT_EQ(qwen.model->experts->ffn, 1440);
  EXPECT_TRUE(qwen.model->qk_norm);
  EXPECT_EQ(qwen.stack, "maxtext");
  for (const std::string hardware : {"gpu", "gpu_multiprocess"}) {
    EXPECT_EQ(testing::of(widths + "qwen3_moe\nhardware: " + hardware + "\n", "q.yml", 8).stack,
              "maxtext-gpu");
  }
  EXPECT_NE(testing::refusal(widths + "deepseek\n", "ds.yml", 8)
                .find("or a decoder_block of mixtral, gpt_oss or qwen3_moe"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
