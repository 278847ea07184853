#pragma once

#include "titer/estimate/result.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// Demands that no rank computed faster than its chip's peak. A utilisation may be above one all
/// the same, as far as it counts what no kernel does: `mfu` and `hfu` the masked half of attention,
/// all of them what packed documents (attended_length) and dropped tokens leave out. The formula e7
/// takes what it is given, and conditions may make a device faster than its chip.
/// REQUIRES a result of the scenario's own durations.
void check_rates(const Scenario& scenario, const StepResult& result);

}  // namespace titer
