#!/bin/bash
# A script whose tensor degree comes from outside.
torchrun pretrain_gpt.py \
  --tensor-model-parallel-size $TP_OF_THE_JOB \
  --num-layers 8 --hidden-size 512 --num-attention-heads 8 \
  --seq-length 1024 --max-position-embeddings 1024 \
  --vocab-size 32000 --micro-batch-size 1 --global-batch-size 64 --bf16
