// What a program over HuggingFace's trainer does of what it has written: branches, modules beside
// it.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "temporary_folder.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::member;

/// `between` stands before the arguments, `told` among them.
std::string program(const std::string& between, const std::string& told) {
  return "import torch\n"
         "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n" +
         between +
         "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-7B\")\n"
         "args = TrainingArguments(output_dir=\"out\", per_device_train_batch_size=2, " +
         told +
         ")\n"
         "tokens = tokenizer(texts, truncation=True, max_length=512)\n"
         "Trainer(model=model, args=args, train_dataset=tokens).train()\n";
}

std::string training_of(const std::string& text, std::string_view key) {
  return member(testing::of(text, "train.py", 1).training, key);
}

TEST(ProgramFlow, TheBranchOfADeviceWithBf16IsTaken) {
  const std::string text = program(
      "if torch.cuda.is_available() and torch.cuda.is_bf16_supported():\n"
      "    use_bf16 = True\n"
      "else:\n"
      "    use_bf16 = False\n",
      "bf16=use_bf16, fp16=not use_bf16");
  EXPECT_EQ(training_of(text, "precision"), "\"bf16\"");
}

TEST(ProgramFlow, OfTwoValuesTheOneIsTakenThatTheConditionTells) {
  EXPECT_EQ(
      training_of(program("", "bf16=True if torch.cuda.is_available() else False"), "precision"),
      "\"bf16\"");
  EXPECT_EQ(training_of(program("LARGE = False\n", "bf16=False if LARGE else True"), "precision"),
            "\"bf16\"");
}

TEST(ProgramFlow, WhatIsTriedIsTakenAndNotWhatMendsIt) {
  const std::string text = program(
      "try:\n"
      "    import flash_attn\n"
      "    STEPS = 8\n"
      "except ImportError:\n"
      "    STEPS = 1\n",
      "bf16=True, gradient_accumulation_steps=STEPS");
  EXPECT_EQ(training_of(text, "global_batch"), "16");
}

TEST(ProgramFlow, AModuleBesideItTellsItsNames) {
  const testing::TemporaryFolder folder;
  static_cast<void>(folder.file("settings.py", "BATCHES = 4\nUSE_BF16 = True\n"));
  const std::vector<std::filesystem::path> files = {
      folder.file("train.py",
                  program("from settings import BATCHES, USE_BF16\n",
                          "bf16=USE_BF16, gradient_accumulation_steps=BATCHES"))};
  ImportOptions options;
  options.devices = 1;
  const ImportedRun run = import_files(files, options);
  EXPECT_EQ(member(run.training, "global_batch"), "8");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
}

TEST(ProgramFlow, AModuleThatIsNotAtHandLeavesThePrecisionOpen) {
  const std::string text = program("from settings import USE_BF16\n", "bf16=USE_BF16");
  EXPECT_NE(training_of(text, "precision"), "\"fp32\"");
}

TEST(ProgramFlow, TextsAreComparedAsTexts) {
  const auto batch = [](const std::string& condition) {
    return training_of(program("VERSION = \"4.9\"\nNAME = \"Qwen2.5-7B\"\nSIZE = 7\nSTEPS = 2\n"
                               "if " +
                                   condition + ":\n    STEPS = 8\n",
                               "bf16=True, gradient_accumulation_steps=STEPS"),
                       "global_batch");
  };
  EXPECT_EQ(batch("VERSION > \"4.1\""), "16");
  EXPECT_EQ(batch("VERSION < \"4.1\""), "4");
  EXPECT_EQ(batch("\"Qwen\" in NAME"), "16");
  EXPECT_EQ(batch("\"llama\" in NAME"), "4");
  EXPECT_EQ(batch("\"llama\" not in NAME"), "16");
  EXPECT_EQ(batch("SIZE <= 7"), "16");
  EXPECT_EQ(batch("SIZE < 7"), "4");
  // A number and a text have no order: the condition is not decided, and not taken.
  EXPECT_EQ(batch("VERSION > 4"), "4");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
