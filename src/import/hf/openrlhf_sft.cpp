// OpenRLHF's trainer for supervised fine-tuning, over DeepSpeed.  [openrlhf/cli/train_sft.py]

#include <algorithm>
#include <array>
#include <string>

#include "hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"

namespace titer {
namespace {

/// What else its programs train has more passes than one.
bool trains_otherwise(const ImportTask& task) {
  std::vector<std::string> programs = task.arguments.scripts;
  programs.push_back(task.in.text("module").value_or(""));
  const auto other = std::ranges::find_if(programs, [](const std::string& name) {
    return name.find("train_") != std::string::npos && name.find("train_sft") == std::string::npos;
  });
  if (other == programs.end()) {
    return false;
  }
  task.in.fail("",
               *other +
                   ": steps of what is no supervised fine-tuning have more passes, which "
                   "are not modelled");
  return true;
}

void put_openrlhf_states(const ImportTask& task) {
  constexpr std::array<std::string_view, 4> stages = {"none", "zero1", "zero2", "zero3"};
  Settings& in = task.in;
  const auto stage = in.integer("zero_stage", 0, 3);
  if (!stage) {
    assume(task, "zero_stage", "taken as 2, its default");
  }
  task.into.plan.add("sharding", Value(stages[static_cast<std::size_t>(stage.value_or(2))]));
  if (in.is_on("adam_offload")) {
    Value offload = Value::make_object();
    offload.add("optimizer", Value("host"));
    put_host_work(task, offload);
    task.into.plan.add("offload", std::move(offload));
  }
  task.into.training.add("precision", Value(in.flag("bf16").value_or(true) ? "bf16" : "fp16"));
  const std::string summed = in.word("grad_accum_dtype").value_or("bf16");
  task.into.training.add("gradient_precision", Value(summed == "fp32" ? "fp32" : "bf16"));
}

}  // namespace

void import_openrlhf(const ImportTask& task) {
  Settings& in = task.in;
  if (trains_otherwise(task)) {
    return;
  }
  task.into.stack = "deepspeed";
  put_named_model(task, "pretrain");
  const auto ring = in.integer("ring_attn_size", 1, kMostDegree).value_or(1);
  const auto data = ranks_beside(task, "ring_attn_size", launched_devices(task), ring);
  if (!in.is_sound()) {
    return;
  }
  if (ring > 1) {
    task.into.plan.add("context", Value(ring));
  }
  put(task.into.plan, "data", data);
  put_openrlhf_states(task);
  task.into.plan.add("recompute", Value(in.is_on("gradient_checkpointing") ? "full" : "none"));
  static_cast<void>(in.flag("gradient_checkpointing_use_reentrant"));
  const bool flash = in.is_on("flash_attn");
  const std::string kernel = in.word("attn_implementation").value_or("");
  if (flash || kernel.find("flash") != std::string::npos) {
    task.into.plan.add("attention", Value("flash"));
  }
  const auto batch = in.integer("train_batch_size", 1);
  put_rank_batches(task,
                   "train_batch_size",
                   {.micro = in.integer("micro_train_batch_size", 1),
                    .accumulation = std::nullopt,
                    .global = batch},
                   data);
  put(task.into.training, "sequence", in.integer("max_len", 1, kMostTokens));
  if (!in.is_on("packing_samples")) {
    assume(task, "packing_samples", "every sequence is taken as long as the longest");
  }
  if (in.integer("lora_rank", 0).value_or(0) > 0) {
    put_adapters(task,
                 {.rank = "lora_rank",
                  .targets = "target_modules",
                  .usual_rank = 8,
                  .usual_targets = "all-linear"},
                 in.is_on("load_in_4bit") ? BaseBits{4, "load_in_4bit"} : BaseBits{});
  }
  in.skip_known("openrlhf");
}

}  // namespace titer
