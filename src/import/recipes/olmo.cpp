// YAML of OLMo's first trainer (allenai/OLMo), FSDP1.

#include "import/hf/hf_parts.hpp"
#include "recipe_parts.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// In the keys of OLMo's config.json on the Hub; the width of a gated MLP is that of both halves.
void put_olmo_model(const ImportTask& task) {
  Settings& in = task.in;
  const auto hidden = in.required("model.d_model", 1, kMostWidth);
  const auto heads = in.required("model.n_heads", 1, kMostWidth);
  const std::string activation = in.word("model.activation_type").value_or("swiglu");
  if (activation != "swiglu" || in.word("model.block_type").value_or("sequential") == "moe") {
    in.fail(activation != "swiglu" ? "model.activation_type" : "model.block_type",
            "expected sequential blocks with swiglu: others are not read");
    return;
  }
  const auto ratio = in.integer("model.mlp_ratio", 1, 1000).value_or(4);
  const auto written = in.integer("model.mlp_hidden_size", 1, 10 * kMostWidth);
  const bool has_rms = in.word("model.layer_norm_type").value_or("default") == "rms";
  const bool is_second = in.any_on({"model.attention_layer_norm", "model.norm_after"}) || has_rms;
  Value config = Value::make_object();
  config.add("model_type", Value(is_second ? "olmo2" : "olmo"));
  config.add("hidden_size", Value(hidden));
  config.add("num_hidden_layers", Value(in.required("model.n_layers", 1, kMostLayers)));
  config.add("num_attention_heads", Value(heads));
  put(config, "head_dim", in.integer("model.head_dim", 1, kMostWidth));  // of forks
  const std::int64_t shared = in.is_on("model.multi_query_attention") ? 1 : heads;
  config.add("num_key_value_heads",
             Value(in.integer("model.n_kv_heads", 1, kMostWidth).value_or(shared)));
  config.add("intermediate_size", Value(written.value_or(ratio * hidden) / 2));
  const auto vocabulary = in.integer("model.vocab_size", 1, 1'000'000'000).value_or(50257);
  const auto embedded = in.integer("model.embedding_size", 1, 1'000'000'000);
  const std::vector<std::string> keys = in.keys();
  const bool is_null = !embedded && includes(keys, "model.embedding_size");
  config.add("vocab_size", Value(embedded.value_or(is_null ? vocabulary : 50304)));
  config.add("max_position_embeddings",
             Value(in.integer("model.max_sequence_length", 1, kMostTokens).value_or(1024)));
  config.add("tie_word_embeddings", Value(in.flag("model.weight_tying").value_or(true)));
  const bool has_biases = in.flag("model.include_bias").value_or(true);
  config.add("attention_bias", Value(has_biases));
  put_model_of_config(task, config);
  Transformer& model = *task.into.model;
  model.biases.mlp = has_biases;
  const bool rotary = in.is_on("model.rope");
  const Positions others = in.is_on("model.alibi") ? Positions::alibi : Positions::learned;
  model.positions = rotary ? Positions::rotary : others;
  model.position_rows = model.positions == Positions::learned ? model.max_sequence : 0;
}

/// Of its first files, which had Composer's sections.
void rename_old_olmo(Settings& in) {
  in.rename("fsdp_config.mixed_precision", "fsdp.precision");
  if (in.is_on("fsdp_config.activation_checkpointing")) {
    in.suppose("activation_checkpointing", Value("whole_layer"));
  }
  in.rename("fsdp_config.sharding_strategy", "fsdp.sharding_strategy");
  if (in.is_on("fsdp_config.activation_cpu_offload")) {
    in.leave_out("fsdp_config.activation_cpu_offload", "activations are kept on the device");
  }
}

void put_olmo_sharding(const ImportTask& task, std::optional<std::int64_t> data) {
  Settings& in = task.in;
  const std::string strategy = in.word("fsdp.sharding_strategy").value_or("full_shard");
  if (in.word("distributed_strategy").value_or("fsdp") == "ddp") {
    task.into.plan.add("sharding", Value("none"));
    return;
  }
  const bool is_half = strategy == "shard_grad_op" || strategy == "_hybrid_shard_zero2";
  task.into.plan.add("sharding", Value(is_half ? "zero2" : "zero3"));
  const auto copies = in.integer("fsdp.hybrid_sharding_num_model_replicas", 1);
  if (strategy.find("hybrid") != std::string::npos && data && copies && *data % *copies == 0) {
    task.into.plan.add("shard", Value(*data / *copies));
  }
}

void put_olmo_recompute(const ImportTask& task) {
  Settings& in = task.in;
  const std::string mode = in.word("activation_checkpointing").value_or("none");
  if (mode == "fine_grained" || mode.find("_in_") != std::string::npos) {
    in.leave_out("activation_checkpointing", "taken as whole layers, every one");
  }
  task.into.plan.add("recompute",
                     Value(mode == "none" || mode == "false" || mode == "null" ? "none" : "full"));
}

}  // namespace

void import_olmo(const ImportTask& task) {
  Settings& in = task.in;
  stand_in(task, "fsdp", "OLMo's trainer");
  rename_old_olmo(in);
  put_olmo_model(task);
  if (!in.is_sound()) {
    return;
  }
  const auto data = launched_devices(task);
  put(task.into.plan, "data", data);
  put_olmo_sharding(task, data);
  put_olmo_recompute(task);
  const std::string_view type = precision_of(in.word("precision").value_or("fp32"));
  task.into.training.add("precision", Value(type));
  if (type == "bf16") {
    const std::string reduces = in.word("fsdp.precision").value_or("pure");
    task.into.training.add("gradient_precision", Value(reduces == "pure" ? "bf16" : "fp32"));
  }
  put_rank_batches(task,
                   "global_train_batch_size",
                   {.micro = in.integer("device_train_microbatch_size", 1),
                    .accumulation = std::nullopt,
                    .global = in.integer("global_train_batch_size", 1)},
                   data);
  put(task.into.training, "sequence", in.integer("model.max_sequence_length", 1, kMostTokens));
  put_optimizer(task, "optimizer.name");
  in.skip_known("olmo");
}

}  // namespace titer
