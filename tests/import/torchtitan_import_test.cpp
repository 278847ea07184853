// torchtitan: batches that a pipeline takes in parts, and what is made narrow.

#include <gtest/gtest.h>

#include <string>

#include "import/imports.hpp"
#include "temporary_folder.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"
#include "titer/model/transformer/denoiser.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;

ImportedRun of(const std::string& text, std::int64_t devices = 64) {
  return testing::of(text, "run.toml", devices);
}

std::string refusal(const std::string& text, const std::string& file = "run.toml") {
  return testing::refusal(text, file);
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

TEST(ImportTorchtitan, ChecksOfWhatIsRecomputedChangeNothing) {
  const ImportedRun run =
      of(run_of("tensor_parallel_degree = 2\n",
                "[debug]\nac_determinism_check = \"default\"\nac_preserve_rng_state = false\n"));
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
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

TEST(ImportTorchtitan, ScalesOfRowsAreNotThoseOfTensors) {
  const auto scaling = [](const std::string& recipe) {
    return member(of("[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = [\"float8\"]\n"
                     "[training]\nlocal_batch_size = 1\nseq_len = 4096\n"
                     "[float8]\nrecipe_name = \"" +
                     recipe + "\"\n")
                      .training,
                  "narrow_scaling");
  };
  EXPECT_EQ(scaling("rowwise"), "\"row\"");
  EXPECT_EQ(scaling("tensorwise"), "absent");
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

const std::string kRegistry = R"py(
from torchtitan.trainer import Trainer
from . import model_registry

def llama3_8b() -> Trainer.Config:
    return Trainer.Config(
        hf_assets_path="./assets",
        model_spec=model_registry("8B", attn_backend="flex"),
        optimizer=OptimizersContainer.Config(lr=3e-4),
        training=TrainingConfig(local_batch_size=2, seq_len=8192, steps=10),
        parallelism=ParallelismConfig(tensor_parallel_degree=2),
        activation_checkpoint=ActivationCheckpointConfig(mode="selective"),
        checkpoint=CheckpointManager.Config(interval=500),
    )

def llama3_8b_narrow() -> Trainer.Config:
    config = llama3_8b()
    config.model_converters = ModelConvertersContainer.Config(
        converters=[Float8LinearConverter.Config(enable_fsdp_float8_all_gather=True)],
    )
    config.compile = CompileConfig(enable=True)
    config.training.seq_len = 4096
    return config
)py";

ImportedRun registered(const std::string& recipe, const std::string& text = kRegistry) {
  ImportOptions options;
  options.devices = 16;
  options.defines["recipe"] = recipe;
  return import_text(text, "config_registry.py", options);
}

TEST(ImportTorchtitan, ConfigurationsInPythonAreReadByTheirNames) {
  const ImportedRun run = registered("llama3_8b");
  EXPECT_EQ(run.shipped, "llama3-8b");
  EXPECT_EQ(run.stack, "torchtitan");
  EXPECT_EQ(member(run.plan, "tensor"), "2");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(16 / 2));
  EXPECT_EQ(member(run.plan, "recompute"), "\"operations\"");
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.training, "sequence"), "8192");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const ImportedRun narrow = registered("llama3_8b_narrow");
  EXPECT_EQ(narrow.shipped, "llama3-8b");
  EXPECT_EQ(narrow.stack, "torchtitan-compiled");
  EXPECT_EQ(member(narrow.training, "precision"), "\"fp8\"");
  EXPECT_EQ(member(narrow.training, "narrow_weights"), "\"gathered\"");
  EXPECT_EQ(member(narrow.training, "sequence"), "4096");
  std::string other = kRegistry;
  other.replace(other.find("attn_backend=\"flex\""), 19, "moe_comm_backend=\"deepep\"");
  EXPECT_TRUE(any_has(registered("llama3_8b", other).unread, "model.spec.moe_comm_backend"));
  try {
    static_cast<void>(registered("llama3_9b"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(error.lines.front().find("tells which: llama3_8b, llama3_8b_narrow"),
              std::string::npos);
  }
}

TEST(ImportTorchtitan, ACommandNamesTheConfigurationAndChangesIt) {
  const testing::TemporaryFolder folder;
  const std::vector<std::filesystem::path> files = {
      folder.file("run.sh",
                  "CONFIG=${CONFIG:-llama3_8b}\ntorchrun --nproc_per_node=8 -m torchtitan.train "
                  "--module llama3 --config ${CONFIG} \"$@\"\n"),
      folder.file("config_registry.py", kRegistry)};
  const ImportedRun run = import_files(files);
  EXPECT_EQ(member(run.plan, "data"), std::to_string(8 / 2));
  EXPECT_EQ(member(run.training, "sequence"), "8192");
  ImportOptions options;
  options.defines["CONFIG"] = "llama3_8b_narrow --training.seq_len 1024";
  EXPECT_EQ(member(import_files(files, options).training, "precision"), "\"fp8\"");
  EXPECT_NE(refusal("torchrun -m torchtitan.train --module llama3 --config llama3_8b", "run.sh")
                .find("starts torchtitan with llama3_8b of a config_registry.py"),
            std::string::npos);
}

TEST(ImportTorchtitan, ItsFirstSwitchOfFp8Counts) {
  const auto with = [](const std::string& more) {
    ImportOptions options;
    options.devices = 8;
    return import_text(
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nbatch_size = 1\n"
        "seq_len = 2048\n[float8]\nscaling_type_input = 'dynamic'\n" +
            more,
        "titan.toml",
        options);
  };
  const ImportedRun run =
      with("enable_float8_linear = true\nenable_fsdp_float8_all_gather = true\n");
  EXPECT_EQ(testing::member(run.training, "precision"), "\"fp8\"");
  EXPECT_EQ(testing::member(run.training, "narrow_weights"), "\"gathered\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(testing::member(with("enable_float8_linear = false\n").training, "precision"),
            "\"bf16\"");
}

TEST(ImportTorchtitan, DegreesOfDataStoodOnceWithTheTraining) {
  const ImportedRun run =
      of("[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nbatch_size = 2\nseq_len = 2048\n"
         "data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 32\ndataset = \"c4\"\n");
  EXPECT_EQ(member(run.plan, "data"), "64");
  EXPECT_EQ(member(run.plan, "shard"), "32");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const ImportedRun other =
      of("[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 2048\n"
         "local_batch_size = 2\ndata_parallel_something = 2\n");
  EXPECT_TRUE(any_has(other.unread, "training.data_parallel_something"));
}

TEST(ImportTorchtitan, FluxHasTokensOfTextAndImage) {
  const std::string text =
      "[model]\nname = \"flux\"\nflavor = \"flux-schnell\"\n[training]\nlocal_batch_size = 4\n"
      "img_size = 512\nclassifier_free_guidance_prob = 0.4\n[encoder]\n"
      "t5_encoder = \"google/t5-v1_1-xxl\"\n";
  const ImportedRun run = of(text + "max_t5_encoding_len = 256\n");
  ASSERT_TRUE(run.model && run.model->denoiser && run.model->denoiser->text);
  EXPECT_EQ(run.model->layers, 19 + 38);
  EXPECT_EQ(run.model->denoiser->text->tokens, 256);
  EXPECT_EQ(member(run.training, "sequence"), std::to_string(32 * 32 + 256));
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_TRUE(any_has(run.assumed, "encoders of images and texts"));
  EXPECT_EQ(member(of(text).training, "sequence"), std::to_string(32 * 32 + 512));
  EXPECT_EQ(member(of(text + "[activation_checkpoint]\nmode = \"none\"\n").plan, "recompute"),
            "\"none\"");
  EXPECT_NE(refusal("[model]\nname = \"flux\"\nflavor = \"flux-pro\"\n").find("flux-schnell"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
