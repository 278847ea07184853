#pragma once
// Whether the events of a step say something else than its closed form.

#include "titer/estimate/result.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// A difference that is told, over the closed form's time: below it lie what buckets and passes are
/// rounded by.
inline constexpr double kToldDifference = 0.02;
/// As many passes as are followed for it: some tenths of a second.
inline constexpr std::int64_t kMostPassesBeside = 400'000;

/// Of a step whose closed form was asked for: what events say where that is another time. Both
/// agree exactly where nothing is shared; where the stack's transfers slow compute beside them
/// down, the closed form knows of it inside a pass only, and the step is simulated. REQUIRES the
/// closed form's result.
[[nodiscard]] std::optional<EventsBeside> events_beside(const Scenario& scenario,
                                                        const StepResult& result);

}  // namespace titer
