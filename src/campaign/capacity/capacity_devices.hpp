#pragma once
// Which numbers of devices a question of capacity tries.

#include <cstdint>
#include <vector>

#include "titer/campaign/capacity.hpp"

namespace titer {

inline constexpr std::int64_t kMostAskedDevices = 100'000'000;

/// Where nobody says them, for the scenario's plan: those that share the batch out evenly (with
/// slack: nearly) and fill whole nodes, an even part of one, or a slice.
[[nodiscard]] std::vector<std::int64_t> default_devices(const CapacityQuestion& question);

/// For any plan: even parts of a node, and 8, 9, 10, 12 and 14 times powers of two of nodes, so
/// that each is at most 20 % more than the one before; of racks that are mostly used by 64 of 72
/// devices those of either number; of a torus its slices. All there are of a cluster whose size is
/// fixed.
[[nodiscard]] std::vector<std::int64_t> usual_sizes(const Cluster& cluster);

}  // namespace titer
