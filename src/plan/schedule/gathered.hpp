#pragma once
// Device memory of what is whole only while it is used, where the rest is split or elsewhere.

#include "titer/plan/memory/memory.hpp"
#include "titer/plan/stage_blocks.hpp"

namespace titer {

/// Parameters of a block that come to a device for a while, or whose gradients leave it: all but
/// experts that no other rank has, which stay unless they are the host's.
[[nodiscard]] double passing_parameters(const ParameterCount& count, const Plan& plan);

/// Of a rank of the pipeline: parameters of the block at work, and of the next one where that is
/// prefetched, or of all blocks where they stay until the backward pass; and the gradients of one
/// block on their way to their shards.
[[nodiscard]] Bytes gathered_bytes(const Plan& plan,
                                   const StageBlocks& stages,
                                   int rank,
                                   const MemoryNeeds& needs);

}  // namespace titer
