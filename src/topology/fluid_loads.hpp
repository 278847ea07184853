#pragma once
// What traffic puts on the links when it is divided like a fluid.

#include <vector>

#include "titer/topology/traffic.hpp"

namespace titer {

/// Bytes on every lane, evenly over the best routes; of what leaves its part of the network such a
/// share by way of all vertices of parts. See link_loads().
[[nodiscard]] std::vector<Bytes> fluid_loads(const Router& router,
                                             const Traffic& traffic,
                                             double detoured);

}  // namespace titer
