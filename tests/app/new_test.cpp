// titer new, from the outside.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "titer/units/text.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

const std::vector<std::string> kSmallRun = {"new",
                                            "--model=llama3-8b",
                                            "--cluster=dgx-h100",
                                            "--devices=16",
                                            "--sequence=4096",
                                            "--batch=64"};

std::vector<std::string> with(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// What is written runs, in the time that it said; and is the best that a search finds.
TEST(AppNew, WritesARunThatRuns) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "run.json").string();
  const auto made = titer(with(kSmallRun, {"--out", file}));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "");
  EXPECT_TRUE(
      contains(made.err, "Llama 3 8B on 16 x NVIDIA H100 SXM5 80 GB (dgx-h100), batch 64 x 4096"));
  const Document result = parse_json(data_of(titer({"run", file, "--format=json"})), "out");
  const double seconds = result.at("iteration_time_s")->number;
  EXPECT_TRUE(contains(made.err, ": " + format(Seconds::from_si(seconds)) + " a step\n"))
      << made.err;
  EXPECT_TRUE(result.at("memory.fits")->boolean);
  const Document search = parse_json(data_of(titer({"search",
                                                    "--model=llama3-8b",
                                                    "--cluster=dgx-h100",
                                                    "--devices=16",
                                                    "--sequence=4096",
                                                    "--batch=64",
                                                    "--stack=megatron-core",
                                                    "--format=json"})),
                                     "out");
  EXPECT_DOUBLE_EQ(search.at("plans.0.iteration_time_s")->number, seconds);
}

/// A few lines, in which nothing stands that is usual.
TEST(AppNew, NamesWhatIsShipped) {
  const auto made = titer(kSmallRun);
  ASSERT_EQ(made.code, 0) << made.err;
  const Document run = parse_json(made.out, "out");
  EXPECT_EQ(run.at("model")->text, "llama3-8b");
  EXPECT_EQ(run.at("cluster.name")->text, "dgx-h100");
  EXPECT_EQ(run.at("cluster.nodes")->integer, 16 / 8);
  EXPECT_EQ(run.at("stack")->text, "megatron-core");
  EXPECT_EQ(run.at("training.global_batch")->integer, 64);
  EXPECT_EQ(run.at("plan.context"), nullptr);
  EXPECT_EQ(run.at("plan.expert"), nullptr);
}

TEST(AppNew, SaysWhatItTookBecauseNothingWasSaid) {
  const auto made = titer(
      {"new", "--model=llama3-8b", "--cluster=dgx-h100", "--devices=24", "--stack=megatron-core"});
  ASSERT_EQ(made.code, 0) << made.err;
  // 4 Mi tokens of 8192 each, as a multiple of the 3 in 24.
  const std::int64_t batch = (4'194'304 / 8192 + 2) / 3 * 3;
  EXPECT_TRUE(contains(made.err, "note: batch is not given: " + std::to_string(batch)));
  EXPECT_TRUE(contains(made.err, "note: sequence is not given: 8192 tokens"));
  EXPECT_EQ(parse_json(made.out, "out").at("training.global_batch")->integer, batch);
}

TEST(AppNew, TakesJsonInPlaceOfNames) {
  const auto made = titer({"new",
                           R"(--model={"name": "llama3-8b", "layers": 16})",
                           R"(--cluster={"name": "dgx-h100", "chip": {"power_cap": "500 W"}})",
                           "--devices=16",
                           "--sequence=4096",
                           "--batch=64"});
  ASSERT_EQ(made.code, 0) << made.err;
  const Document run = parse_json(made.out, "out");
  EXPECT_EQ(run.at("model.layers")->integer, 16);
  EXPECT_EQ(run.at("cluster.name")->text, "dgx-h100");
  EXPECT_EQ(run.at("cluster.chip.power_cap")->text, "500 W");
  EXPECT_EQ(run.at("cluster.nodes")->integer, 16 / 8);
  EXPECT_TRUE(contains(refusal_of(titer({"new",
                                         R"(--model={"name": "llama3-8b", "layerz": 16})",
                                         "--cluster=dgx-h100",
                                         "--devices=16"})),
                       "model.layerz: unknown key; did you mean \"layers\"?"));
}

/// A model that no file has, but whose shape is known by its name elsewhere.
TEST(AppNew, TakesModelsOfTheHubByTheirNames) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "run.json").string();
  const auto made = titer({"new",
                           "--model=qwen2.5-7b",
                           "--cluster=dgx-h100",
                           "--devices=8",
                           "--sequence=4096",
                           "--batch=64",
                           "--out",
                           file});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(contains(made.err, "qwen2.5-7b on 8 x NVIDIA H100"));
  EXPECT_TRUE(contains(data_of(titer({"run", file})), "qwen2.5-7b on 8 x NVIDIA H100"));
}

/// A model is called as its file is, or as the folder of a config.json; and what is not read of it
/// is told where a run begins.
TEST(AppNew, TellsWhoseConfigurationItTookAndWhatNotOfIt) {
  const TemporaryFolder folder;
  const std::filesystem::path model = folder.path() / "our-1.5b";
  std::filesystem::create_directory(model);
  std::ofstream(model / "config.json")
      << R"({"model_type": "llama", "num_hidden_layers": 4, "hidden_size": 512,
"intermediate_size": 1024, "num_attention_heads": 8, "vocab_size": 1024,
"max_position_embeddings": 1024, "attention_of_ours": true})";
  const auto made = titer({"new",
                           "--model=" + (model / "config.json").string(),
                           "--cluster=dgx-h100",
                           "--devices=8",
                           "--batch=64"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(contains(made.err, "our-1.5b on 8 x NVIDIA H100")) << made.err;
  EXPECT_TRUE(contains(made.err,
                       "note: not read of the model's configuration, and may change the result: "
                       "attention_of_ours"))
      << made.err;
}

TEST(AppNew, CountsSamplesOfWhatHasNoSequences) {
  const auto made =
      titer({"new", "--model=resnet-50", "--cluster=dgx-h100", "--devices=8", "--batch=1024"});
  EXPECT_TRUE(contains(made.err, "batch 1024 samples, bf16: ")) << made.err;
}

TEST(AppNew, RefusesWhatItCannotAskOrDo) {
  EXPECT_EQ(refusal_of(titer({"new", "--model=llama3-8b"})),
            "titer new: expected --model, --cluster and --devices, or a terminal to ask");
  EXPECT_TRUE(
      contains(refusal_of(titer({"new", "--model=llama3-9b", "--cluster=dgx-h100", "--devices=8"})),
               "llama3-8b"));
  EXPECT_EQ(refusal_of(titer({"new", "--model=resnet-50", "--cluster=dgx-h100", "--devices=8"})),
            "titer new: --batch: missing; expected the samples of a step");
  EXPECT_TRUE(contains(
      refusal_of(titer({"new", "--model=llama3-405b", "--cluster=dgx-h100", "--devices=8"})),
      "no plan is left"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
