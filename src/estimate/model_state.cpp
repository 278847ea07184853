#include "titer/estimate/model_state.hpp"

#include <algorithm>

#include "titer/plan/memory/matrices.hpp"

namespace titer {
namespace {

/// All that are updated as such.
RankMatrices whole_matrices(const Scenario& scenario) {
  Scenario whole = scenario;
  whole.plan = {};
  ModelBlocks blocks;
  scenario_blocks(whole, blocks);
  StageBlocks stages;
  stages.fill(whole.plan, blocks);
  return trained_matrices(blocks, stages, 0);
}

}  // namespace

ModelState model_state(const Scenario& scenario) {
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  std::int64_t all = 0;
  std::int64_t trained = 0;
  const auto add = [&](const Block& block, std::int64_t count) {
    const std::int64_t parameters = count * block.parameters.total();
    all += parameters;
    trained += count * block.trained().total();
  };
  add(blocks.embedding, 1);
  for (const LayerRun& run : blocks.order) {
    add(blocks.kinds[static_cast<std::size_t>(run.kind)], run.count);
  }
  add(blocks.head, 1);
  TensorTypes types = scenario.tensor_types();
  types.narrow.reset();
  const ParameterBytes bytes = parameter_bytes(scenario.training.optimizer, types);
  const RankMatrices matrices = bytes.matrix ? whole_matrices(scenario) : RankMatrices{};
  const std::int64_t kept =
      scenario.training.adapters ? trained : all;  // the base has its own file
  return {.weights = static_cast<double>(kept) * bytes.weight,
          .optimizer =
              (static_cast<double>(trained) - matrices.parameters().total()) * bytes.optimizer +
              matrix_states(bytes, matrices.dense) + matrix_states(bytes, matrices.experts)};
}

Bytes node_state(const Scenario& scenario, const StepResult& result) {
  const ModelState state = model_state(scenario);
  const std::int64_t devices =
      std::min<std::int64_t>(scenario.cluster.devices_per_node, scenario.plan.devices());
  const auto on_node = static_cast<double>(devices);
  Bytes held;
  for (const StageMemory& stage : result.memory) {
    held = std::max(held,
                    std::min(on_node * stage.weights, state.weights) +
                        std::min(on_node * stage.optimizer, state.optimizer));
  }
  return std::max(held, state.total() / static_cast<double>(plan_nodes(scenario)));
}

std::int64_t plan_nodes(const Scenario& scenario) {
  const std::int64_t per_node = scenario.cluster.devices_per_node;
  return (scenario.plan.devices() + per_node - 1) / per_node;
}

std::int64_t devices_per_host(const Cluster& cluster) {
  return cluster.devices_per_host.value_or(cluster.devices_per_node);
}

std::int64_t plan_hosts(const Scenario& scenario) {
  const std::int64_t per_host = devices_per_host(scenario.cluster);
  return (scenario.plan.devices() + per_host - 1) / per_host;
}

Seconds input_time(const Scenario& scenario) {
  const std::optional<double>& rate = scenario.training.input_rate;
  return rate ? Seconds::from_si(static_cast<double>(scenario.training.global_batch) /
                                 (*rate * static_cast<double>(plan_hosts(scenario))))
              : Seconds{};
}

Ticks input_wait(const Scenario& scenario, Ticks end) {
  return std::max(Ticks{0}, to_ticks(input_time(scenario)) - end);
}

}  // namespace titer
