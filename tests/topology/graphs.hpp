#pragma once
// Small graphs wired by hand, for the tests and benchmarks of what traffic does on a graph.

#include <cstddef>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "titer/topology/topology.hpp"

namespace titer::graphs {

inline constexpr BytesPerSecond kRate = BytesPerSecond::from_si(10e9);

inline Wire wire(int a, int b, int count = 1) {
  return {.a = a, .b = b, .count = count, .bandwidth = kRate};
}

inline Topology wired(int devices, int switches, std::vector<Wire> wires) {
  return {.name = "wired", .devices = devices, .switches = switches, .wires = std::move(wires)};
}

/// A torus (or, without wrapping, a mesh) of devices; the first coordinate varies fastest. Two
/// devices along a dimension have one wire, more are a circle.
inline Topology grid(const std::vector<int>& sizes, bool wraps = true) {
  Topology topology{.name = "grid", .devices = 1, .switches = 0, .wires = {}};
  for (const int along : sizes) {
    topology.devices *= along;
  }
  int stride = 1;
  for (const int along : sizes) {
    for (int device = 0; device < topology.devices; ++device) {
      const int coordinate = device / stride % along;
      if (coordinate + 1 < along) {
        topology.wires.push_back(wire(device, device + stride));
      } else if (wraps && along > 2) {
        topology.wires.push_back(wire(device, device - coordinate * stride));
      }
    }
    stride *= along;
  }
  return topology;
}

inline Topology ring(int devices) { return grid({devices}); }

/// Leaves of `hosts` devices each, every leaf joined to every spine by one wire. Device d hangs on
/// leaf d / hosts, which is vertex leaves * hosts + d / hosts; the spines come last.
inline Topology leaf_spine(int leaves, int hosts, int spines) {
  const int devices = leaves * hosts;
  Topology topology{
      .name = "leaf-spine", .devices = devices, .switches = leaves + spines, .wires = {}};
  for (int device = 0; device < devices; ++device) {
    topology.wires.push_back(wire(device, devices + device / hosts));
  }
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < spines; ++spine) {
      topology.wires.push_back(wire(devices + leaf, devices + leaves + spine));
    }
  }
  return topology;
}

/// The three-level fat tree of switches with k ports: k^3/4 hosts. [Al-Fares et al. 2008]
inline Topology fat_tree(int k) {
  const int half = k / 2;
  const int devices = k * half * half;
  const int edge = devices;            // k pods of `half` edge switches
  const int middle = edge + k * half;  // and as many aggregation switches
  const int core = middle + k * half;  // half * half core switches
  Topology topology{
      .name = "fat-tree", .devices = devices, .switches = 2 * k * half + half * half, .wires = {}};
  for (int device = 0; device < devices; ++device) {
    topology.wires.push_back(wire(device, edge + device / half));
  }
  for (int pod = 0; pod < k; ++pod) {
    for (int i = 0; i < half; ++i) {
      for (int j = 0; j < half; ++j) {
        topology.wires.push_back(wire(edge + pod * half + i, middle + pod * half + j));
        topology.wires.push_back(wire(middle + pod * half + i, core + i * half + j));
      }
    }
  }
  return topology;
}

/// Random wires, some parallel, some of a bus, between devices and switches; not always connected.
inline Topology random_graph(std::minstd_rand& random, int devices, int switches, int wires) {
  Topology topology{.name = "random", .devices = devices, .switches = switches, .wires = {}};
  const auto vertices = static_cast<unsigned>(topology.vertices());
  while (static_cast<int>(topology.wires.size()) < wires) {
    Wire next = wire(static_cast<int>(random() % vertices),
                     static_cast<int>(random() % vertices),
                     1 + static_cast<int>(random() % 2));
    next.duplex = random() % 4 == 0 ? Duplex::half : Duplex::full;
    next.latency = Seconds::from_si(1e-9 * static_cast<double>(1 + random() % 9));
    if (next.a != next.b) {
      topology.wires.push_back(next);
    }
  }
  return topology;
}

/// Links (with multiplicity) at one vertex.
inline int degree(const Topology& topology, int vertex) {
  int links = 0;
  for (const Wire& each : topology.wires) {
    links += each.a == vertex || each.b == vertex ? each.count : 0;
  }
  return links;
}

/// Fewest links between two vertices; empty when they are not connected.
inline std::optional<int> hops(const Topology& topology, int from, int to) {
  std::vector<std::optional<int>> found(static_cast<std::size_t>(topology.vertices()));
  const auto at = [&](int vertex) -> std::optional<int>& {
    return found[static_cast<std::size_t>(vertex)];
  };
  at(from) = 0;
  for (int far = 0; far < topology.vertices(); ++far) {
    for (const Wire& each : topology.wires) {
      for (const auto& [near, next] : {std::pair(each.a, each.b), std::pair(each.b, each.a)}) {
        if (at(near) == far && !at(next)) {
          at(next) = far + 1;
        }
      }
    }
  }
  return at(to);
}

inline std::vector<int> all_devices(const Topology& topology) {
  std::vector<int> devices;
  for (int device = 0; device < topology.devices; ++device) {
    devices.push_back(device);
  }
  return devices;
}

/// Of all parallel wires, either way.
inline int links_between(const Topology& topology, int a, int b) {
  int sum = 0;
  for (const Wire& wire : topology.wires) {
    const bool joins = (wire.a == a && wire.b == b) || (wire.a == b && wire.b == a);
    sum += joins ? wire.count : 0;
  }
  return sum;
}

}  // namespace titer::graphs
