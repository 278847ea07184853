#include "titer/topology/topology.hpp"

#include <algorithm>
#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>

#include "titer/topology/properties.hpp"
#include "titer/units/ensure.hpp"

namespace titer {

namespace {

/// The neighbours of every vertex, one after another in one list.
class Neighbours {
 public:
  explicit Neighbours(const Topology& topology)
      : begins_(static_cast<std::size_t>(topology.vertices()) + 1, 0) {
    for (const Wire& wire : topology.wires) {
      ++begins_[static_cast<std::size_t>(wire.a) + 1];
      ++begins_[static_cast<std::size_t>(wire.b) + 1];
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    others_.resize(begins_.back());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    for (const Wire& wire : topology.wires) {
      others_[next[static_cast<std::size_t>(wire.a)]++] = wire.b;
      others_[next[static_cast<std::size_t>(wire.b)]++] = wire.a;
    }
  }

  [[nodiscard]] std::span<const int> of(int vertex) const {
    const auto index = static_cast<std::size_t>(vertex);
    return {others_.data() + begins_[index], begins_[index + 1] - begins_[index]};
  }
  [[nodiscard]] std::size_t vertices() const { return begins_.size() - 1; }

 private:
  std::vector<std::size_t> begins_;
  std::vector<int> others_;
};

/// Links from `source` to every vertex, into `links`; kFar where there is no path.
constexpr int kFar = std::numeric_limits<int>::max();
void measure_distances(const Neighbours& neighbours, int source, std::vector<int>& links) {
  links.assign(neighbours.vertices(), kFar);
  links[static_cast<std::size_t>(source)] = 0;
  std::vector<int> queue = {source};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const int here = queue[head];
    for (const int next : neighbours.of(here)) {
      int& distance = links[static_cast<std::size_t>(next)];
      if (distance == kFar) {
        distance = links[static_cast<std::size_t>(here)] + 1;
        queue.push_back(next);
      }
    }
  }
}

using FlowTraits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Flow = boost::adjacency_list<
    boost::vecS,
    boost::vecS,
    boost::directedS,
    boost::no_property,
    boost::property<
        boost::edge_capacity_t,
        double,
        boost::property<boost::edge_residual_capacity_t,
                        double,
                        boost::property<boost::edge_reverse_t, FlowTraits::edge_descriptor>>>>;

/// Joins a and b with the capacities of the two directions; the max-flow algorithms want every
/// edge paired with its reverse.
void add_pair(Flow& graph, std::size_t a, std::size_t b, double forward, double backward) {
  const auto there = boost::add_edge(a, b, graph).first;
  const auto back = boost::add_edge(b, a, graph).first;
  boost::put(boost::edge_capacity, graph, there, forward);
  boost::put(boost::edge_capacity, graph, back, backward);
  boost::put(boost::edge_reverse, graph, there, back);
  boost::put(boost::edge_reverse, graph, back, there);
}

}  // namespace

std::string_view name_of(SwitchKind kind) {
  constexpr std::array<std::string_view, 8> names = {
      "switch", "leaf", "spine", "core", "router", "NIC", "PCIe switch", "CPU"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(NetworkRouting routing) {
  return kNetworkRoutings.at(static_cast<std::size_t>(routing)).name;
}

Switch Topology::detail(int vertex) const {
  ensure(vertex >= devices && vertex < vertices(), "details are asked for a switch of the graph");
  return details.empty() ? Switch{} : details[static_cast<std::size_t>(vertex - devices)];
}

std::string Topology::label(int vertex) const {
  if (vertex < devices) {
    return "device " + std::to_string(vertex);
  }
  const SwitchKind kind = detail(vertex).kind;
  int before = 0;
  for (int other = devices; other < vertex; ++other) {
    before += detail(other).kind == kind ? 1 : 0;
  }
  return std::string(name_of(kind)) + " " + std::to_string(before);
}

int add_switches(Topology& topology, int count, Switch detail) {
  const int first = topology.vertices();
  topology.switches += count;
  topology.details.insert(topology.details.end(), static_cast<std::size_t>(count), detail);
  return first;
}

std::optional<int> unreachable_device(const Topology& topology) {
  std::vector<int> links;
  measure_distances(Neighbours(topology), 0, links);
  const auto devices = links.begin() + topology.devices;
  const auto found = std::find(links.begin(), devices, kFar);
  return found == devices ? std::nullopt : std::optional(static_cast<int>(found - links.begin()));
}

std::optional<int> diameter(const Topology& topology) {
  const Neighbours neighbours(topology);
  std::vector<bool> is_done(neighbours.vertices(), false);
  std::vector<int> links;
  int longest = 0;
  for (int from = 0; from < topology.devices; ++from) {
    // Devices with one wire, to the same vertex, are equally far from all others.
    if (const auto others = neighbours.of(from); others.size() == 1) {
      const auto only = static_cast<std::size_t>(others.front());
      if (is_done[only]) {
        continue;
      }
      is_done[only] = true;
    }
    measure_distances(neighbours, from, links);
    const int farthest = *std::max_element(links.begin(), links.begin() + topology.devices);
    if (farthest == kFar) {
      return std::nullopt;
    }
    longest = std::max(longest, farthest);
  }
  return longest;
}

BytesPerSecond halves_bandwidth(const Topology& topology) {
  ensure(topology.devices >= 2, "only two or more devices can be split into halves");
  const auto vertices = static_cast<std::size_t>(topology.vertices());
  const auto devices = static_cast<std::size_t>(topology.devices);
  const std::size_t source = vertices;
  const std::size_t sink = vertices + 1;
  Flow graph(vertices + 2);
  double all = 0.0;
  for (const Wire& wire : topology.wires) {
    const double capacity = (wire.count * wire.bandwidth).si();
    const auto a = static_cast<std::size_t>(wire.a);
    add_pair(graph, a, static_cast<std::size_t>(wire.b), capacity, capacity);
    all += capacity;
  }
  for (std::size_t device = 0; device < devices; ++device) {
    if (device < devices / 2) {
      add_pair(graph, source, device, all, 0.0);
    } else {
      add_pair(graph, device, sink, all, 0.0);
    }
  }
  return BytesPerSecond::from_si(boost::edmonds_karp_max_flow(graph, source, sink));
}

bool are_distinct_devices(const Topology& topology, std::vector<int> group) {
  std::ranges::sort(group);
  return group.front() >= 0 && group.back() < topology.devices &&
         std::ranges::adjacent_find(group) == group.end();
}

}  // namespace titer
