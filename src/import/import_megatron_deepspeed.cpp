// Arguments of deepspeedai/Megatron-DeepSpeed: Megatron-LM's, with settings and defaults of its own
// (megatron/arguments.py@207b2d5aad).

#include <array>

#include "import_harmless.hpp"
#include "import_parts.hpp"

namespace titer {

void import_megatron_deepspeed(const ImportTask& task) {
  Settings& in = task.in;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> names = {
      {{"moe_expert_parallel_size", "expert_model_parallel_size"},
       {"topk", "moe_router_topk"},
       {"num_key_value_heads", "num_query_groups"},
       {"ds_sequence_parallel_size", "context_parallel_size"},
       {"moe_train_capacity_factor", "moe_expert_capacity_factor"}}};
  for (const auto& [theirs, ours] : names) {
    in.rename(theirs, ours);
  }
  if (in.word("mlp_type").value_or("standard") != "standard") {
    in.fail("mlp_type", "expected standard: experts beside a dense MLP are not modelled");
    return;
  }
  ImportTask with_defaults = task;
  const bool drops = !in.is_on("disable_moe_token_dropping");
  with_defaults.defaults = {
      .experts_per_token = 1,
      .least_experts = 2,
      .expert_interval = in.integer("expert_interval", 1, kMostLayers).value_or(2),
      .capacity_factor = drops ? std::optional(1.0) : std::nullopt,
      .is_deepspeed = true};
  import_megatron(with_defaults);
  task.into.stack = "deepspeed";
  const bool has_experts = task.into.model && task.into.model->experts;
  if (has_experts && !in.has("expert_interval")) {
    assume(task, "expert_interval", "taken as 2: every second layer has experts");
  }
  if (has_experts && !in.has("moe_router_topk")) {
    assume(task, "topk", "taken as 1");
  }
  in.skip(harmless_in_megatron_deepspeed());
}

}  // namespace titer
