#include "import_usual.hpp"

namespace titer {
namespace {

constexpr std::string_view kMaxText = R"(matmul_precision default
weight_quantization_calibration_method absmax
act_quantization_calibration_method absmax
bwd_quantization_calibration_method absmax
quantization_local_shard_count -1
mtp_num_layers 0
mtp_loss_scaling_factor 0.1
mtp_eval_target_module 0
num_experts_per_tok 1
expert_shard_attention_option fsdp
base_moe_mlp_dim 7168
first_num_dense_layers 0
shared_experts 1
scan_pipeline_iterations true
set_remat_policy_on_pipeline_iterations true
decoder_layer_input device
context remat
mlpwi remat
mlpwi_0 remat
mlpwi_1 remat
mlpwo remat
query_proj remat
key_proj remat
value_proj remat
qkv_proj remat
out_proj remat
mla_q remat
mla_kv remat
attention_type global
sliding_window_size 0
chunk_attn_window_size 0
mla_naive_kvcache true
moba_chunk_size 1024
moba_topk 8
index_head_dim 128
index_n_heads 64
index_topk 2048
q_lora_rank 0
kv_lora_rank 512
qk_nope_head_dim 128
qk_rope_head_dim 64
v_head_dim 128
shard_mode auto
dcn_fsdp_transpose_parallelism 1
dcn_context_autoregressive_parallelism 1
ici_fsdp_transpose_parallelism 1
ici_context_autoregressive_parallelism 1
num_vocab_tiling 1
per_device_batch_size_start 4
per_device_batch_size_increment 2
global_rampup_samples 500
dpo_label_smoothing 0
dpo_beta 0.1
trainable_position_size -1
use_max_logit_estimate -1
context_parallel_strategy all_gather
enable_padding_causal_mask true
nope_layer_interval -1
interleave_moe_layer_step 1
freeze_vision_encoder_params true
freeze_audio_encoder_params true
dtype_mm float32
remat_policy_for_vit minimal
partial_rotary_factor 1
mhc_expansion_rate 0
sinkhorn_iterations 20
gdn_conv_kernel_dim 4
gdn_key_head_dim 128
gdn_value_head_dim 128
gdn_num_key_heads 16
gdn_num_value_heads 32
gdn_chunk_size 64
use_qk_norm_in_gdn true
)";

}  // namespace

/// [megatron/training/arguments.py, 2025]
std::string_view usual_in_megatron() {
  return R"(muon_num_ns_steps 5
muon_tp_mode blockwise
moe_upcycling_granularity 1
bert_embedder_type megatron
num_channels 3
deallocate_pipeline_outputs true
data_sharding true
num_classes 1000
vision_backbone_type vit
swin_backbone_type tiny
mask_type random
mask_factor 1
classes_fraction 1
data_per_class_fraction 1
hybrid_attention_ratio 0
hybrid_mlp_ratio 0
)";
}

/// [src/MaxText/configs/base.yml, 2025]
std::string_view usual_in_maxtext() { return kMaxText; }

/// [megatron/neox_arguments/neox_args.py and deepspeed_args.py, 2021 to 2025]
std::string_view usual_in_neox() {
  return R"(model_arch gpt2
pipe_partition_method type:transformer|mlp
optimizer_type adam
scalenorm_epsilon 1e-08
rpe_num_buckets 32
rpe_max_distance 128
deepspeed true
curriculum_seqlen 0
opt_pos_emb_offset 0
param_sharing_style grouped
extra_sentinel_tokens 0
gmlp_attn_dim 64
masked_lm_prob 0.15
mean_noise_span_length 3
deepspeed_activation_checkpointing true
expert_interval 2
moe_expert_parallel_size 1
moe_type megablocks
moe_router_type topk
gradient_noise_scale_n_batches 5
te_fp8_format hybrid
te_fp8_amax_history_len 1
te_fp8_amax_compute_algo most_recent
te_fp8_margin 0
dim_att 0
head_size 0
ffn_dim 0
onebitadam false
)";
}

/// [torchtitan/config/job_config.py, 2025]
std::string_view usual_in_torchtitan() {
  return R"(parallelism.enable_sequence_parallel true
parallelism.pipeline_parallel_first_stage_less_layers 1
parallelism.pipeline_parallel_last_stage_less_layers 1
parallelism.context_parallel_rotate_method allgather
parallelism.context_parallel_load_balancer headtail
parallelism.expert_parallel_comm_backend standard
activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns ["moe.router.gate"]
activation_checkpoint.determinism_check default
activation_checkpoint.memory_budget 0.5
comm.mode default
quantize.linear.mx.mxfp8_dim1_cast_kernel_choice triton
)";
}

}  // namespace titer
