#pragma once
// What the fullest rank of a pipeline has at least, whatever its schedule and whichever layers each
// of its stages has: no less than the mean of all ranks, which the whole model tells.

#include "titer/plan/memory/memory.hpp"

namespace titer {

/// What a layer by itself needs beyond what is kept of it while it is worked on; where some layers
/// of a stage alone are recomputed, one that is not.
[[nodiscard]] Bytes working_bytes(const Plan& plan, const Block& block);

/// Of a micro-batch, after its forward passes: each rank then has what it keeps of all its chunks,
/// and its last chunk at work. [The first backward pass comes after all of them.]
struct PassBytes {
  Bytes kept;     // of all layers and the embedding
  Bytes working;  // of a layer of the kind that needs least
};
[[nodiscard]] PassBytes pass_bytes(const Plan& plan, const ModelBlocks& blocks);

/// The mean of what ranks keep of a micro-batch, beside what is at work and buffered with any
/// layer. Nothing of that is counted where stages may have no layers.
[[nodiscard]] Bytes pass_bound(const Plan& plan, const MemoryNeeds& needs, const PassBytes& passes);

/// What each rank has of its passes with this pipeline: of one micro-batch in all of its chunks, or
/// of as many chunks as the schedule is known to have in flight; told without following it.
/// `needs`: of the pipeline's shape. `stages`: of all of its contents.
void pipeline_pass_bounds(const Plan& plan,
                          const MemoryNeeds& needs,
                          const StageBlocks& contents,
                          std::span<const StageActivations> stages,
                          std::vector<Bytes>& of_ranks);

/// The most that a rank has of that and of its state as the plan keeps it. Without the runtime.
[[nodiscard]] Bytes pipeline_bound(const Plan& plan,
                                   const MemoryNeeds& needs,
                                   const StageBlocks& contents,
                                   std::span<const Bytes> passes);

/// The mean of the ranks' states, beside what is gathered of any layer. `whole`: contents of a
/// pipeline of one stage. `alone`: the plan has but that one.
[[nodiscard]] Bytes state_bound(const Plan& plan,
                                const MemoryNeeds& needs,
                                const StageBlocks& whole,
                                bool alone);

}  // namespace titer
