#pragma once
// Routes and link loads on a topology, as text, CSV and JSON.

#include <optional>
#include <string>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/topology/traffic.hpp"

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
  std::optional<Seconds> halves;  // no routing is faster: the bytes between the numbered halves
};

[[nodiscard]] std::string routes_text(const Router& router, const RouteView& view);
[[nodiscard]] std::string routes_csv(const Router& router, const RouteView& view);
[[nodiscard]] Value routes_json(const Router& router, const RouteView& view);

/// The bounds, and the links that are busy longest.
[[nodiscard]] std::string loads_text(const Topology& topology, const LoadView& view);
/// One row per link and direction that carries something.
[[nodiscard]] std::string loads_csv(const Topology& topology, const LoadView& view);
[[nodiscard]] Value loads_json(const Topology& topology, const LoadView& view);

}  // namespace titer
