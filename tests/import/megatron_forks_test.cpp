// Megatron-LM before its Core, and Megatron-LLM of the same time.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;
using testing::of;

const std::string kShape =
    "torchrun --nproc_per_node 8 finetune.py --num_layers 24 --hidden_size 1024 "
    "--num_attention_heads 16 --seq_length 1024 --max_position_embeddings 2048 "
    "--micro_batch_size 4 --global_batch_size 64 --vocab_size 32000 --bf16 ";

TEST(ImportMegatron, BeforeCoreAttentionIsFusedWhereThatIsAskedFor) {
  for (const std::string_view gone : {"--DDP-impl local", "--data-impl mmap"}) {
    EXPECT_EQ(of(kShape + std::string(gone)).model->attention, AttentionKernel::materialised);
    EXPECT_EQ(of(kShape + "--use-flash-attn " + std::string(gone)).model->attention,
              AttentionKernel::flash);
    EXPECT_EQ(
        of(kShape + "--transformer-impl transformer_engine " + std::string(gone)).model->attention,
        AttentionKernel::flash);
  }
  EXPECT_EQ(of(kShape).model->attention, AttentionKernel::flash);
}

TEST(ImportMegatron, OfBigCodesAllHeadsShareOnePairOfKeysAndValues) {
  EXPECT_EQ(of(kShape + "--attention-head-type multiquery").model->kv_heads, 1);
  const ImportedRun many = of(kShape + "--attention-head-type multihead");
  EXPECT_EQ(many.model->kv_heads, 16);
  EXPECT_TRUE(many.unread.empty()) << many.unread.front();
  std::string falcon = kShape + "--attention-head-type multiquery";
  falcon.replace(falcon.find("finetune.py"), 11, "pretrain_megatron_falcon.py");
  EXPECT_NE(testing::refusal(falcon).find("Falcon's layers in Megatron's own settings"),
            std::string::npos);
}

TEST(ImportMegatron, OfItsFirstReleasesABatchIsOneOfARank) {
  const std::string first =
      "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
      "--max-position-embeddings 128 --vocab-file gpt2-vocab.json --batch-size 3 "
      "--model-parallel-size 2 --warmup 0.01 --fp16 ";
  const ImportedRun alone = of("torchrun --nproc_per_node 8 pretrain_gpt2.py " + first);
  EXPECT_EQ(member(alone.plan, "tensor"), "2");
  EXPECT_EQ(member(alone.plan, "micro_batch"), "3");
  EXPECT_EQ(member(alone.training, "global_batch"), "12");  // 3 x 4 ranks
  EXPECT_EQ(alone.model->attention, AttentionKernel::materialised);
  EXPECT_TRUE(alone.unread.empty()) << alone.unread.front();
  const ImportedRun run = of("deepspeed --num_gpus 8 pretrain_gpt2.py " + first +
                             "--pipe-parallel-size 2 --gas 16 --deepspeed --zero-stage 1 "
                             "--cpu-optimizer --checkpoint-activations --checkpoint-in-cpu");
  EXPECT_EQ(member(run.plan, "pipeline"), "2");
  EXPECT_EQ(member(run.plan, "data"), "2");
  EXPECT_EQ(member(run.training, "global_batch"), "96");  // 3 x 2 ranks x 16
  EXPECT_EQ(member(run.plan, "offload"), R"({"optimizer":"host","activations":"host"})");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(ImportNeox, ReductionsMayBeInFullPrecision) {
  const std::string neox =
      "{\"num_layers\": 12, \"hidden_size\": 768, \"num_attention_heads\": 12, "
      "\"seq_length\": 2048, \"max_position_embeddings\": 2048, \"pos_emb\": \"rotary\", "
      "\"train_micro_batch_size_per_gpu\": 4, \"vocab_file\": \"20B_tokenizer.json\", "
      "\"precision\": \"bfloat16\", \"no_ssh_check\": true, \"memory_profiling\": false, "
      "\"peak_theoretical_tflops\": 312, \"fp32_allreduce\": ";
  const ImportedRun wide = of(neox + "true}", "run.yml", 8);
  EXPECT_EQ(member(wide.training, "gradient_precision"), "\"fp32\"");
  EXPECT_TRUE(wide.unread.empty()) << wide.unread.front();
  EXPECT_NE(member(of(neox + "false}", "run.yml", 8).training, "gradient_precision"), "\"fp32\"");
}

TEST(ImportNeox, TheOlderMlpOfLlamaHasTheWidthThatIsWritten) {
  const std::string neox =
      "{\"num_layers\": 2, \"hidden_size\": 96, \"num_attention_heads\": 4, \"seq_length\": 64, "
      "\"max_position_embeddings\": 64, \"train_micro_batch_size_per_gpu\": 4, "
      "\"vocab_file\": \"20B_tokenizer.json\", \"mlp_type\": \"llama\"";
  EXPECT_EQ(of(neox + ", \"intermediate_size\": 320}", "run.yml", 8).model->ffn, 320);
  EXPECT_EQ(of(neox + "}", "run.yml", 8).model->ffn, 256);
}

TEST(ImportNeox, TrainsInFullPrecisionUnlessASectionOrAWordTellsAnother) {
  const auto precision = [](const std::string& settings) {
    const ImportedRun run =
        of("{\"num_layers\": 2, \"hidden_size\": 96, \"num_attention_heads\": 4, "
           "\"seq_length\": 64, \"max_position_embeddings\": 64, "
           "\"train_micro_batch_size_per_gpu\": 4, \"vocab_file\": \"20B_tokenizer.json\"" +
               settings + "}",
           "run.yml",
           8);
    return member(run.training, "precision") +
           (any_has(run.assumed, "precision: taken as fp32") ? " assumed" : "");
  };
  EXPECT_EQ(precision(""), "\"fp32\" assumed");
  EXPECT_EQ(precision(", \"fp16\": {\"enabled\": true}"), "\"fp16\"");
  EXPECT_EQ(precision(", \"fp16\": {\"enabled\": true, \"type\": \"bfloat16\"}"), "\"bf16\"");
  EXPECT_EQ(precision(", \"precision\": \"bfloat16\""), "\"bf16\"");
}

TEST(ImportMegatronLlm, HasNoBiasesAndNoSharedTablesUnlessItIsTold) {
  const ImportedRun llama = of(kShape +
                               "--glu_activation swiglu --use_rms_norm --no_tie_embed_logits "
                               "--position_embedding_type rotary --num_attention_heads_kv 4 "
                               "--ffn_hidden_size 2816 --layernorm_epsilon 1e-5 --metrics all "
                               "--variable_seq_lengths --sequence_parallel "
                               "--tensor_model_parallel_size 2 --use_flash_attn");
  EXPECT_EQ(llama.stack, "megatron-lm");
  EXPECT_TRUE(llama.model->gated);
  EXPECT_EQ(llama.model->ffn, 2816);
  EXPECT_EQ(llama.model->kv_heads, 4);
  EXPECT_EQ(llama.model->norm, Norm::rmsnorm);
  EXPECT_EQ(llama.model->biases, Biases{});
  EXPECT_FALSE(llama.model->tied_embeddings);
  EXPECT_EQ(llama.model->positions, Positions::rotary);
  EXPECT_EQ(llama.model->attention, AttentionKernel::flash);
  EXPECT_EQ(member(llama.plan, "tensor"), "2");
  EXPECT_EQ(member(llama.plan, "data"), std::to_string(8 / 2));
  EXPECT_TRUE(llama.unread.empty()) << llama.unread.front();
  const ImportedRun plain = of(kShape + "--use_bias --glu_activation geglu");
  EXPECT_TRUE(plain.model->gated);
  EXPECT_EQ(plain.model->ffn, 4 * 1024);
  EXPECT_TRUE(plain.model->biases.qkv);
  EXPECT_TRUE(plain.model->tied_embeddings);
  EXPECT_EQ(plain.model->norm, Norm::layernorm);
  EXPECT_EQ(plain.model->positions, Positions::learned);
  EXPECT_EQ(plain.model->attention, AttentionKernel::materialised);
  EXPECT_TRUE(any_has(of(kShape + "--use_bias --parallel_attn").unread, "parallel_attn"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
