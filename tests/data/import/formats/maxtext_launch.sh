#!/bin/bash
export XLA_FLAGS="--xla_gpu_enable_latency_hiding_scheduler=true --xla_gpu_graph_level=0"
python3 -m MaxText.$EXECUTABLE "${ROOT:-$PWD}"/configs/models/gpu/llama2_7b.yml run_name=$RUN \
    dcn_data_parallelism=4 ici_fsdp_parallelism=8 per_device_batch_size=2 max_target_length=4096
