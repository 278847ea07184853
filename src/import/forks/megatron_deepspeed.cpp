// Arguments of deepspeedai/Megatron-DeepSpeed: Megatron-LM's, with settings and defaults of its own
// (megatron/arguments.py@207b2d5aad).

#include <algorithm>
#include <array>

#include "import/import_parts.hpp"

namespace titer {
namespace {

/// The stage in the configuration that the script itself writes, by cat or by sed.
std::optional<std::int64_t> written_stage(const ImportTask& task) {
  const auto put_in = task.arguments.replaced.find("ZERO_STAGE");
  if (put_in != task.arguments.replaced.end()) {
    const std::string& stage = put_in->second;
    return stage.size() == 1 && stage >= "0" && stage <= "3" ? std::optional(stage[0] - '0')
                                                             : std::nullopt;
  }
  const auto file = task.arguments.documents.find(task.in.written("deepspeed_config"));
  if (file == task.arguments.documents.end()) {
    return std::nullopt;
  }
  const std::size_t section = file->second.find("\"zero_optimization\"");
  const std::size_t stage = file->second.find("\"stage\":", std::min(section, file->second.size()));
  const std::size_t digit = file->second.find_first_not_of(" \t\"", stage + 8);
  const bool is_told = section != std::string::npos && stage != std::string::npos &&
                       digit != std::string::npos && file->second[digit] >= '0' &&
                       file->second[digit] <= '3';
  return is_told ? std::optional<std::int64_t>(file->second[digit] - '0') : std::nullopt;
}

/// Where the flags tell no stage.
void put_written_stage(const ImportTask& task) {
  constexpr std::array<std::string_view, 4> stages = {"none", "zero1", "zero2", "zero3"};
  Value* const sharding = task.into.plan.find("sharding");
  if (sharding == nullptr) {
    return;
  }
  const auto stage = task.in.has("zero_stage") ? std::nullopt : written_stage(task);
  if (stage) {
    *sharding = stages[static_cast<std::size_t>(*stage)];
    assume(task, "deepspeed_config", "its stage is that which the script writes");
  }
  const Value* const pipeline = task.into.plan.find("pipeline");
  const bool is_pipelined = pipeline != nullptr && pipeline->integer > 1;
  if (sharding->text == "none" && is_pipelined && task.in.is_on("bf16")) {
    *sharding = "zero1";
    assume(task, "bf16", "DeepSpeed's optimizer for it shards its state, as stage 1 does");
  }
}

/// "64 64 128": of each layer that has experts in turn; a single number stands for all of them.
void read_experts_of_layers(const ImportTask& task) {
  constexpr std::string_view key = "num_experts";
  const std::vector<std::string> counts = listed_words(task, key);
  if (counts.size() < 2) {
    return;
  }
  const bool are_alike =
      std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
  if (!are_alike) {
    task.in.fail(key, "layers with different numbers of experts (PR-MoE) are not modelled");
  }
  task.in.replace(key, Value(counts.front()));
}

/// What all tokens go through beside their experts, a dense MLP, is what shared experts do.
void read_residual(const ImportTask& task) {
  constexpr std::string_view key = "mlp_type";
  const std::string type = task.in.word(key).value_or("standard");
  const bool is_residual = type == "residual";
  if (!is_residual && type != "standard") {
    task.in.fail(key, "expected standard or residual");
  }
  if (is_residual && task.into.model && task.into.model->experts) {
    task.into.model->experts->shared_ffn = task.into.model->ffn;
    task.into.model->experts->shared_gate = true;
    assume(task, key, "the dense MLP beside experts is taken as an expert of all tokens");
  }
}

/// The optimizer's state, and what is kept of layers that are recomputed.
void read_host(const ImportTask& task) {
  Value offload = Value::make_object();
  if (task.in.is_on("cpu_optimizer")) {
    offload.add("optimizer", Value("host"));
  }
  if (task.in.is_on("checkpoint_in_cpu")) {
    offload.add("activations", Value("host"));
  }
  if (!offload.members.empty() && task.into.plan.find("offload") == nullptr) {
    task.into.plan.add("offload", std::move(offload));
  }
}

}  // namespace

void import_megatron_deepspeed(const ImportTask& task) {
  Settings& in = task.in;
  in.rename_known("megatron-deepspeed");
  read_experts_of_layers(task);
  ImportTask with_defaults = task;
  const bool drops = !in.is_on("disable_moe_token_dropping");
  with_defaults.defaults = {
      .experts_per_token = 1,
      .least_experts = 2,
      .expert_interval = in.integer("expert_interval", 1, kMostLayers).value_or(2),
      .capacity_factor = drops ? std::optional(1.0) : std::nullopt,
      .is_deepspeed = true,
      .is_local = true};
  import_megatron(with_defaults);
  task.into.stack = "deepspeed";
  read_residual(task);
  put_written_stage(task);
  read_host(task);
  const bool has_experts = task.into.model && task.into.model->experts;
  if (has_experts && !in.has("expert_interval")) {
    assume(task, "expert_interval", "taken as 2: every second layer has experts");
  }
  if (has_experts && !in.has("moe_router_topk")) {
    assume(task, "topk", "taken as 1");
  }
  in.skip_known("megatron-deepspeed");
}

}  // namespace titer
