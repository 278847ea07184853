#include "titer/topology/properties.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace titer {
namespace {

constexpr int kMostRinged = 16;

/// The least and the most degree of a device.
std::pair<int, int> device_degrees(const Topology& topology) {
  const std::vector<int> links = degrees(topology);
  const auto [least, most] = std::minmax_element(links.begin(), links.begin() + topology.devices);
  return {*least, *most};
}

std::optional<Bisection> cut_of_halves(const Topology& built) {
  return built.devices < 2 ? std::nullopt
                           : std::optional(Bisection{halves_bandwidth(built),
                                                     "min cut between the halves as numbered"});
}

}  // namespace

std::vector<std::string> labels(const Topology& topology) {
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(topology.vertices()));
  for (int device = 0; device < topology.devices; ++device) {
    texts.push_back(topology.label(device));
  }
  std::array<int, 8> counts{};  // of each kind
  for (int vertex = topology.devices; vertex < topology.vertices(); ++vertex) {
    const SwitchKind kind = topology.detail(vertex).kind;
    int& count = counts.at(static_cast<std::size_t>(kind));
    texts.push_back(std::string(name_of(kind)) + " " + std::to_string(count++));
  }
  return texts;
}

std::vector<int> degrees(const Topology& topology) {
  std::vector<int> links(static_cast<std::size_t>(topology.vertices()), 0);
  for (const Wire& wire : topology.wires) {
    links[static_cast<std::size_t>(wire.a)] += wire.count;
    links[static_cast<std::size_t>(wire.b)] += wire.count;
  }
  return links;
}

std::optional<Bisection> bisection_bandwidth(const NodeTopology& family, const Topology& built) {
  const auto closed = family.family().bisection(family);
  return built.devices >= 2 && closed ? closed : cut_of_halves(built);
}

std::optional<int> diameter(const NodeTopology& family, const Topology& built) {
  const auto closed = family.family().diameter(family);
  return closed ? closed : diameter(built);
}

namespace {

/// All but what the family may know by itself.
TopologySummary summarize_graph(const Topology& built) {
  TopologySummary summary;
  for (const Wire& wire : built.wires) {
    summary.links += wire.count;
  }
  std::tie(summary.least_degree, summary.most_degree) = device_degrees(built);
  summary.reduces =
      std::ranges::any_of(built.details, [](const Switch& hub) { return hub.reduces; });
  const bool is_wired = std::ranges::any_of(built.wires, [&](const Wire& wire) {
    return wire.a < built.devices && wire.b < built.devices;
  });
  if (is_wired && built.devices >= 2 && built.devices <= kMostRinged) {
    std::vector<int> group(static_cast<std::size_t>(built.devices));
    std::iota(group.begin(), group.end(), 0);
    summary.rings = pack_rings(built, group);
  }
  return summary;
}

}  // namespace

TopologySummary summarize(const NodeTopology& family, const Topology& built) {
  TopologySummary summary = summarize_graph(built);
  summary.diameter = diameter(family, built);
  summary.bisection = bisection_bandwidth(family, built);
  return summary;
}

TopologySummary summarize(const NamedTopology& network, const Topology& built) {
  if (!network.failures.any()) {
    return summarize(network.family, built);
  }
  TopologySummary summary = summarize_graph(built);
  summary.diameter = diameter(built);
  summary.bisection = cut_of_halves(built);
  return summary;
}

}  // namespace titer
