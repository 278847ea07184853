// ms-swift's commands over Megatron-Core: its settings, of a model of the Hub.
// [swift/megatron/argument/megatron_args.py]

#include <string>

#include "import/hf/hf_parts.hpp"
#include "import/import_parts.hpp"
#include "titer/input/document.hpp"

namespace titer {
namespace {

/// "Qwen3-30B-A3B" of the folder of a checkpoint, "models/Qwen3-30B-A3B-mcore".
std::string model_of_checkpoint(std::string name) {
  name.resize(name.find_last_not_of('/') + 1);
  name.erase(0, name.rfind('/') + 1);
  for (const std::string_view ending : {"-mcore", "-Megatron", "-megatron"}) {
    if (name.ends_with(ending)) {
      name.resize(name.size() - ending.size());
    }
  }
  return name;
}

/// What is taken of settings that the command leaves out, which is said.
void suppose_own(const ImportTask& task) {
  Settings& in = task.in;
  const auto usual = [&](std::string_view key, Value value, const std::string& what) {
    if (!in.has(key)) {
      in.suppose(key, std::move(value));
      task.into.assumed.push_back(task.file + ": --" + std::string(key) + ": taken as " + what +
                                  ", its default");
    }
  };
  usual("micro_batch_size", Value(std::int64_t{1}), "1");
  usual("global_batch_size", Value(std::int64_t{16}), "16");
  usual("recompute_granularity", Value("selective"), "selective");
  usual("use_distributed_optimizer", Value(true), "true");
  if (in.has("expert_model_parallel_size")) {
    usual("expert_tensor_parallel_size", Value(std::int64_t{1}), "1");
  }
  const std::string kept =
      in.word(in.has("torch_dtype") ? "torch_dtype" : "dtype").value_or("bfloat16");
  if (!in.has("bf16") && !in.has("fp16")) {
    in.suppose(kept == "float16" ? "fp16" : "bf16", Value(kept != "float32"));
  }
}

void put_swift_model(const ImportTask& task) {
  Settings& in = task.in;
  std::string key = "model";
  for (const char* const other : {"load", "mcore_model", "hf_model", "model_id_or_path", "model"}) {
    key = in.has(other) ? other : key;
  }
  put_hub_model(task, key, model_of_checkpoint(in.text(key).value_or("")));
  for (const std::string_view other : {"load", "mcore_model"}) {
    static_cast<void>(in.text(other));
  }
}

/// What it has beside Megatron's settings, or what the model's own reader would have read.
void put_own(const ImportTask& task) {
  Settings& in = task.in;
  if (const auto kernel = in.word("attention_backend"); kernel && *kernel != "auto") {
    const bool is_whole = kernel->find("unfused") != std::string::npos;
    task.into.plan.add("attention", Value(is_whole ? "materialised" : "flash"));
  }
  const std::string type =
      in.word(in.has("tuner_type") ? "tuner_type" : "train_type").value_or("full");
  if (type == "lora") {
    put_adapters(
        task,
        {.rank = "lora_rank", .targets = "target_modules", .usual_rank = 8, .usual_targets = "all"},
        {});
  } else if (type != "full") {
    in.fail("train_type", "expected lora or full: others are not modelled");
  }
  if (!in.is_on("packing")) {
    assume(task, "packing", "every sequence is taken as long as the longest");
  }
}

/// '{"lr_warmup_init": 1e-6}': settings of Megatron's that it has no word of its own for.
void read_extra(const ImportTask& task) {
  constexpr std::string_view key = "megatron_extra_kwargs";
  const std::string text = task.in.text(key).value_or("");
  if (text.empty()) {
    return;
  }
  const Document extra = parse_json(text, task.file + ": --" + std::string(key));
  for (const auto& [name, value] : extra.root.members) {
    if (!is_harmless(name, "megatron")) {
      task.in.leave_out(key, "what it tells Megatron-Core is not read");
    }
  }
}

}  // namespace

void import_swift_megatron(const ImportTask& task) {
  Settings& in = task.in;
  if (task.arguments.program != "megatron sft" && task.arguments.program != "megatron pt") {
    in.fail("", "tells nothing of a model, as commands of ms-swift (megatron sft) alone may");
    return;
  }
  task.into.stack = "megatron-core";
  put_swift_model(task);
  in.rename("max_length", "seq_length");
  suppose_own(task);
  if (!in.is_sound()) {
    return;
  }
  if (!task.into.model && task.into.shipped.empty()) {
    task.into.model = task.options.base;
  }
  megatron_plan(task);
  put_own(task);
  read_extra(task);
  in.skip_known("megatron");
  in.skip_known("swift-megatron");
}

}  // namespace titer
