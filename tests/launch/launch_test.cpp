// Runs as launchers take them: what is written is what the importers read.
#include "titer/launch/launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "temporary_folder.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/document.hpp"
#include "titer/input/read_document.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Scenario scenario_of(std::string_view run, std::vector<Assignment> changes = {}) {
  ScenarioSource source = ScenarioSource::load(run);
  for (const Assignment& change : changes) {
    source.assign(change);
  }
  return source.read();
}

bool has_line(const LaunchFile& file, std::string_view words) {
  return std::any_of(file.lost.begin(), file.lost.end(), [&](const std::string& line) {
    return line.find(words) != std::string::npos;
  });
}

struct Written {
  LaunchFormat format;
  const char* name;
};
constexpr std::array<Written, 3> kFiles = {{{LaunchFormat::megatron, "run.sh"},
                                            {LaunchFormat::slurm, "run.sbatch"},
                                            {LaunchFormat::nemo, "run.yaml"}}};

/// What the importer makes of a file for the devices that were meant, with nothing told besides.
ImportedRun imported(const std::filesystem::path& file, const Scenario& meant) {
  return import_files(std::vector{file},
                      {.defines = {},
                       .devices = meant.plan.devices(),
                       .vocabulary = {},
                       .base = {},
                       .accept_unknown = false});
}

TEST(Launch, IsReadBackAsItWasMeant) {
  const testing::TemporaryFolder folder;
  for (const char* const run : {"gpt3-175b-64xa100", "llama3-70b-64xh100"}) {
    const Scenario meant = scenario_of(run);
    for (const Written& written : kFiles) {
      SCOPED_TRACE(std::string(run) + " " + written.name);
      const LaunchFile file = launch_file(written.format, meant);
      EXPECT_EQ(file.lost, std::vector<std::string>());
      const ImportedRun back = imported(folder.file(written.name, file.text), meant);
      const Plan plan = read_document({.root = back.plan, .sources = {}}, read_plan);
      EXPECT_EQ(plan.tensor, meant.plan.tensor);
      EXPECT_EQ(plan.pipeline, meant.plan.pipeline);
      EXPECT_EQ(plan.virtual_stages, meant.plan.virtual_stages);
      EXPECT_EQ(plan.micro_batch, meant.plan.micro_batch);
      EXPECT_EQ(plan.recompute, meant.plan.recompute);
      EXPECT_EQ(plan.data, meant.plan.data);
      EXPECT_EQ(plan.sharding, meant.plan.sharding);
      EXPECT_EQ(plan.sequence_parallel, meant.plan.sequence_parallel);
      const Training training =
          read_document({.root = back.training, .sources = {}},
                        [&](Reader& in) { return read_training(in, meant.model); });
      EXPECT_EQ(training.global_batch, meant.training.global_batch);
      EXPECT_EQ(training.sequence, meant.training.sequence);
      EXPECT_EQ(training.precision, meant.training.precision);
      ASSERT_TRUE(back.model.has_value());
      EXPECT_EQ(parameters(*back.model), parameters(meant.model));
    }
  }
}

TEST(Launch, IsReadBackOfShardedParametersToo) {
  const testing::TemporaryFolder folder;
  const Scenario meant = scenario_of("llama3-70b-64xh100",
                                     {{"plan.sharding", Value("zero3"), "test"},
                                      {"plan.pipeline", Value(1), "test"},
                                      {"plan.data", Value(8), "test"},
                                      {"stack", Value("torchtitan"), "test"}});
  for (const Written& written : {Written{LaunchFormat::megatron_bridge, "run.yaml"},
                                 Written{LaunchFormat::torchtitan, "run.toml"}}) {
    SCOPED_TRACE(written.name);
    const LaunchFile file = launch_file(written.format, meant);
    EXPECT_EQ(file.lost, std::vector<std::string>());
    const ImportedRun back = imported(folder.file(written.name, file.text), meant);
    const Plan plan = read_document({.root = back.plan, .sources = {}}, read_plan);
    EXPECT_EQ(plan.tensor, meant.plan.tensor);
    EXPECT_EQ(plan.data, meant.plan.data);
    EXPECT_EQ(plan.sharding, Sharding::zero3);
  }
}

TEST(Launch, TellsTorchtitanHowFloat8IsScaledAndGathered) {
  const testing::TemporaryFolder folder;
  for (const Choice<NarrowScaling>& scaling : kNarrowScalings) {
    SCOPED_TRACE(scaling.name);
    const Scenario meant = scenario_of("llama3-70b-64xh100",
                                       {{"plan.sharding", Value("zero3"), "test"},
                                        {"plan.pipeline", Value(1), "test"},
                                        {"plan.data", Value(8), "test"},
                                        {"training.precision", Value("fp8"), "test"},
                                        {"training.narrow_scaling", Value(scaling.name), "test"},
                                        {"stack", Value("torchtitan"), "test"}});
    const LaunchFile file = launch_file(LaunchFormat::torchtitan, meant);
    EXPECT_EQ(file.lost, std::vector<std::string>());
    EXPECT_EQ(file.text.find("enable_fsdp_float8_all_gather = true") != std::string::npos,
              scaling.value == NarrowScaling::tensor);
    const ImportedRun back = imported(folder.file("run.toml", file.text), meant);
    const Value* const read = back.training.find("narrow_scaling");
    EXPECT_EQ(read == nullptr ? "tensor" : read->text, scaling.name);
  }
}

TEST(Launch, WritesExpertsAndNarrowNumbersAsTheyAreRead) {
  const Scenario meant = scenario_of("mixtral-8x7b-64xh100",
                                     {{"stack", Value("megatron-bridge"), "test"},
                                      {"model.experts.latent", Value(1024), "test"},
                                      {"model.experts.shared_ffn", Value(4096), "test"},
                                      {"plan.shared_expert_overlap", Value(true), "test"},
                                      {"model.predicted_tokens", Value(2), "test"},
                                      {"model.predicted_by_one", Value(true), "test"},
                                      {"plan.fused_experts", Value(true), "test"},
                                      {"training.precision", Value("fp8"), "test"},
                                      {"training.narrow_scaling", Value("block"), "test"},
                                      {"training.narrow_logits", Value(true), "test"}});
  const LaunchFile file = launch_file(LaunchFormat::megatron, meant);
  EXPECT_EQ(file.lost, std::vector<std::string>());
  for (const char* flag : {"--moe-latent-size 1024",
                           "--mtp-use-repeated-layer",
                           "--use-transformer-engine-op-fuser",
                           "--moe-shared-expert-overlap",
                           "--fp8-recipe mxfp8",
                           "--fp8-output-proj"}) {
    EXPECT_NE(file.text.find(flag), std::string::npos) << flag << " in " << file.text;
  }
}

TEST(Launch, WritesHybridsByTheirPattern) {
  for (const char* name : {"nemotron-h-8b", "nemotron-3-super-120b-a12b"}) {
    const Scenario meant = scenario_of("llama3-70b-64xh100",
                                       {{"model", Value(name), "test"},
                                        {"plan.pipeline", Value(1), "test"},
                                        {"plan.tensor", Value(1), "test"},
                                        {"plan.sequence_parallel", Value(false), "test"},
                                        {"plan.data", Value(64), "test"},
                                        {"training.sequence", Value(8192), "test"}});
    const LaunchFile file = launch_file(LaunchFormat::megatron, meant);
    EXPECT_EQ(file.lost, std::vector<std::string>()) << name;
    EXPECT_NE(file.text.find("pretrain_mamba.py"), std::string::npos);
    const ImportedRun back = import_text(file.text, "run.sh");
    EXPECT_EQ(back.model->runs(), meant.model.if_transformer()->runs());
    EXPECT_EQ(parameters(*back.model), parameters(meant.model));
  }
}

TEST(Launch, SaysWhatALauncherWouldRunInstead) {
  const Scenario zero_bubble =
      scenario_of("llama3-70b-64xh100", {{"plan.schedule", Value("zb-h1"), "test"}});
  EXPECT_TRUE(has_line(launch_file(LaunchFormat::megatron, zero_bubble), "zb-h1: would be 1f1b"));
  // torchtitan shards by FSDP, not the optimizer's states alone.
  EXPECT_TRUE(has_line(launch_file(LaunchFormat::torchtitan, scenario_of("llama3-70b-64xh100")),
                       "plan.sharding: zero1"));
  EXPECT_THROW(
      static_cast<void>(launch_file(LaunchFormat::megatron, scenario_of("resnet-50-8xa100"))),
      InputError);
}

TEST(Launch, WritesGraphsAsTheyAreRead) {
  struct Case {
    std::string_view graph;
    std::string_view flags;
  };
  constexpr std::array<Case, 2> cases = {
      {{"\"iteration\"", "--cuda-graph-impl local"},
       {R"(["attention", "mlp"])", "--cuda-graph-impl transformer_engine"}}};
  for (const Case& c : cases) {
    const Scenario meant = scenario_of(
        "llama3-70b-64xh100", {parse_assignment("plan.cuda_graph=" + std::string(c.graph))});
    const LaunchFile file = launch_file(LaunchFormat::megatron, meant);
    EXPECT_EQ(file.lost, std::vector<std::string>()) << c.graph;
    EXPECT_NE(file.text.find(c.flags), std::string::npos) << file.text;
    const ImportedRun back = import_text(file.text, "run.sh");
    EXPECT_EQ(read_document({.root = back.plan, .sources = {}}, read_plan).cuda_graph,
              meant.plan.cuda_graph);
  }
}

TEST(Launch, WritesThatTensorRanksKeepAPartOfAnInputEach) {
  const Scenario meant = scenario_of("gpt3-175b-64xa100",
                                     {{"plan.recompute", Value("full"), "test"},
                                      {"plan.sequence_parallel", Value(false), "test"},
                                      {"plan.distribute_saved_activations", Value(true), "test"}});
  const LaunchFile file = launch_file(LaunchFormat::megatron, meant);
  const ImportedRun back = import_text(file.text, "run.sh");
  EXPECT_TRUE(
      read_document({.root = back.plan, .sources = {}}, read_plan).distribute_saved_activations)
      << file.text;
}

TEST(Launch, NamesTheSettingsThatDiffer) {
  const Scenario before = scenario_of("gpt3-175b-64xa100");
  const Scenario after = scenario_of(
      "gpt3-175b-64xa100",
      {{"plan.micro_batch", Value(2), "test"}, {"plan.recompute", Value("none"), "test"}});
  const std::vector<std::string> changed = changed_settings(LaunchFormat::megatron, before, after);
  EXPECT_NE(std::find(changed.begin(), changed.end(), "--micro-batch-size 2"), changed.end());
  EXPECT_NE(std::find(changed.begin(), changed.end(), "without --recompute-granularity selective"),
            changed.end());
  EXPECT_EQ(changed.size(), 2U);
  EXPECT_TRUE(changed_settings(LaunchFormat::megatron, before, before).empty());
}

TEST(Launch, KnowsTheSoftwareOfStacks) {
  EXPECT_EQ(launch_format("megatron-lm"), LaunchFormat::megatron);
  EXPECT_EQ(launch_format("nemo"), LaunchFormat::nemo);
  EXPECT_EQ(launch_format("maxtext"), std::nullopt);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
