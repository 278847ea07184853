#!/bin/bash
# Everything is told by the position of an argument.
if [ "$#" -lt 5 ]; then
    echo "usage: sh positional.sh MODEL_SIZE MBS GBS TP AC [--num-layers 3]"
    exit 1
fi
set -e

MODEL_SIZE=$1
BATCH_SIZE=$2
GLOBAL_BATCH_SIZE=$3
TP=$4
AC=$5
SEQ_LEN=4096
NNODES=1
GPUS_PER_NODE=8

if [ $MODEL_SIZE = 1.5B ]; then
HIDDEN_SIZE=1536
NUM_LAYERS=28
NUM_ATTN_HEADS=12
INTERMEDIATE_SIZE=8960
NUM_KEY_VALUE_HEADS=2
tie_option=""
elif [ $MODEL_SIZE = 7B ]; then
HIDDEN_SIZE=3584
NUM_LAYERS=28
NUM_ATTN_HEADS=28
INTERMEDIATE_SIZE=18944
NUM_KEY_VALUE_HEADS=4
tie_option=" \
        --untie-embeddings-and-output-weights \
        "
fi

if [ $AC = full ]; then
    activation_checkpoint_options=" \
            --recompute-method uniform \
            --recompute-num-layers 1 \
            --recompute-granularity full"
elif [ $AC = none ]; then
    activation_checkpoint_options=" "
fi

DISTRIBUTED_ARGS="--nproc_per_node $GPUS_PER_NODE --nnodes $NNODES --node_rank 0"
megatron_options="  \
        --micro-batch-size ${BATCH_SIZE} \
        --global-batch-size ${GLOBAL_BATCH_SIZE} \
        --num-layers ${NUM_LAYERS} \
        --hidden-size ${HIDDEN_SIZE} \
        --num-attention-heads ${NUM_ATTN_HEADS} \
        --ffn-hidden-size ${INTERMEDIATE_SIZE} \
        --group-query-attention \
        --num-query-groups ${NUM_KEY_VALUE_HEADS} \
        --seq-length ${SEQ_LEN} \
        --max-position-embeddings 32768 \
        --patch-tokenizer-type Qwen2Tokenizer \
        --tensor-model-parallel-size ${TP} \
        --swiglu \
        --normalization RMSNorm \
        --disable-bias-linear \
        --add-qkv-bias \
        --position-embedding-type rope \
        --attention-dropout 0.0 \
        --hidden-dropout 0.0 \
        --bf16 \
        "

run_cmd="torchrun $DISTRIBUTED_ARGS pretrain_qwen.py
 ${megatron_options} ${tie_option} ${activation_checkpoint_options}"

echo ${run_cmd}
eval ${run_cmd}
set +x
