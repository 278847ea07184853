LAUNCH=(--nnodes 2 --nproc_per_node 8)
return 0
LAUNCH=(--nnodes 64)
