#include "titer/topology/properties.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace titer {
namespace {

constexpr int kMostRinged = 16;

/// What a family knows of itself; these answers are for those that know nothing.
template <class Family>
std::optional<Bisection> closed_bisection(const Family& /*family*/) {
  return std::nullopt;
}
template <class Family>
std::optional<int> closed_diameter(const Family& /*family*/) {
  return std::nullopt;
}

template <>
std::optional<Bisection> closed_bisection(const Torus& torus) {
  std::optional<double> fewest;
  for (std::size_t i = 0; i < torus.dimensions.size(); ++i) {
    const double links = 1.0 * torus.links_across(i) * torus.devices() / torus.dimensions[i];
    if (links > 0.0) {
      fewest = std::min(fewest.value_or(links), links);
    }
  }
  return fewest ? std::optional(Bisection{*fewest * torus.bandwidth,
                                          "links cut across the dimension where they are fewest"})
                : std::nullopt;
}

template <>
std::optional<int> closed_diameter(const Torus& torus) {
  int links = 0;
  for (std::size_t i = 0; i < torus.dimensions.size(); ++i) {
    const int length = torus.dimensions[i];
    links += torus.links_across(i) == 2 ? length / 2 : length - 1;
  }
  return links;
}

/// Levels up to the highest one whose switches have more than one lower neighbour.
std::size_t branching_levels(const FatTree& tree) {
  std::size_t levels = 0;
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    levels = tree.levels[i].down > 1 ? i + 1 : levels;
  }
  return levels;
}

template <>
std::optional<Bisection> closed_bisection(const FatTree& tree) {
  const std::size_t top = branching_levels(tree);
  if (top == 0 || tree.levels[top - 1].down % 2 != 0) {
    return std::nullopt;
  }
  std::optional<BytesPerSecond> narrowest;
  for (std::size_t i = 0; i < top; ++i) {
    const FatTreeLevel& level = tree.levels[i];
    const BytesPerSecond all =
        (1.0 * tree.planes * tree.size(i) * level.up * level.parallel) * level.bandwidth;
    narrowest = std::min(narrowest.value_or(all), all);
  }
  return Bisection{*narrowest / 2.0, "half of the narrowest level's links"};
}

template <>
std::optional<int> closed_diameter(const FatTree& tree) {
  return 2 * static_cast<int>(branching_levels(tree));
}

template <>
std::optional<Bisection> closed_bisection(const Dragonfly& net) {
  if (net.groups < 2) {
    return std::nullopt;
  }
  const int half = net.groups / 2;
  const double pairs = 1.0 * half * (net.groups - half);
  return Bisection{pairs * net.pair_links * net.global_bandwidth,
                   "estimate: global links between two halves of the groups"};
}

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
  const auto closed =
      std::visit([](const auto& alternative) { return closed_bisection(alternative); }, family);
  return built.devices >= 2 && closed ? closed : cut_of_halves(built);
}

std::optional<int> diameter(const NodeTopology& family, const Topology& built) {
  const auto closed =
      std::visit([](const auto& alternative) { return closed_diameter(alternative); }, family);
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
  summary.reduces = std::any_of(
      built.details.begin(), built.details.end(), [](const Switch& hub) { return hub.reduces; });
  const bool is_wired = std::any_of(built.wires.begin(), built.wires.end(), [&](const Wire& wire) {
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
