// Commands of EasyLM.

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

std::string easylm(const std::string& mesh, const std::string& more) {
  return "python3 -m EasyLM.models.llama.llama_train \\\n  --mesh_dim='" + mesh +
         "' \\\n  --dtype='bf16' \\\n  --total_steps=250000 --log_freq=50 \\\n"
         "  --tokenizer.vocab_file='tokenizer.model' \\\n"
         "  --optimizer.type='adamw' --optimizer.adamw_optimizer.lr=3e-4 \\\n"
         "  --train_dataset.type='json' \\\n  --train_dataset.json_dataset.seq_length=2048 \\\n"
         "  --train_dataset.json_dataset.batch_size=512 \\\n"
         "  --checkpointer.save_optimizer_state=True \\\n  " +
         more + "\n";
}

TEST(ImportEasyLm, AxesOfItsMeshAreCopiesShardsAndParts) {
  const ImportedRun run =
      of(easylm("2,-1,4", "--load_llama_config='13b' --llama.remat_block=''"), "run.sh", 64);
  EXPECT_EQ(run.stack, "maxtext");
  EXPECT_TRUE(any_has(run.assumed, "the stack maxtext stands for EasyLM"));
  EXPECT_EQ(run.model->layers, 40);
  EXPECT_EQ(run.model->ffn, 13824);
  EXPECT_EQ(member(run.plan, "tensor"), "4");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(64 / 4));
  EXPECT_EQ(member(run.plan, "shard"), std::to_string(64 / 4 / 2));
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "micro_batch"), std::to_string(512 / (64 / 4)));
  EXPECT_EQ(member(run.plan, "recompute"), "\"none\"");
  EXPECT_EQ(member(run.plan, "attention"), "\"materialised\"");
  EXPECT_EQ(member(run.training, "global_batch"), "512");
  EXPECT_EQ(member(run.training, "sequence"), "2048");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(member(of(easylm("!dp:1,fsdp:8,mp:1", "--load_llama_config=7b")).plan, "data"), "8");
}

TEST(ImportEasyLm, StepsGatherBatchesAndKeepNoActivationsUnlessTheyAreToldTo) {
  const ImportedRun run = of(easylm("1,1,8",
                                    "--optimizer.accumulate_gradient_steps=4 "
                                    "--llama.scan_attention=True --llama.hidden_size=1024 "
                                    "--llama.base_model=llama_3b"),
                             "run.sh",
                             8);
  EXPECT_EQ(run.model->hidden, 1024);  // instead of 3200, which the model of that name has
  EXPECT_EQ(run.model->layers, 26);
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(4 * 512));
  EXPECT_EQ(member(run.plan, "micro_batch"), "512");
  EXPECT_EQ(member(run.plan, "reduce_every_pass"), "true");
  EXPECT_EQ(member(run.plan, "sharding"), "\"none\"");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.plan, "attention"), "\"flash\"");
  const ImportedRun open = testing::of_file(easylm("1,-1,1", "--load_llama_config=7b"), "run.sh");
  EXPECT_EQ(member(open.plan, "data"), "\"left open by the import\"");
  EXPECT_EQ(member(open.plan, "micro_batch"), "\"left open by the import\"");
}

TEST(ImportEasyLm, WhatItsTrainingIsNotIsRefused) {
  const std::string model = "--load_llama_config=7b";
  for (const std::string_view mesh : {"1,8", "1,-1,-1", "1,8,0", "1,a,8", "1,1,8,1"}) {
    const std::string line = refusal(easylm(std::string(mesh), model), "run.sh", 8);
    EXPECT_NE(line.find("expected three sizes"), std::string::npos) << line;
  }
  EXPECT_NE(refusal(easylm("1,-1,3", model), "run.sh", 8).find("divide the 8 devices"),
            std::string::npos);
  EXPECT_NE(refusal(easylm("1,-1,1", "--load_llama_config=8b")).find("llama3_8b or llama3_70b"),
            std::string::npos);
  EXPECT_NE(refusal(easylm("1,3,1", model)).find("a multiple of the 3 data-parallel ranks"),
            std::string::npos);
  EXPECT_NE(refusal(easylm("1,1,1", model + " --beta=0.1")).find("training by preferences"),
            std::string::npos);
  EXPECT_NE(
      refusal("python -m EasyLM.models.gptj.gptj_train --mesh_dim=1,1,8 --load_gptj_config=6b")
          .find("is arguments of EasyLM, which is not read"),
      std::string::npos);
  const std::string line = refusal(
      "python -m EasyLM.models.llama.llama_train --optimizer.type=adamw "
      "--optimizer.adamw_optimizer.lr=6e-4 --load_checkpoint=''");
  EXPECT_NE(line.find("is arguments of EasyLM, which is not read; --mesh_dim"), std::string::npos)
      << line;
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
