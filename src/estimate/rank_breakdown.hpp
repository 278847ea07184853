#pragma once
// Where the time of a pipeline rank goes, in the closed form.

#include "titer/estimate/result.hpp"
#include "titer/estimate/stage_passes.hpp"
#include "titer/plan/pipeline/pipeline_lanes.hpp"
#include "titer/plan/pipeline/pipeline_program.hpp"

namespace titer {

/// A time in whole ticks, as tasks take it.
[[nodiscard]] inline Seconds rounded(Seconds time) { return to_seconds(to_ticks(time)); }

/// Fills the breakdown of the reference stage before its bubble, and its communication, exposed or
/// not. `send`: what sending takes after each kind of pass. REQUIRES result.reference_stage.
void fill_breakdown(const StepCosts& costs,
                    const StagePasses& passes,
                    const PipelineCounts& counts,
                    const PassTicks& send,
                    StepResult& result);

}  // namespace titer
