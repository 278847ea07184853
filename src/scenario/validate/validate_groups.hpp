#pragma once
// The part of validate() that is about how a layer is split: tensor, context and expert groups, and
// what of it is recomputed and launched as one.

#include "demands.hpp"

namespace titer {

inline constexpr double kMostDevices = 1e8;  // ranks are numbered in 32 bits
[[nodiscard]] inline bool has_countable_devices(const Plan& plan) {
  return static_cast<double>(plan.devices()) <= kMostDevices;
}

/// Whether heads, MLPs, sequences and experts can be divided as the plan has it.
void check_splits(const Scenario& scenario, Demands& demands);
/// Whether a tower's can be, and images are part of their sequences.
void check_tower(const Scenario& scenario, Demands& demands);
/// Whether a denoiser's sequences have more than their texts.
void check_denoiser(const Scenario& scenario, Demands& demands);
/// Whether groups lie evenly apart, and divide the devices.
void check_groups(const Scenario& scenario, Demands& demands);
/// Whether a plan is on all chips of a torus, and its groups are boxes of it. REQUIRES a torus.
void check_torus(const Scenario& scenario, Demands& demands);
/// Whether the model has what is to be recomputed, and what is to be launched as one.
void check_recomputation(const Scenario& scenario, Demands& demands);
void check_graph(const Scenario& scenario, Demands& demands);

}  // namespace titer
