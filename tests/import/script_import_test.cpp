// Whole scripts, written as those are that people start their runs with.

#include <gtest/gtest.h>

#include <algorithm>

#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/import/import_figures.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::filesystem::path script(std::string_view file) {
  return testing::root() / "tests/data/import/scripts" / file;
}

ImportedRun imported(std::string_view file, const ImportOptions& options = {}) {
  const std::vector<std::filesystem::path> files = {script(file)};
  return import_files(files, options);
}

using Members = std::vector<std::pair<std::string, std::string>>;

/// The members of a plan or training that are named.
void expect(const Value& object, const Members& members) {
  for (const auto& [key, value] : members) {
    const Value* const found = object.find(key);
    EXPECT_EQ(found == nullptr ? "absent" : to_json(*found, 0), value) << key;
  }
}

/// Without the places, which begin with where the tests are.
std::vector<std::string> whats(std::vector<std::string> lines) {
  for (std::string& line : lines) {
    line.erase(0, script("").string().size());
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(ImportScripts, OptionsInArraysWhoseElementsAreAFlagWithItsValue) {
  const ImportedRun run = imported("llama3_8b_fp8.sh");
  const std::int64_t h = 4096;
  const std::int64_t layer = 2 * h * h + 2 * h * 8 * 128 + 3 * h * 14336 + 2 * h;
  EXPECT_EQ(parameters(*run.model), 32 * layer + 2 * 128256 * h + h);
  EXPECT_EQ(parameters(*run.model), 8'030'261'248);  // as it is published
  expect(run.plan,
         {{"tensor", "1"},
          {"context", "2"},
          {"data", std::to_string(8 / 2)},
          {"sharding", "\"zero1\""},
          {"overlap_grad_reduce", "true"},
          {"micro_batch", "1"}});
  expect(run.training, {{"precision", "\"fp8\""}, {"sequence", "8192"}, {"global_batch", "128"}});
  EXPECT_TRUE(run.assumed.empty()) << run.assumed.front();
  EXPECT_TRUE(run.open.empty());
}

TEST(ImportScripts, StringsInsideOfStringsAndLayersThatStagesDoNotDivide) {
  const ImportedRun run = imported("bloom.slurm");
  const std::int64_t h = 14336;
  // 12 h^2 weights of a layer, biases of 3 h + h + 4 h + h, two norms; a norm after the embedding.
  const std::int64_t layer = 12 * h * h + 9 * h + 4 * h;
  EXPECT_EQ(parameters(*run.model), 70 * layer + 250880 * h + 2 * h + 2 * h);
  EXPECT_EQ(parameters(*run.model), 176'247'271'424);  // as it is published
  expect(run.plan,
         {{"tensor", "4"},
          {"pipeline", "12"},
          {"data", std::to_string(48 * 8 / (4 * 12))},
          {"layers", "\"lighter-ends\""},  // 72 of 12 stages with embedding and head
          {"sharding", "\"zero1\""}});
  expect(run.training, {{"precision", "\"bf16\""}, {"global_batch", "2048"}});
  EXPECT_EQ(run.stack, "deepspeed");
  EXPECT_EQ(
      whats(run.assumed),
      Lines{"bloom.slurm:48:5: --bf16: DeepSpeed's optimizer for it shards its state, as stage 1 "
            "does"});
}

TEST(ImportScripts, ACommandWithItsLogIsPutTogetherAndRunByEval) {
  const ImportedRun run = imported("piped_eval.sh");
  ASSERT_TRUE(run.model->experts.has_value());
  EXPECT_EQ(run.model->experts->count, 16);
  EXPECT_EQ(run.model->experts->shared_ffn, 2 * 1408);
  const std::int64_t h = 2048;
  const std::int64_t attention = 4 * h * h + 2 * h;  // with the layer's two norms
  const std::int64_t experts = (16 + 2) * 3 * h * 1408 + 16 * h;
  EXPECT_EQ(parameters(*run.model),
            12 * attention + 3 * h * 8192 + 11 * experts + 2 * 128000 * h + h);
  expect(run.plan,
         {{"data", "16"},
          {"expert", "8"},
          {"sharding", "\"zero1\""},
          {"overlap_grad_reduce", "true"},
          {"overlap_param_gather", "true"}});
  expect(run.training, {{"precision", "\"bf16\""}, {"global_batch", "64"}});
  EXPECT_TRUE(run.unread.empty());
  EXPECT_TRUE(run.assumed.empty()) << run.assumed.front();
}

TEST(ImportScripts, ProcessesOfMpiAreDevicesAndOptionsInOneWordAreOptions) {
  expect(imported("mpirun_options.sh").plan,
         {{"tensor", "4"},
          {"pipeline", "2"},
          {"data", std::to_string(2 * 8 / (4 * 2))},
          {"sequence_parallel", "true"},
          {"sharding", "\"zero1\""}});
  ImportOptions more;
  more.defines = {{"NODES", "8"}};
  const ImportedRun run = imported("mpirun_options.sh", more);
  expect(run.plan, {{"data", std::to_string(8 * 8 / (4 * 2))}});
  expect(run.training, {{"precision", "\"bf16\""}});
}

TEST(ImportScripts, DefaultsOfWhatMayBeToldFromOutside) {
  const ImportedRun run = imported("cluster.sbatch");
  EXPECT_EQ(run.model->layers, 36);
  EXPECT_EQ(run.model->max_sequence, 2048);  // : "${A:=${B}}"
  expect(run.plan,
         {{"tensor", "4"},
          {"pipeline", "2"},
          {"data", std::to_string(4 * 8 / (4 * 2))},
          {"recompute", "\"selective\""}});
  expect(run.training, {{"global_batch", "288"}, {"sequence", "2048"}});
  EXPECT_EQ(whats(run.assumed),
            (Lines{"cluster.sbatch:50:4: [ -d \"/opt/sagemaker_cluster\" ]: taken as false",
                   "cluster.sbatch: --vocab-size: taken as 50257, for the tokenizer gpt2-vocab"}));
  ImportOptions options;
  options.defines = {{"NUM_LAYERS", "48"}, {"SEQ_LENGTH", "4096"}};
  const ImportedRun told = imported("cluster.sbatch", options);
  EXPECT_EQ(told.model->layers, 48);
  EXPECT_EQ(told.model->max_sequence, 4096);
}

TEST(ImportScripts, WhatArgumentsTellIsAskedForByTheNamesTheyAreGiven) {
  try {
    static_cast<void>(imported("positional.sh"));
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(
        whats(error.lines),
        (Lines{"positional.sh:18:4: [ $MODEL_SIZE = 1.5B ]: is not told by the file, and the "
               "flags in tie_option depend on it; --define MODEL_SIZE=VALUE tells it: 1.5B or "
               "7B",
               "positional.sh:36:4: [ $AC = full ]: is not told by the file, and the flags in "
               "activation_checkpoint_options depend on it; --define AC=VALUE tells it: full "
               "or none"}));
  }
  ImportOptions options;
  options.defines = {{"MODEL_SIZE", "7B"},
                     {"AC", "full"},
                     {"TP", "2"},
                     {"BATCH_SIZE", "1"},
                     {"GLOBAL_BATCH_SIZE", "64"}};
  options.vocabulary = 152064;
  const ImportedRun large = imported("positional.sh", options);
  EXPECT_EQ(parameters(*large.model), 7'615'616'512);  // Qwen2.5 7B, as it is published
  expect(large.plan, {{"tensor", "2"}, {"data", "4"}, {"recompute", "\"full\""}});
  expect(large.training, {{"global_batch", "64"}, {"sequence", "4096"}});
  EXPECT_TRUE(large.assumed.empty()) << large.assumed.front();
  options.defines["MODEL_SIZE"] = "1.5B";
  options.defines["AC"] = "none";
  options.vocabulary.reset();
  const ImportedRun small = imported("positional.sh", options);
  EXPECT_EQ(parameters(*small.model), 1'543'714'304);  // Qwen2.5 1.5B likewise
  expect(small.plan, {{"recompute", "\"none\""}});
  EXPECT_EQ(whats(small.assumed),
            Lines{"positional.sh: --vocab-size: taken as 151936, for the tokenizer qwen; 152064 of "
                  "Qwen2 and 2.5 from 7B on: --vocabulary ROWS tells it"});
}

TEST(ImportScripts, WhatTheScriptSourcesIsReadBesideIt) {
  const ImportedRun run = imported("sourcing.sh");
  ASSERT_TRUE(run.model.has_value());
  EXPECT_EQ(run.model->layers, 12);
  expect(run.plan, {{"tensor", "4"}, {"data", std::to_string(2 * 8 / 4)}, {"micro_batch", "1"}});
  expect(run.training, {{"global_batch", "32"}, {"sequence", "2048"}, {"precision", "\"bf16\""}});
  const Lines said = whats(run.assumed);
  ASSERT_GE(said.size(), 3U);
  EXPECT_EQ(said[0],
            "sourcing.sh:5:9: is gone through as " + script("conf/model_small.sh").string());
  EXPECT_EQ(said[1], "sourcing.sh:6:3: is gone through as " + script("conf/cluster.sh").string());
  EXPECT_EQ(said[2], "sourcing.sh:7:3: ~/secrets.sh: is not read, and sets nothing");
}

TEST(ImportScripts, AFileThatIsGivenBesideGoesBeforeOneThatLiesThere) {
  const testing::TemporaryFolder folder;
  const std::string own =
      folder.file("model_small.sh",
                  "MODEL_OPTIONS='--num-layers 2 --hidden-size 64 --num-attention-heads 4 "
                  "--seq-length 128 --max-position-embeddings 128'\n");
  const std::vector<std::filesystem::path> files = {script("sourcing.sh"), own};
  EXPECT_EQ(import_files(files, {}).model->layers, 2);
}

TEST(ImportScripts, WhatIsNotAtHandIsNamed) {
  const testing::TemporaryFolder folder;
  const std::vector<std::filesystem::path> files = {
      folder.file("run.sh", ". conf/sizes.sh\neval $CMD\n")};
  try {
    static_cast<void>(import_files(files, {}));
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.front(),
              files.front().string() +
                  ": tells nothing of a model itself, and sources conf/sizes.sh, which is not "
                  "beside it; --with gives such a file");
  }
}

TEST(ImportScripts, AGuardOnWhatALoopWouldHaveFoundDoesNotEndTheScript) {
  const std::string text =
      "IPS=($1)\nRANK=\"\"\nfor i in \"${!IPS[@]}\"; do\n"
      "  if [ \"$HOST\" == \"${IPS[$i]}\" ]; then RANK=$i; break; fi\ndone\n"
      "if [[ $RANK == \"\" ]]; then\n  echo missing\n  exit 1\nfi\n"
      "torchrun --nproc_per_node 8 --nnodes ${#IPS[@]} pretrain_gpt.py --num-layers 12 "
      "--hidden-size 512 --num-attention-heads 8 --seq-length 1024 --micro-batch-size 1 "
      "--global-batch-size 64 --bf16\n";
  // How many words the argument has nobody tells, and so not how many nodes.
  const testing::TemporaryFolder folder;
  const std::vector<std::filesystem::path> files = {folder.file("run.sh", text)};
  const ImportedRun run = import_files(files, {});
  EXPECT_EQ(run.model->layers, 12);
  expect(run.plan, {{"data", "\"left open by the import\""}});
  ImportOptions told;
  told.defines["1"] = "a b c d";
  expect(import_files(files, told).plan, {{"data", std::to_string(4 * 8)}});
  // One that asks for something else ends it.
  EXPECT_THROW(static_cast<void>(import_text("A=1\n" + text.substr(0, text.find("if [[")) +
                                                 "if [ $A == 1 ]; then exit 1; fi\n" +
                                                 text.substr(text.find("torchrun")),
                                             "run.sh")),
               InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
