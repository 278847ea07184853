#pragma once
// nn.DataParallel: one process drives all devices of a node from the first one, the root. In every
// pass of a micro-batch the root hands inputs and weights to the others and takes their outputs and
// gradients, all through its own port, one device after the other.  [seed 004, F55]

#include <vector>

#include "titer/cost/cost.hpp"
#include "titer/cost/moves.hpp"

namespace titer {

/// What the root exchanges with each of the others, and what it takes for all of them:
/// start-up + (n-1) (a + S / B).
struct RootMove {
  Move move;
  Bytes size{};
  Seconds time{};
};
struct RootMoves {
  int ranks = 1;
  std::vector<RootMove> moves{};
};
/// In this pass of the model; of what comes back its gradients go the other way.
struct RootWay {
  bool here = false;
  bool to_root = false;
};
[[nodiscard]] RootWay root_way(MoveTime when, Pass pass);
/// Inputs are images, or 8 bytes for each token of a sequence; outputs the last layer's, which may
/// be losses, of transformers their losses. REQUIRES blocks, and a model with one input.
[[nodiscard]] RootMoves root_moves(const Scenario& scenario, const StepCosts& costs);
/// What the root takes to exchange so much with each of the others.
[[nodiscard]] Seconds root_time(const Scenario& scenario, Bytes size);

/// Adds these to the passes: nothing runs beside them. REQUIRES block costs of one stage.
void add_root_transfers(const Scenario& scenario, StepCosts& costs);

}  // namespace titer
