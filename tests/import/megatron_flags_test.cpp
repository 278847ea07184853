// Flags of Megatron-LM and its kin: what becomes of those beyond widths and degrees.

#include <gtest/gtest.h>

#include <array>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;

std::string gpt(std::string_view flags) {
  return "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
         "--max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 64 " +
         std::string(flags);
}

ImportedRun of(std::string_view flags, std::optional<std::int64_t> devices = {}) {
  ImportOptions options;
  options.devices = devices;
  return import_text(gpt(flags), "run.sh", options);
}

TEST(MegatronFlags, WhatIsTakenOtherwiseIsSaid) {
  constexpr std::array<std::string_view, 5> flags = {
      "--use-nccl-ub",
      "--sync-tp-duplicated-parameters",
      "--optimizer-cuda-graph",
      "--deterministic-mode",
      "--num-layers-at-start-in-bf16 1 --fp8-format hybrid"};
  for (const std::string_view flag : flags) {
    const ImportedRun run = of(flag);
    const std::string_view name = flag.substr(0, flag.find(' '));
    EXPECT_TRUE(any_has(run.assumed, name)) << flag;
    EXPECT_TRUE(run.unread.empty()) << flag;
  }
  // Beside experts that there are not, and numbers that are not narrow, they say nothing.
  EXPECT_TRUE(of("--num-layers-at-start-in-bf16 1 --bf16").assumed.size() ==
              of("--bf16").assumed.size());
}

TEST(MegatronFlags, SharedExpertsComputeBesideTheTokensWayWhereThereAreSome) {
  const auto overlap = [](std::string_view flags) {
    return member(of(std::string("--num-experts 8 ") + std::string(flags)).plan,
                  "shared_expert_overlap");
  };
  EXPECT_EQ(overlap("--moe-shared-expert-intermediate-size 512 --moe-shared-expert-overlap"),
            "true");
  EXPECT_EQ(overlap("--moe-shared-expert-intermediate-size 512"), "absent");
  EXPECT_EQ(overlap("--moe-shared-expert-overlap"), "absent");
}

TEST(MegatronFlags, SharedExpertsAreAsWideAsIsTold) {
  const auto width = [](std::string_view flags) {
    return of("--num-experts 8 --moe-ffn-hidden-size 96 " + std::string(flags))
        .model->experts->shared_ffn;
  };
  EXPECT_EQ(width(""), 0);
  EXPECT_EQ(width("--moe-shared-expert-intermediate-size 160"), 160);
  EXPECT_EQ(width("--enable-shared-expert --num-shared-experts 2"), 2 * 96);
  // Of both it is the width that the layer is made of.
  EXPECT_EQ(width("--num-shared-experts 2 --moe-shared-expert-intermediate-size 160"), 160);
  EXPECT_EQ(width("--enable-shared-expert --shared-moe-ffn-hidden-size 160"), 160);
  const ImportedRun open = of("--num-experts 8 --enable-shared-expert");
  EXPECT_TRUE(any_has(open.unread, "--enable-shared-expert: nothing tells the width"));
}

TEST(MegatronFlags, ReductionsOfInputsCountWhereSequencesAreWhole) {
  constexpr std::string_view flag = "--no-async-tensor-model-parallel-allreduce";
  const std::string split = std::string(flag) + " --tensor-model-parallel-size 2";
  EXPECT_TRUE(of(flag).unread.empty());
  EXPECT_TRUE(any_has(of(split).unread, flag));
  EXPECT_TRUE(of(split + " --sequence-parallel").unread.empty());
}

TEST(MegatronFlags, AnAttentionSinkCountsWhereThereIsOne) {
  EXPECT_TRUE(of("--attention-sink-k 0").unread.empty());
  EXPECT_TRUE(any_has(of("--attention-sink-k 4").unread, "--attention-sink-k"));
}

TEST(MegatronFlags, GatesPositionsAndTablesFollow) {
  EXPECT_TRUE(of("--quick-geglu").model->gated);
  EXPECT_FALSE(of("").model->gated);
  EXPECT_EQ(of("--no-position-embedding").model->positions, Positions::none);
  EXPECT_EQ(of("--no-position-embedding --position-embedding-type rope").model->positions,
            Positions::rotary);
  // Of what nobody names by more than its files: GPT-2's alone has merges.
  EXPECT_EQ(of("--vocab-file a/vocab.json --merge-file a/merges.txt").model->vocabulary, 50257);
}

TEST(MegatronFlags, WhatOneSettingSaysAnotherMaySayAgain) {
  EXPECT_TRUE(of("--use-flash-attn --use-flash-attn-v2 --overlap-grad-reduce").unread.empty());
  EXPECT_TRUE(of("--padded-vocab-size 1024 --vocab-size 1000").unread.empty());
  EXPECT_EQ(of("--padded-vocab-size 1024 --vocab-size 1000").model->vocabulary, 1024);
}

TEST(MegatronFlags, PlansFollow) {
  const ImportedRun groups =
      of("--use-distributed-optimizer --num-distributed-optimizer-instances 2", 16);
  EXPECT_EQ(member(groups.plan, "shard"), std::to_string(16 / 2));
  const std::string stages =
      "--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 1 ";
  EXPECT_EQ(member(of(stages + "--no-overlap-p2p-communication", 8).plan, "pipeline_send"),
            "\"blocking\"");
  EXPECT_EQ(member(of(stages, 8).plan, "pipeline_send"), "absent");
  EXPECT_EQ(member(of("--num-experts 8 --moe-layer-recompute").plan, "recompute"), R"(["moe"])");
  EXPECT_EQ(
      member(of("--num-experts 8 --moe-layer-recompute --recompute-activations").plan, "recompute"),
      R"(["core_attention","moe"])");
  const ImportedRun open = import_text(
      "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
      "--max-position-embeddings 128 --micro-batch-size $1 --global-batch-size 64",
      "run.sh");
  EXPECT_EQ(member(open.plan, "micro_batch"), "\"left open by the import\"");
}

TEST(MegatronFlags, OverridesOfARecipeAreNemosToo) {
  ImportOptions options;
  options.base = of("").model;
  const ImportedRun run = import_text(
      "MODEL_ARGS:\n  trainer.max_steps: 50\n  model.config.num_layers: 2\n  --bf16: true\n",
      "model_config.yaml",
      options);
  EXPECT_EQ(run.model->layers, 2);
  EXPECT_EQ(run.stack, "nemo");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(MegatronFlags, ListsOfItsTestsStandInBracketsWithinQuotes) {
  const std::string widths =
      "MODEL_ARGS:\n  --num-layers: 4\n  --hidden-size: 64\n  --num-attention-heads: 4\n"
      "  --seq-length: 128\n  --max-position-embeddings: 128\n  --micro-batch-size: 1\n"
      "  --global-batch-size: 64\n  --recompute-granularity: selective\n";
  const ImportedRun run =
      import_text(widths + "  --recompute-modules: \"[core_attn mlp]\"\n", "model_config.yaml");
  EXPECT_EQ(member(run.plan, "recompute"), "[\"core_attention\",\"mlp\"]");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(MegatronFlags, MegatronsFsdpSharesInGroupsWhoseCopiesAreWhole) {
  const std::string flags =
      "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
      "--num-distributed-optimizer-instances 2 --outer-dp-sharding-strategy ";
  const ImportedRun run = of(flags + "no_shard --megatron-fsdp-version 2", 8);
  EXPECT_EQ(member(run.plan, "shard"), "4");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_TRUE(any_has(run.assumed, "megatron-fsdp-version"));
  EXPECT_TRUE(any_has(of(flags + "optim", 8).unread, "taken as no_shard"));
}

TEST(MegatronFlags, HowEachProductIsSentBesideAnotherIsTheStacks) {
  const ImportedRun run = import_text(
      "trainer:\n  num_nodes: 1\n  devices: 8\n  precision: bf16\nmodel:\n  micro_batch_size: 1\n"
      "  global_batch_size: 8\n  tensor_model_parallel_size: 2\n  encoder_seq_length: 128\n"
      "  max_position_embeddings: 128\n  num_layers: 4\n  hidden_size: 64\n"
      "  num_attention_heads: 4\n  sequence_parallel: true\n  ub_tp_comm_overlap: true\n"
      "  ub_tp_comm_overlap_cfg:\n    qkv_dgrad:\n      method: bulk\n      num_sm: 4\n",
      "nemo.yaml");
  EXPECT_EQ(member(run.plan, "tensor_overlap"), "\"ring\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(MegatronFlags, OfForksWhatChangesNoStepIsHarmless) {
  const ImportedRun run =
      of("--use-mpi --use-z-loss --use-gcp-dynamic-checkpointing --generation-length 128");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(MegatronFlags, EachOfVeryManyIsListed) {
  constexpr int many = 20'000;
  std::string flags;
  for (int i = 0; i < many; ++i) {
    flags += " --flag-of-tomorrow-" + std::to_string(i) + " " + std::to_string(i);
  }
  const ImportedRun run = of(flags);
  ASSERT_EQ(run.unread.size(), static_cast<std::size_t>(many));
  EXPECT_TRUE(run.unread.back().ends_with("--flag-of-tomorrow-19999: 19999"));
}

TEST(NeoxExperts, AreInEverySecondLayer) {
  const std::string model =
      "{\"num_layers\": 4, \"hidden_size\": 64, \"num_attention_heads\": 4, \"seq_length\": 128, "
      "\"max_position_embeddings\": 128, \"pipe_parallel_size\": 1, \"model_parallel_size\": 1, "
      "\"num_experts\": 8, \"moe_expert_parallel_size\": 2, \"checkpoint_activations\": true, "
      "\"partition_activations\": true, \"train_micro_batch_size_per_gpu\": 1";
  ImportOptions options;
  options.devices = 4;
  const ImportedRun run = import_text(model + "}", "small.yml", options);
  ASSERT_TRUE(run.model->experts.has_value());
  EXPECT_EQ(run.model->experts->per_token, 1);
  EXPECT_EQ(run.model->order.size(), 4u);  // with experts and without in turn
  EXPECT_TRUE(run.model->kinds[static_cast<std::size_t>(run.model->order[0].kind)].experts);
  EXPECT_EQ(member(run.plan, "expert"), "2");
  EXPECT_TRUE(any_has(run.assumed, "every second layer has experts"));
  EXPECT_TRUE(run.unread.empty());
  const ImportedRun all =
      import_text(model + ", \"moe_expert_interval\": 1}", "small.yml", options);
  EXPECT_EQ(all.model->order.size(), 1u);
}

TEST(NanotronExperts, StandInThePlaceOfTheirLayersMlps) {
  const std::string file =
      "parallelism: {dp: 4, tp: 1, pp: 1, expert_parallel_size: 2}\n"
      "tokens: {micro_batch_size: 1, sequence_length: 128, batch_accumulation_per_replica: 1}\n"
      "model:\n  dtype: bfloat16\n  model_config: {is_qwen2_config: true, hidden_size: 64, "
      "intermediate_size: 96, num_hidden_layers: 4, num_attention_heads: 4, num_key_value_heads: "
      "4, "
      "vocab_size: 512, max_position_embeddings: 128, moe_config: {num_experts: 8, top_k: 2, "
      "moe_intermediate_size: 32, layers: [1, 3]}}\n";
  const ImportedRun run = import_text(file, "small.yaml");
  ASSERT_TRUE(run.model->experts.has_value());
  EXPECT_EQ(run.model->experts->ffn, 32);
  EXPECT_EQ(run.model->experts->shared_ffn, 0);
  EXPECT_FALSE(run.model->kinds[static_cast<std::size_t>(run.model->order[0].kind)].experts);
  EXPECT_TRUE(run.model->kinds[static_cast<std::size_t>(run.model->order[1].kind)].experts);
  EXPECT_EQ(member(run.plan, "expert"), "2");
}

// Nemotron 3 Nano in Megatron-LM's own settings has its published parameters.
TEST(MegatronFlags, TellHybridsByAPattern) {
  const std::string nano =
      "--hidden-size 2688 --ffn-hidden-size 1856 --num-attention-heads 32 --kv-channels 128 "
      "--group-query-attention --num-query-groups 2 --squared-relu --disable-bias-linear "
      "--normalization RMSNorm --position-embedding-type none --vocab-size 131072 "
      "--untie-embeddings-and-output-weights --seq-length 8192 --max-position-embeddings 8192 "
      "--num-experts 128 --moe-router-topk 6 --moe-ffn-hidden-size 1856 "
      "--moe-shared-expert-intermediate-size 3712 --moe-router-enable-expert-bias "
      "--mamba-num-heads 64 --micro-batch-size 1 --global-batch-size 64 "
      "--make-vocab-size-divisible-by 128 ";
  const std::string pattern = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME";
  const ImportedRun run = import_text(
      nano +
          "--is-hybrid-model --num-layers 52 --spec mamba_layer_specs --hybrid-override-pattern " +
          pattern,
      "run.sh");
  EXPECT_EQ(parameters(*run.model), 31'577'940'288);
  // Newer releases divide it into stages, count its layers and append modules for further tokens.
  std::string staged = pattern;
  staged.insert(26, "|");
  const ImportedRun newer =
      import_text(nano + "--hybrid-layer-pattern '" + staged + "/*E/*E'", "run.sh");
  EXPECT_EQ(newer.model->runs(), run.model->runs());
  EXPECT_EQ(newer.model->predicted_tokens, 2);
  EXPECT_EQ(newer.model->prediction_kind(), (LayerKind{.experts = true}));
}

TEST(MegatronFlags, RefuseHybridsThatContradictThemselves) {
  const auto problem = [](std::string_view flags) {
    try {
      of(flags);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(problem("--hybrid-override-pattern M-M*-").find("expected the 5 layers of the pattern"),
            std::string::npos);
  EXPECT_NE(
      problem("--hybrid-override-pattern M-G*").find("expected layers of M, *, - or E, not G"),
      std::string::npos);
  EXPECT_NE(problem("--hybrid-override-pattern MEM*").find("expected num_experts"),
            std::string::npos);
  EXPECT_NE(problem("--hybrid-override-pattern M-M* --num-experts 8").find("layers with experts"),
            std::string::npos);
  EXPECT_NE(problem("--hybrid-override-pattern M-M* --mtp-num-layers 1 "
                    "--mtp-hybrid-override-pattern M*-")
                .find("expected modules for further tokens of one layer"),
            std::string::npos);
}

TEST(MegatronFlags, WhatNamesItselfAsOfLogsAndDataIsHarmlessInAnyFork) {
  const ImportedRun run =
      of("--my-wandb-team a --fork-tokenizer-cache b --extra-dataset-mix c --image-log-dir d "
         "--backup-save-interval 5 --shuffle-seed 7 --experiment-name e --experiment-run-id 1");
  EXPECT_TRUE(run.unread.empty());
  // Words that begin alike and are no such names.
  for (const std::string_view flag : {"--loads-balance", "--seed-layers", "--dir-attention"}) {
    EXPECT_FALSE(of(std::string(flag) + " 3").unread.empty()) << flag;
  }
}

TEST(MegatronFlags, ForksCallWidthsByNamesOfTheirOwn) {
  const Transformer model = *of("--multi-latent-attention --kv-lora-rank 32 --qk-nope-head-dim 24 "
                                "--qk-rope-head-dim 8 --v-head-dim 16 "
                                "--use-multi-token-prediction --num-mtp-predictor 1")
                                 .model;
  ASSERT_TRUE(model.latent.has_value());
  EXPECT_EQ(model.latent->nope_dim, 24);
  EXPECT_EQ(model.latent->rope_dim, 8);
  EXPECT_EQ(model.predicted_tokens, 1);
  EXPECT_EQ(of("--use-alibi-mask --position-embedding-type none").model->positions,
            Positions::alibi);
  EXPECT_EQ(of("--num-attention-heads-kv 2").model->kv_heads, 2);
}

TEST(MegatronFlags, ACheckpointsShapeIsAskedForByName) {
  constexpr std::string_view command =
      "torchrun --nproc_per_node 8 finetune.py --tensor_model_parallel_size 4 --micro_batch_size 1 "
      "--global_batch_size 16 --seq_length 128 --bf16 --use_checkpoint_args --use_rms_norm "
      "--glu_activation swiglu --no_tie_embed_logits --vocab_extra_ids_list [a],[b]";
  try {
    static_cast<void>(import_text(command, "run.sh", {}));
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(error.lines.front().find("the checkpoint tells the model's shape; --model NAME"),
              std::string::npos)
        << error.lines.front();
  }
  ImportOptions options;
  options.base = *of("--swiglu --normalization RMSNorm --position-embedding-type rope").model;
  const ImportedRun run = import_text(command, "run.sh", options);
  EXPECT_EQ(run.model->layers, 4);
  EXPECT_EQ(member(run.plan, "tensor"), "4");
  EXPECT_EQ(member(run.plan, "data"), "2");
  EXPECT_TRUE(run.unread.empty());
}

TEST(MegatronFlags, FusedAttentionIsOfSixteenBits) {
  const std::string widths =
      "pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
      "--micro-batch-size 1 --global-batch-size 1 ";
  const auto kernel = [&](const std::string& flags) {
    return import_text("python " + widths + flags, "run.sh").model->attention;
  };
  EXPECT_EQ(kernel("--attention-backend auto"), AttentionKernel::materialised);
  EXPECT_EQ(kernel("--bf16"), AttentionKernel::flash);
  EXPECT_EQ(kernel("--fp16 --attention-backend auto"), AttentionKernel::flash);
  const auto of_nemo = [](const std::string& precision) {
    return import_text("trainer:\n  devices: 1\n  num_nodes: 1\n  precision: " + precision +
                           "\nmodel:\n  micro_batch_size: 1\n  global_batch_size: 1\n"
                           "  num_layers: 2\n  hidden_size: 64\n  num_attention_heads: 4\n"
                           "  encoder_seq_length: 128\n  max_position_embeddings: 128\n"
                           "  tokenizer:\n    model: llama2.model\n",
                       "nemo.yaml")
        .model->attention;
  };
  EXPECT_EQ(of_nemo("32"), AttentionKernel::materialised);
  EXPECT_EQ(of_nemo("bf16"), AttentionKernel::flash);
}

TEST(MegatronFlags, FsdpTellsTheFormatsOfWhatItKeeps) {
  const std::string fsdp = "--bf16 --use-megatron-fsdp --use-distributed-optimizer ";
  const ImportedRun run = of(fsdp +
                                 "--data-parallel-sharding-strategy optim_grads_params "
                                 "--megatron-fsdp-grad-comm-dtype bf16 "
                                 "--megatron-fsdp-main-grads-dtype bf16 "
                                 "--megatron-fsdp-main-params-dtype fp32",
                             8);
  EXPECT_EQ(member(run.training, "gradient_precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "master_precision"), "\"fp32\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const ImportedRun open = of(fsdp + "--megatron-fsdp-main-grads-dtype auto", 8);
  EXPECT_EQ(member(open.training, "gradient_precision"), "absent");
  EXPECT_TRUE(open.unread.empty()) << open.unread.front();
  const ImportedRun apart = of(fsdp +
                                   "--megatron-fsdp-main-grads-dtype fp32 "
                                   "--megatron-fsdp-grad-comm-dtype bf16",
                               8);
  EXPECT_TRUE(any_has(apart.unread, "reduced in the format that they are kept in"));
}

TEST(MegatronFlags, WhatNemoPassesOnCountsForFalconAlone) {
  const auto unread = [](const std::string& name) {
    return import_text(
               "trainer:\n  devices: 1\n  num_nodes: 1\n  precision: bf16\n"
               "model:\n  micro_batch_size: 1\n  global_batch_size: 1\n" +
                   name +
                   "  num_layers: 2\n  hidden_size: 64\n  num_attention_heads: 4\n"
                   "  encoder_seq_length: 128\n  max_position_embeddings: 128\n"
                   "  tokenizer:\n    model: llama2.model\n"
                   "  mcore_customization_config:\n    parallel_attention: true\n",
               "nemo.yaml")
        .unread;
  };
  EXPECT_TRUE(unread("").empty()) << unread("").front();
  EXPECT_TRUE(any_has(unread("  name: megatron_falcon_gpt\n"), "parallel_attention"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
