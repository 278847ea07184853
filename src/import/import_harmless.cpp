#include "import_harmless.hpp"

namespace titer {
namespace {

constexpr std::string_view kLearning = "learning rate and the optimizer's numbers";
constexpr std::string_view kStart = "first weights and random numbers";
constexpr std::string_view kOperations = "numbers inside of operations";
constexpr std::string_view kLogs = "logs and profiles";
constexpr std::string_view kCheckpoints = "checkpoints";
constexpr std::string_view kLength = "length of the training and its evaluation";
constexpr std::string_view kData = "data and tokenizers";
constexpr std::string_view kLoss = "how loss and routing are weighed";
constexpr std::string_view kKernels =
    "kernels for the same operations, as the stack's figures hold";
constexpr std::string_view kBuffers = "sizes of buckets and buffers, as the stack's";

/// Words that no program has for what changes a step.
constexpr std::array<HarmlessSettings, 7> kByName = {
    {{kLearning,
      "*learning_rate* *lr_scheduler* *min_lr* *weight_decay* *warmup_steps* *warmup_ratio*"},
     {kLaunch, "*affinity*"},
     {kStart, "*_seed"},
     {kLogs,
      "*wandb* *tensorboard* *swanlab* *mlflow* *trackio* *log_interval* *log_dir *logging_dir "
      "*experiment_name *experiment_run_id *experiment_root_dir "
      "*logging_path "
      "*log_freq* *log_every* *log_level*"},
     {kCheckpoints,
      "*ckpt_path* *ckpt_dir* *checkpoint_path* *checkpoint_dir* *save_path* *save_dir* "
      "*save_folder* *load_path* *load_dir* *output_dir* *output_path* *save_interval* "
      "*save_steps* *save_freq* *save_every* *hub_model_id* *push_to_hub* *adapter_path*"},
     {kLength,
      "*eval_interval* *eval_steps* *eval_iters* *eval_freq* *eval_every* *train_samples "
      "*train_tokens *train_iters"},
     {kData,
      "*tokenizer* *dataset* *chat_template* *system_prompt* *prompt_template* *data_path* "
      "*data_dir* *data_file* *data_files* *train_files* *val_files* *cache_dir* *data_suffix* "
      "*_set_path "
      "*dataloading* *num_proc *num_process *num_workers"}}};

/// By the groups of megatron/training/arguments.py.
constexpr std::array<HarmlessSettings, 11> kOfMegatron = {
    {{kLearning,
      "lr lr_* min_lr decoupled_* weight_decay* start_weight_decay end_weight_decay adam_* sgd_* "
      "clip_grad override_opt* use_checkpoint_opt* warmup head_lr_mult apply_wd_to_qk_layernorm "
      "use_checkpoint_lr_scheduler no_weight_decay_cond_type muon_momentum muon_split_qkv "
      "muon_no_split_qkv muon_use_nesterov muon_scale_mode muon_fp32_matmul_prec "
      "muon_extra_scale_factor optimizer_eps embedding_lr_mult"},
     {kStart,
      "init_method* embedding_init_method* use_scaled_init_method use_cpu_initialization "
      "no_initialization perform_initialization data_parallel_random_init seed te_rng_tracker "
      "inference_rng_tracker init_model_with_meta_device"},
     {kOperations,
      "norm_epsilon layernorm_epsilon rotary_base rotary_percent rotary_interleaved "
      "rotary_scaling_factor rotary_seq_len_interpolation_factor rotary_percentage "
      "use_rope_scaling rope_* yarn_* mscale* apply_layernorm_1p apply_query_key_layer_scaling "
      "no_query_key_layer_scaling attention_softmax_in_fp32 normalize_attention_scores "
      "seq_len_interpolation_factor fp8_amax_* fp8_margin fp8_interval reduce_amax "
      "apply_residual_connection_post_layernorm glu_linear_offset activation_func_clamp_value "
      "use_mup shape_order pre_tockens next_tockens "
      "moe_router_padding_for_* mrope_section no_rope_freq relative_attention_* "
      "fp16_lm_cross_entropy gelu_approx openai_gelu onnx_safe "
      "disable_bf16_reduced_precision_matmul "
      "beta_fast beta_slow"},
     {kLogs,
      "log_* no_log_* timing_log* logging_level wandb_* tensorboard_* one_logger* no_one_logger* "
      "enable_one_logger barrier_with_L1_time no_barrier_with_level_1_timing profile profile_* "
      "use_pytorch_profiler pytorch_profiler_* nvtx_ranges record_memory_history "
      "memory_snapshot_path moe_per_layer_logging app_tag* run_workload_inspector_server "
      "trace sample capture_range* force_overwrite stop_on_exit gpu_metrics* straggler_* "
      "disable_straggler_on_startup inference_* max_tokens_to_oom flash_decode error_injection_* "
      "result_rejected_tracker_filename disable_tensorboard disable_wandb disable_mlflow mlflow_* "
      "config_logger_dir energy_monitor "
      "stderr_sink_level file_sink_level sink_level comet_* dump_param_to_param_group_map "
      "cpuctxsw cuda_graph_trace cuda_memory_usage use_legacy_static_engine cache_mla_latents "
      "moe_pad_experts_for_cuda_graph_inference output_bert_embeddings"},
     {kCheckpoints,
      "save save_* load load_* async_save ckpt_* dist_ckpt_* use_dist_ckpt* no_ckpt_* no_load_* "
      "no_save_* use_persistent_ckpt_worker auto_detect_ckpt_format finetune pretrained_checkpoint "
      "pretrained_model_name_or_path keep_last "
      "auto_continue_train disable_last_saving exit_on_missing_checkpoint non_persistent_* "
      "use_tokenizer_model_from_checkpoint_args "
      "universal_checkpoint verify_integrity verify_checkpoint* async_* persistent_* replication "
      "replication_* "
      "use_mp_args_from_checkpoint_args strict_fsdp_dtensor_load retain_interval "
      "convert_checkpoint* use_checkpoint_args trigger_path convert_to_hf convert_from_hf "
      "distrib_optim_fully_reshardable_* "
      "hf_checkpoint* hf_save_path hf_model_name_or_path use_dist_ckpt_* "
      "use_gcp_dynamic_checkpointing moe_use_upcycling no_strict_fsdp_dtensor_load inprocess_*"},
     {kLength,
      "eval_* skip_train train_samples train_iters train_tokens exit_* rampup_batch_size test_mode "
      "decrease_batch_size_if_needed phase_transition_iterations iterations_to_skip "
      "full_validation multiple_validation_sets"},
     {kData,
      "data_path data_cache_path data_args_path train_data_path valid_data_path test_data_path "
      "per_split_data_args_path mock_data split num_dataset_builder_threads num_workers "
      "mmap_bin_files no_mmap_bin_files mmap_warmup create_attention_mask_in_dataloader "
      "no_create_attention_mask_in_dataloader dataloader_type data_impl no_data_sharding "
      "eod_mask_loss reset_* tokenizer* legacy_tokenizer tiktoken_* vocab_file merge_file "
      "trust_remote_code object_storage_cache_path s3_cache_path mid_level_dataset_surplus "
      "extra_vocab_size max_padding_length train_mode valid_num_workers "
      "train_weighted_split_paths_path valid_weighted_split_paths_path eod_* sft sft_* dataset "
      "pad_seq_to_mult goldfish* fim_* dataloader_* defer_npy_index_mmap no_defer_npy_index_mmap "
      "mask_prob "
      "short_seq_prob sample_rate pad_to_max_length dataset_provider* "
      "num_dataset_workers special_tokens* enable_msc disable_msc ap_sft* repeated_dataloader "
      "patch_tokenizer_type train_data valid_data test_data data_type "
      "chat_format domain_proportions weights_path* epochs generation_length"},
     {kLoss,
      "calculate_per_token_loss initial_loss_scale loss_scale* min_loss_scale hysteresis "
      "native_amp_* check_for_* no_check_for_nan_in_loss_and_grad rerun_mode moe_aux_loss_coeff "
      "moe_z_loss_coeff moe_router_load_balancing_type moe_router_score_function "
      "moe_router_pre_softmax moe_router_topk_scaling_factor moe_router_bias_update_rate "
      "moe_token_drop_policy moe_router_force_load_balancing moe_input_jitter_eps "
      "mtp_loss_scaling_factor moe_per_layer_logging moe_router_force_biased qk_clip* "
      "use_z_loss moe_enable_routing_replay moe_use_fused_router_with_aux_score "
      "check_weight_hash_across_dp_replicas_interval allow_ambiguous_pad_tokens"},
     {kLaunch,
      "distributed_timeout_* distributed_backend node_rank master_addr master_port rdzv_* "
      "max_restarts local_rank nnodes nproc_per_node nproc tee redirects standalone "
      "monitor_interval module no_python enable_ft_package ft_* hostfile include exclude "
      "num_nodes num_gpus launcher launcher_args force_multi use_mcore_models "
      "enable_experimental transformer_impl manual_gc* no_manual_gc* train_sync_interval "
      "gc_interval tp_comm_bootstrap_backend "
      "container_* no_container_* ntasks* nodes nodelist cpus_per_task cpu_bind mpi output error "
      "job_name partition account time exclusive mem label kill_on_bad_exit wait export unbuffered "
      "gres gpus gpus_per_node ipc ulimit network privileged rm volume env shm_size name workdir "
      "config_path config_name help jobid kill_switch_path "
      "abort_on_unmet_fused_kernel_constraints constraint qos reservation hint use_legacy_models "
      "enable_gloo_process_groups disable_gloo_process_groups lazy_mpu_init "
      "nccl_communicator_config_path high_priority_stream_groups export_force_local_attention "
      "enable_gpt_oss adlr_autoresume* no_mlflow* mail_user mail_type dependency signal "
      "requeue gpu_bind distribution switches "
      "use_cpu_distributed_init use_mpi bind_to map_by oversubscribe allow_run_as_root mca "
      "deprecated_use_mcore_models log_dir rdzv_id calc_ft_timeouts"},
     {kKernels,
      "bias_gelu_fusion no_bias_gelu_fusion bias_swiglu_fusion no_bias_swiglu_fusion "
      "bias_dropout_fusion no_bias_dropout_fusion bias_activation_fusion bias_dropout_add_fusion "
      "masked_softmax_fusion no_masked_softmax_fusion apply_rope_fusion no_rope_fusion "
      "persist_layer_norm no_persist_layer_norm memory_efficient_layer_norm "
      "gradient_accumulation_fusion no_gradient_accumulation_fusion cross_entropy_loss_fusion "
      "cross_entropy_fusion_impl grad_div_ar_fusion get_attention_mask_from_fusion "
      "moe_grouped_gemm moe_use_legacy_grouped_gemm moe_permute_fusion moe_router_fusion "
      "moe_router_dtype moe_apply_probs_on_input no_permute_fusion moe_deepep_num_sms "
      "moe_hybridep_num_sms turbo_deepep_num_cu fused_residual_rmsnorm "
      "use_fused_weighted_squared_relu mla_down_proj_fusion gradient_reduce_div_fusion "
      "no_gradient_reduce_div_fusion "
      "disable_jit_fuser enable_jit* use_fused_rmsnorm use_fused_sdpa use_fast_softmax "
      "use_torch_compile "
      "use_torch_compiled_autograd"},
     {kBuffers,
      "ddp_bucket_size ddp_num_buckets bucket_size bucket_cap_mb grad_allreduce_chunk_size_mb "
      "gradient_as_bucket_view ddp_average_in_collective average_in_collective "
      "empty_unused_memory_level pipeline_dtype params_dtype check_for_nan_in_grad "
      "no_contiguous_buffers_in_local_ddp "
      "use_contiguous_buffers_in_local_ddp DDP_impl megatron_amp_O2 sync_batch_comm "
      "ddp_pad_buckets_for_high_nccl_busbw reuse_grad_buf_for_mxfp8_param_ag "
      "keep_fp8_weight_transpose_cache keep_fp8_transpose_cache* fsdp_double_buffer "
      "pin_cpu_grads pin_cpu_params clone_scatter_output_in_embedding "
      "no_clone_scatter_output_in_embedding sharp_enabled_group disable_symmetric_registration "
      "fsdp_manual_registration suggested_communication_unit_size fsdp_db_* "
      "megatron_fsdp_max_pool_double_buffer no_pin_cpu_grads no_pin_cpu_params "
      "ddp_reduce_scatter_with_fp32_accumulation create_all_gather_group"}}};

constexpr std::array<HarmlessSettings, 9> kOfNemo = {
    {{kLearning,
      "trainer.gradient_clip_val trainer.gradient_clip_algorithm optim.lr optim.min_lr "
      "optim.weight_decay optim.betas optim.eps optim.sched.* scheduler.* "
      "do_layer_norm_weight_decay"},
     {kStart, "rng.*"},
     {kLogs,
      "exp_manager.* trainer.logger* trainer.log_* trainer.enable_* nsys_profile.* "
      "megatron_timer_kwargs.* enable_megatron_timers apex_transformer_log_level logger.* "
      "profiling.* trainer.profiler"},
     {kCheckpoints,
      "s3_checkpointing.* restore_from_* resume_from_checkpoint checkpoint.* "
      "fsdp_sharded_checkpoint"},
     {kLength,
      "trainer.max_* trainer.val_check_interval trainer.limit_* trainer.check_val_every_n_epoch "
      "trainer.num_sanity_val_steps trainer.accumulate_grad_batches validation.*"},
     {kData, "data.* dataset.* validation_param_sync_overlap answer_only_loss"},
     {kLaunch,
      "name run_name cluster_type defaults run.* hydra.* trainer.accelerator "
      "trainer.use_distributed_sampler "
      "trainer.replace_sampler_ddp trainer.benchmark trainer.num_nodes dist.* mcore_gpt onnx_safe "
      "pre_process post_process"},
     {kOperations, "openai_gelu headscale scale_positional_embedding"},
     {kBuffers, "optim.bucket_cap_mb optim.contiguous_*"}}};

/// By the groups of megatron/arguments.py of deepspeedai/Megatron-DeepSpeed@207b2d5aad.
constexpr std::array<HarmlessSettings, 4> kOfMegatronDeepSpeed = {
    {{kLoss, "moe_loss_coeff moe_eval_capacity_factor moe_min_capacity create_moe_param_group"},
     {kLaunch,
      "deepspeed deepspeed_config deepspeed_mpi deepscale deepscale_config no_pipeline_parallel"},
     {kKernels,
      "use_flash_attn_* torch_adam ds_fused_adam deepspeed_activation_checkpointing "
      "synchronize_each_layer disable_mem_efficient_ln disable_moe_top2_2nd_expert_sampling "
      "checkpoint_num_layers"},
     {kBuffers,
      "zero_reduce_bucket_size zero_allgather_bucket_size zero_contigious_gradients "
      "zero_reduce_scatter contigious_checkpointing use_pin_memory"}}};

/// By the sections of DeepSpeed's configuration (docs/_pages/config-json.md).
constexpr std::array<HarmlessSettings, 6> kOfDeepSpeed = {
    {{kLearning, "optimizer.params.* scheduler.* gradient_clipping"},
     {kLoss, "prescale_gradients gradient_predivide_factor fp16.* bf16.* bfloat16.*"},
     {kLogs,
      "steps_per_print wall_clock_breakdown dump_state memory_breakdown tensorboard.* wandb.* "
      "csv_monitor.* comet.* flops_profiler.* comms_logger.*"},
     {kCheckpoints,
      "checkpoint.* zero_optimization.stage3_gather_* "
      "zero_optimization.gather_16bit_weights_on_model_save zero_optimization.elastic_checkpoint "
      "zero_optimization.load_from_fp32_weights zero_optimization.ignore_unused_parameters"},
     {kLaunch, "zero_allow_untested_optimizer zero_force_ds_cpu_optimizer"},
     {kBuffers,
      "aio.* zero_optimization.allgather_partitions zero_optimization.allgather_bucket_size "
      "zero_optimization.reduce_bucket_size zero_optimization.reduce_scatter "
      "zero_optimization.contiguous_gradients zero_optimization.round_robin_gradients "
      "zero_optimization.sub_group_size zero_optimization.stage3_max_live_parameters "
      "zero_optimization.stage3_max_reuse_distance zero_optimization.stage3_prefetch_bucket_size "
      "zero_optimization.stage3_param_pers* zero_optimization.stage3_model_pers* "
      "zero_optimization.offload_optimizer.pin_memory zero_optimization.offload_optimizer.buffer_* "
      "zero_optimization.offload_optimizer.nvme_path zero_optimization.offload_optimizer.fast_init "
      "zero_optimization.offload_optimizer.pipeline* zero_optimization.offload_param.pin_memory "
      "zero_optimization.offload_param.buffer_* zero_optimization.offload_param.nvme_path "
      "zero_optimization.offload_param.max_in_cpu"}}};

/// By the classes of megatron/neox_arguments.
constexpr std::array<HarmlessSettings, 10> kOfNeox = {
    {{kLearning,
      "lr_decay_* min_lr min_scale override_lr_scheduler warmup gradient_clipping weight_decay "
      "use_checkpoint_lr_scheduler"},
     {kStart, "init_method init_method_std output_layer_init_method seed"},
     {kOperations,
      "rotary_pct rotary_emb_base rotary_interleaved rms_norm_epsilon layernorm_epsilon "
      "apply_query_key_layer_scaling attention_softmax_in_fp32 scaled_masked_softmax_fusion"},
     {kLogs,
      "log_* steps_per_print wall_clock_breakdown tensorboard_* use_wandb wandb_* profile* "
      "memory_profiling* peak_theoretical_tflops"},
     {kCheckpoints,
      "save save_* load load_* checkpoint_factor checkpoint_scale extra_save_iters "
      "keep_last_n_checkpoints checkpoint_validation_with_forward_pass finetune"},
     {kLength, "train_iters train_epochs eval_* exit_interval do_valid do_test do_train"},
     {kData,
      "vocab_file merge_file data_path data_impl tokenizer_* train_data_* valid_data_* "
      "test_data_* split mmap_warmup weight_by_num_documents weighted_sampler_alpha num_workers "
      "temperature top_p top_k maximum_tokens sample_output_file num_samples text_gen_type "
      "pack_impl short_seq_prob eod_mask_loss train_proportion forget_path"},
     {kLoss, "loss_scale* initial_loss_scale min_loss_scale hysteresis"},
     {kLaunch,
      "distributed_backend launcher deepspeed_* hostfile include exclude num_gpus num_nodes "
      "adlr_autoresume* "
      "master_port no_ssh_check detect_nvlink_pairs user_script include_path "
      "output_layer_parallelism"},
     {kKernels,
      "scaled_upper_triang_masked_softmax_fusion bias_gelu_fusion bias_dropout_fusion rope_fusion "
      "layernorm_fusion rmsnorm_fusion synchronize_each_layer contiguous_checkpointing "
      "te_columnparallel te_rowparallel te_layernorm_mlp te_mha"}}};

/// By the tables of torchtitan/config/job_config.py.
constexpr std::array<HarmlessSettings, 8> kOfTorchtitan = {
    {{kLearning,
      "optimizer.lr optimizer.eps optimizer.beta* optimizer.weight_decay optimizer.implementation "
      "optimizer.fused "
      "optimizer.early_step_in_backward lr_scheduler.* training.max_norm training.warmup_steps"},
     {kStart, "training.seed debug.seed debug.ac_*"},
     {kLogs,
      "job.* profiling.* metrics.* model.print_after_conversion debug.print_config comm.trace_*"},
     {kCheckpoints, "checkpoint.* training.enable_cpu_init"},
     {kLength, "training.steps validation.* training.gc_freq training.gc_debug"},
     {kData,
      "model.hf_assets_path model.tokenizer_path training.dataset* training.data_dir "
      "training.data_files training.data_path "
      "experimental.custom_*"},
     {kLaunch,
      "comm.init_timeout_seconds comm.train_timeout_seconds comm.save_* fault_tolerance.* module "
      "config"},
     {kKernels, "model.norm_type activation_checkpoint.early_stop"}}};

}  // namespace

std::span<const HarmlessSettings> harmless_by_name() { return kByName; }
std::span<const HarmlessSettings> harmless_in_megatron() { return kOfMegatron; }
std::span<const HarmlessSettings> harmless_in_nemo() { return kOfNemo; }
std::span<const HarmlessSettings> harmless_in_megatron_deepspeed() { return kOfMegatronDeepSpeed; }
std::span<const HarmlessSettings> harmless_in_deepspeed() { return kOfDeepSpeed; }
std::span<const HarmlessSettings> harmless_in_neox() { return kOfNeox; }
std::span<const HarmlessSettings> harmless_in_torchtitan() { return kOfTorchtitan; }

}  // namespace titer
