#pragma once
// Times that no step can be under, from what its passes take by themselves: for a search, which
// needs not follow the pipeline of a plan whose bound is worse than what it has.

#include "titer/cost/cost.hpp"

namespace titer {

/// What all blocks of a model take for one micro-batch, at least; of a plan's pipeline, data and
/// state it says nothing.
struct BlockWork {
  Seconds launched{};     // kernels and launches alone
  Seconds busy{};         // with what transfers expose
  Seconds transferred{};  // all that is transferred, hidden or not
  double slowdown = 1;    // at most, of what runs beside a transfer
};
/// `costs`: of blocks.
[[nodiscard]] BlockWork block_work(const Plan& plan, const StepCosts& costs);

/// Of all plans with these layers and this many devices, whatever the pipeline, its schedule, the
/// rank order and the sharding. All passes of all micro-batches are work of some rank, and a rank
/// takes no less than its mean:
///   T >= m / p sum over blocks of (F + R + B)
/// F, R, B: kernels and launches alone, without what transfers add. m / p = gb t cp / (b n) is the
/// same for any p. `work`: of any plan among them.
[[nodiscard]] Seconds work_bound(const Scenario& scenario, const BlockWork& work);

/// The same of all plans in this place of the pipeline whose schedule may not pair passes, with
/// what transfers expose of them. `work`: of one without sharding and offloading.
[[nodiscard]] Seconds place_bound(const Scenario& scenario, const BlockWork& work);

/// The same where passes run in pairs: the lesser of compute and transfers is hidden.
[[nodiscard]] Seconds paired_place_bound(const Scenario& scenario, const BlockWork& work);

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
