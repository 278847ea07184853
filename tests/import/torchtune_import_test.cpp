// YAML of torchtune: how weights are split, and what changes no step.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::member;

const std::string kTune =
    "name: tune\nbase_model_path: /m\noutput_dir: /o\nmodel:\n"
    "  _component_: torchtune.models.llama3_1.llama3_1_8b\ntokenizer:\n"
    "  _component_: torchtune.models.llama3.llama3_tokenizer\n  max_seq_len: 2048\n"
    "dataset:\n  packed: true\ndataloader_num_workers: 4\nbatch_size: 2\ndtype: bf16\n"
    "gradient_accumulation_steps: 1\noptimizer:\n  _component_: torch.optim.AdamW\n";

TEST(ImportTorchtune, NamesAndWorkersChangeNothing) {
  const ImportedRun run = testing::of(kTune, "tune.yaml", 8);
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(member(run.plan, "shard"), "absent");
  EXPECT_EQ(member(run.plan, "reshard_after_forward"), "absent");
}

TEST(ImportTorchtune, RanksMayHoldCopiesAndKeepWhatTheyGathered) {
  const std::string more = "data_parallel_replicate_dim: 2\nfsdp_reshard_after_forward: false\n";
  const ImportedRun run = testing::of(kTune + more, "tune.yaml", 8);
  EXPECT_EQ(member(run.plan, "shard"), "4");
  EXPECT_EQ(member(run.plan, "reshard_after_forward"), "false");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_NE(testing::refusal(kTune + more, "tune.yaml", 3).find("a divisor of the 3 data-parallel"),
            std::string::npos);
}

TEST(ImportTorchtune, PreferencesAreRefused) {
  for (const char* const more : {"loss:\n  _component_: torchtune.rlhf.loss.SimPOLoss\n",
                                 "loss:\n  _component_: torchtune.rlhf.loss.DPOLoss\n"}) {
    EXPECT_NE(testing::refusal(kTune + more, "tune.yaml", 8).find("training by preferences"),
              std::string::npos);
  }
  const std::string loss = "loss:\n  _component_: torchtune.modules.loss.LinearCrossEntropyLoss\n";
  EXPECT_EQ(member(testing::of(kTune + loss, "tune.yaml", 8).plan, "data"), "8");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
