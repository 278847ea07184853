// Programs over HuggingFace's trainer: TRL's, optimum-habana's, FastChat's, LLaVA's and people's
// own.

#include <algorithm>
#include <array>

#include "hf_command_kinds.hpp"
#include "hf_parts.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

constexpr TrainerKeys kHfKeys = {
    .model = "model_name_or_path model_name base_model_name_or_path",
    .micro_batch = "per_device_train_batch_size",
    .usual_micro_batch = 8,
    .sequence =
        "max_seq_length max_length model_max_length max_seq_len block_size max_source_length",
    .usual_sequence = std::nullopt,
    .packing = "packing",
    .recomputes = false};

/// What SFTConfig has where the trainer has nothing, by releases: before 0.19 the trainer's own.
/// [trl/trainer/sft_config.py; huggingface/trl pull requests 3510 and 3515; the classes of 0.18.2
/// have neither, and the branch that 0.19 is of has both by 16 June 2025, says 3598]
struct TrlDefault {
  std::string_view key;
  std::string_view written;
  std::string_view since;  // "" for all releases
};
constexpr std::array<TrlDefault, 3> kTrlDefaults = {{{"max_length", "1024", ""},
                                                     {"bf16", "true", "0.19"},
                                                     {"gradient_checkpointing", "true", "0.19"}}};

/// Settings that releases since then have no longer: max_seq_length is max_length, and transformers
/// call evaluation_strategy eval_strategy.
constexpr std::string_view kOfOldTrl =
    "max_seq_length evaluation_strategy dataset_batch_size num_of_sequences "
    "chars_per_token use_liger";

void suppose_as_trl(const ImportTask& task) {
  Settings& in = task.in;
  const std::string old = in.first_given(kOfOldTrl);
  const bool is_old = in.has(old);
  for (const TrlDefault& usual : kTrlDefaults) {
    const bool is_length = usual.key == "max_length";
    const bool is_told = in.has(usual.key) || (usual.key == "bf16" && in.has("fp16")) ||
                         (is_length && (in.has("max_seq_length") || in.has("model_max_length")));
    if (is_told) {
      continue;
    }
    if (is_old && !usual.since.empty()) {
      assume(task,
             usual.key,
             "left off, as TRL has it before " + std::string(usual.since) + ", of which " + old +
                 " is");
      continue;
    }
    const std::string since = usual.since.empty() ? "" : " since " + std::string(usual.since);
    assume(task,
           usual.key,
           "taken as " + std::string(usual.written) + ", as TRL's SFTConfig has it" + since);
    in.suppose(usual.key, is_length ? Value(1024) : Value(true));
  }
}

/// What DeepSpeed-Chat's program has where it is not told.
void suppose_as_chat(const ImportTask& task) {
  Settings& in = task.in;
  const bool is_brain = in.word("dtype").value_or("fp16") == "bf16";
  in.suppose(is_brain ? "bf16" : "fp16", Value(true));
  if (!in.has("max_seq_len")) {
    assume(task, "max_seq_len", "taken as 512, its default");
    in.suppose("max_seq_len", Value(512));
  }
  if (in.integer("lora_dim", 0).value_or(0) == 0) {
    in.suppose("use_peft", Value(false));
  }
  in.skip("data, adapters' layers, and what is printed",
          "data_split data_output_path sft_only_data_path num_warmup_steps "
          "lora_module_name lora_learning_rate only_optimize_lora print_loss "
          "compute_fp32_loss dropout add_eot_token local_rank");
}

/// Of qlora.py, whose sequences are a source and a target.
void join_lengths(const ImportTask& task) {
  Settings& in = task.in;
  const auto source = in.integer("source_max_len", 1, kMostTokens);
  const auto target = in.integer("target_max_len", 1, kMostTokens);
  if (source && target && !in.has("max_length")) {
    in.suppose("max_length", Value(*source + *target));
    in.skip("how weights are quantised, and answers for evaluation",
            "double_quant quant_type max_new_tokens mmlu_* max_mmlu_samples");
  }
}

constexpr std::array<std::string_view, 5> kSwitches = {
    "use_peft", "use_lora", "use_peft_lora", "lora_enable", "lora"};

/// Whether adapters are trained: as a switch says; without one a program that is told their rank,
/// or is named for them, has no use for another training. TRL's own has: it asks for its switch.
bool trains_adapters(const ImportTask& task, const std::string& told_by) {
  Settings& in = task.in;
  if (in.is_on("full_finetune")) {
    return false;
  }
  if (std::ranges::any_of(kSwitches, [&](std::string_view key) { return in.has(key); })) {
    return in.any_on({kSwitches[0], kSwitches[1], kSwitches[2], kSwitches[3], kSwitches[4]});
  }
  const bool is_named = is_program(task, "lora qlora peft");
  const bool is_told = in.has(told_by);
  if (is_trl(task) && is_told) {
    assume(task, told_by, "counts for nothing without use_peft");
    return false;
  }
  if (is_told && !is_named) {
    assume(task, told_by, "adapters are taken to be trained, as nothing switches them off");
  }
  return is_told || is_named;
}

/// Where nothing tells them: what PEFT takes for most models, or all that LLaVA's program finds.
/// [llava/train/train.py, find_all_linear_names; fastchat/train/train_lora.py]
void put_hf_adapters(const ImportTask& task) {
  Settings& in = task.in;
  const std::string rank = in.first_given("lora_r lora_rank lora_dim");
  const std::string targets = in.first_given(
      "lora_target_modules target_modules lora_modules "
      "lora_trainable trainable lora_target lora_targets");
  if (!trains_adapters(task, in.has(rank) ? rank : targets)) {
    return;
  }
  const bool is_llava = in.has("lora_enable");
  const bool is_trls = in.has("use_peft");
  put_adapters(task,
               {.rank = rank,
                .targets = targets,
                .usual_rank = is_llava ? 64 : (is_trls ? 16 : 8),
                .usual_targets = is_llava ? "all-linear" : "query value"},
               bits_of(task));
}

/// LLaVA's program and those after it: what looks is in no file, and small beside the model.
void read_llava(const ImportTask& task) {
  const std::vector<std::string>& scripts = task.arguments.scripts;
  Settings& in = task.in;
  if (!in.has("vision_tower")) {
    if (std::ranges::any_of(scripts, [](const std::string& name) {
          return lower(name).find("llava") != std::string::npos;
        })) {
      in.fail("", "starts a program of LLaVA, and tells no --vision_tower");
    }
    return;
  }
  for (const std::string_view key : {"tune_mm_mlp_adapter", "freeze_backbone"}) {
    if (in.is_on(key)) {
      in.fail(key, "expected false: training what joins images to a frozen model is not modelled");
    }
  }
  assume(task, "vision_tower", "is not read: the language model alone is taken");
  in.skip("what looks, and how it is joined to the language model",
          "vision_tower* mm_* version pretrain_mm_mlp_adapter freeze_mm_mlp_adapter "
          "tune_mm_mlp_adapter freeze_backbone");
}

/// What only a program in Python tells.
void read_program(const ImportTask& task) {
  Settings& in = task.in;
  const bool has_length = in.has("max_seq_length") || in.has("max_length") ||
                          in.has("model_max_length") || in.has("block_size");
  if (class_of(task, "trainer_class") == "sfttrainer" && !has_length) {
    in.suppose("max_length", Value(1024));
    assume(task, "max_length", "taken as 1024, as TRL's SFTTrainer has it");
  }
  if (in.has("model_class")) {
    in.leave_out("model_class", "a language model's own head is taken in the place of this one's");
  }
  in.skip_known("peft-programs");
}

}  // namespace

void import_hf_trainer(const ImportTask& task) {
  take_stages(task, "task_type", {"causal_lm"});
  if (is_of_preferences(task)) {
    return;
  }
  if (is_trl(task)) {
    suppose_as_trl(task);
  }
  if (is_deepspeed_chat(task.in)) {
    suppose_as_chat(task);
  }
  join_lengths(task);
  read_program(task);
  miss_configuration(task);
  put_trainer(task, kHfKeys);
  suppose_block(task);
  put_hf_adapters(task);
  keep_loaded_type(task);
  read_llava(task);
  read_gaudi(task);
}

}  // namespace titer
