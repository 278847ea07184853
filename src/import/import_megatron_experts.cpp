// Experts in Megatron's names.

#include "import_parts.hpp"

namespace titer {
namespace {

void read_routing(const ImportTask& task, Experts& experts) {
  Settings& in = task.in;
  Routing& routing = experts.routing;
  if (!routing.capacity_factor) {
    routing.capacity_factor = task.defaults.capacity_factor;
  }
  routing.groups = in.integer("moe_router_num_groups", 1, kMostWidth).value_or(routing.groups);
  routing.groups_chosen =
      in.integer("moe_router_group_topk", 1, kMostWidth).value_or(routing.groups_chosen);
  if (experts.count % routing.groups != 0) {
    in.fail("moe_router_num_groups",
            "expected a divisor of the " + std::to_string(experts.count) + " experts");
  }
  if (routing.groups_chosen > routing.groups) {
    in.fail("moe_router_group_topk",
            "expected at most the " + std::to_string(routing.groups) + " groups that there are");
  }
  const auto factor = in.number("moe_expert_capacity_factor");
  if (factor && *factor <= 0) {
    in.fail("moe_expert_capacity_factor", "expected a positive number");
  }
  routing.capacity_factor = factor ? factor : routing.capacity_factor;
}

}  // namespace

void read_megatron_experts(const ImportTask& task, Transformer& model) {
  Settings& in = task.in;
  const std::string_view key = in.has("num_experts") ? "num_experts" : "num_moe_experts";
  const auto count = in.integer(key, 1, kMostWidth);
  const bool is_dense =
      count ? *count < task.defaults.least_experts : !(task.options.base && model.experts);
  if (is_dense) {
    return;
  }
  Experts experts;
  experts.per_token = task.defaults.experts_per_token;
  experts = model.experts.value_or(experts);
  experts.count = count.value_or(experts.count);
  if (in.has("ffn_hidden_size") || !task.options.base) {
    experts.ffn = model.ffn;
  }
  experts.ffn = in.integer("moe_ffn_hidden_size", 1, kMostWidth).value_or(experts.ffn);
  experts.per_token = in.integer("moe_router_topk", 1, kMostWidth).value_or(experts.per_token);
  if (experts.per_token > experts.count) {
    in.fail("moe_router_topk",
            "expected at most the " + std::to_string(experts.count) + " experts that there are");
  }
  experts.shared_ffn =
      in.integer("moe_shared_expert_intermediate_size", 0, kMostWidth).value_or(experts.shared_ffn);
  experts.latent = in.integer("moe_latent_size", 1, kMostWidth).value_or(experts.latent);
  experts.shared_gate = in.flag("moe_shared_expert_gate").value_or(experts.shared_gate);
  experts.router_bias = in.flag("moe_router_enable_expert_bias").value_or(experts.router_bias);
  read_routing(task, experts);
  model.experts = experts;
}

}  // namespace titer
