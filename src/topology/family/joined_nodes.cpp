#include "titer/topology/family/joined_nodes.hpp"

#include <algorithm>
#include <array>

#include "titer/topology/families.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr double kMostNodes = 1 << 16;
constexpr double kMostWires = 4e6;

/// Whether the parts go together; otherwise says why not.
bool parts_fit(Reader& in, const JoinedNodes& joined) {
  const std::int64_t ports = std::int64_t{joined.nodes} * joined.nics;
  if (joined.network.devices != ports) {
    in.fail("network",
            "it has " + std::to_string(joined.network.devices) + " devices; expected " +
                std::to_string(ports) + ", a port for each of the " + std::to_string(joined.nics) +
                " NICs of " + std::to_string(joined.nodes) + " nodes");
    return false;
  }
  if (static_cast<double>(joined.node.wires.size() + 64) * joined.nodes > kMostWires) {
    in.fail("nodes", "expected a cluster of at most four million links");
    return false;
  }
  return true;
}

Switch detail_or_crossbar(const Topology& part, int i) {
  return part.details.empty() ? Switch{} : part.details[static_cast<std::size_t>(i)];
}

void read_node(const Field<JoinedNodes>& own, Reader& in, JoinedNodes& joined) {
  const bool is_there = in.has(own.key);
  Reader node = in.object(own.key);
  if (is_there) {
    joined.node = titer::build(read_node_topology(node));
  }
}

void read_network(const Field<JoinedNodes>& own, Reader& in, JoinedNodes& joined) {
  const bool is_there = in.has(own.key);
  Reader network = in.object(own.key);
  if (is_there) {
    joined.network = titer::build(read_topology(network));
  }
}

constexpr std::array kJoinedFields = {
    fields::integer<&JoinedNodes::nodes>("nodes", {1, kMostNodes}, "equal ones").needed(),
    fields::integer<&JoinedNodes::nics>("nics", {1, 1024}, "interfaces of a node").needed(),
    fields::quantity<&JoinedNodes::nic_bandwidth>("nic_bandwidth", "of an interface, one direction")
        .needed(),
    fields::of_schema<JoinedNodes, schema::named_data>(
        "node", read_node, "a topology of one node's devices")
        .needed(),
    fields::of_schema<JoinedNodes, schema::named_data>(
        "network", read_network, "a topology of the nodes' interfaces, node by node")
        .needed()};

/// Adds the switches and wires of a part whose devices are the vertices from `first` on. Returns
/// its first switch.
int add_part(const Topology& part, int first, Topology& topology) {
  const int first_switch = topology.vertices();
  for (int i = 0; i < part.switches; ++i) {
    add_switches(topology, 1, detail_or_crossbar(part, i));
  }
  for (Wire wire : part.wires) {
    for (int* end : {&wire.a, &wire.b}) {
      *end += *end < part.devices ? first : first_switch - part.devices;
    }
    topology.wires.push_back(wire);
  }
  return first_switch;
}

/// The wires between devices and NICs; returns the first NIC.
int add_nics(const JoinedNodes& joined, Topology& topology) {
  const int devices = joined.node.devices;
  const int first_nic =
      add_switches(topology, joined.nodes * joined.nics, {.kind = SwitchKind::nic});
  for (int n = 0; n < joined.nodes; ++n) {
    // One wire per device or per NIC, whichever are more.
    const int wires = std::max(devices, joined.nics);
    for (int i = 0; i < wires; ++i) {
      topology.wires.push_back({.a = n * devices + i * devices / wires,
                                .b = first_nic + n * joined.nics + i * joined.nics / wires,
                                .count = 1,
                                .bandwidth = joined.nic_bandwidth});
    }
  }
  return first_nic;
}

}  // namespace

std::span<const Field<JoinedNodes>> JoinedNodes::fields() { return kJoinedFields; }

void JoinedNodes::check(Reader& in) {
  if (node.devices == 0 || network.devices == 0 || !parts_fit(in, *this)) {
    const Topology alone{.name = {}, .devices = 1, .switches = 0, .wires = {}};
    *this = {.nodes = 1, .nics = 1, .nic_bandwidth = 1_GBps, .node = alone, .network = alone};
  }
}

Topology JoinedNodes::build() const {
  ensure(network.devices == nodes * nics, "the network of joined nodes has a port for each NIC");
  Topology topology{
      .name = std::string(name), .devices = nodes * node.devices, .switches = 0, .wires = {}};
  for (int n = 0; n < nodes; ++n) {
    add_part(node, n * node.devices, topology);
  }
  const int first_nic = add_nics(*this, topology);
  const int first_switch = add_part(network, first_nic, topology);
  topology.routing = network.routing;
  if (!network.regions.empty()) {
    topology.regions.assign(static_cast<std::size_t>(topology.vertices()), -1);
    for (int vertex = 0; vertex < network.vertices(); ++vertex) {
      const int placed =
          vertex + (vertex < network.devices ? first_nic : first_switch - network.devices);
      topology.regions[static_cast<std::size_t>(placed)] =
          network.regions[static_cast<std::size_t>(vertex)];
    }
  }
  return topology;
}

}  // namespace titer
