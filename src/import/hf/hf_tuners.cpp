// What is built on HuggingFace's trainer with words of its own: LLaMA-Factory, axolotl, ms-swift.

#include <algorithm>
#include <array>

#include "hf_parts.hpp"

namespace titer {
namespace {

constexpr TrainerKeys kLlamaFactoryKeys = {.model = "model_name_or_path",
                                           .micro_batch = "per_device_train_batch_size",
                                           .usual_micro_batch = 8,
                                           .sequence = "cutoff_len",
                                           .usual_sequence = 2048,
                                           .packing = "packing",
                                           .recomputes = true};
constexpr TrainerKeys kAxolotlKeys = {.model = "base_model",
                                      .micro_batch = "micro_batch_size",
                                      .usual_micro_batch = 1,
                                      .sequence = "sequence_len",
                                      .usual_sequence = 512,
                                      .packing = "sample_packing",
                                      .recomputes = false};

constexpr TrainerKeys kSwiftKeys = {.model = "model model_id_or_path model_name_or_path",
                                    .micro_batch = "per_device_train_batch_size",
                                    .usual_micro_batch = 1,
                                    .sequence = "max_length",
                                    .usual_sequence = std::nullopt,
                                    .packing = "packing",
                                    .recomputes = true};

/// Its program before releases 0.8 was train_bash.py, and took half as many tokens.
/// [src/llmtuner/hparams/data_args.py; src/llamafactory/hparams/data_args.py]
bool is_old_llama_factory(const ImportTask& task) {
  const std::vector<std::string>& scripts = task.arguments.scripts;
  return std::ranges::any_of(
      scripts, [](const std::string& name) { return name.ends_with("train_bash.py"); });
}

/// LLaMA-Factory's switches go before the optimizer that is named.
void switch_optimizer(const ImportTask& task) {
  Settings& in = task.in;
  if (in.is_on("use_muon")) {
    if (Value* const optimizer = task.into.training.find("optimizer")) {
      *optimizer = Value("muon");
    } else {
      task.into.training.add("optimizer", Value("muon"));
    }
  }
  if (in.is_on("use_adam_mini")) {
    in.fail("use_adam_mini", "expected false: Adam-mini's states are not modelled");
  }
  if (in.any_on({"use_galore", "use_apollo", "use_badam"})) {
    in.fail("", "expected an ordinary optimizer: galore, apollo and badam are not modelled");
  }
}

}  // namespace

void import_llama_factory(const ImportTask& task) {
  Settings& in = task.in;
  take_stages(task, "stage", {"sft", "pt"});
  const std::string type = in.word("finetuning_type").value_or("lora");
  if (type != "full" && type != "lora") {
    in.fail("finetuning_type", "expected full or lora: which layers are frozen is not read");
  }
  TrainerKeys keys = kLlamaFactoryKeys;
  keys.usual_sequence = is_old_llama_factory(task) ? 1024 : keys.usual_sequence;
  put_trainer(task, keys);
  if (type == "lora") {
    const std::int64_t bits = in.integer("quantization_bit", 2, 8).value_or(0);
    put_adapters(
        task,
        {.rank = "lora_rank", .targets = "lora_target", .usual_rank = 8, .usual_targets = "all"},
        {.bits = bits == 4 || bits == 8 ? bits : 0, .key = "quantization_bit"});
    if (bits > 0 && bits != 4 && bits != 8) {
      in.leave_out("quantization_bit", "weights of 4 and of 8 bits alone are modelled");
    }
  }
  switch_optimizer(task);
  in.skip_known("llama-factory");
}

namespace {

/// bf16 where the device has it, unless a format is told.  [axolotl/utils/schemas/config]
void suppose_precision(Settings& in) {
  constexpr std::array<std::string_view, 6> formats = {
      "bf16", "fp16", "fp8", "bfloat16", "float16", "float32"};
  if (std::ranges::none_of(formats, [&](std::string_view format) { return in.has(format); })) {
    in.suppose("bf16", Value("auto"));
  }
}

}  // namespace

void import_axolotl(const ImportTask& task) {
  Settings& in = task.in;
  take_stages(task, "rl", {"none"});
  const auto batch = in.integer("batch_size", 1);
  if (batch && !in.has(kAccumulation)) {
    in.leave_out("batch_size",
                 "one micro-batch is taken for a step; "
                 "gradient_accumulation_steps tells how many");
  }
  suppose_precision(in);
  put_trainer(task, kAxolotlKeys);
  const std::string adapter = in.word("adapter").value_or("");
  if (adapter == "lora" || adapter == "qlora") {
    const bool all = in.is_on("lora_target_linear");
    const BaseBits told = bits_of(task);
    const bool is_implied = adapter == "qlora" && told.bits == 0;
    put_adapters(task,
                 {.rank = "lora_r",
                  .targets = "lora_target_modules",
                  .usual_rank = 8,
                  .usual_targets = all ? "all" : "query value",
                  .tells_targets = all},
                 is_implied ? BaseBits{4, "adapter"} : told);
  } else if (!adapter.empty()) {
    in.fail("adapter", "expected lora or qlora: others are not modelled");
  } else if (const std::string bf16 = in.word("bf16").value_or("");
             bf16 == "auto" || bf16 == "full" || bf16 == "true") {
    // Weights are loaded as what is trained in.  [axolotl/utils/config, normalize_config]
    in.suppose("torch_dtype", Value("bfloat16"));
    keep_loaded_type(task);
  }
}

namespace {

/// Its programs before they were a command: llm_sft.py, llm_pt.py.
bool is_swift_program(const ImportTask& task) {
  const std::vector<std::string>& scripts = task.arguments.scripts;
  return task.arguments.program == "swift sft" || task.arguments.program == "swift pt" ||
         std::ranges::any_of(scripts, [](const std::string& name) {
           return name.ends_with("llm_sft.py") || name.ends_with("llm_pt.py");
         });
}

/// What releases before 3 call otherwise.  [swift/llm/utils/argument.py of ms-swift 2:
/// SftArguments, with 2048 tokens and, by LoRATM of swift/llm/utils/model.py, adapters of query,
/// key and value]
void rename_old_swift(Settings& in) {
  if (!in.has("model") && !in.has("model_id_or_path") && !in.has("model_name_or_path")) {
    in.rename("model_type", "model");
  }
  in.rename_known("swift");
}

/// Where it is not told, as many micro-batches as a step of 16 sequences has.
/// [swift/trainers/arguments.py, TrainArgumentsMixin: ceil(16 / micro-batch / ranks)]
void suppose_accumulation(const ImportTask& task) {
  constexpr std::int64_t least = 16;
  const auto devices = launched_devices(task);
  const auto micro = task.in.integer(kSwiftKeys.micro_batch, 1);
  const bool is_open = task.in.has(kSwiftKeys.micro_batch) && !micro;
  if (task.in.has(kAccumulation) || !devices || is_open) {
    return;
  }
  const std::int64_t at_once = *devices * micro.value_or(kSwiftKeys.usual_micro_batch);
  const std::int64_t steps = (least + at_once - 1) / at_once;
  assume(task,
         kAccumulation,
         "taken as " + std::to_string(steps) + ", with which a step has 16 sequences or more");
  task.in.suppose(kAccumulation, Value(steps));
}

void put_swift_precision(Settings& in) {
  const std::string kept = in.word(in.first_given("torch_dtype dtype")).value_or("bfloat16");
  if (!in.has("bf16") && !in.has("fp16")) {
    const bool is_half = kept == "float16" || kept == "fp16";
    in.suppose(is_half ? "fp16" : "bf16", Value(kept != "float32" && kept != "fp32"));
  }
}

}  // namespace

/// ms-swift trains adapters unless it is told otherwise.  [swift/llm/argument/base_args]
void import_swift(const ImportTask& task) {
  Settings& in = task.in;
  if (!is_swift_program(task)) {
    in.fail("",
            "expected swift sft or swift pt: steps of others have more passes, which are not "
            "modelled");
    return;
  }
  const bool is_old = in.has("sft_type") || in.has("model_id_or_path");
  rename_old_swift(in);
  const std::string type_key = in.first_given("train_type tuner_type sft_type");
  const std::string type = in.word(type_key).value_or("lora");
  if (type != "lora" && type != "full") {
    in.fail(type_key, "expected lora or full: others are not modelled");
    return;
  }
  put_swift_precision(in);
  suppose_accumulation(task);
  TrainerKeys keys = kSwiftKeys;
  keys.usual_sequence = is_old ? std::optional<std::int64_t>(2048) : std::nullopt;
  put_trainer(task, keys);
  if (type == "lora") {
    const std::int64_t bits = in.integer("quant_bits", 2, 8).value_or(0);
    put_adapters(task,
                 {.rank = "lora_rank",
                  .targets = "target_modules",
                  .usual_rank = 8,
                  .usual_targets = is_old ? "query key value" : "all"},
                 {.bits = bits, .key = "quant_bits"});
  } else {
    // Weights are loaded as what is trained in.  [swift/llm/model/register.py, torch_dtype]
    in.rename("dtype", "torch_dtype");
    if (!in.has("torch_dtype")) {
      in.suppose("torch_dtype", Value("bfloat16"));
    }
    keep_loaded_type(task);
  }
  in.skip_known("swift");
}

}  // namespace titer
