#include "titer/simulate/events_beside.hpp"

#include <fmt/format.h>

#include <cmath>

#include "titer/simulate/simulate.hpp"

namespace titer {

std::optional<EventsBeside> events_beside(const Scenario& scenario, const StepResult& result) {
  if (scenario.formula != Formula::titer || scenario.stack.overlap_slowdown <= 1) {
    return std::nullopt;
  }
  const Plan& plan = scenario.plan;
  const std::int64_t passes =
      2 * plan.pipeline * plan.virtual_stages * scenario.micro_batches();  // forward and backward
  if (passes > kMostPassesBeside) {
    return EventsBeside{.why_not = fmt::format("not followed beside {} passes", passes)};
  }
  try {
    const Seconds time = simulate(scenario).result.iteration_time;
    return std::abs(time / result.iteration_time - 1) > kToldDifference
               ? std::optional(EventsBeside{.iteration_time = time, .why_not = {}})
               : std::nullopt;
  } catch (const InputError& error) {
    return EventsBeside{.why_not = error.what()};
  }
}

}  // namespace titer
