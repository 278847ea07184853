#pragma once
// Which of a network's places the nodes of a job get.

#include <array>
#include <cstdint>
#include <string>

#include "titer/topology/topology.hpp"

namespace titer {

/// Those one after another, any, or by turns of each part of the network: a leaf switch, a region.
/// [Jain et al. 2014, "Maximizing throughput on a dragonfly network"]
enum class NodePlacement : std::uint8_t { contiguous, random, round_robin };
inline constexpr std::array<Choice<NodePlacement>, 3> kNodePlacements = {
    {{"contiguous", NodePlacement::contiguous},
     {"random", NodePlacement::random},
     {"round-robin", NodePlacement::round_robin}}};

struct NodePlaces {
  NodePlacement placement = NodePlacement::contiguous;
  std::uint64_t seed = 0;  // of random ones: another draws others

  friend bool operator==(const NodePlaces&, const NodePlaces&) = default;
};

/// "at random (seed 7)"
[[nodiscard]] std::string places_text(const NodePlaces& places);

/// Numbers the devices of a network anew, `ports` of which are a node's, so that nodes in a row lie
/// so. REQUIRES a multiple of `ports`.
void place_nodes(const NodePlaces& places, int ports, Topology& network);

}  // namespace titer
