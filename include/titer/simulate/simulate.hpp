#pragma once
// A step followed event by event: what every device does at every instant, and the result read off
// that timeline.

#include <cstdint>
#include <span>

#include "titer/cost/cost.hpp"
#include "titer/estimate/result.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer {

struct SimulationOptions {
  // Every device by itself. Otherwise one of each pipeline rank stands for those that do the same;
  // where devices are not alike, every one is simulated anyway.
  bool every_rank = false;
  bool record = false;       // fill the timeline
  bool network = false;      // transfers share the links of the cluster, see share_links()
  std::uint32_t sample = 0;  // of the random part of the conditions
};

struct Simulation {
  StepResult result;
  StepTimeline timeline;  // ranks and makespan; spans, messages and memory where recorded
};

/// As many devices as are simulated one by one.
inline constexpr std::int64_t kMostSimulatedDevices = std::int64_t{1} << 20;

/// As many spans as are recorded: about a gigabyte.
inline constexpr std::int64_t kMostRecordedSpans = 20'000'000;

/// REQUIRES a valid scenario. Throws InputError where the sends of a schedule wait for one another
/// for ever, where there are too many devices, or too many spans to record, and where a plan cannot
/// be followed on the links.
///
/// The breakdown is exact: each instant of the rank that finishes last counts as its compute if it
/// computes, else as the communication of its own that runs (the first of tensor, context, expert,
/// pipeline, data), else as bubble. Waiting for a message of another rank is bubble; the sender
/// counts it as communication. Totals are what the lanes were busy for.
[[nodiscard]] Simulation simulate(const Scenario& scenario, const SimulationOptions& options = {});
/// With other durations than the scenario's own. REQUIRES devices of one class.
[[nodiscard]] Simulation simulate(const Scenario& scenario,
                                  const StepCosts& costs,
                                  const SimulationOptions& options = {});
/// Of each class of devices (estimate/device_classes.hpp).
[[nodiscard]] Simulation simulate(const Scenario& scenario,
                                  std::span<const StepCosts> costs,
                                  const SimulationOptions& options = {});

}  // namespace titer
