#pragma once
// What every stage of the pipeline does when, as a picture of a report.

#include <optional>

#include "titer/scenario/scenario.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// By events; or why there is no picture. Nothing of a plan without a pipeline.
[[nodiscard]] std::optional<Drawing> step_drawing(const Scenario& scenario);

}  // namespace titer
