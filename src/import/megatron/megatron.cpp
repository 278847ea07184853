// Megatron-LM's arguments, and the libraries that have its names for settings: NeMo and
// Megatron-Bridge.

#include <algorithm>
#include <array>

#include "import/hf/hf_parts.hpp"
#include "import/import_parts.hpp"
#include "import/recipes/recipe_parts.hpp"

namespace titer {
namespace {

/// The model, and unless it is wrong the plan, which has to fit it.
void finish(const ImportTask& task) {
  refuse_unmodelled(task);
  if (!task.in.is_sound()) {
    return;
  }
  task.into.model = megatron_model(task);
  if (!task.in.is_sound()) {
    return;
  }
  megatron_plan(task);
  task.in.skip_known("megatron");
  task.in.skip_usual("megatron");
}

/// Megatron-LM of 2021 and 2022 has none of these.
std::string_view stack_of(const Settings& in) {
  const bool is_core = has_one_of(in, "since_core") && !in.has("use_legacy_models");
  return is_core ? "megatron-core" : "megatron-lm";
}

/// NeMo and its kin call the same settings otherwise.
void rename_settings(Settings& in) {
  in.rename_known("nemo");
  // Of what is read at a time the data tell; what the model could read stands beside it.
  if (!in.has("seq_length")) {
    in.rename("encoder_seq_length", "seq_length");
  } else {
    in.skip("what the model could read at a time", "encoder_seq_length");
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

/// What pretraining recipes of Megatron-Bridge set where a file does not change it.
/// [src/megatron/bridge/recipes/common.py, _pretrain_common]
void take_recipe(const ImportTask& task, bool has_ddp = false) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> on = {
      {{"use_distributed_optimizer", "sharding"},
       {"overlap_grad_reduce", "overlap_grad_reduce"},
       {"overlap_param_gather", "overlap_param_gather"}}};
  for (const auto& [theirs, ours] : on) {
    Value* const taken = task.into.plan.find(ours);
    // Of its own data-parallel settings a file switches on what it names, and nothing else.
    const bool is_told = task.in.has(theirs) || (has_ddp && ours != "sharding");
    if (is_told || taken == nullptr) {
      continue;
    }
    *taken = ours == "sharding" ? Value("zero1") : Value(true);
    assume(task, theirs, "taken as true, as pretraining recipes have it (recipes/common.py)");
  }
}

/// Sections of Megatron-Bridge, which hold Megatron's settings.
void rename_sections(Settings& in) {
  for (const std::string_view section : {"model.",
                                         "train.",
                                         "dataset.",
                                         "ddp.",
                                         "optimizer.",
                                         "comm_overlap.",
                                         "mixed_precision."}) {
    in.rename(section, "");
  }
  for (const std::string_view key : {"use_torch_fsdp2", "use_tp_pp_dp_mapping"}) {
    in.rename("dist." + std::string(key), key);
  }
}

/// Beside a model that is told by its name.
void read_further_tokens(const ImportTask& task) {
  constexpr std::string_view key = "mtp_num_layers";
  const auto modules = task.in.integer(key, 0, 16);
  if (task.into.model) {
    task.into.model->predicted_tokens = modules.value_or(task.into.model->predicted_tokens);
  } else if (modules) {
    assume(task, key, "taken as the shipped model has it");
  }
}

/// LoRA as NeMo and Megatron-Bridge have it.  [megatron/bridge/peft/lora.py]
void read_adapters(const ImportTask& task) {
  Settings& in = task.in;
  const std::string named = in.written("peft");
  if (!in.has("peft.dim") && !in.has("peft.target_modules")) {
    static_cast<void>(in.text("peft"));
    if (named == "lora") {
      in.replace("peft.dim", Value(std::int64_t{32}));
    } else if (!named.empty() && named != "none") {
      in.leave_out("peft", "nothing tells which adapters are trained");
    }
  }
  if (in.has("peft.dim") || in.has("peft.target_modules")) {
    put_adapters(task,
                 {.rank = "peft.dim",
                  .targets = "peft.target_modules",
                  .usual_rank = 32,
                  .usual_targets = "all",
                  .is_fused = true},
                 {});
    in.skip("how the adapters are scaled", "peft.alpha peft.dropout*");
  }
}

/// Whether the model is what a checkpoint says, and nothing else does; reports it.
bool lacks_checkpoint(const ImportTask& task) {
  constexpr std::string_view key = "use_checkpoint_args";
  Settings& in = task.in;
  if (!in.is_on(key) || in.has("num_layers")) {
    return false;
  }
  if (!task.options.base) {
    in.fail(key, "the checkpoint tells the model's shape; --model NAME tells which it is");
    return true;
  }
  in.skip("what the checkpoint's model has",
          "model_name use_rms_norm glu_activation no_tie_embed_logits parallel_attn "
          "parallel_layernorm use_bias");
  return false;
}

}  // namespace

void import_megatron(const ImportTask& task) {
  Settings& in = task.in;
  in.rename("vocab_extra_ids_list", "tokenizer_extra_ids");  // T5 alone has vocab_extra_ids
  if (lacks_checkpoint(task)) {
    return;
  }
  // Overrides of a NeMo recipe in a test's MODEL_ARGS.
  const std::vector<std::string> keys = in.keys();
  const auto is_override = [](const std::string& key) { return key.starts_with("model.config."); };
  const bool is_recipe = std::ranges::any_of(keys, is_override);
  if (is_recipe && lacks_recipe(task)) {
    return;
  }
  task.into.stack = is_recipe ? "nemo" : stack_of(in);
  ImportTask with_defaults = task;
  with_defaults.defaults.is_local |= !is_recipe && is_before_fused_attention(in);
  with_defaults.defaults.gathers_tokens = !is_recipe && !task.defaults.is_deepspeed;
  for (const std::string_view section : {"trainer.strategy.", "model.config.", "data."}) {
    in.rename(section, "");
  }
  in.rename("trainer.strategy.ddp.", "");
  name_as_later_releases(in);
  rename_settings(in);
  finish(with_defaults);
  put_accumulation(task);
  if (is_recipe) {
    in.skip_known("nemo");
  }
}

void import_nemo(const ImportTask& task) {
  Settings& in = task.in;
  task.into.stack = "nemo";
  in.rename("name", "run_name");
  in.rename("trainer.gpus", "trainer.devices");  // of Lightning before 1.6
  in.rename("model.", "");
  rename_settings(in);
  if (!in.has("trainer.precision")) {
    in.rename("precision", "trainer.precision");
  }
  in.skip("what the trainer tells", "precision");
  refuse_other_blocks(in);
  finish(task);
  in.skip_known("nemo");
}

void import_bridge_recipe(const ImportTask& task) {
  Settings& in = task.in;
  const bool is_nemo = in.has("trainer.devices") || in.has("trainer.num_gpus_per_node") ||
                       in.has("trainer.strategy.ddp") ||
                       in.has("recipe_arguments.num_gpus_per_node");
  task.into.stack = is_nemo ? "nemo" : "megatron-bridge";
  const std::vector<std::string> keys = in.keys();
  const bool has_ddp = std::ranges::any_of(
      keys, [](const std::string& key) { return key.starts_with("trainer.strategy.ddp."); });
  in.rename_known("megatron-bridge-recipes");
  in.rename("trainer.strategy.", "");
  rename_sections(in);
  in.rename("data.", "");
  in.rename("ddp_config.", "");
  rename_settings(in);
  const std::string called = in.text("recipe").value_or("");
  suppose_recipe(task, called);
  const auto named = in.text("hf_model");
  refuse_unmodelled(task);
  if (!named && in.has("num_layers") && in.has("hidden_size")) {
    task.into.model = megatron_model(task);
  } else {
    put_hub_model(task, named ? "hf_model" : "recipe", named.value_or(model_of_recipe(called)));
    if (in.has("tokenizer.vocab_size")) {
      assume(task, "tokenizer.vocab_size", "the token table is taken as the model's on the Hub");
    }
  }
  if (!in.is_sound()) {
    return;
  }
  read_further_tokens(task);
  const bool tells_precision = in.has("precision_recipe") || in.has("mixed_precision") ||
                               in.has("bf16") || in.has("fp16") || in.has("trainer.precision");
  if (task.into.model && !tells_precision) {
    in.suppose("precision_recipe", Value("bf16_mixed"));
    assume(task, "mixed_precision", "taken as bf16, as recipes train");
  }
  megatron_plan(task);
  if (!called.empty()) {
    leave_to_recipe(task);
  }
  take_recipe(task, has_ddp);
  read_adapters(task);
  in.skip_known("megatron");
  in.skip_known("nemo");
  in.skip_known("megatron-bridge-recipes");
}

void import_bridge(const ImportTask& task) {
  Settings& in = task.in;
  task.into.stack = "megatron-bridge";
  rename_sections(in);
  rename_settings(in);
  const bool is_whole = in.has("num_layers") && in.has("hidden_size");
  if (!is_whole && lacks_recipe(task)) {
    return;
  }
  finish(task);
  if (task.in.is_sound() && !is_whole) {
    take_recipe(task);
  }
  in.skip_known("nemo");
}

}  // namespace titer
