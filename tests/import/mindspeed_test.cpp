// Arguments of MindSpeed: what it has beside Megatron-LM's.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;
using testing::refusal_of;

ImportedRun of(std::string_view flags, std::optional<std::int64_t> devices = {}) {
  ImportOptions options;
  options.devices = devices;
  return import_text(
      "--num-layers 8 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
      "--max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 64 --bf16 "
      "--padded-vocab-size 1024 --no-shared-storage " +
          std::string(flags),
      "run.sh",
      options);
}

std::string refusal(std::string_view flags) {
  return refusal_of([&] { return of(flags); });
}

TEST(MindSpeed, IsToldByItsFlags) {
  const ImportedRun run = of("--vocab-size 1000 --swiglu --use-fused-swiglu");
  EXPECT_EQ(run.format, "MindSpeed arguments");
  EXPECT_EQ(run.stack, "megatron-core");
  EXPECT_TRUE(any_has(run.assumed, "stands for MindSpeed"));
  EXPECT_TRUE(run.unread.empty());
  EXPECT_EQ(run.model->vocabulary, 1024);  // the padded rows, of those that are given
  // Its own layers do not fuse attention unless they are told to.
  EXPECT_EQ(run.model->attention, AttentionKernel::materialised);
  EXPECT_EQ(of("--use-flash-attn").model->attention, AttentionKernel::flash);
}

TEST(MindSpeed, LayersThatDoNothingKeepTheirPlaces) {
  const ImportedRun run = of("--noop-layers 6,7 --pipeline-model-parallel-size 2", 4);
  EXPECT_EQ(run.model->layers, 8 - 2);
  EXPECT_EQ(member(run.plan, "layers"), "[4,2]");
  EXPECT_TRUE(any_has(run.assumed, "--noop-layers: 6,7: they do nothing"));
  // Stages of the model, in the order of its layers.
  EXPECT_EQ(member(of("--noop-layers 0,7 --pipeline-model-parallel-size 2 "
                      "--num-layers-per-virtual-pipeline-stage 2",
                      4)
                       .plan,
                   "layers"),
            "[1,2,2,1]");
  EXPECT_EQ(member(of("--noop-layers 7 --pipeline-model-parallel-size 2 "
                      "--schedules-method dualpipev",
                      4)
                       .plan,
                   "layers"),
            "[2,2,2,1]");
  EXPECT_TRUE(refusal("--noop-layers 8").ends_with("expected numbers of layers, from 0 on"));
}

TEST(MindSpeed, StagesMayHaveAnyNumbersOfLayers) {
  const ImportedRun run = of("--num-layer-list 3,5 --pipeline-model-parallel-size 2", 4);
  EXPECT_EQ(member(run.plan, "layers"), "[3,5]");
  EXPECT_TRUE(any_has({refusal("--num-layer-list a,b --pipeline-model-parallel-size 2")},
                      "expected layers of the stages"));
}

TEST(MindSpeed, ExpertsStartBehindDenseLayers) {
  const ImportedRun run =
      of("--num-experts 8 --moe-router-topk 2 --moe-intermediate-size 96 --moe-ffn-hidden-size 96 "
         "--n-shared-experts 2 --first-k-dense-replace 3 --moe-layer-freq 2 --noop-layers 7 "
         "--moe-token-dispatcher-type alltoall_seq --moe-alltoall-overlap-comm");
  const Experts& experts = *run.model->experts;
  EXPECT_EQ(experts.count, 8);
  EXPECT_EQ(experts.ffn, 96);
  EXPECT_EQ(experts.shared_ffn, 2 * 96);
  // Of layers 0 to 6 those from the third on whose number is even: 4 and 6.
  const std::vector<bool> expected = {false, false, false, false, true, false, true};
  std::vector<bool> found;
  for (const auto& run_of_layers : run.model->order) {
    found.insert(found.end(),
                 static_cast<std::size_t>(run_of_layers.count),
                 run.model->kinds[static_cast<std::size_t>(run_of_layers.kind)].experts);
  }
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  // -1 stands for experts in all layers.
  const ImportedRun all = of("--num-experts 8 --first-k-dense-replace -1 --moe-layer-freq -1");
  EXPECT_EQ(all.model->kinds.size(), 1U);
  EXPECT_TRUE(all.model->kinds.front().experts);
}

TEST(MindSpeed, TensorRanksMayHoldWholeExperts) {
  const std::string flags =
      "--num-experts 8 --tensor-model-parallel-size 2 --expert-model-parallel-size 4 ";
  const ImportedRun run = of(flags + "--moe-tp-extend-ep", 16);
  EXPECT_EQ(member(run.plan, "expert"), std::to_string(4 * 2));
  EXPECT_EQ(member(run.plan, "expert_tensor"), "1");
  EXPECT_EQ(member(of(flags, 16).plan, "expert"), "4");
}

TEST(MindSpeed, SequencesAreSplitByHeadsUnlessItSaysOtherwise) {
  const auto method = [](std::string_view flags) {
    return member(of("--context-parallel-size 4 " + std::string(flags), 8).plan, "context_method");
  };
  EXPECT_EQ(method(""), "\"ulysses\"");
  EXPECT_EQ(method("--context-parallel-algo megatron_cp_algo"), "\"ring\"");
  const ImportedRun both =
      of("--context-parallel-size 4 --context-parallel-algo hybrid_cp_algo "
         "--ulysses-degree-in-cp 2",
         8);
  EXPECT_EQ(member(both.plan, "context_method"), "\"hierarchical\"");
  EXPECT_EQ(member(both.plan, "context_inner"), "2");
  EXPECT_TRUE(
      any_has(of("--context-parallel-size 4 --context-parallel-algo adaptive_cp_algo").unread,
              "--context-parallel-algo"));
}

TEST(MindSpeed, WindowsNormsAndLatentsAreOfTheModel) {
  const ImportedRun run = of("--interleave-sliding-window 32 --post-norm --gelu-tanh");
  EXPECT_EQ(run.model->norms, 4);
  EXPECT_TRUE(run.model->gated);
  EXPECT_EQ(run.model->kinds[static_cast<std::size_t>(run.model->order.front().kind)].window, 32);
  EXPECT_EQ(run.model->kinds.size(), 2U);
  const ImportedRun latent =
      of("--multi-head-latent-attention --kv-lora-rank 16 --qk-nope-head-dim 12 "
         "--qk-rope-head-dim 4 --v-head-dim 8");
  EXPECT_EQ(latent.model->latent->kv_rank, 16);
  EXPECT_EQ(latent.model->head_dim, 12 + 4);
}

TEST(MindSpeed, ProcessesOfMindSporesLauncherAreDevices) {
  const ImportedRun run = import_text(
      "msrun --worker_num 16 --local_worker_num 8 pretrain_gpt.py --num-layers 8 --hidden-size 64 "
      "--num-attention-heads 4 --seq-length 128 --max-position-embeddings 128 "
      "--micro-batch-size 1 --global-batch-size 64 --bf16 --padded-vocab-size 1024 "
      "--no-shared-storage --ai-framework mindspore",
      "run.sh");
  EXPECT_EQ(member(run.plan, "data"), "16");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(MindSpeed, WhatMemoryKeepsFollows) {
  EXPECT_EQ(member(of("--reuse-fp32-param").training, "master_precision"), "\"bf16\"");
  EXPECT_EQ(member(of("--swap-optimizer").plan, "offload"), R"({"optimizer":"host"})");
  EXPECT_EQ(member(of("--recompute-activation-function --recompute-norm").plan, "recompute"),
            R"(["mlp_activation","layer_norm"])");
  EXPECT_TRUE(
      any_has(of("--recompute-norm --recompute-granularity full").unread, "--recompute-norm"));
}

TEST(MindSpeed, AdaptersAreNamedByMegatronsLayers) {
  const ImportedRun run = of("--swiglu --lora-r 8 --lora-target-modules linear_qkv linear_fc2");
  EXPECT_EQ(member(run.training, "adapters"),
            R"({"rank":8,"targets":["query","key","value","down"],"fused":true})");
  EXPECT_TRUE(any_has({refusal("--stage dpo")}, "--stage: dpo: expected sft"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
