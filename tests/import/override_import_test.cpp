// Configurations with what is changed of them beside: on a command line, by an option, by what they
// are based on (OLMo-core's programs, Primus).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "import/imports.hpp"
#include "paths.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::refusal_of;

using Files = std::vector<std::string_view>;

ImportedRun imported(const Files& names, const ImportOptions& options = {}) {
  std::vector<std::filesystem::path> files;
  for (const std::string_view name : names) {
    files.push_back(testing::root() / "tests/data/import" / name);
  }
  return import_files(files, options);
}

ImportedRun on(std::int64_t devices, const Files& names, ImportOptions options = {}) {
  options.devices = devices;
  return imported(names, options);
}

std::string refusal(const Files& names, const ImportOptions& options = {}) {
  return refusal_of([&] { return imported(names, options); });
}

bool any_ends_with(const std::vector<std::string>& lines, std::string_view end) {
  return std::any_of(
      lines.begin(), lines.end(), [&](const std::string& line) { return line.ends_with(end); });
}

TEST(ImportOverrides, ACommandChangesTheConfigurationBesideIt) {
  const ImportedRun run = imported({"nemo.yaml", "formats/nemo_launch.sh"});
  EXPECT_EQ(run.plan.find("micro_batch")->integer, 2);
  // 4 nodes of 8, as the file has it and the command tells it again: 32 / (4 x 2) ranks.
  EXPECT_EQ(run.plan.find("data")->integer, 4);
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const ImportedRun before = imported({"nemo.yaml"});
  EXPECT_EQ(before.plan.find("micro_batch")->integer, 1);
}

TEST(ImportOverrides, APlaceInTheCommandIsSaidWhereItIsWrong) {
  const ImportedRun right = on(8, {"formats/titan_small.toml", "formats/torchtitan_launch.sh"});
  EXPECT_EQ(right.plan.find("tensor")->integer, 4);
  EXPECT_EQ(right.plan.find("micro_batch")->integer, 2);
  ImportOptions wrong;
  wrong.overrides.push_back({.path = "training.seq_len", .value = "many"});
  EXPECT_NE(refusal({"formats/titan_small.toml"}, wrong).find("training.seq_len: many: expected"),
            std::string::npos);
  const std::string alone = refusal({"formats/torchtitan_launch.sh"});
  EXPECT_TRUE(
      alone.ends_with("changes llama3_8b.toml by key=value; import that, and this --with it"))
      << alone;
}

TEST(ImportOverrides, OfMaxTextACommandIsEnough) {
  const ImportedRun run = imported({"formats/maxtext_launch.sh"});
  EXPECT_EQ(run.stack, "maxtext");
  EXPECT_EQ(run.shipped, "llama2-7b");
  EXPECT_EQ(run.plan.find("data")->integer, 4 * 8);
  EXPECT_EQ(run.plan.find("shard")->integer, 8);
  EXPECT_EQ(run.training.find("global_batch")->integer, 2 * 4 * 8);
  EXPECT_EQ(run.training.find("sequence")->integer, 4096);
}

TEST(ImportOverrides, AnOptionChangesAddsAndTakesAway) {
  ImportOptions options;
  options.overrides = {{.path = "training.seq_len", .value = "4096"},
                       {.path = "+training.global_batch_size", .value = "128"},
                       {.path = "~model.converters", .value = ""}};
  const ImportedRun run = on(32, {"formats/titan_small.toml"}, options);
  EXPECT_EQ(run.training.find("sequence")->integer, 4096);
  EXPECT_EQ(run.training.find("global_batch")->integer, 128);
  EXPECT_EQ(run.training.find("precision")->text, "bf16");
  EXPECT_NE(refusal({"pretrain.sh"}, options).find("--override: expected a configuration"),
            std::string::npos);
}

TEST(ImportTorchtitan, CompilationNamesTheStackAndFloat8WhatIsGathered) {
  const ImportedRun run = on(16, {"formats/titan_small.toml"});
  EXPECT_EQ(run.stack, "torchtitan-compiled");
  EXPECT_EQ(run.training.find("precision")->text, "fp8");
  EXPECT_EQ(run.training.find("narrow_weights")->text, "gathered");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(ImportOlmoCore, AProgramIsReadAsItsTrainerSavesIt) {
  const ImportedRun run = on(32, {"formats/olmo_core.py"});
  // Tables of 2 x 100352 x 2048; layers of 4 x 2048² + 3 x 2048 x 8192, their norms and those of
  // queries and keys; a norm.
  EXPECT_EQ(parameters(*run.model),
            2 * 100352LL * 2048 + 16 * (4 * 2048LL * 2048 + 3 * 2048LL * 8192 + 4 * 2048) + 2048);
  EXPECT_EQ(to_json(run.plan, 0),
            R"({"pipeline":1,"tensor":1,"context":1,"data":32,"sequence_parallel":false,)"
            R"("sharding":"zero3","shard":16,"recompute":"full","micro_batch":4})");
  EXPECT_EQ(to_json(run.training, 0),
            R"({"precision":"bf16","gradient_precision":"fp32","optimizer":"adam",)"
            R"("sequence":2048,"global_batch":256})");
}

TEST(ImportOlmoCore, ConditionsOnDevicesAreFollowedAndOthersDoNotHold) {
  const ImportedRun few = on(32, {"formats/olmo_core.py"});
  const ImportedRun many = on(64, {"formats/olmo_core.py"});
  EXPECT_EQ(few.plan.find("micro_batch")->integer, 4);
  EXPECT_EQ(many.plan.find("micro_batch")->integer, 2);
  EXPECT_EQ(many.plan.find("recompute")->text, "none");
}

TEST(ImportOlmoCore, WhatIsSavedAndShortExperimentsAreRead) {
  const ImportedRun saved = on(16, {"formats/olmo_core.json"});
  EXPECT_EQ(parameters(*saved.model), 7'298'617'344);  // OLMo-2-1124-7B on the Hub
  EXPECT_EQ(saved.stack, "torchtitan");
  EXPECT_EQ(saved.plan.find("data")->integer, 8);
  EXPECT_EQ(saved.training.find("global_batch")->integer, 1048576 / 4096);
  const ImportedRun small = imported({"formats/olmo_experiment.yaml"});
  EXPECT_EQ(small.plan.find("data")->integer, 2 * 8);
  EXPECT_EQ(small.plan.find("shard")->integer, 8);
  EXPECT_EQ(small.plan.find("micro_batch")->integer, 16384 / 4096);
}

TEST(ImportFormats, WhatLayersKeepGoesToTheHost) {
  const std::string text =
      "base_model: meta-llama/Llama-3.2-1B\nsequence_len: 512\nmicro_batch_size: 1\nbf16: true\n"
      "min_sample_len: 64\nexperts_implementation: grouped_mm\nfp8_backend: te\n";
  const ImportedRun alone =
      import_text(text + "gradient_checkpointing: true\nactivation_offloading: legacy\n", "a.yaml");
  EXPECT_EQ(to_json(*alone.plan.find("offload"), 0), R"({"activations":"host"})");
  EXPECT_TRUE(alone.unread.empty()) << alone.unread.front();
  const ImportedRun beside = import_text(
      text + "gradient_checkpointing: offload\ndeepspeed: zero3_bf16_cpuoffload_params.json\n",
      "a.yaml");
  EXPECT_EQ(to_json(*beside.plan.find("offload"), 0), R"({"weights":"host","activations":"host"})");
  EXPECT_EQ(beside.plan.find("recompute")->text, "full");
  EXPECT_EQ(import_text(text + "activation_offloading: false\n", "a.yaml").plan.find("offload"),
            nullptr);
  EXPECT_THROW(static_cast<void>(import_text(text + "activation_offloading: disk\n", "a.yaml")),
               InputError);
}

TEST(ImportPrimus, WhatAFileLeavesOutIsAsPrimusHasIt) {
  const ImportedRun run = on(16, {"formats/primus.yaml"});
  EXPECT_EQ(parameters(*run.model), 8'030'261'248);
  EXPECT_EQ(run.plan.find("tensor")->integer, 2);
  EXPECT_EQ(run.plan.find("micro_batch")->integer, 2);
  EXPECT_EQ(run.plan.find("sharding")->text, "zero1");
  EXPECT_TRUE(run.plan.find("sequence_parallel")->boolean);
  EXPECT_EQ(run.training.find("precision")->text, "bf16");
  EXPECT_EQ(run.training.find("sequence")->integer, 8192);
  EXPECT_TRUE(any_ends_with(run.assumed, "micro_batch_size: 2: as Primus' own files have it"));
  ImportOptions told;
  told.defines = {{"PRIMUS_TP", "4"}, {"PRIMUS_MODEL", "llama2_7B"}};
  const ImportedRun other = on(16, {"formats/primus.yaml"}, told);
  EXPECT_EQ(other.plan.find("tensor")->integer, 4);
  EXPECT_EQ(other.shipped, "llama2-7b");
  // A switch that is off as in the model changes nothing of it.
  const std::string off =
      "work_group: lab\nmodules:\n  pre_trainer:\n    framework: megatron\n    model: NAME.yaml\n  "
      "  overrides:\n"
      "      multi_latent_attention: false\n";
  const auto named = [&](std::string_view name) {
    std::string text = off;
    return text.replace(text.find("NAME"), 4, name);
  };
  EXPECT_EQ(import_text(named("gpt_oss_20B"), "a.yaml").shipped, "gpt-oss-20b");
  EXPECT_THROW(static_cast<void>(import_text(named("deepseek_v3"), "a.yaml")), InputError);
}

TEST(ImportPrimus, OverMaxTextWeightsAndStatesAreInSixteenBits) {
  const ImportedRun run = on(16, {"formats/primus_maxtext.yaml"});
  EXPECT_EQ(run.stack, "maxtext");
  EXPECT_EQ(run.shipped, "llama3-8b");
  EXPECT_EQ(run.plan.find("data")->integer, 16);
  EXPECT_EQ(run.plan.find("shard")->integer, 8);
  EXPECT_EQ(run.plan.find("micro_batch")->integer, 3);
  EXPECT_EQ(run.training.find("sequence")->integer, 4096);
  EXPECT_EQ(run.training.find("master_precision")->text, "bf16");
  EXPECT_TRUE(any_ends_with(run.assumed, "weight_dtype: bfloat16: as Primus' own files have it"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
