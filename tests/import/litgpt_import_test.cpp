// LitGPT's files and commands.

#include <gtest/gtest.h>

#include <string>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;
using testing::refusal_of;

ImportedRun of(const std::string& text,
               const std::string& file,
               std::optional<std::int64_t> devices = {}) {
  return testing::of_file(text, file, devices);
}

std::string refusal(const std::string& text, const std::string& file) {
  return refusal_of([&] { return of(text, file); });
}

const std::string kTuned =
    "checkpoint_dir: checkpoints/meta-llama/Llama-2-7b-hf\nout_dir: out\nprecision: bf16-true\n"
    "train:\n  global_batch_size: 32\n  micro_batch_size: 2\n  max_seq_length: 512\n"
    "  epochs: 1\neval:\n  interval: 100\nlogger_name: csv\n";

TEST(ImportLitGpt, TuningSharesEverythingOutAmongMoreDevicesThanOne) {
  const ImportedRun run = of(kTuned + "devices: 4\nnum_nodes: 2\n", "full.yaml");
  EXPECT_EQ(run.shipped, "llama2-7b");
  EXPECT_EQ(run.stack, "fsdp");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(4 * 2));
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.plan, "reduce_every_pass"), "false");  // two micro-batches of each rank
  EXPECT_EQ(member(run.training, "global_batch"), "32");
  EXPECT_EQ(member(run.training, "sequence"), "512");
  EXPECT_EQ(member(run.training, "master_precision"), "\"bf16\"");  // bf16-true
  EXPECT_EQ(member(run.training, "adapters"), "absent");
  const ImportedRun alone = of(kTuned, "full.yaml");
  EXPECT_EQ(member(alone.plan, "data"), "1");
  EXPECT_EQ(member(alone.plan, "sharding"), "\"none\"");
  EXPECT_EQ(member(alone.plan, "recompute"), "\"none\"");
  EXPECT_EQ(refusal(kTuned + "devices: 3\n", "full.yaml").find("a multiple of micro-batch") ==
                std::string::npos,
            false);
}

TEST(ImportLitGpt, AdaptersAreOfTheProductsThatAreSwitchedOn) {
  const ImportedRun run = of(kTuned +
                                 "lora_r: 16\nlora_key: true\nlora_value: false\nlora_mlp: true\n"
                                 "quantize: bnb.nf4-dq\nlora_alpha: 16\n",
                             "lora.yaml");
  EXPECT_EQ(member(run.training, "adapters"),
            R"({"rank":16,"targets":["query","key","gate","up","down"],"base":"nf4"})");
  EXPECT_TRUE(run.unread.empty());
  // What is switched off counts for nothing.
  const std::string galore = "galore:\n  use_galore: false\n  galore_r: 128\n";
  EXPECT_TRUE(of(kTuned + "lora_r: 16\n" + galore, "lora.yaml").unread.empty());
  // One adapter of many: the head's is left out, and said.
  const ImportedRun headed = of(kTuned + "lora_r: 16\nlora_head: true\n", "lora.yaml");
  EXPECT_TRUE(any_has(headed.assumed, "the head's adapter"));
}

TEST(ImportLitGpt, AModelMayBeToldByItsConfiguration) {
  const std::string text =
      "model_config:\n  name: small\n  n_layer: 4\n  n_embd: 256\n  n_head: 8\n  vocab_size: 1000\n"
      "  padding_multiple: 64\n  block_size: 512\n";
  const std::string rest =
      "out_dir: out\ntrain:\n  global_batch_size: 16\n  micro_batch_size: 1\ndevices: 16\n";
  const ImportedRun neox = of(text + rest, "pretrain.yaml");
  ASSERT_TRUE(neox.model.has_value());
  EXPECT_EQ(neox.model->vocabulary, 1024);
  EXPECT_EQ(neox.model->ffn, 4 * 256);
  // Two tables, and of each layer 12 products of width x width, their biases, two norms; a last
  // norm.
  EXPECT_EQ(parameters(*neox.model), 2 * 1024 * 256 + 4 * (12 * 256 * 256 + 13 * 256) + 2 * 256);
  EXPECT_EQ(neox.stack, "torchtitan-compiled");
  EXPECT_EQ(member(neox.training, "sequence"), "512");
  EXPECT_EQ(member(neox.plan, "shard"), "8");  // HYBRID_SHARD
  EXPECT_TRUE(any_has(neox.assumed, "precision: taken as bf16-mixed"));
  const std::string llama =
      "  bias: false\n  parallel_residual: false\n  norm_class_name: RMSNorm\n"
      "  intermediate_size: 768\n  n_query_groups: 2\n";
  const ImportedRun gated = of(text + llama + "  mlp_class_name: LLaMAMLP\n" + rest, "a.yaml");
  EXPECT_EQ(parameters(*gated.model),
            2 * 1024 * 256 + 4 * (2 * 256 * 256 + 2 * 256 * 64 + 3 * 256 * 768 + 2 * 256) + 256);
  const ImportedRun experts =
      of(text + llama + "  mlp_class_name: LLaMAMoE\n  n_expert: 4\n" + rest, "a.yaml");
  EXPECT_EQ(parameters(*experts.model),
            2 * 1024 * 256 +
                4 * (2 * 256 * 256 + 2 * 256 * 64 + 4 * 3 * 256 * 768 + 4 * 256 + 2 * 256) + 256);
  const std::string normed =
      "  mlp_class_name: LLaMAMoE\n  n_expert: 4\n  moe_intermediate_size: 96\n";
  const ImportedRun narrow = of(text + llama + normed + "  norm_qk: true\n" + rest, "a.yaml");
  EXPECT_TRUE(narrow.model->qk_norm);
  EXPECT_EQ(narrow.model->experts->ffn, 96);
  EXPECT_EQ(parameters(*narrow.model),
            2 * 1024 * 256 + 256 +
                4 * (2 * 256 * 256 + 2 * 256 * 64 + 4 * 3 * 256 * 96 + 4 * 256 + 2 * 256 + 2 * 32));
  EXPECT_EQ(of(text + llama + normed + rest, "a.yaml").model->experts->ffn, 96);
  EXPECT_NE(
      refusal(text + llama + normed + "  norm_qk: true\n  norm_qk_type: olmo2\n" + rest, "a.yaml")
          .find("expected the layers of Llama"),
      std::string::npos);
  EXPECT_NE(
      refusal(text + "  norm_qk: true\n" + rest, "a.yaml").find("expected the layers of Llama"),
      std::string::npos);
}

TEST(ImportLitGpt, ACommandTellsTheSameAsItsFile) {
  const ImportedRun run = of(
      "litgpt finetune_lora microsoft/phi-2 --data JSON --data.json_path a.json --lora_r 4 \\\n"
      "  --train.max_seq_length 256 --train.micro_batch_size=2 --precision bf16-true --devices 2\n",
      "tune.sh");
  ASSERT_TRUE(run.model.has_value());
  EXPECT_EQ(run.model->name, "phi-2");
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":4,"targets":["query","value"]})");
  EXPECT_EQ(member(run.training, "sequence"), "256");
  EXPECT_EQ(member(run.training, "global_batch"), "128");  // its default
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.plan, "data"), "2");
  const ImportedRun anew =
      of("litgpt pretrain pythia-14m --train.tie_embeddings false --devices auto", "a.sh", 4);
  EXPECT_EQ(parameters(*anew.model), 14'067'712);  // as it is published
  EXPECT_EQ(member(anew.plan, "data"), "4");
  EXPECT_EQ(member(anew.training, "sequence"), "512");  // the longest of the model
  EXPECT_EQ(member(anew.training, "global_batch"), "512");
  EXPECT_NE(refusal("litgpt finetune_adapter microsoft/phi-2 --train.epochs 1", "a.sh")
                .find("others are not modelled"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
