#!/bin/bash
# A small GPT on two nodes.
TP=4
NODES=2
LAYERS=${LAYERS:-24}
LAUNCH="torchrun --nproc_per_node 8 --nnodes ${NODES}"

GPT_ARGS=(
    --num-layers ${LAYERS}   # of the decoder
    --hidden-size 2048
    --num-attention-heads 16
    --seq-length 2048
    --max-position-embeddings 2048
    --make-vocab-size-divisible-by 64
    --tokenizer-type GPT2BPETokenizer
)
TRAINING_ARGS="
    --micro-batch-size 4
    --global-batch-size 512
    --recompute-activations --bf16
"

$LAUNCH pretrain_gpt.py \
    "${GPT_ARGS[@]}" \
    $TRAINING_ARGS \
    --tensor-model-parallel-size $TP \
    --pipeline-model-parallel-size 2 \
    --sequence-parallel --use-distributed-optimizer \
    --lr 1.0e-4 --save "checkpoints/of a run" \
    --degree-of-tomorrow 3
