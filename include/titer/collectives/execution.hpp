#pragma once
// Collectives on a real graph: their messages routed link by link, either round by round, each as
// long as its busiest link, or as flows that share the links fairly. One result type for both.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "titer/collectives/steps.hpp"
#include "titer/topology/routes.hpp"
#include "titer/topology/traffic.hpp"

namespace titer {

/// One collective and where it takes place. Several run at the same time.
struct PlacedSteps {
  const Steps* steps = nullptr;
  std::vector<int> ranks;    // the vertex of each rank
  std::vector<int> helpers;  // the vertex of each helper: a switch that adds, or a server's device
  std::optional<int> host;   // the vertex that messages of Tier::host pass
};

/// What a collective took on a graph.
struct Execution {
  Seconds time;
  std::size_t messages = 0;
  std::size_t rounds = 0;              // messages that wait for one another in the longest row
  std::optional<BusiestLink> busiest;  // of the bytes of all messages together
};

/// What all the messages together put on the way between every two vertices, by rising ends.
[[nodiscard]] std::vector<Demand> demands_of(std::span<const PlacedSteps> collectives);

/// Round by round: the messages that can start when as many others have gone before them go
/// together, and the round takes its greatest latency and the time of its busiest link, equal-cost
/// routes sharing the bytes evenly. The start-up of a tier comes on top of the first of a row of
/// messages that uses it.
/// `fabric` gives the latency and start-up of each tier (its first protocol); the bandwidths are
/// the graph's own. REQUIRES a route for every message.
[[nodiscard]] Execution execute_by_rounds(std::span<const PlacedSteps> collectives,
                                          Router& router,
                                          const Fabric& fabric);

/// As flows: every message takes one route (a hash of its two ends picks among equal ones), and
/// starts as soon as those it waits for have arrived.
[[nodiscard]] Execution execute_as_flows(std::span<const PlacedSteps> collectives,
                                         Router& router,
                                         const Fabric& fabric);

/// When each of the demands has arrived, in their order, where all start at once: as flows, each by
/// one route. REQUIRES routes.
[[nodiscard]] std::vector<Seconds> execute_as_flows(std::span<const Demand> demands,
                                                    Router& router);

/// A direct all-to-all, size/n from every rank to every other one at once: `link` gives latency and
/// start-up, the busiest link the rest. The same as execute_by_rounds() of it, without writing down
/// its n^2 messages.
[[nodiscard]] Execution execute_exchange(Bytes size,
                                         const std::vector<int>& ranks,
                                         const Router& router,
                                         const Link& link);

}  // namespace titer
