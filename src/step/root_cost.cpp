#include "root_cost.hpp"

#include "sync_cost.hpp"
#include "titer/collectives/tree.hpp"

namespace titer {
namespace {

constexpr Bytes kTokenNumber = Bytes::from_si(8);

void expose(Seconds time, PassCost& pass) {
  pass.exposed[PassComm::data] += time;
  pass.transfers[PassComm::data] += time;
}

}  // namespace

RootMoves root_moves(const Scenario& scenario, const StepCosts& costs) {
  const Plan& plan = scenario.plan;
  const GroupPlace at = place(plan, PlanGroup::data, scenario.cluster.devices_per_node);
  Fabric fabric = at.fabric(scenario.cluster);
  if (!std::holds_alternative<SwitchedNode>(scenario.cluster.topology)) {
    fabric =
        along_ring(fabric);  // a wire to one of the others has only a part of what the root has
  }
  const auto move = [&](Bytes size) {
    return RootMove{
        .size = size,
        .time = size > Bytes{} ? StarBroadcast::time(size, at.group, fabric) : Seconds{}};
  };
  const ModelBlocks& blocks = costs.blocks;
  const auto sequences = static_cast<double>(plan.micro_batch);
  const auto kind = [&](int of) -> const Block& {
    return blocks.kinds[static_cast<std::size_t>(of)];
  };
  const bool images = scenario.model.if_layered() != nullptr;
  const double tokens = sequences * static_cast<double>(scenario.training.sequence);
  const DeviceParameters all = rank_parameters(blocks, costs.contents, plan, 0);
  const DeviceParameters trained = trained_parameters(blocks, costs.contents, plan, 0);
  return {.ranks = at.group.ranks(),
          .inputs = move(images ? kind(blocks.order.front().kind).input : tokens * kTokenNumber),
          .weights = move(all.total() * scenario.weight_message()),
          .outputs = move(images ? kind(blocks.order.back().kind).output
                                 : sequences * size_of(DataType::fp32)),
          .gradients = move(trained.total() * scenario.gradient_message())};
}

void add_root_transfers(const Scenario& scenario, StepCosts& costs) {
  const RootMoves moves = root_moves(scenario, costs);
  if (moves.ranks == 1) {
    return;
  }
  expose(moves.inputs.time + moves.weights.time, costs.embedding.forward);
  expose(moves.outputs.time, costs.head.forward);
  for (PassCost* pass : {&costs.head.backward, &costs.head.input_gradient}) {
    expose(moves.outputs.time, *pass);
  }
  for (PassCost* pass : {&costs.embedding.backward, &costs.embedding.weight_gradient}) {
    expose(moves.gradients.time, *pass);
  }
}

}  // namespace titer
