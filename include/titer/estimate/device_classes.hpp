#pragma once
// Devices of several chips, or with micro-batches of several sizes, in one step: what each class of
// them takes.

#include <cstddef>
#include <vector>

#include "titer/cost/cost.hpp"

namespace titer {

/// How many classes there are: for every micro-batch, the largest first, the cluster's own chip and
/// those of its conditions. Class 0, the largest micro-batch on the cluster's chip, has most in
/// memory.
[[nodiscard]] std::size_t class_count(const Scenario& scenario);

/// The scenario as devices of one class see it: their chip in the place of the cluster's
/// (Conditions::chip_class tells a device's), and all micro-batches as large as theirs, as many as
/// there are.
[[nodiscard]] Scenario class_scenario(const Scenario& scenario, std::size_t of_class);

/// The costs of each class. A transfer takes what the cluster's links say in all of them; what
/// differs is the kernels of passes and optimizers. REQUIRES a valid scenario.
[[nodiscard]] std::vector<StepCosts> class_costs(const Scenario& scenario);

/// Of each data-parallel rank, the class of its devices on the cluster's chip.
[[nodiscard]] std::vector<std::size_t> first_classes(const Scenario& scenario);
/// How many devices of the plan have each chip.
[[nodiscard]] std::vector<std::int64_t> chip_counts(const Scenario& scenario);

/// The matrix rate of a device, all devices' mean.
[[nodiscard]] FlopsPerSecond mean_peak(const Scenario& scenario);

/// The least memory that a device with any chip in use has.
[[nodiscard]] Bytes least_memory(const Scenario& scenario);

}  // namespace titer
