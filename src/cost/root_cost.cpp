#include "titer/cost/root_cost.hpp"

#include "titer/collectives/algorithm/tree.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/topology/family/node_families.hpp"

namespace titer {
namespace {

constexpr Bytes kTokenNumber = Bytes::from_si(8);

/// Of a micro-batch on one device.
Bytes input_bytes(const Scenario& scenario, const ModelBlocks& blocks) {
  const auto sequences = static_cast<double>(scenario.plan.micro_batch);
  const double tokens = sequences * static_cast<double>(scenario.training.sequence);
  return scenario.model.if_layered() != nullptr
             ? blocks.kinds[static_cast<std::size_t>(blocks.order.front().kind)].input
             : tokens * kTokenNumber;
}
Bytes output_bytes(const Scenario& scenario, const ModelBlocks& blocks) {
  return scenario.model.if_layered() != nullptr
             ? blocks.kinds[static_cast<std::size_t>(blocks.order.back().kind)].output
             : static_cast<double>(scenario.plan.micro_batch) * size_of(DataType::fp32);
}

}  // namespace

RootWay root_way(MoveTime when, Pass pass) {
  switch (when) {
    case MoveTime::forward:
      return {.here = pass == Pass::forward, .to_root = false};
    case MoveTime::there_and_back:
      return {.here = pass == Pass::forward || sends_gradient(pass),
              .to_root = pass == Pass::forward};
    default:
      return {.here = makes_gradients(pass), .to_root = true};
  }
}

Seconds root_time(const Scenario& scenario, Bytes size) {
  const GroupPlace at = place(scenario.plan, PlanGroup::data, scenario.cluster.devices_per_node);
  Fabric fabric = at.fabric(scenario.cluster);
  if (scenario.cluster.topology.as<SwitchedNode>() == nullptr) {
    fabric =
        along_ring(fabric);  // a wire to one of the others has only a part of what the root has
  }
  return size > Bytes{} ? StarBroadcast::time(size, at.group, fabric) : Seconds{};
}

RootMoves root_moves(const Scenario& scenario, const StepCosts& costs) {
  const DeviceParameters all = rank_parameters(costs.blocks, costs.contents, scenario.plan, 0);
  const DeviceParameters trained =
      trained_parameters(costs.blocks, costs.contents, scenario.plan, 0);
  RootMoves found{.ranks = static_cast<int>(scenario.plan.data)};
  for (const Move& move : list_moves(scenario)) {
    const double count = move.when == MoveTime::gradients ? trained.total() : all.total();
    const Bytes others = move.each > Bytes{}              ? Bytes{}
                         : move.when == MoveTime::forward ? input_bytes(scenario, costs.blocks)
                                                          : output_bytes(scenario, costs.blocks);
    const Bytes size = others + count * move.each;
    found.moves.push_back({.move = move, .size = size, .time = root_time(scenario, size)});
  }
  return found;
}

void add_root_transfers(const Scenario& scenario, StepCosts& costs) {
  const RootMoves root = root_moves(scenario, costs);
  if (root.ranks == 1) {
    return;
  }
  for (const RootMove& of : root.moves) {
    BlockCost& block = of.move.when == MoveTime::there_and_back ? costs.head : costs.embedding;
    for (const Pass pass :
         {Pass::forward, Pass::backward, Pass::input_gradient, Pass::weight_gradient}) {
      if (root_way(of.move.when, pass).here) {
        block.of(pass).exposed[PassComm::data] += of.time;
        block.of(pass).transfers[PassComm::data] += of.time;
      }
    }
  }
}

}  // namespace titer
