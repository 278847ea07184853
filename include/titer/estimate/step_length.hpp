#pragma once
// The longest step there is an answer for.

#include <optional>

#include "titer/cost/cost.hpp"

namespace titer {

/// 53 days: a little less than the 2^62 picoseconds that are counted.
inline constexpr Seconds kLongestStep = 53 * kDay;

/// Throws InputError, which names the limit. `step`: how long it is, where that is known.
[[noreturn]] void refuse_length(std::optional<Seconds> step = {});

/// Throws InputError where the step may take longer than kLongestStep. Of other steps no sum of
/// picoseconds is too large for its type. What takes part at the same time and does not hold up the
/// step is counted, too, where that is all that makes the difference.
void check_length(const Scenario& scenario, const StepCosts& costs);

}  // namespace titer
