// YAML of AMD's Primus: what it changes of a model of its own and of a module's defaults, for
// Megatron-LM, torchtitan or MaxText below it.

#include <algorithm>
#include <array>

#include "import/hf/hf_parts.hpp"
#include "import/import_parts.hpp"
#include "recipe_parts.hpp"

namespace titer {
namespace {

/// A setting of Primus' own files (primus/configs/modules/*/pre_trainer.yaml and
/// models/megatron/language_model.yaml), which holds where a file has it not.
struct ModuleDefault {
  std::string_view key;
  std::int64_t number;
  bool is_switch = false;
};
constexpr std::array<ModuleDefault, 7> kMegatronModule = {{{"global_batch_size", 16},
                                                           {"micro_batch_size", 2},
                                                           {"seq_length", 1024},
                                                           {"bf16", 1, true},
                                                           {"use_flash_attn", 1, true},
                                                           {"sequence_parallel", 1, true},
                                                           {"use_distributed_optimizer", 1, true}}};
constexpr std::array<ModuleDefault, 3> kTorchtitanModule = {
    {{"training.local_batch_size", 8}, {"training.seq_len", 2048}, {"compile.enable", 1, true}}};

/// "modules.pre_trainer.", the section of the module that trains.
std::string section_of_module(const Settings& in) {
  constexpr std::string_view last = ".framework";
  for (const std::string& key : in.keys()) {
    if (key.starts_with("modules.") && key.ends_with(last)) {
      return key.substr(0, key.size() - last.size() + 1);
    }
  }
  return "";
}

template <std::size_t N>
void take_defaults(const ImportTask& task, const std::array<ModuleDefault, N>& defaults) {
  for (const ModuleDefault& known : defaults) {
    if (!task.in.has(known.key)) {
      task.in.suppose(known.key, known.is_switch ? Value(true) : Value(known.number));
      assume(task, known.key, "as Primus' own files have it");
    }
  }
}

/// The widths that a file changes are of a model that has to be given.
bool changes_widths(const ImportTask& task, std::string_view model) {
  constexpr std::array<std::string_view, 9> widths = {"num_layers",
                                                      "hidden_size",
                                                      "ffn_hidden_size",
                                                      "num_attention_heads",
                                                      "num_query_groups",
                                                      "num_experts",
                                                      "moe_layer_freq",
                                                      "multi_latent_attention",
                                                      "mtp_num_layers"};
  // Of Primus' models those of DeepSeek and Kimi alone have latent attention; switched off, it
  // changes no other.
  const bool is_latent = model.starts_with("deepseek") || model.starts_with("kimi");
  const auto* const found = std::ranges::find_if(widths, [&](std::string_view key) {
    const bool is_off = key == "multi_latent_attention" && !is_latent && !task.in.is_on(key);
    return task.in.has(key) && !is_off;
  });
  if (found != widths.end() && !task.options.base) {
    task.in.fail(*found, "changes the model that the file names; --model NAME tells which it is");
  }
  return found != widths.end();
}

void import_over_megatron(const ImportTask& task, const std::string& model) {
  stand_in(task, "megatron-core", "Primus");
  take_defaults(task, kMegatronModule);
  const bool is_changed = changes_widths(task, model);
  if (!is_changed) {
    put_hub_model(task, "primus_model", model);
  }
  if (!task.in.is_sound()) {
    return;
  }
  refuse_unmodelled(task);
  if (task.options.base) {
    task.into.model = megatron_model(task);
  }
  if (task.in.is_sound()) {
    megatron_plan(task);
  }
  task.in.skip_known("primus");
  task.in.skip_known("megatron");
}

void import_over_torchtitan(const ImportTask& task, const std::string& model) {
  take_defaults(task, kTorchtitanModule);
  if (!task.in.has("activation_checkpoint.mode")) {
    task.in.suppose("activation_checkpoint.mode", Value("none"));
  }
  if (!task.in.has("parallelism.pipeline_parallel_schedule")) {
    task.in.suppose("parallelism.pipeline_parallel_schedule", Value("1F1B"));
  }
  constexpr std::string_view narrow = "-fp8";
  const bool is_narrow = model.ends_with(narrow);
  if (is_narrow) {
    task.in.suppose("model.converters", Value("float8"));
  }
  put_hub_model(
      task, "primus_model", is_narrow ? model.substr(0, model.size() - narrow.size()) : model);
  if (!task.in.is_sound()) {
    return;
  }
  torchtitan_plan(task);
  task.in.skip_known("primus");
  task.in.skip("kernels for the same operations, as the stack's figures hold", "primus_turbo.*");
  task.in.skip_known("torchtitan");
}

void import_over_bridge(const ImportTask& task, const std::string& model) {
  Settings& in = task.in;
  task.into.stack = "megatron-bridge";
  if (in.is_on("use_lora")) {
    in.fail("use_lora", "expected false: adapters are not read here");
    return;
  }
  in.skip(kSwitchedOff, "lora_* use_turbo_*");
  if (!in.has("use_distributed_optimizer")) {
    in.suppose("use_distributed_optimizer", Value(true));
    assume(
        task, "use_distributed_optimizer", "taken as true, as recipes of Megatron-Bridge have it");
  }
  put_hub_model(task, "primus_model", model);
  if (!in.is_sound()) {
    return;
  }
  megatron_plan(task);
  in.skip_known("primus");
  in.skip_known("megatron");
}

/// primus/configs/modules/maxtext/pre_trainer.yaml differs from MaxText's own base.yml in this.
void import_over_maxtext(const ImportTask& task, const std::string& model) {
  if (!task.in.has("weight_dtype")) {
    task.in.suppose("weight_dtype", Value("bfloat16"));
    assume(task, "weight_dtype", "as Primus' own files have it");
  }
  task.in.suppose("model_name", Value(model));
  import_maxtext(task);
  task.in.skip_known("primus");
}

}  // namespace

void import_primus(const ImportTask& task) {
  Settings& in = task.in;
  const std::string section = section_of_module(in);
  const std::string framework = in.word(section + "framework").value_or("");
  in.rename(section + "model", "primus_model");
  in.rename(section + "overrides.", "");
  std::string model = in.text("primus_model").value_or("");
  model = model.substr(0, model.find(".yaml"));
  if (framework == "megatron") {
    import_over_megatron(task, model);
  } else if (framework == "torchtitan") {
    import_over_torchtitan(task, model);
  } else if (framework == "maxtext") {
    import_over_maxtext(task, model);
  } else if (framework == "megatron_bridge") {
    import_over_bridge(task, model);
  } else {
    in.fail(section + "framework",
            "expected megatron, megatron_bridge, torchtitan or maxtext: others are not read");
  }
}

}  // namespace titer
