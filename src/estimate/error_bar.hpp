#pragma once
// How well founded an iteration's time is, and where four of five measured ones are expected.

#include <optional>

#include "titer/estimate/result.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// The weakest evidence among the figures that this scenario's time rests on.
[[nodiscard]] Grade grade_of(const Scenario& scenario);

/// Of a result with its grade and times: by how far off public runs of the software were, and no
/// narrower than what fits of chip and network leave open. None of software that was not compared,
/// and of times that are another formula's.
[[nodiscard]] std::optional<ErrorBar> error_bar_of(const Scenario& scenario,
                                                   const StepResult& result);

}  // namespace titer
