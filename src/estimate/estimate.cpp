#include "titer/estimate/estimate.hpp"

#include <algorithm>
#include <numeric>

#include "error_bar.hpp"
#include "titer/estimate/check_rates.hpp"
#include "titer/estimate/device_classes.hpp"
#include "titer/model/transformer/tower.hpp"

namespace titer {
namespace {

/// With adapters weights have no gradients of their own; each adapter's number multiplies every
/// token in all three passes. A tower, whose FLOPs are part of the others, has a forward pass only.
Flops adapted_passes(const ForwardFlops& forward,
                     const ForwardFlops& tower,
                     double adapters,
                     double tokens) {
  return 2.0 * (forward.layers + forward.logits) + 3.0 * forward.core_attention -
         (tower.layers + 2.0 * tower.core_attention) +
         Flops::from_si(3.0 * 2.0 * adapters * tokens);
}

/// Forward and backward passes.
Flops both_passes(const ForwardFlops& forward, const ModelBlocks& blocks) {
  double all = 0;
  double left_out = 0;  // forward passes' worth
  for (const LayerRun& run : blocks.order) {
    const Block& block = blocks.kinds[static_cast<std::size_t>(run.kind)];
    double flops = 0;
    for (const Operation& op : block.operations) {
      flops += static_cast<double>(run.count) * op.forward.flops.si();
    }
    all += flops;
    left_out += block.frozen ? (block.backward ? 1.0 : 2.0) * flops : 0.0;
  }
  const Flops layers = forward.layers + forward.core_attention;
  return left_out > 0 ? 3.0 * forward.total() - left_out / all * layers : 3.0 * forward.total();
}

/// What one rank after the other computes of all micro-batches, forward and backward passes.
Flops computed_flops(const Scenario& scenario) {
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  const auto passes_of = [](const Block& block) {
    Flops forward;
    for (const Operation& op : block.operations) {
      forward += op.forward.flops;
    }
    return (block.frozen ? (block.backward ? 2.0 : 1.0) : 3.0) * forward;
  };
  Flops sum = passes_of(blocks.embedding) + passes_of(blocks.head);
  for (const LayerRun& run : blocks.order) {
    sum += static_cast<double>(run.count) *
           passes_of(blocks.kinds[static_cast<std::size_t>(run.kind)]);
  }
  return static_cast<double>(scenario.micro_batches()) * sum;
}

/// Of the layers, those that whole-layer recomputation takes.
double repeated_layers(const Scenario& scenario, const ModelBlocks& blocks) {
  if (!scenario.plan.recompute_layers) {
    return 1;
  }
  StageBlocks stages;
  stages.fill(scenario.plan, blocks);
  double repeated = 0;
  for (int stage = 0; stage < stages.count(); ++stage) {
    const std::span<const double> kinds = stages.repeated(stage);
    repeated += std::accumulate(kinds.begin(), kinds.end(), 0.0);
  }
  return repeated / static_cast<double>(layers_of(blocks));
}

/// Of the FLOPs of all layers' forward passes, those that backward passes repeat.
double repeated_share(const Scenario& scenario, const ModelBlocks& blocks) {
  if (scenario.plan.recompute == Recompute::full &&
      !scenario.stack.kernels.recomputes_what_is_needed) {
    return repeated_layers(scenario, blocks);
  }
  double all = 0;
  double repeated = 0;
  for (const LayerRun& run : blocks.order) {
    const Block& kind = blocks.kinds[static_cast<std::size_t>(run.kind)];
    const Repeats repeats = repeats_of(scenario, kind);
    for (const Operation& op : kind.operations) {
      const double flops = static_cast<double>(run.count) * op.forward.flops.si();
      all += flops;
      repeated += repeats.of(op) * flops;
    }
  }
  return all > 0 ? repeated_layers(scenario, blocks) * (repeated / all) : 0;
}

void fill_rates(const Scenario& scenario,
                const ModelBlocks& blocks,
                const TrainedFlops& flops,
                StepResult& result) {
  const auto batch = static_cast<double>(scenario.training.global_batch);
  const std::int64_t s = scenario.training.sequence;
  result.devices = scenario.plan.devices();
  const auto devices = static_cast<double>(result.devices);
  const double seconds = result.iteration_time.si();
  result.tokens_per_s = batch * static_cast<double>(s) / seconds;
  result.tokens_per_s_per_device = result.tokens_per_s / devices;

  Flops repeated;
  if (scenario.plan.recompute == Recompute::selective) {
    repeated = flops.forward.core_attention;
  } else if (scenario.plan.recompute != Recompute::none) {
    repeated =
        repeated_share(scenario, blocks) * (flops.forward.layers + flops.forward.core_attention);
  }
  const FlopsPerSecond peak = mean_peak(scenario);
  const auto utilization = [&](Flops done) {
    return done / result.iteration_time / devices / peak;
  };
  result.model_flops_per_device = flops.full / result.iteration_time / devices;
  result.mfu = utilization(flops.full);
  result.mfu_causal = utilization(flops.causal);
  result.hfu = utilization(flops.full + repeated);
}

BufferRules buffer_rules(const Scenario& scenario) {
  return {.receives_ahead = scenario.pipeline_send() != PipelineSend::blocking,
          .flat_gradients = scenario.stack.memory.flat_gradients,
          .weight_gradient_dummies = scenario.stack.memory.weight_gradient_dummies,
          .gathers_by_matrix = scenario.stack.memory.gathers_by_matrix};
}

}  // namespace

void check_rates(const Scenario& scenario, const StepResult& result) {
  const bool is_plain = result.mfu <= 1 && result.mfu_causal <= 1 && result.hfu <= 1;
  if (is_plain || scenario.formula != Formula::titer || scenario.unlike()) {
    return;
  }
  const auto ranks = static_cast<double>(scenario.plan.pipeline);
  ensure(computed_flops(scenario) <= ranks * result.iteration_time * mean_peak(scenario),
         "no rank computes faster than its chip's peak");
}

void fill_bubble(StepResult& result) {
  result.breakdown.bubble = {};
  const Seconds idle = result.iteration_time - result.breakdown.total();
  // Both are whole ticks: what is less than half a tick is the rounding of the sum.
  result.breakdown.bubble = to_seconds(to_ticks(std::max(Seconds{}, idle)));
}

/// What frozen weights are kept in: if nothing else is said as those that are trained, `each`.
std::optional<FrozenWeights> frozen_weights(const Scenario& scenario, Bytes each) {
  const std::optional<Adapters>& adapters = scenario.training.adapters;
  if (!adapters) {
    return std::nullopt;
  }
  const Bytes narrow = size_of(DataType::bf16);
  return FrozenWeights{.weight = adapters->base ? narrow : each,
                       .quantised = adapters->quantises() ? adapters->base : std::nullopt};
}

MemoryNeeds memory_needs(const Scenario& scenario, const ModelBlocks& blocks) {
  const ParameterBytes parameter =
      parameter_bytes(scenario.training.optimizer, scenario.tensor_types());
  return {.blocks = &blocks,
          .shape = scenario.shape(),
          .parameter = parameter,
          .runtime = runtime_memory(scenario.plan, scenario.stack, scenario.cluster).total(),
          .allocator_overhead = scenario.stack.memory.allocator_overhead,
          .buffers = buffer_rules(scenario),
          .step = scenario.stack.memory.step,
          .frozen = frozen_weights(scenario, parameter.weight),
          .same_weights = scenario.cuts_images() ? static_cast<double>(scenario.plan.tensor) : 1.0};
}

TrainedFlops trained_flops(const Scenario& scenario, const ModelBlocks& blocks) {
  const auto batch = static_cast<double>(scenario.training.global_batch);
  const auto of = [&](AttentionCount count) {
    return forward_flops(
        scenario.model, batch, scenario.training.sequence, count, scenario.images());
  };
  const auto passes = [&](const ForwardFlops& forward) {
    const double tokens = batch * static_cast<double>(scenario.training.sequence);
    if (!scenario.training.adapters) {
      return both_passes(forward, blocks);
    }
    const ForwardFlops tower =
        scenario.has_tower() ? forward_flops(*scenario.model.if_tower(), batch, scenario.images())
                             : ForwardFlops{};
    return adapted_passes(forward, tower, static_cast<double>(adapter_parameters(blocks)), tokens);
  };
  const ForwardFlops forward = of(AttentionCount::full);
  return {
      .full = passes(forward), .causal = passes(of(AttentionCount::causal)), .forward = forward};
}

void fill_derived(const Scenario& scenario,
                  const ModelBlocks& blocks,
                  MemoryFinder& memory,
                  StepResult& result) {
  memory.find(scenario.plan, memory_needs(scenario, blocks), result.memory);
  fill_derived(scenario, blocks, trained_flops(scenario, blocks), result);
}

namespace {

/// As if all devices of a node were of the rank that keeps most there.
void fill_tiers(const Scenario& scenario, StepResult& result) {
  result.tiers.clear();
  const Plan& plan = scenario.plan;
  if (!plan.offload.any() && !(plan.local_steps && plan.local_steps->state)) {
    return;
  }
  const Cluster& cluster = scenario.cluster;
  const std::int64_t node = cluster.devices_per_node;
  const std::int64_t devices =
      cluster.torus() != nullptr ? node : std::min(node, scenario.plan.devices());
  const auto add = [&](std::string_view name, const auto& tier, Bytes Offloaded::*part) {
    Bytes most;
    for (const StageMemory& stage : result.memory) {
      most = std::max(most, stage.offloaded.*part);
    }
    if (tier && most > Bytes{}) {
      result.tiers.push_back({.tier = name,
                              .needed = static_cast<double>(devices) * most,
                              .capacity = tier->capacity});
    }
  };
  add("host memory", cluster.host_memory, &Offloaded::host);
  add("NVMe", cluster.nvme, &Offloaded::nvme);
}

}  // namespace

void fill_derived(const Scenario& scenario,
                  const ModelBlocks& blocks,
                  const TrainedFlops& flops,
                  StepResult& result) {
  fill_rates(scenario, blocks, flops, result);
  const Seconds without_input = result.iteration_time - result.breakdown.input;
  result.bubble_ratio = result.breakdown.bubble / without_input;
  result.bubble_overhead = result.breakdown.bubble / (without_input - result.breakdown.bubble);
  result.memory_peak = result.peak_stage().total();
  result.memory_capacity = least_memory(scenario);
  fill_tiers(scenario, result);
  result.grade = grade_of(scenario);
  result.error_bar = error_bar_of(scenario, result);
}

StepResult estimate(const Scenario& scenario) {
  Estimator estimator;
  StepResult result;
  estimator.estimate(scenario, result);
  return result;
}

}  // namespace titer
