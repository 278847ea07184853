#pragma once
// What a network's topology gives each of the interfaces that are joined to it.

#include <optional>

#include "titer/plan/place/cluster.hpp"

namespace titer {

/// What a port of the network's topology carries, where that is less than the NIC at it does.
[[nodiscard]] std::optional<BytesPerSecond> narrow_port(const Cluster& cluster);

}  // namespace titer
