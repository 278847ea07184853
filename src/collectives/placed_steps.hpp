#pragma once
// What both ways to execute collectives on a graph need to know of their messages.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "titer/collectives/execution.hpp"

namespace titer {

/// Where a message starts and ends, and the vertex that it has to pass.
struct Ends {
  int from = 0;
  int to = 0;
  std::optional<int> via;
};

/// The route of a message. REQUIRES that there is one.
[[nodiscard]] Route route_between(Router& router, int from, int to);

[[nodiscard]] Ends ends_of(const PlacedSteps& placed, const Message& message);

/// Refuses collectives some of whose ranks or helpers have no place.
void check_places(std::span<const PlacedSteps> collectives);

/// For each message, how many rounds are over once it has arrived: those of the longest row of
/// messages that wait for another, it included. Joins count for none.
[[nodiscard]] std::vector<std::uint32_t> rounds_of(const Steps& steps);

/// What each message costs besides its bytes: the latency of its tier, and the start-up of the tier
/// if none of those that it waits for has paid it.
[[nodiscard]] std::vector<Seconds> costs_of(const Steps& steps, const Fabric& fabric);

}  // namespace titer
