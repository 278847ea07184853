#include "titer/topology/family/node_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/lists.hpp"

namespace titer {
namespace {

constexpr std::array kSwitchedFields = {
    fields::integer<&SwitchedNode::devices>("devices", {1, 1 << 16}, "of the node").needed(),
    fields::quantity<&SwitchedNode::bandwidth>("bandwidth", "of a device's port, one direction")
        .needed(),
    fields::integer<&SwitchedNode::planes>(
        "planes", {1, 256}, "switch chips, each with an equal share of a port"),
    fields::flag<&SwitchedNode::reduces>("reduces", kReducesAbout)};

constexpr std::array kFullyConnectedFields = {
    fields::integer<&FullyConnectedNode::devices>("devices", {2, 64}, "of the node").needed(),
    fields::integer<&FullyConnectedNode::links>("links", {1, 64}, "between every pair of devices"),
    fields::quantity<&FullyConnectedNode::bandwidth>("bandwidth", "of a link, one direction")
        .needed()};

constexpr std::array kRingFields = {
    fields::integer<&RingNode::devices>("devices", {3, 1024}, "in the circle").needed(),
    fields::quantity<&RingNode::bandwidth>("bandwidth", "of a link, one direction").needed()};

}  // namespace

std::span<const Field<SwitchedNode>> SwitchedNode::fields() { return kSwitchedFields; }

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

std::span<const Field<FullyConnectedNode>> FullyConnectedNode::fields() {
  return kFullyConnectedFields;
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

std::span<const Field<RingNode>> RingNode::fields() { return kRingFields; }

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
