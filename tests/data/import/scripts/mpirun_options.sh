#!/bin/bash
# Processes of MPI, and options that a script is handed in one word.
NODES=${NODES:-2}
MPI=(
  "-np" "$((NODES * 8))"
  "--allow-run-as-root"
  "-bind-to" "none"
  "-x" "PYTHONPATH=/workspace/megatron"
)
PRECISION=" \
    --bf16"
SPLIT=" \
    --sequence-parallel \
    --use-distributed-optimizer"
OPTIONS=" \
    --num-layers 32 \
    --hidden-size 4096 \
    --num-attention-heads 32 \
    --seq-length 4096 \
    --max-position-embeddings 4096 \
    --vocab-size 32000 \
    --micro-batch-size 1 \
    --global-batch-size 128 \
    --tensor-model-parallel-size 4 \
    --pipeline-model-parallel-size 2
    "
mpirun "${MPI[@]}" bash entry.sh pretrain_gpt.py "${OPTIONS} ${PRECISION} ${SPLIT}" 2>&1 | tee train.log
