#!/bin/bash
# Llama 3 8B in FP8 on one node: options in arrays, some elements of which hold a flag and its value.

export CUDA_DEVICE_MAX_CONNECTIONS=1

CHECKPOINTS=${1:-"checkpoints/llama3_8b"}
TOKENIZER=${2:-"MOCK"}
DATA=${3:-"MOCK"}
mkdir -p "$(dirname "$CHECKPOINTS")"

GPUS=8
NODES=1
TP=1
CP=2
PP=1
MBS=1
GBS=128
LAYERS=32
DTYPE="fp8"
SEQ=8192

LAUNCH=(
    --nproc_per_node $GPUS
    --nnodes $NODES
    --node_rank ${NODE_RANK:-0}
    --master_addr ${MASTER_ADDR:-localhost}
)

MODEL=(
    --use-mcore-models
    --num-layers $LAYERS
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --group-query-attention
    --num-query-groups 8
    --kv-channels 128
    --seq-length $SEQ
    --max-position-embeddings $SEQ
    --position-embedding-type rope
    --rotary-base 1000000
    --attention-dropout 0.0
    --hidden-dropout 0.0
    --swiglu
    --normalization RMSNorm
    --disable-bias-linear
    --untie-embeddings-and-output-weights
)

TRAINING=(
    --micro-batch-size $MBS
    --global-batch-size $GBS
    --train-samples 1953125
    --lr 0.00015
    --bf16
)

NUMBERS=()
if [[ "$DTYPE" == "fp8" ]]; then
    NUMBERS+=(
        "--fp8-format hybrid"
        "--fp8-amax-history-len 1024"
        "--fp8-amax-compute-algo max"
    )
fi

PARALLEL=(
    --tensor-model-parallel-size $TP
    --context-parallel-size $CP
    # --pipeline-model-parallel-size $PP  # none on one node
    --sequence-parallel
)
SHARDING=(
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
)
PARALLEL+=("${SHARDING[@]}")

TEXTS=()
if [[ "$TOKENIZER" == "MOCK" ]] || [[ "$DATA" == "MOCK" ]] || [[ -z "$TOKENIZER" ]]; then
    TEXTS+=(
        "--mock-data"
        "--tokenizer-type NullTokenizer"
        "--vocab-size 128256"
    )
else
    TEXTS+=(
        "--data-path $DATA"
        "--tokenizer-type HuggingFaceTokenizer"
        "--tokenizer-model $TOKENIZER"
        "--vocab-size 32000"
    )
fi

if [ ! -f pretrain_gpt.py ]; then
    echo "Error: pretrain_gpt.py is not here; --num-layers would be read by nobody"
    exit 1
fi

torchrun ${LAUNCH[@]} \
    pretrain_gpt.py \
    ${MODEL[@]} \
    ${TRAINING[@]} \
    ${NUMBERS[@]} \
    ${PARALLEL[@]} \
    ${TEXTS[@]} \
    --log-interval 1 2>&1 | tee "$CHECKPOINTS/run.log"
