// Meta's llama-cookbook, before it llama-recipes, and alpaca-lora: finetuning.py and finetune.py,
// whose arguments are fields of their own.

#include <algorithm>
#include <string>

#include "hf_parts.hpp"

namespace titer {
namespace {

/// [src/llama_cookbook/configs/training.py]
constexpr TrainerKeys kCookbookKeys = {.model = "model_name",
                                       .micro_batch = "batch_size_training",
                                       .usual_micro_batch = 4,
                                       .sequence = "context_length",
                                       .usual_sequence = 4096,
                                       .packing = "packing",
                                       .recomputes = false};
/// [finetune.py of tloen/alpaca-lora]
constexpr TrainerKeys kAlpacaKeys = {.model = "base_model",
                                     .micro_batch = "micro_batch_size",
                                     .usual_micro_batch = 4,
                                     .sequence = "cutoff_len",
                                     .usual_sequence = 256,
                                     .packing = "packing",
                                     .recomputes = true};

/// Of FSDP it has a section of its own, whose keys may stand without its name.
void rename_cookbook(Settings& in) {
  in.rename_all("fsdp_config.", "");
  in.rename_known("llama-cookbook");
}

/// Weights are of the checkpoint's type, sharded or not, and all else is of theirs; adapters are
/// updated in wide numbers.
void suppose_cookbook_precision(const ImportTask& task, bool adapts) {
  Settings& in = task.in;
  const bool is_pure = in.is_on("pure_bf16");
  if (in.is_on("use_fp16")) {
    in.suppose("fp16", Value(true));
    return;
  }
  if (!is_pure) {
    assume(task,
           "pure_bf16",
           "weights are taken as the checkpoint has them (torch_dtype auto), in bf16");
  }
  in.replace("pure_bf16", Value(!adapts));
  in.suppose("bf16", Value(true));
}

void suppose_cookbook_sharding(const ImportTask& task) {
  Settings& in = task.in;
  const bool shards = in.is_on("enable_fsdp");
  if (shards) {
    const bool is_on_host = in.is_on("fsdp_cpu_offload");
    in.suppose("fsdp", Value(is_on_host ? "full_shard offload" : "full_shard"));
    in.suppose("fsdp_config.sync_each_batch", Value(true));  // nothing in it waits for the last one
  }
  const bool recomputes = shards ? in.flag("fsdp_activation_checkpointing").value_or(true)
                                 : in.is_on("enable_activation_checkpointing");
  in.suppose("gradient_checkpointing", Value(recomputes));
}

BaseBits bits_of_cookbook(Settings& in) {
  constexpr std::string_view key = "quantization";
  const std::string told = in.word(key).value_or("none");
  const bool is_eight = told == "8bit" || told == "true";
  return {.bits = told == "4bit" ? 4 : (is_eight ? 8 : 0), .key = key};
}

}  // namespace

void import_llama_cookbook(const ImportTask& task) {
  Settings& in = task.in;
  rename_cookbook(in);
  for (const std::string_view key : {"freeze_layers", "freeze_LLM_only"}) {
    if (in.is_on(key)) {
      in.fail(key, "expected false: which layers are frozen is not read");
    }
  }
  take_only(task, "peft_method", {"lora"});
  const bool adapts = in.is_on("use_peft");
  suppose_cookbook_precision(task, adapts);
  suppose_cookbook_sharding(task);
  if (in.word("batching_strategy").value_or("packing") == "packing") {
    in.suppose("packing", Value(true));
  }
  put_trainer(task, kCookbookKeys);
  if (adapts) {
    put_adapters(task, kPeftKeys, bits_of_cookbook(in));
  }
  in.skip_known("llama-cookbook");
}

void import_alpaca_lora(const ImportTask& task) {
  constexpr std::string_view batch_key = "batch_size";
  Settings& in = task.in;
  const auto micro = in.integer(kAlpacaKeys.micro_batch, 1).value_or(kAlpacaKeys.usual_micro_batch);
  const auto batch = in.integer(batch_key, 1);
  if (!batch && in.has(batch_key)) {
    task.into.training.add("global_batch", Value(kLeftOpen));
  } else if (!batch) {
    assume(task, batch_key, "taken as 128, its default");
  }
  if (const auto devices = launched_devices(task)) {
    const std::int64_t steps = batch.value_or(128) / micro / *devices;
    in.suppose(kAccumulation, Value(std::max<std::int64_t>(1, steps)));
  }
  in.suppose("fp16", Value(true));
  put_trainer(task, kAlpacaKeys);
  // The program loads its model in 8 bits, whatever it is told.
  put_adapters(task, kPeftKeys, {.bits = 8, .key = kAlpacaKeys.model});
  in.skip_known("llama-cookbook");
}

}  // namespace titer
