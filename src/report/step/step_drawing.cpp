#include "titer/report/step/step_drawing.hpp"

#include <fmt/format.h>

#include "titer/report/step/timeline_report.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

/// More are a barcode from close by, too, and a report of many megabytes.
constexpr std::int64_t kMostPasses = 20'000;

std::int64_t passes_of(const Scenario& scenario) {
  return 2 * scenario.micro_batches() * scenario.plan.virtual_stages * scenario.plan.pipeline;
}

}  // namespace

std::optional<Drawing> step_drawing(const Scenario& scenario) {
  if (scenario.plan.pipeline == 1) {
    return std::nullopt;
  }
  Drawing drawing{.title = "What every stage does when", .svg = "", .note = "", .is_large = true};
  const std::int64_t passes = passes_of(scenario);
  if (passes > kMostPasses) {
    drawing.note = fmt::format(
        "Left out: {} passes, more than the {} that can be seen apart; `titer timeline` draws "
        "them.",
        grouped_digits(passes),
        grouped_digits(kMostPasses));
    return drawing;
  }
  try {
    check_fidelity(scenario, Fidelity::event);
    Simulation step = simulate(scenario, {.record = true});
    drawing.note = fmt::format("One iteration of {}, by events; numbers are micro-batches.",
                               format(step.result.iteration_time));
    MemoryStrips memory = memory_in_use(step.timeline, step.result.memory_capacity);
    drawing.svg = timeline_picture({.title = "",
                                    .note = "",
                                    .timeline = std::move(step.timeline),
                                    .is_close = true,
                                    .memory = std::move(memory)});
  } catch (const InputError& error) {
    drawing.note = "Left out: " + error.lines.front();
  }
  return drawing;
}

}  // namespace titer
