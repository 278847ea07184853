#pragma once
// What every pass of a block moves besides activations: sharded parameters and gradients, and
// copies from and to the host.

#include "titer/cost/cost.hpp"

namespace titer {

/// Adds to the passes of all kinds of blocks what zero2, zero3 and offloading move with them.
///
/// With zero3 the parameters of a block are gathered while the one before it is computed, in the
/// forward pass and, unless they stayed, again in the backward pass, there beside the recomputation
/// first; gradients of zero2 and zero3 are reduce-scattered while the next block's are made; copies
/// from the host are prefetched alike. What is longer than its neighbour's compute is exposed, and
/// so are the first gather of a forward pass and the last gradients of a backward pass. Nothing
/// runs beside compute where the plan does not prefetch, or does not overlap gradients.
///
/// The head's backward pass follows its forward pass: its parameters are still there. An embedding
/// needs none in its backward pass. The first layer of a later stage is gathered while the stage
/// waits for its input. A kind's passes take the mean over its places in the model.
/// REQUIRES blocks, their own costs, contents and groups.
void add_pass_transfers(const Scenario& scenario, StepCosts& costs);

/// Whether a step moves anything so.
[[nodiscard]] bool moves_with_passes(const Scenario& scenario);

}  // namespace titer
