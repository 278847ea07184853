#!/bin/bash
# A command that is put together in a variable, its log last, and run by eval.
LOG=${LOG:-logs/train.log}
MODEL_OPTIONS=" \
    --num-layers 12 \
    --hidden-size 2048 \
    --ffn-hidden-size 8192 \
    --num-attention-heads 16 \
    --seq-length 4096 \
    --max-position-embeddings 4096 \
    --vocab-size 128000 \
    --swiglu \
    --normalization RMSNorm \
    --disable-bias-linear \
    --position-embedding-type rope \
    --untie-embeddings-and-output-weights
    "
EXPERT_OPTIONS=" \
    --num-experts 16 \
    --moe-router-topk 2 \
    --moe-ffn-hidden-size 1408 \
    --moe-layer-freq '([0]*1+[1]*11)' \
    --enable-shared-expert \
    --num-shared-experts 2 \
    --attention-sink-k 0"
EXPERT_OPTIONS=" \
    ${EXPERT_OPTIONS} \
    --expert-model-parallel-size 8 --moe-token-dispatcher-type alltoall"
PLAN_OPTIONS="--micro-batch-size 1 --global-batch-size 64 --use-distributed-optimizer --bf16"
RUN="torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py
 ${MODEL_OPTIONS} ${EXPERT_OPTIONS} ${PLAN_OPTIONS} --overlap-grad-reduce"
RUN="$RUN --overlap-param-gather 2>&1 | tee $LOG"
echo ${RUN}
eval ${RUN}
