#pragma once
// The durations of a step's pipeline in ticks, for the recurrence of its passes.

#include "titer/estimate/stage_passes.hpp"
#include "titer/plan/pipeline/pipeline_lanes.hpp"

namespace titer {

/// What sending takes after each kind of pass.
void fill_send_ticks(const StepCosts& costs, PassTicks& send);

/// The passes by themselves: of both copies of the model the same. `pairs`: whether some are done
/// together.
void fill_pass_ticks(const StepCosts& costs,
                     const StagePasses& passes,
                     bool pairs,
                     PassTicks& ticks);

/// By how much passes and what is beside them slow one another down, where they do: a transfer
/// takes some of the processors that compute needs, and half of the links that a pass's own
/// transfers need, too.
void fill_slowdowns(const StepCosts& costs,
                    const StagePasses& passes,
                    const PassTicks& ticks,
                    PipelineLanes& lanes);

/// The buckets of every stage, for each kind of pass that can be the last to make its gradients.
void fill_bucket_ticks(const StepCosts& costs,
                       const StagePasses& passes,
                       bool pairs,
                       PipelineLanes& lanes);

/// The gathers of updated parameters at the start. Each rank gathers stage by stage, in the order
/// of the forward pass; a first forward pass goes on where its next bucket has come. A bucket that
/// is ready early in the backward pass is needed late in the forward pass.
void fill_gather_ticks(const StepCosts& costs, const StagePasses& passes, PipelineLanes& lanes);

}  // namespace titer
