#!/bin/bash
srun --container-image=nemo python -u /opt/nemo/megatron_gpt_pretraining.py \
    --config-path=conf --config-name=nemo \
    trainer.num_nodes=4 ++model.micro_batch_size=2 '~model.overlap_p2p_comm' \
    model.global_batch_size=64
