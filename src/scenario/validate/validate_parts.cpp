// What of a model's layers is recomputed, and what is launched as one.
#include <fmt/format.h>

#include <algorithm>

#include "titer/plan/plan_fields.hpp"
#include "validate_groups.hpp"

namespace titer {
namespace {

bool has_attention(const Transformer& model) { return model.has_attention(); }

bool has_dense_layers(const Transformer& model) {
  return std::ranges::any_of(model.kinds, [](const LayerKind& kind) { return kind.is_dense(); });
}

/// What of a model a module is, and whether a transformer has it; others do for all.
struct ModulePart {
  Module module;
  std::string_view name;
  std::string_view needs;
  bool (*exists)(const Transformer&);
};
constexpr std::array<ModulePart, 9> kModuleParts = {{
    {Module::core_attention, "core_attention", "attention", &has_attention},
    {Module::latent_up,
     "latent_up",
     "latent attention",
     [](const Transformer& model) { return model.latent || model.shared_head; }},
    {Module::mlp, "mlp", "layers without experts", &has_dense_layers},
    {Module::moe,
     "moe",
     "experts",
     [](const Transformer& model) { return model.experts.has_value(); }},
    {Module::activation,
     "activation",
     "experts",
     [](const Transformer& model) { return model.experts.has_value(); }},
    {Module::attention_result, "attention_result", "attention", &has_attention},
    {Module::attention_output, "attention_output", "attention", &has_attention},
    {Module::mlp_activation, "mlp_activation", "layers without experts", &has_dense_layers},
    {Module::shared_experts,
     "shared_experts",
     "shared experts",
     [](const Transformer& model) { return model.experts && model.experts->shared_ffn > 0; }},
}};

/// Likewise of what is launched together.
struct GraphPart {
  LayerPart part;
  std::string_view needs;
  bool (*exists)(const Transformer&);
};
constexpr std::array<GraphPart, 5> kGraphParts = {{
    {LayerPart::attention, "attention", &has_attention},
    {LayerPart::mixer,
     "a mixer of tokens",
     [](const Transformer& model) { return model.mixer.has_value(); }},
    {LayerPart::mlp, "layers without experts", &has_dense_layers},
    {LayerPart::router,
     "experts",
     [](const Transformer& model) { return model.experts.has_value(); }},
    {LayerPart::experts,
     "experts",
     [](const Transformer& model) { return model.experts.has_value(); }},
}};

}  // namespace

void check_recomputation(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  const bool full = plan.recompute == Recompute::full;
  demands.demand(full || !plan.recompute_every,
                 "plan.recompute_every",
                 plan.recompute_every.value_or(1),
                 "expected the recompute full: it keeps the input of one layer in so many");
  demands.demand(full || !plan.recompute_layers,
                 "plan.recompute_layers",
                 plan.recompute_layers.value_or(0),
                 "expected the recompute full: it is of so many layers of a stage");
  demands.demand(full || !plan.distribute_saved_activations,
                 "plan.distribute_saved_activations",
                 "true",
                 "expected the recompute full: it is of what is kept of whole layers");
  demands.demand(!plan.sequence_parallel || !plan.distribute_saved_activations,
                 "plan.distribute_saved_activations",
                 "true",
                 "expected false with sequence_parallel, which splits what is kept of layers");
  const Transformer* model = scenario.model.if_transformer();
  if (model == nullptr) {
    demands.demand(
        full || plan.recompute == Recompute::none, "plan.recompute", name(plan.recompute), [&] {
          return fmt::format("expected none or full: {} is no transformer", scenario.model.name());
        });
    return;
  }
  for (const ModulePart& part : kModuleParts) {
    demands.demand((plan.recomputed & bit(part.module)) == 0 || part.exists(*model),
                   "plan.recompute",
                   part.name,
                   [&] {
                     return fmt::format(
                         "expected a model with {}, which {} has not", part.needs, model->name);
                   });
  }
}

void check_graph(const Scenario& scenario, Demands& demands) {
  const LayerPartSet graph = scenario.plan.cuda_graph;
  if (captures_all(graph)) {
    return;
  }
  const Transformer* model = scenario.model.if_transformer();
  if (model == nullptr) {
    const auto text = [&] { return graph_text(graph); };
    demands.demand(graph == 0, "plan.cuda_graph", text, [&] {
      return fmt::format("expected none or iteration: {} is no transformer", scenario.model.name());
    });
    return;
  }
  for (const GraphPart& part : kGraphParts) {
    demands.demand((graph & bit(part.part)) == 0 || part.exists(*model),
                   "plan.cuda_graph",
                   [&] { return graph_text(bit(part.part)); },
                   [&] {
                     return fmt::format(
                         "expected a model with {}, which {} has not", part.needs, model->name);
                   });
  }
}

}  // namespace titer
