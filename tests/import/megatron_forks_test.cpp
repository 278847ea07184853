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

TEST(ImportMegatron, BertHasItsNormsInFrontAndTellsMaskedWords) {
  const std::string shape =
      "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 512 "
      "--max-position-embeddings 512 --micro-batch-size 4 --global-batch-size 32 --bf16 ";
  const std::string program = "torchrun --nproc_per_node 8 pretrain_bert.py ";
  const ImportedRun run = of(program + shape + "--tokenizer-type BertWordPieceLowerCase");
  ASSERT_TRUE(run.model.has_value());
  EXPECT_FALSE(run.model->causal);
  EXPECT_EQ(run.model->norm_place, NormPlace::input);
  EXPECT_TRUE(run.model->final_norm);
  EXPECT_FALSE(run.model->embedding_norm);
  // Tables of words, positions and types; layers; the last norm; what is before the output matrix,
  // and its biases. With the pooler's 1 051 650 the 336 M of Shoeybi 2019.
  const std::int64_t h = 1024;
  EXPECT_EQ(
      parameters(*run.model),
      (30522 + 512 + 2) * h + 24 * (12 * h * h + 13 * h) + 2 * h + h * (h + 1) + 2 * h + 30522);
  EXPECT_TRUE(any_has(run.assumed, "1051650 parameters"));
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const ImportedRun alone = of(program + shape + "--bert-no-binary-head");
  EXPECT_EQ(alone.model->token_types, 0);
  EXPECT_FALSE(any_has(alone.assumed, "1051650 parameters"));
  EXPECT_EQ(alone.model->vocabulary, 30522);  // of the tokenizer that the program takes
  EXPECT_FALSE(of(shape + "--data-path my-bert_00_text_sentence").model->causal);
  EXPECT_TRUE(of("python pretrain_gpt.py " + shape +
                 "--data-path my-t5_text_sentence "
                 "--vocab-size 32000")
                  .model->causal);
}

TEST(ImportMegatron, NemosBertCountsTheDevicesOfOldTrainers) {
  const ImportedRun run =
      of("name: megatron_bert\ntrainer:\n  gpus: 2\n  num_nodes: 1\n  precision: 16\n"
         "model:\n  micro_batch_size: 4\n  tensor_model_parallel_size: 2\n"
         "  encoder_seq_length: 512\n  max_position_embeddings: 512\n  num_layers: 12\n"
         "  hidden_size: 768\n  ffn_hidden_size: 3072\n  num_attention_heads: 12\n"
         "  bert_binary_head: False\n  tokenizer:\n    type: BertWordPieceCase\n",
         "bert.yaml");
  EXPECT_FALSE(run.model->causal);
  EXPECT_EQ(run.model->token_types, 0);
  EXPECT_EQ(run.model->vocabulary, 28996);
  EXPECT_EQ(member(run.plan, "data"), "1");
  EXPECT_EQ(member(run.training, "global_batch"), "4");
  EXPECT_EQ(member(run.training, "precision"), "\"fp16\"");
}

TEST(ImportMegatron, AProgramNamedForAFamilyOfModelsIsNotTakenForAGpt) {
  std::string command = kShape + "--swiglu --disable-bias-linear ";
  command.replace(command.find("finetune.py"), 11, "pretrain_llama.py");
  EXPECT_NE(testing::refusal(command).find("makes its model in its own code"), std::string::npos);
  EXPECT_EQ(of(command + "--normalization RMSNorm --position-embedding-type rope").model->norm,
            Norm::rmsnorm);
  ImportOptions options;
  options.base = of(kShape).model;
  EXPECT_EQ(import_text(command, "run.sh", options).model->layers, 24);
}

TEST(ImportMegatron, AFlagOfLaterReleasesTellsTheStack) {
  EXPECT_EQ(of(kShape).stack, "megatron-lm");
  for (const std::string_view since : {"--log-throughput", "--use-pytorch-profiler"}) {
    EXPECT_EQ(of(kShape + std::string(since)).stack, "megatron-core") << since;
  }
}

TEST(ImportMegatron, FlagsWithoutAnObjectChangeNothing) {
  for (const std::string_view flags :
       {"--disable-tp-comm-overlap-ag --disable-tp-comm-bulk-dgrad",
        "--microbatch-group-size-per-virtual-pipeline-stage 2",
        "--standalone-embedding-stage",
        "--recompute-modules core_attn",
        "--optimizer-offload-fraction 0.5",
        "--fp4-recipe nvfp4 --fp4-param-gather",
        "--torch-fsdp2-no-reshard-after-forward",
        "--fused-residual-rmsnorm --gelu-approx --distributed-timeout-seconds-after-init 60",
        "--data-suffix .npy --force-train-samples 1000"}) {
    const ImportedRun run = of(kShape + std::string(flags));
    EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  }
  EXPECT_TRUE(of(kShape + "--attention-output-gate").model->attention_gate);
  EXPECT_EQ(member(of(kShape + "--use-torch-fsdp2 --torch-fsdp2-no-reshard-after-forward").plan,
                   "reshard_after_forward"),
            "false");
  EXPECT_TRUE(any_has(of(kShape + "--tensor-model-parallel-size 2 --sequence-parallel "
                                  "--tp-comm-overlap --disable-tp-comm-bulk-dgrad")
                          .assumed,
                      "all products of the tensor degree overlap alike"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
