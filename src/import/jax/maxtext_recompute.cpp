// What MaxText computes again, by the names of its policies.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "maxtext_parts.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// remat_policy, and what is computed again of a layer: modules, or one word for all of it. Of a
/// layer with experts these are "moe" and "activation" in place of the MLP's.
struct Policy {
  std::string_view theirs;
  std::array<std::string_view, 4> recompute;
  bool goes_to_host = false;  // what is kept
};
constexpr std::array<Policy, 13> kRematPolicies = {{
    {"none", {"none"}},
    {"full", {"full"}},
    {"minimal", {"attention_result", "layer_norm", "mlp_activation"}},
    {"minimal_flash", {"layer_norm", "mlp_activation"}},
    {"minimal_with_context", {"layer_norm", "mlp_activation"}},
    {"minimal_offloaded", {"attention_result", "layer_norm", "mlp_activation"}, true},
    {"save_dot_with_context_except_mlp", {"layer_norm", "mlp"}},
    {"save_dot_except_mlp", {"attention_result", "layer_norm", "mlp"}},
    {"save_dot_except_mlpwi", {"attention_result", "layer_norm", "mlp"}},
    {"save_out_proj", {"attention", "layer_norm", "mlp"}},
    {"proj", {"attention_result", "attention_output", "layer_norm", "mlp"}},  // in early releases
    {"save_qkv_proj", {"attention_result", "attention_output", "layer_norm", "mlp"}},
    {"qkv_proj_offloaded", {"attention_result", "attention_output", "layer_norm", "mlp"}, true},
}};

/// Layers that have experts in the place of an MLP.
enum class MixedLayers { none, some, all };

/// Which layers have experts, of a shipped model by its name.
MixedLayers mixed_layers(const ImportTask& task) {
  const auto is_among = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return task.into.shipped.find(name) != std::string::npos;
    });
  };
  if (is_among({"deepseek", "kimi", "glm-4.5"})) {
    return MixedLayers::some;
  }
  const bool has_experts = task.into.model && task.into.model->experts;
  return has_experts || is_among({"mixtral", "-a3b", "-a22b", "gpt-oss", "dbrx", "grok", "llama4"})
             ? MixedLayers::all
             : MixedLayers::none;
}

Value modules_of(const ImportTask& task, const Policy& policy) {
  const MixedLayers mixed = mixed_layers(task);
  Value modules = Value::make_array();
  for (const std::string_view module : policy.recompute) {
    const bool is_mlp = module == "mlp" || module == "mlp_activation";
    if (!module.empty() && !(is_mlp && mixed == MixedLayers::all)) {
      modules.push(Value(module));
    }
    if (is_mlp && mixed != MixedLayers::none) {
      modules.push(Value(module == "mlp" ? "moe" : "activation"));
    }
  }
  return modules;
}

}  // namespace

void put_remat_policy(const ImportTask& task) {
  Value& plan = task.into.plan;
  const std::string policy = task.in.word("remat_policy").value_or("full");
  const auto* const found = first_with(kRematPolicies, policy, &Policy::theirs);
  if (found == nullptr) {
    assume(task, "remat_policy", "taken as full");
    plan.add("recompute", Value("full"));
  } else if (found->recompute[1].empty()) {
    plan.add("recompute", Value(found->recompute.front()));
  } else {
    plan.add("recompute", modules_of(task, *found));
  }
  if (found != nullptr && found->goes_to_host) {
    Value offload = Value::make_object();
    offload.add("activations", Value("host"));
    plan.add("offload", std::move(offload));
  }
}

}  // namespace titer
