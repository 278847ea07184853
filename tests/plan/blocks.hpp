#pragma once
// The blocks of a model as a plan divides them, and the parameters that devices have of them.

#include "titer/model/model.hpp"
#include "titer/plan/stage_blocks.hpp"

namespace titer {

inline ModelBlocks blocks_of(const Model& model, const Plan& plan) {
  ModelBlocks blocks;
  list_blocks(model, {.sequence = 64, .tensor = plan.tensor}, blocks);
  return blocks;
}
inline DeviceParameters rank_parameters(const ModelBlocks& blocks, const Plan& plan, int rank) {
  StageBlocks stages;
  stages.fill(plan, blocks);
  return rank_parameters(blocks, stages, plan, rank);
}
inline double rank_parameters(const Model& model, const Plan& plan, int rank) {
  return rank_parameters(blocks_of(model, plan), plan, rank).total();
}

}  // namespace titer
