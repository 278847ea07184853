#pragma once
// Devices of several chips in one step: what each chip's devices take.

#include <cstddef>
#include <span>
#include <vector>

#include "titer/step/cost.hpp"
#include "titer/step/world.hpp"

namespace titer {

/// How many chips the devices have: the cluster's own and those of its conditions.
[[nodiscard]] std::size_t class_count(const Scenario& scenario);

/// The scenario as devices of one class see it: their chip in the place of the cluster's. Class 0
/// is the cluster's own; Conditions::chip_class tells a device's.
[[nodiscard]] Scenario class_scenario(const Scenario& scenario, std::size_t chip_class);

/// The costs of each class. A transfer takes what the cluster's links say in all of them; what
/// differs is the kernels of passes and optimizers. REQUIRES a valid scenario.
[[nodiscard]] std::vector<StepCosts> class_costs(const Scenario& scenario);

/// The class whose costs each simulated device takes. The members of a tensor group wait for one
/// another in every pass, so all of them take those of its slowest chip.
[[nodiscard]] std::vector<std::size_t> classes_of(const Conditions& conditions,
                                                  const World& world,
                                                  std::span<const StepCosts> costs);

/// How many devices of the plan are of each class.
[[nodiscard]] std::vector<std::int64_t> class_sizes(const Scenario& scenario);

/// The matrix rate of a device, all devices' mean.
[[nodiscard]] FlopsPerSecond mean_peak(const Scenario& scenario);

/// The least memory that a device of any class in use has.
[[nodiscard]] Bytes least_memory(const Scenario& scenario);

}  // namespace titer
