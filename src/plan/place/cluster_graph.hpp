#pragma once
// The wiring of a cluster as a graph.

#include "titer/topology/families.hpp"

namespace titer {

/// The node's wiring as far as bandwidths go: what several chips of its switch carry together.
[[nodiscard]] Topology wiring_of(const NodeTopology& node);

}  // namespace titer
