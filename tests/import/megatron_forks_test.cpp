// Megatron-LM before its Core, and its kin of the same time.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

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

}  // namespace TITER_TEST_FILE
}  // namespace titer
