// torchtitan: batches that a pipeline takes in parts, and what is made narrow.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

ImportedRun of(const std::string& text, std::int64_t devices = 64) {
  ImportOptions options;
  options.devices = devices;
  return import_text(text, "run.toml", options);
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(of(text));
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "not refused";
}

std::string member(const Value& object, std::string_view key) {
  const Value* const found = object.find(key);
  return found == nullptr ? "absent" : to_json(*found, 0);
}

bool any_has(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(part) != std::string::npos;
  });
}

std::string run_of(const std::string& parallelism, const std::string& more = "") {
  return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 4096\n"
         "local_batch_size = 16\n" +
         more + "[parallelism]\n" + parallelism;
}

TEST(ImportTorchtitan, APipelineTakesABatchOneSequenceAtATime) {
  const ImportedRun run = of(run_of("pipeline_parallel_degree = 4\n"));
  EXPECT_EQ(member(run.plan, "schedule"), "\"1f1b\"");
  EXPECT_EQ(member(run.plan, "virtual_stages"), "absent");
  EXPECT_EQ(member(run.plan, "micro_batch"), "1");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(16 * 64 / 4));
  EXPECT_TRUE(any_has(run.assumed, "pipeline_parallel_microbatch_size: taken as 1"));
  const ImportedRun told =
      of(run_of("pipeline_parallel_degree = 4\npipeline_parallel_microbatch_size = 2\n",
                "global_batch_size = 512\n"));
  EXPECT_EQ(member(told.plan, "micro_batch"), "2");
  EXPECT_EQ(member(told.training, "global_batch"), "512");
  EXPECT_TRUE(any_has(told.assumed, "the pipeline is taken not to run empty"));
  // Without a pipeline the batch of a rank is taken as one.
  const ImportedRun whole =
      of(run_of("pipeline_parallel_microbatch_size = 2\n", "global_batch_size = -1\n"));
  EXPECT_EQ(member(whole.plan, "micro_batch"), "16");
  EXPECT_EQ(member(whole.training, "global_batch"), std::to_string(16 * 64));
  EXPECT_NE(refusal(run_of("pipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 3\n"))
                .find("expected a divisor of training.local_batch_size, 16"),
            std::string::npos);
}

TEST(ImportTorchtitan, TheFirstReleasesToldHowManyPartsThereAre) {
  const auto early = [](const std::string& more) {
    return run_of("tensor_parallel_degree = 1\n") +
           "[experimental]\npipeline_parallel_degree = 4\n" + more;
  };
  EXPECT_EQ(member(of(early("")).plan, "micro_batch"), std::to_string(16 / 4));
  EXPECT_EQ(member(of(early("pipeline_parallel_microbatches = 8\n")).plan, "micro_batch"),
            std::to_string(16 / 8));
}

TEST(ImportTorchtitan, ScalesOfBlocksAreNoOrdinaryFloat8) {
  const ImportedRun run =
      of("[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = [\"quantize.linear.mx\"]\n"
         "[training]\nlocal_batch_size = 1\nseq_len = 4096\n"
         "[quantize.linear.mx]\nrecipe_name = \"mxfp8_cublas\"\n");
  EXPECT_EQ(member(run.training, "precision"), "\"fp8\"");
  EXPECT_EQ(member(run.training, "narrow_scaling"), "\"block\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
