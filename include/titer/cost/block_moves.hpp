#pragma once
// What comes with the passes of each block besides activations: parameters and gradients, copies
// from and to the host.

#include <vector>

#include "titer/cost/move_clock.hpp"

namespace titer {

/// A move of one block. Copies of activations are no parameters.
struct BlockMove {
  const Move* move = nullptr;
  DeviceParameters parameters{};
  Seconds time{};
};
using BlockMoves = FewOf<BlockMove, kMostSchemeMoves + kMostHostMoves>;

/// Whether a pass of a block comes with what is moved then.
[[nodiscard]] bool comes_with(MoveTime when, Pass pass);

/// What those of a time take, and count as.
[[nodiscard]] Seconds time_of(const BlockMoves& moves, MoveTime when, PassComm comm);

/// Of each kind of layers, the embedding and the head, in that order. `clock` must stay.
[[nodiscard]] std::vector<BlockMoves> block_moves(const Scenario& scenario,
                                                  const StepCosts& costs,
                                                  const MoveClock& clock);

}  // namespace titer
