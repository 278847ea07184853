#!/bin/bash
#SBATCH --nodes=2
MODEL=mistralai/Mistral-7B-v0.3
deepspeed --num_nodes 2 --num_gpus 8 finetune.py \
  --model_name_or_path ${MODEL} \
  --max_seq_length 4096 --packing True \
  --per_device_train_batch_size 2 \
  --gradient_accumulation_steps 4 \
  --gradient_checkpointing True \
  --attn_implementation flash_attention_2 \
  --bf16 True --learning_rate 2e-5 --num_train_epochs 1 \
  --deepspeed zero2_offload.json --output_dir out --logging_steps 1
