# Widths of the small model; TP is the caller's.
MODEL_OPTIONS="--tensor-model-parallel-size $TP --num-layers 12 --hidden-size 1024 \
    --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --bf16"
