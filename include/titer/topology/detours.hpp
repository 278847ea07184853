#pragma once
// Routing by way of somewhere else (Valiant's), for networks whose best routes meet on few links.

#include <vector>

#include "titer/topology/routes.hpp"

namespace titer {

[[nodiscard]] constexpr bool goes_by_others(NetworkRouting routing) {
  return routing == NetworkRouting::valiant || routing == NetworkRouting::adaptive;
}

/// The parts of a network (Topology::regions): the switches with devices, so many after one another
/// to a part; where there are none, each device by itself. What has no links is in no part.
[[nodiscard]] std::vector<int> regions_of(const Topology& topology, int switches_per_region);
/// The part of a vertex; -1 of none.
[[nodiscard]] int region_of(const Topology& topology, int vertex);
/// The vertices that are in a part, by way of which traffic may go.
[[nodiscard]] std::vector<int> waypoints(const Topology& topology);

/// Of a best route that leads from one part to another the same by way of a vertex that a hash of
/// its ends picks; any other stays as it is.
[[nodiscard]] Route by_way_of_another(Router& router,
                                      Route best,
                                      const std::vector<int>& waypoints);

}  // namespace titer
