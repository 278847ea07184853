#pragma once
// Times that no step can be under, from what its passes take by themselves: for a search, which
// needs not follow the pipeline of a plan whose bound is worse than what it has.

#include <vector>

#include "titer/cost/cost.hpp"

namespace titer {

/// What a block takes for one micro-batch, at least; of a plan's pipeline, data and state it says
/// nothing.
struct BlockWork {
  Seconds forward{};  // with what transfers expose
  Seconds backward{};
  Seconds parts{};        // the backward pass, whole or in two parts, whichever is less
  Seconds launched{};     // forth and back, kernels and launches alone
  Seconds transferred{};  // forth and back, hidden or not
  Seconds alone{};        // more, where another pass might have been beside each of these
  struct Recompute {
    Seconds busy{};
    Seconds launched{};
    Seconds transferred{};
  };
  Recompute recompute{};  // before the backward pass
};
struct ModelWork {
  std::vector<BlockWork> kinds{};  // of layers
  BlockWork embedding{};
  BlockWork head{};
  std::vector<LayerRun> order{};
};
/// `costs`: of blocks.
[[nodiscard]] ModelWork model_work(const StepCosts& costs);

/// Of all plans in this place, whatever their pipeline and state. All passes of all micro-batches
/// are work of some rank, and a rank takes no less than its mean:
///   T >= m / p sum over blocks of (F + R + B)
/// with what transfers expose, or where passes run in pairs of compute or of transfers alone.
[[nodiscard]] Seconds place_bound(const Scenario& scenario, const ModelWork& work);

/// Of all plans with this pipeline, whatever their state, by the work of their blocks alone: what
/// step_bound() says of it without messages between stages.
/// `contents`: of its stages.
[[nodiscard]] Seconds pipeline_bound(const Scenario& scenario,
                                     const ModelWork& work,
                                     const StageBlocks& contents);

/// What any rank of such a plan computes at least, by itself: kernels and launches of all passes of
/// its stages.
[[nodiscard]] Seconds compute_bound(const Scenario& scenario,
                                    const ModelWork& work,
                                    const StageBlocks& contents);

/// Of one plan, or of any that differs in sharding, offloading and overlap beside the passes where
/// `costs` are of one without, and have no tails and buckets. A rank begins after the forward
/// passes of the model's stages before its first one, is busy with all of its passes, and then has
/// its tail:
///   T >= head + m sum over its stages of (F + R + B) + tail
/// Where backward passes are whole and models go one way, its last pass is a backward one: those of
/// the stages before follow it, and gradients made by it are synchronised after it began.
/// Where a backward pass may be in two parts, B is the lesser of whole and parts. Where passes run
/// in pairs, they take no less than their compute, nor than their transfers.
/// `costs`: of the scenario. Rounded as the estimate is, so that bound <= estimate to the tick.
[[nodiscard]] Seconds step_bound(const Scenario& scenario, const StepCosts& costs);

}  // namespace titer
