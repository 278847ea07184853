#!/bin/bash
# Sizes come from the environment, the rest from files beside this one.
SIZE=${SIZE:-small}
TP=$((8 / 2))
source "$(dirname "$0")/conf/model_${SIZE}.sh"
. ${SCRIPT_DIR}/conf/cluster.sh || exit 1
. ~/secrets.sh
eval torchrun ${LAUNCH[@]} pretrain_gpt.py $MODEL_OPTIONS --micro-batch-size 1 --global-batch-size 32
