#pragma once
// What a rank holds of weights, gradients and the optimizer, and the software's buffers.

#include "titer/plan/memory/memory.hpp"

namespace titer {

/// Whatever runs at the moment, but for the runtime.
[[nodiscard]] StageMemory states(const Plan& plan,
                                 const MemoryNeeds& needs,
                                 const StageBlocks& contents,
                                 int rank);
/// What the parameters that a rank updates take while it does so.
[[nodiscard]] Bytes step_bytes(const Plan& plan,
                               const MemoryNeeds& needs,
                               const StageBlocks& contents,
                               int rank);

}  // namespace titer
