// Programs in Python over HuggingFace's trainer, TRL and Unsloth.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;
using testing::refusal_of;

ImportedRun of(const std::string& text, const Defines& defines = {}, std::int64_t devices = 1) {
  ImportOptions options;
  options.defines = defines;
  options.devices = devices;
  return import_text(text, "train.py", options);
}

std::string refusal(const std::string& text) {
  return refusal_of([&] { return of(text); });
}

const std::string kPlain = R"py(
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

MODEL = "mistralai/Mistral-7B-v0.1"
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, attn_implementation="flash_attention_2")

def cut(example):
    """Not max_length=9."""
    return tokenizer(example["text"], truncation=True, max_length=768)  # of each

options = dict(per_device_train_batch_size=2, gradient_accumulation_steps=2 * 4)
args = TrainingArguments(output_dir="out", bf16=True, learning_rate=2e-5, fsdp="full_shard", **options)
args.gradient_checkpointing = True
Trainer(model=model, args=args, train_dataset=data.map(cut)).train()
)py";

TEST(HfProgram, TellsWhatItGivesTheTrainer) {
  const ImportedRun run = of(kPlain, {}, 16);
  EXPECT_EQ(run.model->layers, 32);
  EXPECT_EQ(run.model->name, "mistral-7b-v0.1");
  EXPECT_EQ(run.stack, "fsdp");
  EXPECT_EQ(member(run.plan, "data"), "16");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.plan, "attention"), "\"flash\"");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(2 * 8 * 16));
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "sequence"), "768");  // to which its texts are cut
  EXPECT_EQ(member(run.training, "adapters"), "absent");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

const std::string kUnsloth = R"py(
import argparse, torch
from unsloth import FastLanguageModel, is_bfloat16_supported
from trl import SFTTrainer, SFTConfig

parser = argparse.ArgumentParser()
parser.add_argument("--base-model", default="unsloth/Llama-3.2-3B-Instruct")
parser.add_argument("--batch", "-b", type=int, default=2)
parser.add_argument("--pack", action="store_true")
args = parser.parse_args()

model, tokenizer = FastLanguageModel.from_pretrained(model_name = args.base_model, dtype = None)
model = FastLanguageModel.get_peft_model(model, r = 8, target_modules = ["q_proj", "v_proj"],
                                         lora_alpha = 16, random_state = 3407)
trainer = SFTTrainer(
    model = model,
    args = SFTConfig(
        per_device_train_batch_size = args.batch,
        gradient_accumulation_steps = 4,
        fp16 = not is_bfloat16_supported(),
        bf16 = is_bfloat16_supported(),
        optim = "adamw_8bit",
        packing = args.pack,
    ),
)
)py";

TEST(HfProgram, OfUnslothWhatIsLeftOutIsAsItHasIt) {
  const ImportedRun run = of(kUnsloth);
  EXPECT_EQ(run.shipped, "llama3.2-3b");
  EXPECT_EQ(member(run.training, "adapters"),
            R"({"rank":8,"targets":["query","value"],"base":"nf4"})");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "sequence"), "2048");
  EXPECT_EQ(member(run.training, "optimizer"), "\"adam-8bit\"");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(2 * 4));
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_TRUE(any_has(run.assumed, "load_in_4bit: taken as true, as Unsloth has it"));
  EXPECT_TRUE(any_has(run.assumed, "train.py:10:1: arguments of the program are taken as their"));
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  const ImportedRun told = of(kUnsloth, {{"batch", "16"}, {"base_model", "Qwen/Qwen2.5-7B"}});
  EXPECT_EQ(member(told.plan, "micro_batch"), "16");
  EXPECT_EQ(told.model->hidden, 3584);
}

const std::string kConfigured = R"py(
import os
from dataclasses import dataclass, field
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, TrainingArguments
from peft import LoraConfig
from trl import SFTTrainer

@dataclass
class Config:
    base: str = "meta-llama/Llama-2-7b-hf"
    batch: int = 4
    length: int = field(default=1536)
    quantised: bool = True

    def check(self):
        batch = 3

def main(steps: int = 2):
    config = Config(batch=8)
    rates = {"rank": 32, "lr": 1e-4}
    bits = None
    if config.quantised:
        bits = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
    if os.path.exists("adapters"):
        lora = LoraConfig(r=99)
    lora = LoraConfig(r=rates["rank"], target_modules="all-linear", lora_alpha=rates.get("a", 16))
    model = AutoModelForCausalLM.from_pretrained(config.base, quantization_config=bits)
    args = TrainingArguments("out", per_device_train_batch_size=config.batch,
                             gradient_accumulation_steps=steps,
                             fp16=bool(os.environ.get("HALF", True)), optim="paged_adamw_32bit")
    SFTTrainer(model=model, args=args, peft_config=lora, max_seq_length=config.length)

if __name__ == "__main__":
    main()
)py";

TEST(HfProgram, FollowsItsOwnClassesDictionariesAndConditions) {
  const ImportedRun run = of(kConfigured);
  EXPECT_EQ(run.shipped, "llama2-7b");
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":32,"targets":"all-linear","base":"nf4"})");
  EXPECT_EQ(member(run.plan, "micro_batch"), "8");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(8 * 2));
  EXPECT_EQ(member(run.training, "sequence"), "1536");
  EXPECT_EQ(member(run.training, "precision"), "\"fp16\"");
  EXPECT_TRUE(any_has(run.assumed, "stands under a condition that is taken not to hold"));
  // What the environment would tell may be defined.
  EXPECT_EQ(member(of(kConfigured, {{"HALF", "false"}}).training, "precision"), "\"fp32\"");
}

TEST(HfProgram, WhatNothingTellsStaysOpen) {
  std::string text = kPlain;
  text.replace(text.find("2 * 4"), 5, "len(data)");
  const ImportedRun run = of(text);
  EXPECT_EQ(member(run.training, "global_batch"), "\"left open by the import\"");
  EXPECT_TRUE(any_has(run.open, "gradient_accumulation_steps: $(len(data))"));
}

TEST(HfProgram, WhatIsDeeperThanAnybodyWritesStaysOpen) {
  constexpr std::size_t deep = 100'000;
  std::string nested;
  for (std::size_t i = 0; i < deep; ++i) {
    nested += "{'a': ";
  }
  nested += "1" + std::string(deep, '}');
  std::string text = kPlain;
  text.replace(text.find("dict("), 5, "dict(data_seed=" + nested + ", ");
  EXPECT_EQ(member(of(text).plan, "micro_batch"), "2");
}

TEST(HfProgram, IsNotReadInPart) {
  std::string text = kPlain;
  for (int i = 0; i < 100'001; ++i) {
    text += "x = 1\n";
  }
  EXPECT_NE(refusal(text).find("has more than 100000 statements"), std::string::npos);
}

TEST(HfProgram, WhatIsNoTrainingOfALanguageModelIsRefusedOrSaid) {
  const std::string head =
      "from trl import DPOConfig, DPOTrainer\n"
      "from transformers import AutoModelForCausalLM\n"
      "model = AutoModelForCausalLM.from_pretrained('gpt2')\n";
  EXPECT_NE(refusal(head + "DPOTrainer(model, args=DPOConfig(bf16=True))\n").find("more passes"),
            std::string::npos);
  EXPECT_NE(refusal("from transformers import HfArgumentParser, Trainer, TrainingArguments\n"
                    "args = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n"
                    "Trainer(args=args)\n")
                .find("import the script that starts it"),
            std::string::npos);
  const ImportedRun run =
      of("from transformers import AutoModelForSequenceClassification, TrainingArguments\n"
         "model = AutoModelForSequenceClassification.from_pretrained('gpt2')\n"
         "args = TrainingArguments(bf16=True)\n");
  EXPECT_TRUE(any_has(run.unread, "a language model's own head is taken"));
}

TEST(HfProgram, WeightsAreOfTheTypeThatTheyAreLoadedAs) {
  const std::string head =
      "import torch\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
      "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-0.5B\"";
  const std::string tail =
      ")\nargs = TrainingArguments(per_device_train_batch_size=1)\n"
      "tokens = tokenizer(text, max_length=256)\nTrainer(model=model, args=args).train()\n";
  const ImportedRun narrow = of(head + ", torch_dtype=torch.bfloat16" + tail);
  EXPECT_EQ(member(narrow.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(narrow.training, "master_precision"), "\"bf16\"");
  EXPECT_EQ(member(of(head + tail).training, "precision"), "\"fp32\"");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
