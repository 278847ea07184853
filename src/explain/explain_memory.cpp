// The fullest device's memory, part by part.

#include <fmt/format.h>

#include <algorithm>

#include "explain_parts.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kKeptSource = "Korthikanti et al. 2022, table 2";

/// Whether weight gradients of a rank come apart from the input gradients.
bool splits_backward(const Scenario& scenario, int rank) {
  const ActionList list = actions(scenario.plan.schedule, rank, scenario.shape());
  return includes(list, Pass::weight_gradient, &Action::pass);
}

/// The stages of the model that a rank has, in order, each once.
std::vector<int> stages_of(const Scenario& scenario, int rank) {
  const Placement where = placement(scenario.plan.schedule);
  const PipelineShape shape = scenario.shape();
  std::vector<int> stages;
  stages.reserve(static_cast<std::size_t>(chunks_per_rank(where, shape)));
  for (int chunk = 0; chunk < chunks_per_rank(where, shape); ++chunk) {
    stages.push_back(stage_of(where, {.rank = rank, .chunk = chunk}, shape));
  }
  std::ranges::sort(stages);
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  return stages;
}

/// Of what is beside adapters.
std::string base_words(const Scenario& scenario) {
  const std::optional<Adapters>& adapters = scenario.training.adapters;
  return adapters && adapters->base ? fmt::format(", of the base {}", name(*adapters->base)) : "";
}

/// What each rank has of parameters that it may split with others: n, or n / shards; experts are
/// shared out by themselves.
std::string held_words(const Scenario& scenario, const DeviceParameters& count, bool split) {
  const Plan& plan = scenario.plan;
  const double copies = scenario.cuts_images() ? static_cast<double>(plan.tensor) : 1.0;
  const auto words = [&](double parameters, double shards) {
    return split && shards > 1 ? fmt::format("{:.4g} / {}", parameters, shards)
                               : fmt::format("{:.4g}", parameters);
  };
  std::string dense = words(count.dense, copies * static_cast<double>(shard_ranks(plan)));
  if (count.experts == 0) {
    return dense;
  }
  return fmt::format(
      "({} + {})", dense, words(count.experts, static_cast<double>(expert_shard_ranks(plan))));
}

Term activations_term(const Scenario& scenario, const StageMemory& stage) {
  return {"activations",
          "the most that its passes keep alive at a time, see below",
          fmt::format("{} chunks in flight",
                      in_flight(scenario.plan.schedule, stage.stage, scenario.shape())),
          format(stage.activations),
          std::string(source(scenario.plan.schedule))};
}

/// What one micro-batch keeps of each stage that the rank has. Stages that keep the same are one
/// row.
void add_kept_terms(const Scenario& scenario, int rank, Section& section) {
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  const std::vector<StageActivations> all =
      stage_activations(scenario.plan, memory_needs(scenario, blocks));
  const bool split = splits_backward(scenario, rank);
  std::optional<Bytes> shown;
  for (const int stage : stages_of(scenario, rank)) {
    const StageActivations& one = all[static_cast<std::size_t>(stage)];
    if (shown == one.kept) {
      continue;
    }
    shown = one.kept;
    const std::int64_t layers =
        layers_of(
            scenario.plan.layers, stage, scenario.model.layers(), static_cast<int>(all.size())) +
        (stage == 0 ? blocks.front : 0);
    section.terms.push_back(
        {fmt::format("kept by a micro-batch in stage {} of the model", stage),
         "layers x kept bytes + embedding or head",
         fmt::format("{} layers, recompute {}", layers, name(scenario.plan.recompute)),
         format(one.kept),
         std::string(kKeptSource)});
    if (split) {
      section.terms.push_back({fmt::format("after its input gradient in stage {}", stage),
                               "layers x (inputs + output gradients of products)",
                               fmt::format("{} layers", layers),
                               format(one.after_input_gradient),
                               "Qi et al. 2024, section 2.1"});
    }
  }
}

/// Of the software's own tensors those that there are.
void add_buffer_terms(const Scenario& scenario, const StageMemory& stage, Section& section) {
  ModelBlocks blocks;
  list_blocks(scenario.model, scenario.slice(), blocks);
  StageBlocks stages;
  stages.fill(scenario.plan, blocks);
  const MemoryNeeds needs = memory_needs(scenario, blocks);
  const Buffers own = rank_buffers(scenario.plan, needs, stages, stage);
  const auto add = [&](std::string_view name, std::string_view formula, Bytes bytes) {
    if (bytes > Bytes{}) {
      section.terms.push_back({std::string(name),
                               std::string(formula),
                               "",
                               format(bytes),
                               "stack " + scenario.stack.name});
    }
  };
  add("gathered input and gradient", "2 x s b h x bytes, whole", own.gathered);
  add("received ahead", "2 x a layer's input", own.received);
  add("gradients in a row", "as the gradients", own.flat_gradients);
  add("dummies of weight gradients", "weights of a layer", own.weight_gradient_dummies);
}

void add_runtime_terms(const Scenario& scenario, const StageMemory& stage, Section& section) {
  const Stack& stack = scenario.stack;
  const RuntimeMemory runtime = runtime_memory(scenario.plan, stack, scenario.cluster);
  const ProcessGroups groups = process_groups(scenario.plan);
  const auto add = [&](std::string name, std::string values, Bytes bytes, std::string_view key) {
    if (bytes > Bytes{}) {
      section.terms.push_back({std::move(name),
                               "",
                               std::move(values),
                               format(bytes),
                               std::string(stack.evidence.source(key))});
    }
  };
  add("device context", "", runtime.context, "context_memory");
  add("communicators",
      fmt::format("{} process groups x {}{}",
                  groups.collective,
                  format(stack.memory.communicator),
                  groups.sends ? " + sends " + format(stack.memory.sends) : ""),
      runtime.communicators,
      "communicator_memory");
  add("workspaces", "", runtime.rest, "runtime_memory");
  add("allocator's reserve",
      fmt::format("{:.3g} x {}", stack.memory.allocator_overhead, format(stage.allocated())),
      stack.memory.allocator_overhead * stage.allocated(),
      "allocator_overhead");
}

std::string working_formula(const Stack& stack) {
  const std::string_view passes =
      "largest of: gradients of one layer at work (+ what is recomputed of it); head with logits "
      "and their gradient";
  return fmt::format(
      "{}{}",
      passes,
      stack.memory.step > Bytes{} ? "; what an update needs, less what the passes keep" : "");
}

}  // namespace

Section memory_section(const Scenario& scenario, const StepResult& result) {
  const StageMemory& stage = result.peak_stage();
  const ParameterBytes bytes =
      parameter_bytes(scenario.training.optimizer, scenario.tensor_types());
  Section section{.title = fmt::format("memory of stage {}, the fullest", stage.stage),
                  .terms = {}};
  const SplitStates splits = scenario.plan.splits();
  const bool splits_gradients = splits.gradients && scenario.plan.reduces_every_pass();
  section.terms = {
      {"weights",
       "n / shards x bytes",
       held_words(scenario, stage.parameters, splits.weights) + " x " + format(bytes.weight) +
           base_words(scenario),
       format(stage.weights),
       "Rajbhandari et al. 2020"},
      {"gradients",
       "n / shards x bytes",
       held_words(scenario, stage.trained, splits_gradients) + " x " + format(bytes.gradient),
       format(stage.gradients),
       "stack " + scenario.stack.name},
      {"optimizer",
       "n / shards x bytes",
       held_words(scenario, stage.trained, splits.optimizer) + " x " + format(bytes.optimizer) +
           (bytes.matrix ? ", of hidden layers' matrices " + format(*bytes.matrix) : ""),
       format(stage.optimizer),
       "Rajbhandari et al. 2020"},
      activations_term(scenario, stage),
      {"working",
       working_formula(scenario.stack),
       "",
       format(stage.working),
       "Korthikanti et al. 2022"},
      {"buffers",
       "of the stack, see below",
       "",
       format(stage.buffers),
       "stack " + scenario.stack.name},
      {"runtime",
       "outside the tensors, see below",
       "",
       format(stage.runtime),
       "stack " + scenario.stack.name},
      {"total", "sum", "", format(stage.total()), "capacity " + format(result.memory_capacity)}};
  add_kept_terms(scenario, stage.stage, section);
  add_buffer_terms(scenario, stage, section);
  add_runtime_terms(scenario, stage, section);
  return section;
}

}  // namespace titer
