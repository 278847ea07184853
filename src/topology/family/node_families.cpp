#include "titer/topology/family/node_families.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace titer {
namespace {

constexpr std::int64_t kMostSwitched = 1 << 16;  // on a switch
constexpr std::int64_t kMostInCircle = 1024;
constexpr std::int64_t kMostWired = 64;  // wired pair by pair
constexpr std::int64_t kMostParallel = 64;
constexpr std::int64_t kMostPlanes = 256;

int read_devices(Reader& in, std::int64_t least, std::int64_t most) {
  return static_cast<int>(in.integer("devices", least, most));
}

}  // namespace

SwitchedNode SwitchedNode::read(Reader& in) {
  return {.devices = read_devices(in, 1, kMostSwitched),
          .bandwidth = in.quantity<BytesPerSecond>("bandwidth"),
          .planes = static_cast<int>(in.maybe_integer("planes", 1, kMostPlanes).value_or(1)),
          .reduces = in.flag("reduces", false)};
}

Topology SwitchedNode::build() const {
  Topology topology{.name = std::string(name), .devices = devices, .switches = 0, .wires = {}};
  const int first = add_switches(topology, planes, {SwitchKind::crossbar, reduces});
  for (int device = 0; device < devices; ++device) {
    for (int plane = 0; plane < planes; ++plane) {
      topology.wires.push_back(
          {.a = device, .b = first + plane, .count = 1, .bandwidth = bandwidth / planes});
    }
  }
  return topology;
}

SwitchedNode SwitchedNode::in_small(std::string& note) const {
  SwitchedNode drawn = *this;
  drawn.devices = std::min(devices, 16);
  drawn.planes = std::min(planes, 6);
  // As fast to each of the chips as the whole node is.
  drawn.bandwidth = bandwidth * (1.0 * drawn.planes / planes);
  note = fmt::format("drawn: {} of {} devices, {} of {} switch chips",
                     drawn.devices,
                     devices,
                     drawn.planes,
                     planes);
  return drawn;
}

FullyConnectedNode FullyConnectedNode::read(Reader& in) {
  return {.devices = read_devices(in, 2, kMostWired),
          .links = static_cast<int>(in.maybe_integer("links", 1, kMostParallel).value_or(1)),
          .bandwidth = in.quantity<BytesPerSecond>("bandwidth")};
}

Topology FullyConnectedNode::build() const {
  Topology topology{.name = std::string(name), .devices = devices, .switches = 0, .wires = {}};
  for (int a = 0; a < devices; ++a) {
    for (int b = a + 1; b < devices; ++b) {
      topology.wires.push_back({.a = a, .b = b, .count = links, .bandwidth = bandwidth});
    }
  }
  return topology;
}

FullyConnectedNode FullyConnectedNode::in_small(std::string& note) const {
  FullyConnectedNode drawn = *this;
  drawn.devices = std::min(devices, 12);
  note = fmt::format("drawn: {} of {} devices", drawn.devices, devices);
  return drawn;
}

RingNode RingNode::read(Reader& in) {
  return {.devices = read_devices(in, 3, kMostInCircle),
          .bandwidth = in.quantity<BytesPerSecond>("bandwidth")};
}

Topology RingNode::build() const {
  Topology topology{.name = std::string(name), .devices = devices, .switches = 0, .wires = {}};
  for (int device = 0; device < devices; ++device) {
    topology.wires.push_back(
        {.a = device, .b = (device + 1) % devices, .count = 1, .bandwidth = bandwidth});
  }
  return topology;
}

RingNode RingNode::in_small(std::string& note) const {
  RingNode drawn = *this;
  drawn.devices = std::min(devices, 32);
  note = fmt::format("drawn: a ring of {} instead of {} devices", drawn.devices, devices);
  return drawn;
}

}  // namespace titer
