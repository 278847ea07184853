// Commands of the diffusers library's examples.

#include <gtest/gtest.h>

#include <string>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;
using testing::of;
using testing::refusal;

const std::string kFlux =
    " --pretrained_model_name_or_path=black-forest-labs/FLUX.1-dev --instance_data_dir=cats "
    "--instance_prompt=\"a cat\" --train_batch_size=2 --gradient_accumulation_steps=4 "
    "--mixed_precision=bf16 --max_train_steps=500 ";

TEST(ImportDiffusers, AdaptersOfFluxAreTrainedOnTextsAndImages) {
  const ImportedRun run =
      of("accelerate launch --num_processes 4 train_dreambooth_lora_flux.py --resolution=1024 "
         "--gradient_checkpointing --use_8bit_adam --rank 16" +
         kFlux);
  EXPECT_EQ(run.shipped, "flux.1-dev");
  EXPECT_EQ(member(run.plan, "data"), "4");
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(2 * 4 * 4));
  EXPECT_EQ(member(run.training, "sequence"), std::to_string(512 + (1024 / 16) * (1024 / 16)));
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "optimizer"), "\"adam-8bit\"");
  EXPECT_EQ(member(run.training, "adapters"),
            R"({"rank":16,"targets":["query","key","value","output"]})");
  EXPECT_TRUE(any_has(run.assumed, "encoders of images and texts beside the transformer"));
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(ImportDiffusers, AllWeightsAreTrainedByAProgramThatIsNotNamedForAdapters) {
  const ImportedRun run =
      of("accelerate launch --num_processes 8 --config_file deepspeed_zero2.yaml "
         "train_dreambooth_flux.py --height 768 --width=512 --max_sequence_length 256" +
         kFlux);
  EXPECT_EQ(run.stack, "deepspeed");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero2\"");
  EXPECT_EQ(member(run.plan, "recompute"), "\"none\"");
  EXPECT_EQ(member(run.training, "sequence"), std::to_string(256 + (768 / 16) * (512 / 16)));
  EXPECT_EQ(member(run.training, "adapters"), "absent");
  EXPECT_EQ(member(of("python train_dreambooth_flux.py --with_prior_preservation" + kFlux).plan,
                   "micro_batch"),
            std::to_string(2 * 2));
  EXPECT_NE(refusal("python train_dreambooth_flux.py --optimizer prodigy" + kFlux)
                .find("the states of prodigy are not modelled"),
            std::string::npos);
}

TEST(ImportDiffusers, OthersAreRefusedAsWhatTheyAre) {
  EXPECT_NE(refusal("accelerate launch train_text_to_image.py --resolution 512 "
                    "--pretrained_model_name_or_path CompVis/stable-diffusion-v1-4")
                .find("expected FLUX.1"),
            std::string::npos);
}

TEST(ImportDiffusers, SchnellIsToldNoStrengthOfItsGuidance) {
  const ImportedRun run =
      of("accelerate launch --num_processes 1 train_dreambooth_lora_flux.py --resolution=512 "
         "--pretrained_model_name_or_path=black-forest-labs/FLUX.1-schnell "
         "--instance_prompt=a --train_batch_size=1");
  EXPECT_EQ(run.shipped, "");
  ASSERT_TRUE(run.model);
  EXPECT_EQ(run.model->name, "flux.1-schnell");
  // The published weights of schnell; those of dev have the guidance's two matrices more.
  constexpr std::int64_t hidden = 3072;
  constexpr std::int64_t guidance = 256 * hidden + hidden + hidden * hidden + hidden;
  EXPECT_EQ(parameters(*run.model), 11'901'408'320 - guidance);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
