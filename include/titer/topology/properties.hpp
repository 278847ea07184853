#pragma once
// What a topology is worth: reach, diameter, bisection. Closed forms where a family has one, a
// search of its graph otherwise.

#include <optional>
#include <string>
#include <vector>

#include "titer/topology/families.hpp"

namespace titer {

/// Labels of all vertices, as Topology::label().
[[nodiscard]] std::vector<std::string> labels(const Topology& topology);
/// Links (with multiplicity) at every vertex.
[[nodiscard]] std::vector<int> degrees(const Topology& topology);
/// The first device that device 0 cannot reach.
[[nodiscard]] std::optional<int> unreachable_device(const Topology& topology);

/// What the family knows of itself, else halves_bandwidth(), the min cut between the halves as
/// numbered. Empty for fewer than two devices.
[[nodiscard]] std::optional<Bisection> bisection_bandwidth(const NodeTopology& family,
                                                           const Topology& built);
/// Fewest links between the two devices farthest apart; empty when some are not connected.
[[nodiscard]] std::optional<int> diameter(const NodeTopology& family, const Topology& built);

/// All of it, to be shown.
struct TopologySummary {
  int links = 0;         // with multiplicity
  int least_degree = 0;  // of a device
  int most_degree = 0;
  bool reduces = false;  // some switch does
  std::optional<int> diameter;
  std::optional<Bisection> bisection;
  std::optional<RingPacking> rings;  // of all devices: at most 16, wired to each other
};
[[nodiscard]] TopologySummary summarize(const NodeTopology& family, const Topology& built);
/// The same of a network; where something has failed, of what is left of its graph.
[[nodiscard]] TopologySummary summarize(const NamedTopology& network, const Topology& built);

}  // namespace titer
