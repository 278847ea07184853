#!/bin/bash
torchrun --nproc_per_node=8 --nnodes=4 -m torchtitan.train \
    --job.config_file ./train_configs/llama3_8b.toml \
    --training.local_batch_size 2 --parallelism.tensor_parallel_degree=4
