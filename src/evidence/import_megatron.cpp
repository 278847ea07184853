// Megatron-LM's arguments, and the libraries that have its names for settings: NeMo and
// Megatron-Bridge.

#include <algorithm>
#include <array>

#include "import_parts.hpp"

namespace titer {
namespace {

/// What changes neither time nor memory of a step: learning rates and other numbers of the
/// optimizer, data, tokenizers, checkpoints, logs, evaluation, how the loss is weighed, seeds.
constexpr std::array<std::string_view, 96> kOfNoConcernInMegatron = {
    "lr",
    "lr_*",
    "min_lr",
    "decoupled_*",
    "weight_decay*",
    "start_weight_decay",
    "end_weight_decay",
    "adam_*",
    "sgd_*",
    "clip_grad",
    "init_method*",
    "use_scaled_init_method",
    "norm_epsilon",
    "layernorm_epsilon",
    "rotary_*",
    "use_rope_scaling",
    "rope_*",
    "mscale*",
    "apply_layernorm_1p",
    "apply_query_key_layer_scaling",
    "attention_softmax_in_fp32",
    "normalize_attention_scores",
    "seq_len_interpolation_factor",
    "log_*",
    "timing_log*",
    "logging_level",
    "wandb_*",
    "tensorboard_*",
    "one_logger*",
    "save",
    "save_*",
    "load",
    "load_*",
    "async_save",
    "ckpt_*",
    "dist_ckpt_*",
    "use_dist_ckpt",
    "use_persistent_ckpt_worker",
    "no_ckpt_*",
    "no_load_*",
    "no_save_*",
    "auto_detect_ckpt_format",
    "override_opt*",
    "use_checkpoint*",
    "finetune",
    "eval_*",
    "train_samples",
    "train_iters",
    "exit_*",
    "rampup_batch_size",
    "data_path",
    "data_cache_path",
    "data_args_path",
    "mock_data",
    "split",
    "num_dataset_builder_threads",
    "num_workers",
    "mmap_bin_files",
    "no_mmap_bin_files",
    "no_create_attention_mask_in_dataloader",
    "dataloader_type",
    "eod_mask_loss",
    "reset_*",
    "tokenizer*",
    "vocab_file",
    "merge_file",
    "distributed_timeout_minutes",
    "distributed_backend",
    "use_mcore_models",
    "transformer_impl",
    "seed",
    "manual_gc*",
    "gc_interval",
    "no_check_for_nan_in_loss_and_grad",
    "check_for_nan*",
    "enable_experimental",
    "initial_loss_scale",
    "loss_scale*",
    "min_loss_scale",
    "hysteresis",
    "native_amp_*",
    "moe_aux_loss_coeff",
    "moe_z_loss_coeff",
    "moe_router_load_balancing_type",
    "moe_router_score_function",
    "moe_router_pre_softmax",
    "moe_router_topk_scaling_factor",
    "moe_router_bias_update_rate",
    "moe_token_drop_policy",
    "mtp_loss_scaling_factor",
    "node_rank",
    "master_addr",
    "master_port",
    "rdzv_*",
    "max_restarts",
    "local_rank"};

/// The same of NeMo's trainer and of the sections of Megatron-Bridge.
constexpr std::array<std::string_view, 47> kOfNoConcernInNemo = {"name",
                                                                 "defaults",
                                                                 "run.*",
                                                                 "exp_manager.*",
                                                                 "s3_checkpointing.*",
                                                                 "trainer.accelerator",
                                                                 "trainer.logger*",
                                                                 "trainer.enable_*",
                                                                 "trainer.use_distributed_sampler",
                                                                 "trainer.max_*",
                                                                 "trainer.log_*",
                                                                 "trainer.val_check_interval",
                                                                 "trainer.limit_*",
                                                                 "trainer.accumulate_grad_batches",
                                                                 "trainer.gradient_clip_val",
                                                                 "trainer.benchmark",
                                                                 "trainer.num_nodes",
                                                                 "optim.lr",
                                                                 "optim.weight_decay",
                                                                 "optim.betas",
                                                                 "optim.sched.*",
                                                                 "data.*",
                                                                 "nsys_profile.*",
                                                                 "megatron_timer_kwargs.*",
                                                                 "enable_megatron_timers",
                                                                 "restore_from_*",
                                                                 "resume_from_checkpoint",
                                                                 "skip_train",
                                                                 "pre_process",
                                                                 "post_process",
                                                                 "mcore_gpt",
                                                                 "use_cpu_initialization",
                                                                 "onnx_safe",
                                                                 "apex_transformer_log_level",
                                                                 "do_layer_norm_weight_decay",
                                                                 "openai_gelu",
                                                                 "headscale",
                                                                 "attention_type",
                                                                 "scale_positional_embedding",
                                                                 "nccl_communicator_config_path",
                                                                 "validation_param_sync_overlap",
                                                                 "fsdp_sharded_checkpoint",
                                                                 "scheduler.*",
                                                                 "checkpoint.*",
                                                                 "logger.*",
                                                                 "rng.*",
                                                                 "dataset.*"};

/// fp8 settings count where fp8 is on.
void skip_fp8_unless_on(Settings& in) {
  const std::string fp8 = in.word("fp8").value_or("false");
  if (!in.has("fp8_format") && (fp8 == "false" || fp8 == "null")) {
    constexpr std::array<std::string_view, 3> off = {"fp8*", "reduce_amax", "use_te_*"};
    in.skip(off);
  }
}

/// The model, and unless it is wrong the plan, which has to fit it.
void finish(const ImportTask& task) {
  task.into.model = megatron_model(task);
  if (!task.in.is_sound()) {
    return;
  }
  megatron_plan(task);
  task.in.skip(kOfNoConcernInNemo);
  skip_fp8_unless_on(task.in);
  skip_megatron_settings(task.in);
}

/// NeMo and its kin call the same settings otherwise.
void rename_settings(Settings& in) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names = {
      {{"encoder_seq_length", "seq_length"},
       {"data.seq_length", "seq_length"},
       {"activations_checkpoint_granularity", "recompute_granularity"},
       {"activations_checkpoint_method", "recompute_method"},
       {"activations_checkpoint_num_layers", "recompute_num_layers"},
       {"expert_tensor_model_parallel_size", "expert_tensor_parallel_size"},
       {"optim.optimizer", "optimizer"}}};
  for (const auto& [theirs, ours] : names) {
    in.rename(theirs, ours);
  }
}

void refuse_other_blocks(Settings& in) {
  const std::string block = in.word("transformer_block_type").value_or("pre_ln");
  if (block != "pre_ln") {
    in.fail("transformer_block_type", "expected pre_ln: other blocks are not modelled");
  }
}

/// Whether a file that changes a recipe lacks the recipe's model; reports it.
bool lacks_recipe(const ImportTask& task) {
  if (!task.options.base) {
    task.in.fail("",
                 "changes a recipe that it does not hold; --model NAME tells of which model, such "
                 "as llama3.2-1b");
  }
  return !task.options.base;
}

}  // namespace

void skip_megatron_settings(Settings& in) { in.skip(kOfNoConcernInMegatron); }

void import_megatron(const ImportTask& task) {
  Settings& in = task.in;
  // Overrides of a NeMo recipe in a test's MODEL_ARGS.
  const std::vector<std::string> keys = in.keys();
  const auto is_override = [](const std::string& key) { return key.starts_with("model.config."); };
  if (std::any_of(keys.begin(), keys.end(), is_override) && lacks_recipe(task)) {
    return;
  }
  for (const std::string_view section : {"trainer.strategy.", "model.config.", "data."}) {
    in.rename(section, "");
  }
  in.rename("trainer.strategy.ddp.", "");
  rename_settings(in);
  finish(task);
}

void import_nemo(const ImportTask& task) {
  Settings& in = task.in;
  in.rename("model.", "");
  rename_settings(in);
  refuse_other_blocks(in);
  finish(task);
}

void import_bridge(const ImportTask& task) {
  Settings& in = task.in;
  for (const std::string_view section : {"model.",
                                         "train.",
                                         "dataset.",
                                         "ddp.",
                                         "optimizer.",
                                         "comm_overlap.",
                                         "mixed_precision."}) {
    in.rename(section, "");
  }
  rename_settings(in);
  const bool is_whole = in.has("num_layers") && in.has("hidden_size");
  if (!is_whole && lacks_recipe(task)) {
    return;
  }
  finish(task);
}

}  // namespace titer
