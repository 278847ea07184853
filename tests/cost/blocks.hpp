#pragma once
// What tests of costs ask of a scenario's blocks.

#include "plan/blocks.hpp"
#include "titer/cost/cost.hpp"

namespace titer {

inline ModelBlocks blocks_of(const Scenario& scenario) {
  ModelBlocks blocks;
  list_blocks(scenario.model, scenario.slice(), blocks);
  return blocks;
}
inline Bytes boundary_bytes(const Scenario& scenario) {
  return boundary_bytes(blocks_of(scenario));
}
inline StageMessage stage_message(const Scenario& scenario) {
  return stage_message(scenario, blocks_of(scenario));
}

/// A pass with tensor-parallel transfers.
inline PassCost pass_cost(Seconds compute, Seconds exposed = {}, Seconds transfers = {}) {
  PassCost cost{.compute = compute, .exposed = {}, .transfers = {}, .launched = compute};
  cost.exposed[PassComm::tensor] = exposed;
  cost.transfers[PassComm::tensor] = transfers;
  return cost;
}
inline void set_transfers(PassCost& cost, Seconds exposed, Seconds transfers) {
  cost = pass_cost(cost.compute, exposed, transfers);
}

}  // namespace titer
