// What Megatron-LM trains beside plain models of text: experts whose tokens are gathered, images.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/model/transformer/tower.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;

std::string gpt(const std::string& flags) {
  return "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
         "--max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 64 " +
         flags;
}

ImportedRun of(const std::string& flags, std::int64_t devices) {
  return testing::of(gpt(flags), "run.sh", devices);
}

TEST(MegatronModels, ExpertsAreGatheredByDefault) {
  const std::string experts =
      "--num-experts 8 --expert-model-parallel-size 8 --expert-tensor-parallel-size 1 ";
  const auto dispatch = [&](const std::string& flags) {
    return member(of(experts + flags, 64).plan, "expert_dispatch");
  };
  EXPECT_EQ(dispatch(""), "\"all-gather\"");
  EXPECT_TRUE(any_has(of(experts, 64).assumed, "moe_token_dispatcher_type: allgather"));
  EXPECT_EQ(dispatch("--moe-token-dispatcher-type allgather"), "\"all-gather\"");
  EXPECT_EQ(dispatch("--moe-token-dispatcher-type alltoall"), "absent");
  EXPECT_EQ(dispatch("--moe-token-dispatcher-type flex"), "\"deduplicated\"");
  EXPECT_EQ(dispatch("--moe-token-dispatcher-type flex --moe-enable-deepep"), "\"deduplicated\"");
  // All of them are on every rank.
  EXPECT_EQ(member(of("--num-experts 8", 64).plan, "expert_dispatch"), "absent");
}

TEST(MegatronModels, ImagesStandBeforeTheText) {
  const std::string images = "--img-h 336 --img-w 336 --patch-dim 14 --encoder-num-layers 2 ";
  const std::string program = "torchrun --nproc_per_node 8 pretrain_vlm.py ";
  const auto taken = [&](const std::string& more) {
    return import_text(program + gpt(images + more), "run.sh", {});
  };
  const ImportedRun run = taken("");
  ASSERT_TRUE(run.model && run.model->tower);
  const Tower& tower = *run.model->tower;
  EXPECT_EQ(tower.encoder.layers, 2);
  EXPECT_EQ(tokens_of(tower, {.of_sequence = 1, .size = 336}).returned, 24 * 24 + 1);
  EXPECT_EQ(member(run.training, "sequence"), std::to_string(128 + 24 * 24 + 1));
  EXPECT_EQ(run.model->max_sequence, 128 + 24 * 24 + 1);
  EXPECT_EQ(member(run.training, "images"), "1");
  // A layer of its CLIP is like one of the text; patches, their places, the token of all and a norm
  // in front; an MLP behind.
  const std::int64_t h = 64;
  const std::int64_t layer = 4 * h * h + 4 * h + 8 * h * h + 5 * h + 4 * h;
  EXPECT_EQ(tower_parameters(tower).total(),
            2 * layer + 3 * 14 * 14 * h + (24 * 24 + 1) * h + h + 2 * h + 8 * h * h + 5 * h);
  EXPECT_EQ(member(taken("--disable-vision-class-token").training, "sequence"),
            std::to_string(128 + 24 * 24));
  EXPECT_EQ(member(taken("--freeze-ViT").training, "frozen_tower"), "true");
  EXPECT_NE(testing::refusal(program + gpt("--img-h 224 --img-w 336")).find("img-w"),
            std::string::npos);
  EXPECT_NE(testing::refusal(program + gpt(images + "--swiglu")).find("swiglu"), std::string::npos);
  // Not those that only look.
  EXPECT_NE(testing::refusal("torchrun --nproc_per_node 8 pretrain_vision_classify.py " +
                             gpt(images + "--num-classes 1000"))
                .find("a vision tower"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
