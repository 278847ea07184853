// YAML of NeuronX Distributed Training (aws-neuron/neuronx-distributed-training), which grew out of
// NeMo 1 and has its names but for these.  [docs/general/config_overview.rst]

#include <string>

#include "import/hf/hf_parts.hpp"
#include "import/import_parts.hpp"

namespace titer {
namespace {

constexpr std::string_view kAlignment = "model_alignment_strategy.";

/// What of the experts is more than how many, and how many a token goes to.
void read_neuron_experts(const ImportTask& task) {
  Settings& in = task.in;
  if (in.has("model.num_moe_experts") && !in.is_on("model.moe.dropless")) {
    in.rename("model.moe.capacity_factor", "model.moe_expert_capacity_factor");
  }
  in.rename("model.moe.frequency", "model.moe_layer_freq");
}

/// Beside what the settings of precision stand for when their type is "manual".
void put_neuron_precision(const ImportTask& task) {
  constexpr std::string_view key = "neuron_precision.type";
  Settings& in = task.in;
  const std::string type = in.word(key).value_or("mixed_precision");
  const bool is_wide = type == "fp32";
  const bool is_known = is_wide || type == "manual" || type == "autocast" || type == "bf16sr" ||
                        type == "mixed_precision" || type == "mixed_precisionsr";
  if (!is_known) {
    in.fail(key, "expected mixed_precision, mixed_precisionSR, bf16SR, autocast, fp32 or manual");
    return;
  }
  in.suppose("trainer.precision", Value(is_wide ? "32" : "bf16"));
  const bool is_manual = type == "manual";
  const bool keeps_wide =
      is_manual ? in.is_on("neuron_precision.master_weights") : type != "bf16sr";
  if (!is_wide && !keeps_wide) {
    put_all_bf16(task);
  }
}

bool is_by_preferences(const ImportTask& task) {
  for (const std::string& key : task.in.keys()) {
    for (const std::string_view kind : {"dpo", "orpo", "kto"}) {
      if (key.starts_with(std::string(kAlignment) + std::string(kind))) {
        task.in.fail(key, "is of training by preferences, whose steps have more passes");
        return true;
      }
    }
  }
  return false;
}

void put_neuron_adapters(const ImportTask& task) {
  const std::string rank = std::string(kAlignment) + "peft.lora_rank";
  const std::string targets = std::string(kAlignment) + "peft.target_modules";
  if (task.in.has(rank)) {
    put_adapters(
        task,
        {.rank = rank, .targets = targets, .usual_rank = 16, .usual_targets = "all-linear"},
        {});
  }
}

/// Attention's core alone is recomputed, or what else a list names.
void read_neuron_recompute(const ImportTask& task) {
  constexpr std::string_view key = "model.activations_checkpoint_recompute";
  for (const std::string& name : listed_words(task, key)) {
    if (name != "CoreAttention" && name != "coreattention") {
      task.in.leave_out(key, "of selective recomputation attention's core alone is taken");
    }
  }
}

/// Its layers are those of a config.json, with the numbers that are told here.
void import_hf_model(const ImportTask& task) {
  put_named_model(task, "model.model_config");
  const bool flash = task.in.is_on("model.use_flash_attention");
  task.into.plan.add("attention", Value(flash ? "flash" : "materialised"));
  if (!task.in.is_sound()) {
    return;
  }
  task.in.rename("model.", "");
  task.in.rename("data.", "");
  task.in.rename("encoder_seq_length", "seq_length");
  task.in.rename("activations_checkpoint_granularity", "recompute_granularity");
  megatron_plan(task);
  task.in.skip("what the model's config.json tells",
               "num_layers hidden_size max_position_embeddings");
  task.in.skip_known("megatron");
  task.in.skip_known("nemo");
}

}  // namespace

void import_neuron(const ImportTask& task) {
  Settings& in = task.in;
  if (is_by_preferences(task)) {
    return;
  }
  in.rename_known("nemo-neuron");
  read_neuron_experts(task);
  read_neuron_recompute(task);
  put_neuron_precision(task);
  if (in.word("model_source").value_or("megatron") == "hf") {
    in.rename("name", "run_name");
    import_hf_model(task);
  } else {
    ImportTask unfused = task;
    unfused.defaults = {.is_local = true};
    import_nemo(unfused);
  }
  task.into.stack = "neuronx";
  put_neuron_adapters(task);
  in.skip_known("nemo-neuron");
}

}  // namespace titer
