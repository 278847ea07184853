// Rows that say the same in other words are the same runs.
#include <gtest/gtest.h>

#include "measured/made_run.hpp"
#include "temporary_folder.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/measured/dataset.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::Cells;
using testing::table;
using testing::TemporaryFolder;

RunReadings readings(const Cells& changed) {
  static RunReader reader;  // which knows models and machines that it read before
  const CsvTable made = table(changed);
  return reader.read(RunRow(made, 0));
}

/// What a row is read as: the time of every reading, or why there is none.
std::vector<std::string> readings_of(const Cells& cells) {
  const RunReadings read = readings(cells);
  std::vector<std::string> all;
  for (const RunReading& reading : read.readings) {
    for (const Scenario& scenario : reading.scenarios) {
      const StepResult result = estimate(scenario);
      all.push_back(std::to_string(result.iteration_time.si()) + " s, " +
                    std::to_string(result.peak_stage().total().si()));
    }
  }
  return all.empty() ? std::vector<std::string>{read.skip_reason} : all;
}

/// In these cells, each by itself, a column says what it says in the first of them.
void expect_same(const std::string& column,
                 const std::vector<std::string>& words,
                 const Cells& others = {}) {
  Cells cells = others;
  cells[column] = words.front();
  const auto expected = readings_of(cells);
  ASSERT_TRUE(expected.front().find(" s, ") != std::string::npos) << expected.front();
  for (const std::string& word : words) {
    cells[column] = word;
    EXPECT_EQ(readings_of(cells), expected) << column << " \"" << word << '"';
  }
}

void expect_skipped(const std::string& column, const std::string& word, const Cells& others = {}) {
  Cells cells = others;
  cells[column] = word;
  const RunReadings read = readings(cells);
  EXPECT_TRUE(read.readings.empty()) << column << " \"" << word << '"';
  EXPECT_NE(read.skip_reason, "");
}

TEST(RunWords, TellOneDegreeByTheOthers) {
  for (const std::string column : {"n_chips", "p", "t", "d"}) {
    const Cells stated = {{"n_chips", "16"}, {"p", "2"}, {"t", "4"}, {"d", "2"}};
    expect_same(column, {stated.at(column), "", "n/a"}, stated);
  }
  expect_same("cp", {"1", "0", "none", "no", ""});
  expect_same("vpp", {"1", "0", "none"});
  expect_same("t", {"1", "0", "none", "1x", "1-way"}, {{"d", "8"}});
  const RunReadings read = readings({{"t", ""}, {"d", "3"}});  // 16 / (2 x 3)
  EXPECT_EQ(read.skip_reason, "t not stated");
}

/// vTrain's rows of one tensor rank have another vocabulary, which `families.json` tells by `t`.
TEST(RunWords, HeedWhatFollowsLikeWhatIsStated) {
  const Cells row = {{"family", "vtrain_single"}, {"n_chips", "4"}, {"p", "2"}, {"d", "2"}};
  expect_same("t", {"1", "", "1.0", "none"}, row);
}

TEST(RunWords, HaveNumbersAsPeopleWriteThem) {
  expect_same("hidden",
              {"2048", "2,048", "2 048", "2_048", "2'048", "2048.0", "+2048", "2k", "2K"});
  expect_same("seq", {"2048", "2k", "2 K", "2Ki", "2048 tokens", "2k tokens", "~2048"});
  expect_same("vocab", {"51000", "51k"});
  expect_same("n_chips", {"16", "16 GPUs", "2x8", "2 nodes x 8"});
  expect_same("chips_per_node", {"8", "8 GPUs"});
  expect_same("global_batch",
              {"32",
               "32 sequences",
               "32 samples",
               "65536 tokens",
               "65,536 tokens",
               "64k tokens",
               "32 x 2048 tokens",
               "65.5k tokens"});
  expect_same("global_batch", {"2048", "4M tokens", "4M", "4Mi tokens", "4.19M tokens"});
  expect_skipped("hidden", "two thousand");
  expect_skipped("n_chips", "16 boxes");
}

TEST(RunWords, HaveSwitchesAsPeopleCallThem) {
  expect_same("seq_parallel", {"1", "yes", "Y", "True", "on", "enabled", "\u2713", "SP"});
  expect_same("seq_parallel", {"0", "no", "N", "False", "off", "disabled", "none", "\u2717"});
  expect_same("flash_attn", {"1", "FlashAttention-2", "FA3", "cuDNN", "TE fused", "SDPA", "v2"});
  expect_same("flash_attn", {"0", "eager", "unfused", "no flash attention", "math"});
  expect_same("ffn_gated", {"1", "SwiGLU", "GeGLU", "gated"});
  expect_same("ffn_gated", {"0", "GELU", "squared ReLU", "ungated"});
  expect_skipped("flash_attn", "x");
}

TEST(RunWords, TakeNoExpertOrOneForADenseLayer) {
  for (const std::string count : {"0", "1", "none", "n/a"}) {
    expect_same("n_experts", {"", count}, {{"top_k", count}, {"ep", "1"}});
  }
}

const Cells kLatent = {{"model_name", "DeepSeek-V3"},
                       {"family", "megatron_core"},
                       {"source", "Megatron-Core"},
                       {"layers", "61"},
                       {"hidden", "7168"},
                       {"heads", "128"},
                       {"kv_heads", "128"},
                       {"head_dim", "192"},
                       {"ffn", "18432"},
                       {"ffn_gated", "1"},
                       {"vocab", "129280"},
                       {"n_experts", "256"},
                       {"top_k", "8"},
                       {"expert_ffn", "2048"},
                       {"shared_expert_ffn", "2048"},
                       {"dense_layers", "3"},
                       {"n_chips", "256"},
                       {"p", "1"},
                       {"t", "1"},
                       {"d", "256"},
                       {"ep", "64"},
                       {"micro_batch", "1"},
                       {"global_batch", "2048"},
                       {"dp_kind", "zero1"},
                       {"flash_attn", "1"}};

TEST(RunWords, HaveLatentsInAnyList) {
  expect_same("mla",
              {"q_lora 1536,kv_lora 512,rope 64,nope 128,v 128",
               "q_lora 1536, kv_lora 512, rope 64, nope 128, v 128",
               "kv_lora=512; q_lora=1536; nope=128; rope=64; v=128",
               "Q_LORA 1536,KV_LORA 512,ROPE 64,NOPE 128,V 128",
               "q_lora_rank 1536, kv_lora_rank 512, qk_rope_head_dim 64, qk_nope_head_dim 128, "
               "v_head_dim 128",
               "yes",
               ""},
              kLatent);
  expect_skipped("mla", "kv_lora 512", kLatent);
  Cells unknown = kLatent;
  unknown["hidden"] = "6144";
  expect_skipped("mla", "yes", unknown);
}

TEST(RunWords, NameModelsWithAndWithoutBlanks) {
  expect_same("model_name", {"DeepSeek-V3", "DeepSeek V3", "deepseek_v3 671B", "DSv3"}, kLatent);
}

TEST(RunWords, NameChipsInAnyOrder) {
  expect_same("hw_key",
              {"A100-SXM4-80GB",
               "A100 80G",
               "A100 (80 GB)",
               "NVIDIA A100-80GB-SXM4",
               "8x A100 80GB",
               "8xA100-80GB",
               "a100-80gb-sxm"});
  expect_same("hw_key",
              {"H100-SXM5-80GB", "H100 80GB SXM5", "HGX H100", "8xH100", "DGX-H100 80 GB"});
  expect_same("hw_key", {"B200-SXM", "B200 180GB", "NVIDIA B200 192 GB HBM3e"});
  expect_same("hw_key",
              {"V100-SXM2-32GB", "V100 (32GB)", "Tesla V100-SXM2-32GB-LS", "V100-32G"},
              {{"precision", "fp16"}});
  expect_skipped("hw_key", "A100 PCIe");  // of 40 or of 80 GB
  expect_skipped("hw_key", "A100 64GB");
}

/// What `families.json` tells by a chip, of however the row calls it.
TEST(RunWords, TellHabitsOfAChipByWhateverName) {
  expect_same("hw_key",
              {"B300-SXM", "B300", "NVIDIA B300 288GB"},
              {{"family", "megatron_bridge"}, {"inter_link", "8x800 Gb/s per node"}});
  expect_same("hw_key",
              {"TPU v6e (Trillium)", "Trillium", "v6e", "TPU v6 lite"},
              {{"family", "maxtext"},
               {"n_chips", "256"},
               {"chips_per_node", "256"},
               {"p", "1"},
               {"t", "1"},
               {"d", "256"},
               {"fsdp_shard", "64"},
               {"global_batch", "512"},
               {"dp_kind", "fsdp"},
               {"inter_link", "ICI"}});
}

TEST(RunWords, CountNetworkCardsBeforeAndBehind) {
  expect_same("inter_link",
              {"4x HDR200 IB per node",
               "HDR200 x4",
               "4\u00d7HDR 200Gb/s",
               "200 Gb/s HDR x 4",
               "InfiniBand HDR 200 (4 per node)",
               "4 ConnectX-6 NICs (200 Gb/s each)",
               "4x 25 GB/s"});
  expect_same("inter_link",
              {"8x NDR400 IB per node",
               "1x NDR400 per GPU",
               "1 NDR400 per GPU",
               "400 Gbps/GPU",
               "ConnectX-7 400G per GPU",
               "8x400 Gb/s (one per GPU)",
               "3.2 Tbps",
               "400 GB/s per node"},
              {{"hw_key", "H100"}});
  expect_same("inter_link",
              {"NVL72 racks; 400 Gb/s per GPU scale-out", "4x400 Gb/s per tray", "NDR400/GPU"},
              {{"hw_key", "GB200 (NVL72)"},
               {"chips_per_node", "4"},
               {"n_chips", "128"},
               {"d", "16"},
               {"global_batch", "64"}});
}

TEST(RunWords, CallPrecisionsAlike) {
  expect_same("precision", {"bf16", "BFLOAT16", "torch.bfloat16", "bf16-mixed"});
  const Cells hopper = {{"hw_key", "H100"}, {"family", "megatron_bridge"}};
  expect_same("precision",
              {"fp8(current scaling)", "FP8-CS", "fp8 per-tensor current", "fp8 tensorwise"},
              hopper);
  const Cells blackwell = {{"hw_key", "B200"}, {"family", "megatron_bridge"}};
  expect_same("precision", {"mxfp8", "FP8 (MX)", "fp8_mx", "FP8-MX"}, blackwell);
}

TEST(RunWords, CallPlansAlike) {
  expect_same("recompute",
              {"full",
               "activation recomputation",
               "every layer",
               "all layers",
               "grad ckpt",
               "remat",
               "use_checkpoint",
               "y"});
  expect_same("recompute", {"none", "not used", "w/o", "n", "save all", "not enabled"});
  expect_same("dp_kind", {"ddp", "plain DP", "NO_SHARD", "no sharding", "no ZeRO", "no", "off"});
  expect_same("dp_kind",
              {"zero1", "zero_stage=1", "z1", "sharded optimizer", "optimizer state sharding"});
  const Cells sharded = {{"p", "1"}, {"t", "1"}, {"d", "16"}, {"micro_batch", "1"}};
  expect_same("dp_kind", {"zero2", "fsdp shard_grad_op", "FSDP (SHARD_GRAD_OP)"}, sharded);
  expect_same("dp_kind", {"zero3", "fsdp", "DeepSpeed Z3", "FSDP2"}, sharded);
  expect_same("dp_kind", {"hsdp", "Hybrid FSDP", "FSDP HYBRID_SHARD"}, sharded);
  expect_same("sched",
              {"1f1b",
               "non-interleaved 1F1B",
               "synchronous 1F1B schedule",
               "One-Forward-One-Backward",
               "1F1B, no interleaving"});
  expect_same("sched",
              {"interleaved 1f1b", "interleaved schedule", "1F1B with interleaving", "1f1b + vpp"},
              {{"vpp", "2"}});
  expect_same("cuda_graph", {"1", "CUDA Graphs: on", "cuda graphs", "enabled"});
  expect_same("cuda_graph", {"full_iteration", "full-iteration", "CUDA graph: full iteration"});
  expect_same("arch", {"dense", "decoder-only", "transformer", "causal LM", "dense (GQA)"});
  expect_skipped("arch", "encoder-decoder", {{"model_name", "arch"}});
  expect_skipped("arch", "transformer (encoder-decoder)", {{"model_name", "arch"}});
}

TEST(RunWords, HaveTimesInAnyUnit) {
  const auto seconds = [](const Cells& cells) {
    const CsvTable made = table(cells);
    const auto time = RunRow(made, 0).iteration_time();
    return time ? time->si() : 0.0;
  };
  for (const std::string text : {"2.5",
                                 "2.5 s",
                                 "2500 ms",
                                 "2500ms/step",
                                 "2.5 sec per step",
                                 "2.5 \u00b1 0.1",
                                 "2.5 s/iteration"}) {
    EXPECT_NEAR(seconds({{"iter_time_s", text}}), 2.5, 1e-9) << text;
  }
  EXPECT_NEAR(seconds({{"iter_time_s", "1.5 min"}}), 90, 1e-9);
  const Cells rated = {{"iter_time_s", ""}};
  const auto with = [&](const std::string& column, const std::string& text) {
    Cells cells = rated;
    cells[column] = text;
    return seconds(cells);
  };
  const double tokens = 32 * 2048;
  EXPECT_NEAR(with("tokens_per_s_per_gpu", "4k"), tokens / (4000 * 16), 1e-9);
  EXPECT_NEAR(with("tokens_per_s_per_gpu", "4,096 tokens/s/GPU"), tokens / (4096 * 16), 1e-9);
  EXPECT_NEAR(with("tokens_per_s", "65536"), 1, 1e-9);
  EXPECT_NEAR(with("samples_per_s", "16"), 2, 1e-9);
  EXPECT_NEAR(with("iter_time_ms", "125"), 0.125, 1e-9);
}

TEST(RunWords, NameColumnsAsPeopleDo) {
  const TemporaryFolder folder;
  const std::string cells =
      "a1;gpt;24;2048;16;8192;51k;2k;A100 80GB;16;2;4;2;2;32;ddp;full;bf16;2500\n";
  const std::string path = folder.file(
      "runs.csv",
      "# our runs\nID;Model;num_layers;Hidden Size;num_attention_heads;ffn_hidden_size;Vocab Size;"
      "Seq Len;GPU;# GPUs;PP;TP;DP;MBS;Global Batch Size;Sharding;Activation Checkpointing;dtype;"
      "step_time_ms\n" +
          cells);
  const auto rows = compare_dataset(path);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].case_id, "a1");
  EXPECT_EQ(rows[0].measured, 2.5);
  EXPECT_EQ(rows[0].skip_reason, "software of family \"\" is not known");
}

/// A row that nothing can be said of does not end the table that it stands in.
TEST(RunWords, SkipRowsThatNoStepCanBe) {
  const CsvTable made = table({{"global_batch", "90000000"}, {"layers", "9000"}, {"d", "2"}});
  const auto rows = compare_runs(made, {}, {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NE(rows[0].skip_reason, "");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
