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
inline double stage_parameters(const Model& model, const Plan& plan, int stage) {
  return stage_parameters(blocks_of(model, plan), plan, stage).total();
}
inline double rank_parameters(const Model& model, const Plan& plan, int rank) {
  return rank_parameters(blocks_of(model, plan), plan, rank).total();
}

}  // namespace titer
