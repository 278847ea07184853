"""Tunes adapters of a small model on one device."""

import argparse

from datasets import load_dataset
from trl import SFTConfig, SFTTrainer
from unsloth import FastLanguageModel, is_bfloat16_supported

LENGTH = 1024

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="unsloth/Llama-3.2-1B-Instruct")
parser.add_argument("--batch", type=int, default=2)
args = parser.parse_args()

model, tokenizer = FastLanguageModel.from_pretrained(
    model_name=args.model,
    max_seq_length=LENGTH,
    load_in_4bit=True,
)
model = FastLanguageModel.get_peft_model(
    model,
    r=16,
    target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    lora_alpha=16,
    use_gradient_checkpointing="unsloth",
)

SFTTrainer(
    model=model,
    train_dataset=load_dataset("json", data_files="letters.jsonl", split="train"),
    args=SFTConfig(
        max_seq_length=LENGTH,
        packing=True,
        per_device_train_batch_size=args.batch,
        gradient_accumulation_steps=4,
        bf16=is_bfloat16_supported(),
        fp16=not is_bfloat16_supported(),
        optim="adamw_8bit",
        learning_rate=2e-4,
        max_steps=100,
        output_dir="letters",
    ),
).train()
