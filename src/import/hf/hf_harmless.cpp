// What of the trainer's settings changes neither time nor memory of a step.

#include <array>

#include "hf_parts.hpp"
#include "import/import_harmless.hpp"

namespace titer {
namespace {

/// By transformers.TrainingArguments, TRL's and LLaMA-Factory's arguments, axolotl's schemas and
/// accelerate's configuration.
constexpr std::array<HarmlessSettings, 11> kOfHf = {
    {{"learning rate and the optimizer's numbers",
      "learning_rate lr_* lr_scheduler* warmup_* weight_decay adam_* max_grad_norm "
      "label_smoothing* "
      "optim_args optim_args.eps optim_args.beta* optim_args.weight_decay embedding_learning_rate "
      "embedding_lr* loraplus_* cosine_* min_lr* "
      "neftune_* gradient_clipping muon_* lora_plus* use_dft_loss"},
     {"adapters' numbers",
      "lora_alpha lora_dropout lora_fan_in_fan_out lora_model_dir "
      "lora_on_cpu lora_bias pissa_* use_rslora lora_task_type "
      "lora_target_modules lora_target_linear lora_r lora_rank lora_target peft_use_rslora "
      "peft_init_lora_weights peft_autocast_adapter_dtype qlora_sharded_model_loading "
      "double_quantization quantization_method quantization_type bnb_* use_bnb_nested_quant "
      "lora_weight_path create_new_adapter adapter_name_or_path adapter_folder merge_lora "
      "merge_method bnb_config_kwargs* peft quantization_device_map quant_method"},
     {"first weights and random numbers", "seed data_seed init_* full_determinism"},
     {"logs and profiles",
      "logging_* log_* report_to run_name disable_tqdm wandb_* tensorboard_* use_wandb use_mlflow "
      "mlflow_* comet_* use_tensorboard plot_loss include_num_input_tokens_seen "
      "include_tokens_per_second skip_memory_metrics debug profiler_* log_with swanlab_* "
      "use_swanlab "
      "project trackio_* resources_per_worker placement_strategy gradio_* "
      "include_effective_tokens_per_second ray_* otel_* use_otel_* monitor_config* comms_config* "
      "include_tkps include_mfu "
      "mfu_* with_tracking profiling verbose callbacks benchmarks"},
     {"checkpoints",
      "save save_* output_dir overwrite_output_dir resume_from_checkpoint load_best_model_at_end "
      "push_to_hub* hub_* auto_resume_from_checkpoints saves_per_epoch "
      "restore_callback_states_from_checkpoint enable_jit_checkpoint keep_last_n_checkpoints "
      "checkpointing_steps clean_checkpoints* exp_name try_* hf_* gs_* "
      "experimental_skip_move_to_device"},
     {"length of the training and its evaluation",
      "num_train_epochs num_epochs max_steps eval_* evals_per_epoch evaluation_strategy do_* "
      "per_device_eval_* per_gpu_* val_* validation_* val_set_size max_eval_* predict_* "
      "compute_accuracy "
      "prediction_loss_only early_stopping* metric_for_best_model greater_is_better batch_eval_* "
      "bf16_full_eval fp16_full_eval include_for_metrics eval_on_start strict bench_* "
      "bench_source_max_len generation_* infer_backend export_* vllm_* sglang_* use_kv_cache "
      "past_index total_num_tokens total_supervised_tokens"},
     {"data and tokenizers",
      "dataset dataset* datasets* test_datasets* pretraining_dataset* template* chat_template* "
      "data_* train_file validation_file max_samples max_train_samples preprocessing_* "
      "min_sample_len overwrite_cache dataloader_* remove_unused_columns tokenizer* tokenized_path "
      "special_tokens* tokens* add_* train_on_* group_by_* shuffle_* streaming buffer_size "
      "mix_strategy interleave_probs media_dir cache_dir completion_only_loss assistant_only_loss "
      "length_column_name trust_remote_code trust_remote_code* use_fast_tokenizer model_revision "
      "model_type_args resize_vocab resize_token_embeddings_to_32x excess_length_strategy "
      "conversation_template padding_side padding_strategy split_special_tokens mask_history "
      "ignore_pad_token_for_loss packing packing_strategy sample_packing* eval_packing "
      "eval_sample_packing neat_packing pad_to_* is_* image_* video_* audio_* "
      "lazy_preprocess skip_prepare_dataset role* label_names enable_thinking tool_format "
      "splits num_proc field* default_system_message seq_length_column text_column* "
      "max_prompt_length use_auth_token hf_hub_token ms_hub_token token "
      "low_cpu_mem_usage shift_attn pretraining_tp mixer_list mixer_list_* dataset_mixer* "
      "max_train_steps train_file_dir validation_file_dir reduce_loss eos_token bos_token cache_* "
      "sanity_check* ground_truths_key max_prompt_len model_prompt curriculum_sampling multipack_* "
      "pretraining_sample_concatenation batch_flattening pretrain_multipack_* "
      "streaming_multipack_* added_tokens_overrides eot_tokens fix_untrained_tokens "
      "processor_type sequence_len_overflow_handling train_sampling_strategy padding_free "
      "pad_token num_of_sequences chars_per_token keep_linebreaks source_prefix decontaminate "
      "instruction_template response_template new_special_tokens_config om_hub_token "
      "block_diag_attn default_system noisy_embedding_alpha disable_shuffling "
      "data_shared_file_system preserve_thinking"},
     {"how processes are launched",
      "ddp_* local_rank machine_rank main_process_* main_training_function num_machines "
      "num_processes rdzv_* same_network tpu_* use_cpu downcast_bf16 enable_cpu_affinity "
      "compute_environment distributed_type dynamo_config* dynamo_backend gpu_ids "
      "debug commands command_file nnodes nproc_per_node node_rank master_addr "
      "master_port num_gpus num_nodes hostfile include exclude module standalone "
      "max_restarts "
      "stage finetuning_type method hub_model_id ipex_config* mpirun_config* megatron_lm_config* "
      "num_cpu_threads_per_process multi_gpu deepspeed_multinode_launcher "
      "gpus cluster workspace priority image description pure_docker_mode preemptible "
      "max_retries non_resumable no_auto_dataset_cache budget env "
      "context_parallel.backend context_parallel.load_balance context_parallel.ring_impl "
      "tp_size_auto world_size device_map base_model_config model_type tokenizer_type "
      "base_model_ignore_patterns revision_of_model gpu_memory_limit max_memory device ddp "
      "axolotl_config_path torchdistx_path accelerator_config* xpu_backend mp_parameters "
      "fsdp_final_state_dict_type fsdp_min_num_params fsdp_transformer_layer_cls_to_wrap "
      "offload_folder"},
     {"kernels for the same operations, as the stack's figures hold",
      "torch_compile* use_liger* enable_liger* liger_* plugins* cut_cross_entropy* "
      "ring_attn_func heads_k_stride gc_steps use_unsloth* use_kernels lora_mlp_kernel "
      "lora_qkv_kernel lora_o_kernel "
      "lora_embedding_kernel unsloth_* xformers_attention sdp_attention eager_attention "
      "flash_attn_* gradient_checkpointing_kwargs* "
      "use_reentrant_gc torch_empty_cache_steps use_cache chunked_cross_entropy* "
      "scaling_softmax flex_attn_* loss_watchdog_* flash_optimum flash_attention_* "
      "attn_implementation_* "
      "experts_implementation fp8_backend average_tokens_across_devices auto_find_batch_size "
      "use_v1_kernels "
      "use_triton"},
     {"types as they are loaded",
      "embeddings_skip_upcast torch_dtype dtype infer_dtype half_precision_backend upcast_* "
      "fp16_opt_level fp16_backend "
      "bf16_full* float32_logits use_ipex no_cuda use_mps_device jit_mode_eval "
      "bnb_4bit_* use_nested_quant"},
     {"positions",
      "rope_* router_aux_loss_coef moe_aux_loss_coef model_config.output_router_logits "
      "overrides_of_model_config* yarn_* "
      "base_model_rope*"}}};

}  // namespace

std::span<const HarmlessSettings> harmless_in_hf() { return kOfHf; }

}  // namespace titer
