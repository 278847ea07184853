#include "cluster_graph.hpp"

#include <utility>

#include "titer/plan/place/cluster.hpp"
#include "titer/topology/family/joined_nodes.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/properties.hpp"

namespace titer {
namespace {

void scale(Topology& topology, double efficiency) {
  for (Wire& wire : topology.wires) {
    wire.bandwidth = efficiency * wire.bandwidth;
  }
}

/// Adds a switch that every device reaches, through a port of its own, at the bandwidth of the path
/// through the host. The ports make that way longer than one over a switch of the node's fabric.
void add_host(Topology& node, const Link& path) {
  node.details.resize(static_cast<std::size_t>(node.switches));
  const int ports = add_switches(node, node.devices, {.kind = SwitchKind::pcie});
  const int host = add_switches(node, 1, {.kind = SwitchKind::cpu});
  for (int device = 0; device < node.devices; ++device) {
    for (const auto& [a, b] :
         {std::pair(device, ports + device), std::pair(ports + device, host)}) {
      node.wires.push_back({.a = a, .b = b, .count = 1, .bandwidth = path.bandwidth});
    }
  }
}

/// Puts a port between every device and a NIC that it shares with others, so that no best route
/// between two of these goes through the NIC.
void add_nic_ports(Topology& graph) {
  const std::size_t wires = graph.wires.size();
  for (std::size_t i = 0; i < wires; ++i) {
    const Wire wire = graph.wires[i];
    if (wire.a < graph.devices && wire.b >= graph.devices &&
        graph.detail(wire.b).kind == SwitchKind::nic) {
      const int port = add_switches(graph, 1, {.kind = SwitchKind::pcie});
      graph.wires[i].b = port;
      graph.wires.push_back({.a = port, .b = wire.b, .count = 1, .bandwidth = wire.bandwidth});
    }
  }
}

}  // namespace

Topology wiring_of(const NodeTopology& node) {
  if (const auto* switched = node.as<SwitchedNode>()) {
    SwitchedNode one = *switched;
    one.planes = 1;
    return one.build();
  }
  return build(node);
}

std::optional<std::int64_t> Cluster::nodes_of_network() const {
  return network_topology ? std::optional<std::int64_t>(build(*network_topology).devices / nics)
                          : std::nullopt;
}

int Cluster::switches_per_node() const {
  return wiring_of(topology).switches + (host_path ? devices_per_node + 1 : 0);
}

int Cluster::top_of_network(int node_count) const {
  const int before = node_count * (devices_per_node + switches_per_node() + nics);
  if (!network_topology) {
    return before;
  }
  const Topology network = build(*network_topology);
  const std::vector<int> links = degrees(network);
  int top = network.vertices() - 1;
  while (top > network.devices && links[static_cast<std::size_t>(top)] == 0) {
    --top;  // it has failed
  }
  return before + top - network.devices;
}

Topology Cluster::graph(int node_count, double node_efficiency, double network_efficiency) const {
  Topology node = wiring_of(topology);
  scale(node, node_efficiency);
  if (host_path) {
    add_host(node, *host_path);
  }
  if (node_count == 1) {
    return node;
  }
  Topology network =
      network_topology
          ? build(*network_topology, nics)
          : SwitchedNode{.devices = node_count * nics, .bandwidth = nic_bandwidth}.build();
  scale(network, network_efficiency);
  Topology graph = JoinedNodes{.nodes = node_count,
                               .nics = nics,
                               .nic_bandwidth = network_efficiency * nic_bandwidth,
                               .node = std::move(node),
                               .network = std::move(network)}
                       .build();
  if (nics < devices_per_node) {
    add_nic_ports(graph);
  }
  return graph;
}

}  // namespace titer
