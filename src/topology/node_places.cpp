#include "titer/topology/node_places.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace titer {
namespace {

/// Which part of the network a device's first switch is; -1 where it has none left.
std::vector<int> first_parts(const Topology& network) {
  std::vector<int> parts(static_cast<std::size_t>(network.devices), -1);
  for (const Wire& wire : network.wires) {
    const auto [device, other] = std::minmax(wire.a, wire.b);
    if (device >= network.devices || other < network.devices) {
      continue;
    }
    int& part = parts[static_cast<std::size_t>(device)];
    const auto at = static_cast<std::size_t>(other);
    const bool has_region = at < network.regions.size() && network.regions[at] >= 0;
    const int found = has_region ? network.regions[at] : other;
    part = part < 0 ? found : std::min(part, found);
  }
  return parts;
}

/// Of each node the place that it gets.
std::vector<int> drawn(int nodes, std::uint64_t seed) {
  std::vector<int> places(static_cast<std::size_t>(nodes));
  std::iota(places.begin(), places.end(), 0);
  std::mt19937_64 random(seed);
  // std::shuffle may draw otherwise elsewhere.
  for (std::size_t left = places.size(); left > 1; --left) {
    std::swap(places[left - 1], places[random() % left]);
  }
  return places;
}

std::vector<int> by_turns(const Topology& network, int ports, int nodes) {
  const std::vector<int> parts = first_parts(network);
  std::map<int, std::vector<int>> places_of;
  for (int place = 0; place < nodes; ++place) {
    const std::size_t first_port =
        static_cast<std::size_t>(place) * static_cast<std::size_t>(ports);
    places_of[parts[first_port]].push_back(place);
  }
  std::vector<int> places;
  for (std::size_t turn = 0; std::ssize(places) < nodes; ++turn) {
    for (const auto& [part, own] : places_of) {
      if (turn < own.size()) {
        places.push_back(own[turn]);
      }
    }
  }
  return places;
}

}  // namespace

std::string places_text(const NodePlaces& places) {
  switch (places.placement) {
    case NodePlacement::contiguous:
      break;
    case NodePlacement::random:
      return "at random (seed " + std::to_string(places.seed) + ")";
    case NodePlacement::round_robin:
      return "round-robin over its parts";
  }
  return "in a row";
}

void place_nodes(const NodePlaces& places, int ports, Topology& network) {
  if (places.placement == NodePlacement::contiguous) {
    return;
  }
  const int nodes = network.devices / ports;
  const std::vector<int> of_node = places.placement == NodePlacement::random
                                       ? drawn(nodes, places.seed)
                                       : by_turns(network, ports, nodes);
  std::vector<int> numbers(static_cast<std::size_t>(network.devices));
  for (int node = 0; node < nodes; ++node) {
    for (int port = 0; port < ports; ++port) {
      const int before = of_node[static_cast<std::size_t>(node)] * ports + port;
      numbers[static_cast<std::size_t>(before)] = node * ports + port;
    }
  }
  const auto renumber = [&](int& vertex) {
    vertex = vertex < network.devices ? numbers[static_cast<std::size_t>(vertex)] : vertex;
  };
  for (Wire& wire : network.wires) {
    renumber(wire.a);
    renumber(wire.b);
  }
}

}  // namespace titer
