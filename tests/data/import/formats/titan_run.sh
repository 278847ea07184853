#!/bin/bash
torchrun --nnodes=2 --nproc_per_node=8 -m torchtitan.train \
    --module llama3 --config llama3_8b_notes_wide --training.seq_len 4096
