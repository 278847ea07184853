#!/bin/bash
accelerate launch --config_file accelerate.yaml sft.py \
  --model_name_or_path mistralai/Mixtral-8x7B-Instruct-v0.1 \
  --per_device_train_batch_size 4 --gradient_accumulation_steps 2 \
  --max_length 2048 --packing --bf16 --gradient_checkpointing \
  --learning_rate 1e-5 --output_dir out
