// Degrees that a file gives and does not tell: left open, and not taken as 1.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <vector>

#include "import/imports.hpp"
#include "temporary_folder.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::member;
using testing::of_file;

constexpr std::string_view kOpen = "\"left open by the import\"";

TEST(LeftOpen, OfATrainersDegreesTheDevicesDoNotTellTheRest) {
  const std::string trainer =
      "torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen3-8B "
      "--per_device_train_batch_size 1 --max_length 2048 --bf16 ";
  const ImportedRun tensor = of_file(trainer + "--tensor_parallel_size $TP\n", "run.sh");
  EXPECT_EQ(member(tensor.plan, "tensor"), kOpen);
  EXPECT_EQ(member(tensor.plan, "sequence_parallel"), "absent");
  EXPECT_EQ(member(tensor.plan, "data"), kOpen);
  EXPECT_EQ(member(tensor.training, "global_batch"), kOpen);
  // Classes of the Hub split products alone, optimum-neuron's trainer tokens as well.
  const std::string two = trainer + "--tensor_parallel_size 2 ";
  EXPECT_EQ(member(of_file(two + "\n", "run.sh").plan, "sequence_parallel"), "absent");
  EXPECT_EQ(member(of_file(two + "--disable_sequence_parallel false\n", "run.sh").plan,
                   "sequence_parallel"),
            "true");
  const ImportedRun context = of_file(trainer + "--sequence_parallel_size $SP\n", "run.sh");
  EXPECT_EQ(member(context.plan, "context"), kOpen);
  EXPECT_EQ(member(context.plan, "data"), kOpen);
  const ImportedRun told = of_file("SP=2\n" + trainer + "--sequence_parallel_size $SP\n", "run.sh");
  EXPECT_EQ(member(told.plan, "context"), "2");
  EXPECT_EQ(member(told.plan, "data"), "4");
}

TEST(LeftOpen, OfAxesOfJaxTheDevicesDoNotTellTheRest) {
  const std::string levanter =
      "model:\n  type: gpt2\ntrainer:\n  train_batch_size: 64\n  model_axis_size: ";
  const ImportedRun open = of_file(levanter + "${PARTS}\n", "run.yaml", 8);
  EXPECT_EQ(member(open.plan, "tensor"), kOpen);
  EXPECT_EQ(member(open.plan, "data"), kOpen);
  EXPECT_EQ(member(of_file(levanter + "2\n", "run.yaml", 8).plan, "data"), "4");
  const std::string maxtext =
      "base_config: base.yml\nmodel_name: llama2-7b\nper_device_batch_size: 4\n"
      "max_target_length: 2048\nici_fsdp_parallelism: -1\nici_tensor_parallelism: ";
  EXPECT_EQ(member(of_file(maxtext + "${PARTS}\n", "run.yml", 8).plan, "data"), kOpen);
  EXPECT_EQ(member(of_file(maxtext + "2\n", "run.yml", 8).plan, "data"), "4");
}

TEST(MaxTextPipelines, CountNothingWhereThereIsNone) {
  const std::string text =
      "base_config: base.yml\nmodel_name: llama2-7b\nper_device_batch_size: 4\n"
      "max_target_length: 2048\nmax_segments_per_seq: 32\nnum_layers_per_pipeline_stage: 4\n"
      "num_pipeline_microbatches: 8\n";
  const ImportedRun flat = testing::of(text, "run.yml", 8);
  EXPECT_TRUE(flat.unread.empty()) << flat.unread.front();
  const ImportedRun split = testing::of(text + "ici_pipeline_parallelism: 2\n", "run.yml", 8);
  EXPECT_TRUE(testing::any_has(split.unread, "num_layers_per_pipeline_stage"));
}

TEST(LeftOpen, APrecisionThatATrainerWouldTell) {
  const std::string automatic =
      R"({"bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2}})";
  EXPECT_EQ(member(testing::of(automatic, "ds.json").training, "precision"), kOpen);
  const std::string told = R"({"bf16": {"enabled": true}, "zero_optimization": {"stage": 2}})";
  EXPECT_EQ(member(testing::of(told, "ds.json").training, "precision"), "\"bf16\"");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
