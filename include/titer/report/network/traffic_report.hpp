#pragma once
// Routes and link loads on a topology, as they are read.

#include <optional>
#include <string>
#include <vector>

#include "titer/topology/traffic.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// The equal best routes between two vertices; `more`: there are others that are not listed.
struct RouteView {
  int from = 0;
  int to = 0;
  std::vector<Route> routes;
  bool more = false;
};

/// What traffic puts on the links.
struct LoadView {
  std::string what;  // "every device sends 64 MiB in all to the others"
  std::vector<Bytes> loads;
  std::optional<BusiestLink> busiest;
  NetworkRouting routing = NetworkRouting::minimal;
  double detoured = 0;            // share of what leaves its part of the network
  std::optional<Seconds> halves;  // no routing is faster: the bytes between the numbered halves
};

/// When what is sent at once has arrived.
struct FlowView {
  std::string what;
  std::vector<Demand> demands;
  std::vector<Seconds> arrivals;
};

/// How long each wire is busy in the direction in which it is so longer.
[[nodiscard]] std::vector<Seconds> wire_times(const Topology& topology,
                                              const std::vector<Bytes>& loads);

/// A row for each link of each route.
[[nodiscard]] View routes_view(const Router& router, const RouteView& view);
/// The bounds, and a row for each link and direction that carries something, the longest busy
/// first.
[[nodiscard]] View loads_view(const Topology& topology, const LoadView& view);
/// A row for each demand, the last to arrive first.
[[nodiscard]] View flows_view(const Topology& topology, const FlowView& view);

}  // namespace titer
