// Plans of measured runs, by the words and numbers of their rows.
#include <gtest/gtest.h>

#include "measured/made_run.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::Cells;
using testing::named_only;
using testing::readings;

TEST(RunPlan, DerivesWhatTheNumbersOfDevicesAndSequencesTell) {
  const RunReadings read =
      readings({{"p", ""}, {"micro_batch", ""}, {"grad_accum", "8"}, {"global_batch", "32"}});
  ASSERT_EQ(read.skip_reason, "");
  const Plan& plan = read.readings.front().scenarios.front().plan;
  EXPECT_EQ(plan.pipeline, 2);     // 16 / (4 x 2)
  EXPECT_EQ(plan.micro_batch, 2);  // 32 / (2 x 8)
}

/// Software of before a release had less beside compute: XLA no gathers and no reduce-scatters.
TEST(RunPlan, HidesWhatTheSoftwareOfItsTimeDid) {
  const auto plan = [](const char* notes, const char* dp_kind) {
    const RunReadings read = readings({{"family", "pax_gpt"},
                                       {"notes", notes},
                                       {"dp_kind", dp_kind},
                                       {"dp_overlap", ""},
                                       {"t", "1"},
                                       {"p", "1"},
                                       {"d", "16"}});
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.empty() ? Plan{} : read.readings.front().scenarios.front().plan;
  };
  const Plan old = plan("older software", "fsdp-full(zero3)");
  EXPECT_FALSE(old.prefetch);
  EXPECT_EQ(old.overlap_grad_reduce, false);
  const Plan recent = plan("release 24.11.1", "fsdp-full(zero3)");
  EXPECT_TRUE(recent.prefetch);
  EXPECT_EQ(recent.overlap_grad_reduce, std::nullopt) << "as the software does";
  EXPECT_EQ(plan("older software", "ddp").overlap_grad_reduce, std::nullopt);
}

TEST(RunPlan, HasStatesInTheTypeOfWeightsWhereTheSoftwareHas) {
  const auto scenario = [](const char* family) {
    const RunReadings read = readings({{"family", family}});
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.front().scenarios.front();
  };
  const Scenario automodel = scenario("nemo_automodel");
  EXPECT_EQ(automodel.stack.name, "automodel");
  EXPECT_EQ(automodel.training.state_precision, DataType::bf16);
  EXPECT_EQ(automodel.training.master_precision, DataType::bf16);
  EXPECT_EQ(scenario("torchtitan").training.state_precision, std::nullopt);
}

TEST(RunPlan, ReadsListsOfWhatIsRecomputedAndOffloaded) {
  struct Case {
    Cells cells;
    Recompute recompute;
    Modules modules;
    bool offloads;
  };
  const Modules products =
      bits(Module::attention_result, Module::layer_norm, Module::mlp_activation);
  const Modules heads =
      bits(Module::attention_result, Module::attention_output, Module::layer_norm, Module::mlp);
  const std::vector<Case> cases = {
      {{{"recompute", "selective:layernorm+mlp"}},
       Recompute::modules,
       bits(Module::layer_norm, Module::mlp),
       false},
      {{{"recompute", "selective(attention)"}}, Recompute::selective, 0, false},
      {{{"recompute", "selective(op)"}}, Recompute::operations, 0, false},
      {{{"recompute", "minimal"}}, Recompute::modules, products, false},
      {{{"recompute", "minimal_with_context"}},
       Recompute::modules,
       bits(Module::layer_norm, Module::mlp_activation),
       false},
      {{{"recompute", "minimal_offloaded"}}, Recompute::modules, products, true},
      {{{"recompute", "save_out_proj"}},
       Recompute::modules,
       bits(Module::attention, Module::mlp),
       false},
      {{{"recompute", "selective (feed_forward)"}}, Recompute::modules, bit(Module::mlp), false},
      {{{"recompute", "qkv_proj_offloaded"}}, Recompute::modules, heads, true},
      {{{"recompute", "save_qkvo"}},
       Recompute::modules,
       bits(Module::attention_result, Module::layer_norm, Module::mlp),
       false},
      {{{"recompute", "custom (saves/offloads decoder_layer_input)"}}, Recompute::full, 0, true},
      {{{"offload", "cpu: activation checkpoints"}}, Recompute::full, 0, true},
      {{{"offload", "none"}}, Recompute::full, 0, false}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.cells.begin()->second);
    const RunReadings read = readings(one.cells);
    ASSERT_EQ(read.skip_reason, "");
    const Plan& plan = read.readings.front().scenarios.front().plan;
    EXPECT_EQ(plan.recompute, one.recompute);
    EXPECT_EQ(plan.recomputed, one.modules);
    EXPECT_EQ(plan.offload.activations.has_value(), one.offloads);
  }
}

TEST(RunPlan, KnowsSchedulesAndShardingsByWhatTheirSourcesCallThem) {
  const auto plan_of = [](const Cells& cells) {
    const RunReadings read = readings(cells);
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).plan;
  };
  EXPECT_EQ(name(plan_of({{"sched", "1f1b (DeepSpeed)"}}).schedule), "1f1b");
  EXPECT_EQ(name(plan_of({{"sched", "zero-bubble 1p"}}).schedule), "zb-h1");
  EXPECT_EQ(name(plan_of({{"sched", "zero-bubble 2p"}}).schedule), "zb-h2");
  EXPECT_EQ(plan_of({{"p", "1"}, {"d", "4"}, {"dp_kind", "fsdp-grad-op(zero2)"}}).sharding,
            Sharding::zero2);
  EXPECT_EQ(plan_of({{"dp_kind", "zero1(distributed optimizer)"}}).sharding, Sharding::zero1);
}

Plan plan_of(const Cells& cells) {
  const RunReadings read = readings(cells);
  EXPECT_EQ(read.skip_reason, "");
  return read.readings.empty() ? Plan{} : read.readings.front().scenarios.front().plan;
}

TEST(RunPlan, ReadsShardingInTheWordsOfItsAuthors) {
  const std::vector<std::pair<const char*, Sharding>> words = {
      {"ZeRO-1", Sharding::zero1},
      {"ZeRO Stage 2", Sharding::zero2},
      {"DeepSpeed stage 3", Sharding::zero3},
      {"dist opt", Sharding::zero1},
      {"DP + dist-opt", Sharding::zero1},
      {"FULL_SHARD", Sharding::zero3},
      {"fsdp (SHARD_GRAD_OP)", Sharding::zero2},
      {"FullyShardedDataParallel", Sharding::zero3},
      {"DistributedDataParallel", Sharding::none},
      {"dp", Sharding::none},
      {"ds_z3", Sharding::zero3},
      {"zero1/ddp (not stated)", Sharding::zero1},
      {"auto (intra-op, dp2)", Sharding::none}};
  for (const auto& [text, sharding] : words) {
    // Those that do not work with pipelines are of one stage.
    EXPECT_EQ(plan_of({{"family", "new"},
                       {"software", "megatron-core"},
                       {"p", "1"},
                       {"d", "4"},
                       {"dp_kind", text}})
                  .sharding,
              sharding)
        << text;
  }
}

TEST(RunPlan, ReducesGradientsOfStagesBehindTheLastMicroBatch) {
  const auto sharding = [](const char* stages, const char* ranks) {
    return plan_of({{"software", "megascale"}, {"p", stages}, {"d", ranks}, {"dp_kind", "zero2"}})
        .sharding;
  };
  EXPECT_EQ(sharding("1", "4"), Sharding::zero2);
  EXPECT_EQ(sharding("2", "2"), Sharding::zero1);
}

TEST(RunPlan, SplitsAmongSoManyRanksAsTheRowSays) {
  const auto shard = [](const char* kind, const char* stated) {
    return plan_of({{"family", "new"},
                    {"software", "torchtitan"},
                    {"precision", "bf16"},
                    {"p", "1"},
                    {"t", "1"},
                    {"d", "16"},
                    {"dp_kind", kind},
                    {"fsdp_shard", stated}})
        .shard;
  };
  EXPECT_EQ(shard("fsdp", "4"), 4);
  EXPECT_EQ(shard("fsdp", "16"), std::nullopt);
  EXPECT_EQ(shard("HYBRID_SHARD", ""), 8) << "those of a node";
  EXPECT_EQ(shard("fsdp", ""), std::nullopt);
}

TEST(RunPlan, ReadsSchedulesInTheWordsOfTheirAuthors) {
  const auto plan = [](const char* text, const char* vpp) {
    return plan_of({{"family", "new"},
                    {"software", "megatron-core"},
                    {"p", "4"},
                    {"t", "4"},
                    {"d", "1"},
                    {"vpp", vpp},
                    {"sched", text}});
  };
  EXPECT_EQ(name(plan("1F1B-interleaved", "2").schedule), "1f1b");
  EXPECT_EQ(plan("interleaved (vp=2)", "2").virtual_stages, 2);
  EXPECT_EQ(name(plan("PipeDream-Flush", "").schedule), "1f1b");
  EXPECT_EQ(plan("", "").virtual_stages, 1);
  // What holds as many chunks as it does, however they are counted.
  EXPECT_EQ(plan("ZB-V", "1").virtual_stages, 2);
  EXPECT_EQ(plan("DualPipe", "2").virtual_stages, 1);
  // One stage has no schedule.
  EXPECT_EQ(plan_of({{"p", "1"}, {"d", "4"}, {"sched", "GSPMD"}}).pipeline, 1);
}

// 24 layers on two stages: of two chunks of six to twelve of one.
TEST(RunPlan, ReadsARowTwiceWhereItDoesNotSayHowManyChunksItInterleaves) {
  const RunReadings read = readings({{"sched", "1f1b (interleaved)"}});
  ASSERT_EQ(read.skip_reason, "");
  EXPECT_EQ(read.open, "vpp");
  ASSERT_EQ(read.readings.size(), 2U);
  EXPECT_EQ(read.readings[0].scenarios[0].plan.virtual_stages, 2);
  EXPECT_EQ(read.readings[1].scenarios[0].plan.virtual_stages, 12);
  // Two less than 24 of them: the ends have one less each.
  EXPECT_EQ(readings({{"sched", "interleaved"}, {"layers", "22"}}).readings.size(), 2U);
  for (const Cells& cells : {Cells{{"sched", "interleaved"}, {"layers", "23"}},
                             Cells{{"sched", "interleaved"}, {"layers", "2"}}}) {
    EXPECT_EQ(readings(cells).skip_reason, "vpp not stated");
  }
}

TEST(RunPlan, ReadsRecomputationInTheWordsOfItsAuthors) {
  struct Case {
    const char* text;
    Recompute recompute;
    std::optional<std::int64_t> layers;
  };
  const std::vector<Case> cases = {
      {"no AC", Recompute::none, std::nullopt},
      {"activation checkpointing off", Recompute::none, std::nullopt},
      {"False", Recompute::none, std::nullopt},
      {"gradient checkpointing", Recompute::full, std::nullopt},
      {"on (activation checkpointing)", Recompute::full, std::nullopt},
      {"1/1", Recompute::full, std::nullopt},
      {"full, every 2", Recompute::full, 6},  // 24 layers on two stages
      {"selective (every 3 layers)", Recompute::full, 4},
      {"full (4 of 12 layers)", Recompute::full, 4},
      {"block: 5 layers", Recompute::full, 5},
      {"50 % of layers", Recompute::full, 6},
      {"selective (25% of blocks)", Recompute::full, 3},
      {"layer-wise", Recompute::full, std::nullopt},
      {"SAC", Recompute::operations, std::nullopt},
      {"selective AC (op)", Recompute::operations, std::nullopt},
      {"selective: attn", Recompute::selective, std::nullopt},
      {"core_attn", Recompute::selective, std::nullopt},
      {"selective (RMSNorm, SwiGLU)", Recompute::modules, std::nullopt},
      {"gradient_checkpointing=True", Recompute::full, std::nullopt},
      {"gradient_checkpointing=False", Recompute::none, std::nullopt},
      {"unsloth", Recompute::full, std::nullopt},
      {"mlp + norm", Recompute::modules, std::nullopt}};
  for (const Case& one : cases) {
    const Plan plan = plan_of({{"recompute", one.text}, {"stack", "megatron-core"}});
    EXPECT_EQ(plan.recompute, one.recompute) << one.text;
    EXPECT_EQ(plan.recompute_layers, one.layers) << one.text;
  }
  EXPECT_TRUE(plan_of({{"recompute", "unsloth"}}).offload.activations.has_value());
  // What is kept where a program has but one way of keeping a part.
  const auto titans = [](const char* text) {
    return plan_of({{"software", "torchtitan"}, {"family", "new"}, {"recompute", text}}).recompute;
  };
  EXPECT_EQ(titans("selective"), Recompute::operations);
  EXPECT_EQ(titans("SAC"), Recompute::operations);
  EXPECT_EQ(titans("selective(core_attn)"), Recompute::selective);
  EXPECT_EQ(readings({{"recompute", "selective: knees"}}).skip_reason,
            "recompute \"selective: knees\" is not modelled");
  EXPECT_EQ(readings({{"recompute", "0.5"}}).skip_reason, "recompute \"0.5\" is not modelled");
}

TEST(RunPlan, ReadsFormatsInTheWordsOfTheirAuthors) {
  const auto training = [](const char* text) {
    const RunReadings read = readings({{"hw_key", "B200-SXM"},
                                       {"precision", text},
                                       {"stack", "megatron-core"},
                                       {"flash_attn", "1"}});
    EXPECT_EQ(read.skip_reason, "") << text;
    return read.readings.at(0).scenarios.at(0).training;
  };
  EXPECT_EQ(training("bfloat16").precision, DataType::bf16);
  EXPECT_EQ(training("AMP float16").precision, DataType::fp16);
  EXPECT_EQ(training("bf16 + float8 rowwise").precision, DataType::fp8);
  EXPECT_EQ(training("bf16 + float8 rowwise").narrow_scaling, NarrowScaling::row);
  EXPECT_EQ(training("FP8-CS").narrow_scaling, NarrowScaling::tensor);
  EXPECT_EQ(training("FP8-MX").narrow_scaling, NarrowScaling::block);
  EXPECT_EQ(training("nvfp4 (last layers mxfp8)").precision, DataType::fp4);
  EXPECT_EQ(training("fp8 (1x128 tiles, 128x128 blocks)").narrow_scaling, NarrowScaling::block);
  EXPECT_EQ(training("AMP").precision, DataType::fp16) << "as PyTorch has it";
  EXPECT_EQ(training("mixed precision").precision, DataType::fp16);
  EXPECT_EQ(training("bf16-true").master_precision, DataType::bf16);
  EXPECT_FALSE(training("bf16-mixed").master_precision);
  EXPECT_EQ(readings({{"precision", "not stated"}}).skip_reason, "precision not stated");
  EXPECT_EQ(readings({{"precision", "fp32 (sample)"}, {"flash_attn", "0"}})
                .readings.at(0)
                .scenarios.at(0)
                .training.precision,
            DataType::fp32);
}

TEST(RunPlan, KeepsWeightsAsTheirProgramDoes) {
  const auto training = [](const char* notes, const char* precision) {
    const RunReadings read = readings({{"family", "new"},
                                       {"software", "torchtune"},
                                       {"dp_kind", "fsdp"},
                                       {"t", "1"},
                                       {"p", "1"},
                                       {"d", "16"},
                                       {"precision", precision},
                                       {"notes", notes}});
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).training;
  };
  EXPECT_EQ(training("", "bf16").master_precision, DataType::bf16);
  EXPECT_EQ(training("", "bf16").state_precision, DataType::bf16);
  EXPECT_FALSE(training("PagedAdamW8bit", "bf16").state_precision) << "they are narrower";
  EXPECT_FALSE(training("", "fp32").master_precision);
}

TEST(RunPlan, SplitsTheResidualStreamWhereAProgramDoesUnlessTheRowSaysNot) {
  const auto splits = [](const char* software, const char* says) {
    return plan_of({{"family", "new"},
                    {"software", software},
                    {"dp_kind", "zero1"},
                    {"seq_parallel", says}})
        .sequence_parallel;
  };
  EXPECT_TRUE(splits("Megatron-Core r0.9", ""));
  EXPECT_FALSE(splits("Megatron-Core r0.9", "0"));
  EXPECT_FALSE(splits("DeepSpeed", ""));
}

TEST(RunPlan, ReadsBatchesOfTokens) {
  const auto batch = [](const char* text) {
    return readings({{"global_batch", text}}).readings.at(0).scenarios.at(0).training.global_batch;
  };
  EXPECT_EQ(batch("4M tokens"), 4 * 1024 * 1024 / 2048);
  EXPECT_EQ(batch("131,072 tokens"), 64);
  EXPECT_EQ(readings({{"global_batch", "many tokens"}}).skip_reason,
            "global_batch \"many tokens\" is no number");
}

// 24 layers on two stages.
TEST(RunPlan, RecomputesSoManyLayersAsTheRowTells) {
  const auto layers = [](const Cells& cells) { return plan_of(cells).recompute_layers; };
  EXPECT_EQ(layers({{"recompute", "selective(1/3 of blocks)"}}), 12 / 3);
  EXPECT_EQ(layers({{"recompute", "3/4 of the layers"}}), 12 * 3 / 4);
  EXPECT_EQ(layers({{"recompute", "selective(2)"}}), 12 / 2);
  EXPECT_EQ(layers({{"recompute", "1/1"}}), std::nullopt);
  // 46 / 43 = (3 + 0.21) / 3
  EXPECT_EQ(layers({{"recompute", "selective(some blocks)"}, {"mfu_pct", "43"}, {"hfu_pct", "46"}}),
            2);
  EXPECT_EQ(readings({{"recompute", "selective(some blocks)"}}).skip_reason,
            "recompute \"selective(some blocks)\": how many is not stated");
}

TEST(RunPlan, RecomputesWhatTheExpertsOfANamedModelHave) {
  const RunReadings read = readings(named_only({{"family", "megatron_bridge"},
                                                {"model_name", "Nemotron_3_Super"},
                                                {"arch", "hybrid"},
                                                {"ep", "16"},
                                                {"recompute", "selective:moe_act"},
                                                {"cuda_graph", "1"}}));
  ASSERT_EQ(read.skip_reason, "");
  const Plan& plan = read.readings.at(0).scenarios.at(0).plan;
  EXPECT_EQ(plan.recomputed, bit(Module::activation));
  EXPECT_EQ(plan.cuda_graph & bit(LayerPart::mlp), 0) << "its layers have experts alone";
}

TEST(RunPlan, SplitsExpertsWhereTheRanksAllowIt) {
  const auto split = [](const char* expert) {
    return plan_of({{"family", "dgxc_h100"},
                    {"hw_key", "H100-SXM5-80GB"},
                    {"dp_kind", "zero1"},
                    {"n_experts", "8"},
                    {"top_k", "2"},
                    {"ep", expert}})
        .expert_tensor;
  };
  EXPECT_EQ(split("2"), 4);  // 2 x 4 of 4 x 2 ranks
  EXPECT_EQ(split("8"), 1);
}

TEST(RunPlan, TellsWhatHostsKeepFromTheSharding) {
  EXPECT_EQ(
      readings({{"dp_kind", "ZeRO-2 + offload optimizer"}, {"p", "1"}, {"d", "4"}}).skip_reason,
      "offload \"zero-2 + offload optimizer\": copies and threads of hosts that nothing is "
      "told of are not modelled");
  EXPECT_EQ(plan_of({{"offload", "off"}}).offload.activations, std::nullopt);
}

TEST(RunPlan, OffloadsWhatItsRecipeOffloadsOfWhatIsSharded) {
  const auto layers = [](const char* chip, const char* kind, const char* model = "LLAMA3_70B") {
    return plan_of({{"family", "megatron_bridge"},
                    {"model_name", model},
                    {"hw_key", chip},
                    {"chips_per_node", "8"},
                    {"precision", "fp8(current scaling)"},
                    {"dp_kind", kind}})
        .offload.layers;
  };
  EXPECT_EQ(layers("B200-SXM", "megatron-fsdp(zero3)"), 5);
  EXPECT_EQ(layers("GB200 (NVL72)", "megatron-fsdp(zero3)"), 40);
  EXPECT_EQ(layers("GB200 (NVL72)", "zero1(distributed optimizer)"), std::nullopt);
  EXPECT_EQ(layers("GB200 (NVL72)", "megatron-fsdp(zero3)", "LLAMA3.1_405B"), 95);
}

TEST(RunPlan, TellsTheOptimizerFromTheNotes) {
  const auto optimizer = [](const char* kind, const char* notes) {
    const RunReadings read = readings({{"dp_kind", kind}, {"notes", notes}});
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).training.optimizer.name;
  };
  EXPECT_EQ(optimizer("ddp", "LAMB; unpadded"), "lamb");
  EXPECT_EQ(optimizer("zero1 (Distributed Muon)", ""), "muon");
  EXPECT_EQ(optimizer("distributed LAMB", ""), "lamb");
  EXPECT_EQ(optimizer("ddp", "lambda 0.1, AdamW"), "adam");
}

TEST(RunPlan, TellsFromTheNotesHowRanksExchange) {
  const Cells row = {{"stack", "torchtitan"}, {"p", "1"}, {"d", "1"}, {"cp", "4"}};
  const auto plan = [&](const char* notes) {
    Cells cells = row;
    cells["notes"] = notes;
    return plan_of(cells);
  };
  EXPECT_EQ(plan("").context_method, ContextMethod::ring);
  EXPECT_EQ(plan("DeepSpeed-Ulysses").context_method, ContextMethod::ulysses);
  EXPECT_EQ(plan("context parallel, all-gather KV").context_method, ContextMethod::all_gather);
  EXPECT_EQ(plan("").tensor_overlap, std::nullopt);
  EXPECT_EQ(plan("async TP; float8").tensor_overlap, TensorOverlap::ring);
}

TEST(RunPlan, CapturesLayersAsRowsCallThem) {
  const auto graph = [](const char* text) {
    return plan_of({{"stack", "megatron-core"}, {"cuda_graph", text}}).cuda_graph;
  };
  EXPECT_EQ(graph("no"), 0);
  EXPECT_TRUE(captures_all(graph("full iteration")));
  EXPECT_EQ(graph("per-layer"), graph("1"));
  EXPECT_NE(graph("1"), 0);
  EXPECT_EQ(readings({{"cuda_graph", "partial"}}).skip_reason,
            "cuda_graph \"partial\" is not modelled");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
