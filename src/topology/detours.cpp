#include "titer/topology/detours.hpp"

#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

void add_route(Router& router, int from, int to, Route& route) {
  const auto rest = router.route(from, to);
  ensure(rest.has_value(), "the parts of a network are joined");
  route.insert(route.end(), rest->begin(), rest->end());
}

/// By vertex, whether it has links (of a switch: to devices).
std::vector<bool> usable(const Topology& topology, bool switches) {
  std::vector<bool> found(static_cast<std::size_t>(topology.vertices()), false);
  for (const Wire& wire : topology.wires) {
    for (const auto& [end, other] : {std::pair(wire.a, wire.b), std::pair(wire.b, wire.a)}) {
      const bool counts =
          switches ? end >= topology.devices && other < topology.devices : end < topology.devices;
      if (counts) {
        found[static_cast<std::size_t>(end)] = true;
      }
    }
  }
  return found;
}

}  // namespace

std::vector<int> regions_of(const Topology& topology, int switches_per_region) {
  std::vector<bool> with_devices = usable(topology, true);
  const bool any = includes(with_devices, true);
  if (!any) {
    with_devices = usable(topology, false);
  }
  std::vector<int> regions(with_devices.size(), -1);
  for (std::size_t vertex = 0; vertex < regions.size(); ++vertex) {
    if (with_devices[vertex]) {
      const int number = static_cast<int>(vertex) - (any ? topology.devices : 0);
      regions[vertex] = number / (any ? switches_per_region : 1);
    }
  }
  return regions;
}

int region_of(const Topology& topology, int vertex) {
  const auto index = static_cast<std::size_t>(vertex);
  return index < topology.regions.size() ? topology.regions[index] : -1;
}

std::vector<int> waypoints(const Topology& topology) {
  std::vector<int> vertices;
  for (std::size_t vertex = 0; vertex < topology.regions.size(); ++vertex) {
    if (topology.regions[vertex] >= 0) {
      vertices.push_back(static_cast<int>(vertex));
    }
  }
  return vertices;
}

Route by_way_of_another(Router& router, Route best, const std::vector<int>& waypoints) {
  const Topology& topology = router.topology();
  const auto region = [&](int vertex) { return region_of(topology, vertex); };
  if (best.empty()) {
    return best;
  }
  const int from = lane_begin(topology, best.front());
  const int to = lane_end(topology, best.back());
  std::size_t lanes = 0;  // up to the first vertex of a part
  int left = from;
  for (; region(left) < 0 && lanes < best.size(); ++lanes) {
    left = lane_end(topology, best[lanes]);
  }
  int last = region(left);
  for (std::size_t i = lanes; i < best.size(); ++i) {
    const int here = region(lane_end(topology, best[i]));
    last = here < 0 ? last : here;
  }
  if (last == region(left)) {
    return best;
  }
  const int by = waypoints[hash_of_ends(from, to, 1) % waypoints.size()];
  best.resize(lanes);
  add_route(router, left, by, best);
  add_route(router, by, to, best);
  return best;
}

}  // namespace titer
