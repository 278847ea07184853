#pragma once
// Who sends how much to whom, and what that puts on every link as the topology routes it.

#include <optional>
#include <vector>

#include "titer/topology/routes.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// Bytes that one vertex sends to another; to itself they use no link. Switches that add or
/// multicast are ends of traffic too.
struct Demand {
  int from = 0;
  int to = 0;
  Bytes bytes;
};

/// Every rank sends `per_pair` to every other rank. REQUIRES distinct devices.
struct UniformExchange {
  std::vector<int> ranks;
  Bytes per_pair;
};

/// All that is under way at the same time.
struct Traffic {
  std::vector<Demand> demands;
  std::vector<UniformExchange> exchanges;
};

/// Bytes on every lane of the router's topology, by its routing. Minimal: at every vertex the
/// traffic to a destination is split evenly over the links of the best routes. One pass over the
/// wires per destination, where all devices that hang by one wire on the same switch are one
/// destination and one source. Valiant: what leaves a part of the network for another is spread
/// over all vertices of parts first, and goes on from there; what stays in its part does not.
/// REQUIRES a route for each pair that sends something.
[[nodiscard]] std::vector<Bytes> link_loads(const Router& router, const Traffic& traffic);
/// Of what leaves one part for another the share that goes by way of others: none or all but for
/// adaptive routing, where it is the one that leaves the busiest link least busy.
[[nodiscard]] double detoured_share(const Router& router, const Traffic& traffic);

/// The capacity that is busy longest (see Capacities).
struct BusiestLink {
  Lane lane = 0;  // it, or the first of the two that share it
  Bytes bytes;
  Seconds time;  // bytes / capacity: nothing that puts these loads on the links is faster
  friend bool operator==(const BusiestLink&, const BusiestLink&) = default;
};
/// Empty when no link is used. The first of equals. REQUIRES a bandwidth for each link used.
[[nodiscard]] std::optional<BusiestLink> busiest_link(const Topology& topology,
                                                      const std::vector<Bytes>& loads);

/// The least time that any routing needs for the traffic between devices {0..n/2-1} and {n/2..n-1}:
/// the larger of its two directions over halves_bandwidth(). Empty when nothing can cross.
/// REQUIRES two or more devices.
[[nodiscard]] std::optional<Seconds> halves_time(const Topology& topology, const Traffic& traffic);

}  // namespace titer
