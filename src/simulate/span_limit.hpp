#pragma once
// How much of a step can be recorded.

#include "titer/simulate/step_program.hpp"
#include "titer/simulate/world.hpp"

namespace titer {

/// Throws InputError where a timeline would have more than kMostRecordedSpans, before any memory is
/// filled.
void check_recordable(const World& world, const StepProgram& program);

}  // namespace titer
