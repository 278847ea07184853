// torchtune's YAML (recipes/configs): components by the names of their classes. Everything is in
// 16 bits under FSDP2, its optimizer's state too.

#include <algorithm>

#include "import/hf/hf_parts.hpp"
#include "recipe_parts.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

/// "llama3_1_8b" of "torchtune.models.llama3_1.qlora_llama3_1_8b".
std::string torchtune_model(std::string_view component) {
  std::string name(component.substr(component.rfind('.') + 1));
  for (const std::string_view kind : {"qlora_", "lora_", "dora_"}) {
    const std::size_t found = name.find(kind);
    if (found == 0) {
      name.erase(0, kind.size());
    }
  }
  // Early releases had "gemma2.gemma_9b", which is no model of the first Gemma.
  if (component.find(".gemma2.") != std::string_view::npos && name.starts_with("gemma_")) {
    name.replace(0, std::string_view("gemma").size(), "gemma2");
  }
  return name;
}

void read_torchtune_adapters(const ImportTask& task, std::string_view component) {
  Settings& in = task.in;
  const bool adapts = component.find("lora_") != std::string_view::npos;
  if (!adapts) {
    return;
  }
  const bool quantised =
      component.find("qlora_") != std::string_view::npos || in.is_on("model.quantize_base");
  put_adapters(task,
               {.rank = "model.lora_rank",
                .targets = "model.lora_attn_modules",
                .usual_rank = 8,
                .usual_targets = "query value"},
               {.bits = quantised ? 4 : 0, .key = "model.quantize_base"});
  Value* const adapters = task.into.training.find("adapters");
  Value* const targets = adapters == nullptr ? nullptr : adapters->find("targets");
  if (in.is_on("model.apply_lora_to_mlp") && targets != nullptr &&
      targets->kind == Value::Kind::array) {
    for (const char* const product : {"gate", "up", "down"}) {
      targets->push(Value(product));
    }
  }
}

/// Losses of DPO, SimPO and PPO, or sets of answers that are preferred to others.
bool prefers_answers(Settings& in) {
  const auto names = [&](std::string_view key, std::initializer_list<std::string_view> parts) {
    const std::string name = lower(in.text(key).value_or(""));
    return std::ranges::any_of(
        parts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
  };
  for (const std::string_view key : {"loss._component_", "dataset._component_"}) {
    if (names(key, {".rlhf.", "paired", "preference"})) {
      in.fail(key, kMorePasses);
      return true;
    }
  }
  return false;
}

/// Everything is split among the ranks that are no copies of one another.
void put_torchtune_sharding(const ImportTask& task, std::optional<std::int64_t> data) {
  Settings& in = task.in;
  Value& plan = task.into.plan;
  static_cast<void>(in.integer("data_parallel_shard_dim", -1));
  plan.add("sharding", Value("zero3"));
  if (const auto reshards = in.flag("fsdp_reshard_after_forward")) {
    plan.add("reshard_after_forward", Value(*reshards));
  }
  constexpr std::string_view key = "data_parallel_replicate_dim";
  const auto copies = in.integer(key, 1, kMostDegree).value_or(1);
  if (copies == 1) {
    return;
  }
  if (data && *data % copies != 0) {
    in.fail(key, "expected a divisor of the " + std::to_string(*data) + " data-parallel ranks");
  } else if (data) {
    plan.add("shard", Value(*data / copies));
  } else {
    in.leave_out(key, "--devices N tells how many ranks split");
  }
}

void leave_out_of_torchtune(Settings& in) {
  if (in.integer("context_parallel_dim", 1, kMostDegree).value_or(1) > 1) {
    in.leave_out("context_parallel_dim", "sequences are not cut here");
  }
  if (in.is_on("enable_activation_offloading")) {
    in.leave_out("enable_activation_offloading", "activations stay on the device here");
  }
  if (in.is_on("optimizer_in_bwd")) {
    in.leave_out("optimizer_in_bwd", "all gradients are kept up to the optimizer's step here");
  }
}

}  // namespace

void import_torchtune(const ImportTask& task) {
  Settings& in = task.in;
  stand_in(task, "fsdp", "torchtune");
  if (prefers_answers(in)) {
    return;
  }
  const std::string component = in.text("model._component_").value_or("");
  put_hub_model(task, "model._component_", torchtune_model(component));
  const std::string type = in.word("dtype").value_or("bf16");
  task.into.training.add("precision", Value(type == "fp32" ? "fp32" : "bf16"));
  if (type == "bf16") {
    put_all_bf16(task);
  }
  read_torchtune_adapters(task, component);
  remark_on_compiling(task, {"compile", "compile.model"});
  if (in.is_on("model.use_dora")) {
    assume(task, "model.use_dora", "taken as LoRA: norms of DoRA's weights are left out");
  }
  const auto tensor = in.integer("tensor_parallel_dim", 1, kMostDegree).value_or(1);
  const auto data = ranks_beside(task, "tensor_parallel_dim", launched_devices(task), tensor);
  if (tensor > 1) {
    task.into.plan.add("tensor", Value(tensor));
  }
  put(task.into.plan, "data", data);
  put_torchtune_sharding(task, data);
  if (in.is_on("fsdp_cpu_offload")) {
    task.into.plan.add("offload", state_on_host());
  }
  task.into.plan.add("recompute",
                     Value(in.is_on("enable_activation_checkpointing") ? "full" : "none"));
  put_rank_batches(task,
                   "batch_size",
                   {.micro = in.integer("batch_size", 1),
                    .accumulation = in.integer("gradient_accumulation_steps", 1),
                    .global = std::nullopt},
                   data);
  put(task.into.training, "sequence", in.integer("tokenizer.max_seq_len", 1, kMostTokens));
  if (!in.is_on("dataset.packed")) {
    assume(task, "dataset.packed", "every sequence is taken as long as the longest");
  }
  put_optimizer(task, "optimizer._component_");
  leave_out_of_torchtune(in);
  in.skip_known("torchtune");
}

}  // namespace titer
