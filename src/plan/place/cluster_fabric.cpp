// What a cluster's groups can send: channels by tier.

#include <algorithm>
#include <cstddef>

#include "cluster_graph.hpp"
#include "node_tree.hpp"
#include "rank_wiring.hpp"
#include "titer/plan/place/cluster.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/tree_packing.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// Row by row in a table of so many columns.
std::size_t table_index(int row, int column, int columns) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
         static_cast<std::size_t>(column);
}

/// Whether one of the groups {first, first + stride, …} that tile a node begins at this device.
bool begins_group(int device, int ranks, int stride) { return device % (ranks * stride) < stride; }

/// All of them.
std::vector<std::vector<int>> tiles(int devices, int ranks, int stride) {
  std::vector<std::vector<int>> groups;
  for (int first = 0; first + (ranks - 1) * stride < devices; ++first) {
    if (begins_group(first, ranks, stride)) {
      std::vector<int>& group = groups.emplace_back();
      for (int rank = 0; rank < ranks; ++rank) {
        group.push_back(first + rank * stride);
      }
    }
  }
  return groups;
}

/// Through one switch all groups are alike.
std::optional<NodeTree> tree_of(const NodeTopology& node) {
  return node.as<SwitchedNode>() != nullptr ? std::nullopt : NodeTree::of(build(node));
}

/// What rings reach among some devices of a node. Through a switch every group is alike; a tree of
/// switches has one way; only direct wires are searched.
class NodeRings {
 public:
  explicit NodeRings(const NodeTopology& node) : topology_(build(node)), tree_(tree_of(node)) {}

  [[nodiscard]] std::optional<BytesPerSecond> bandwidth(const std::vector<int>& group) const {
    if (tree_) {
      return tree_->ring({&group, 1});
    }
    const RingPacking packing = pack_rings(topology_, group);
    return packing.directed_rings == 0 ? std::nullopt : std::optional(packing.bandwidth());
  }

  /// The least over groups that tile the node, of a tree all of them at once.
  [[nodiscard]] std::optional<BytesPerSecond> worst(
      const std::vector<std::vector<int>>& groups) const {
    if (tree_) {
      return tree_->ring(groups);
    }
    std::optional<BytesPerSecond> least;
    for (const std::vector<int>& group : groups) {
      const auto found = bandwidth(group);
      if (!found) {
        return std::nullopt;
      }
      least = least ? std::min(*least, *found) : *found;
    }
    return least;
  }

  [[nodiscard]] const std::optional<NodeTree>& tree() const { return tree_; }

 private:
  Topology topology_;
  std::optional<NodeTree> tree_;
};

/// Returns whether all pairs are joined.
bool fill_pairs(const NodeRings& rings, Cluster& cluster) {
  const int devices = cluster.devices_per_node;
  bool all_joined = true;
  cluster.pair_bandwidths.assign(table_index(devices, 0, devices), std::nullopt);
  for (int a = 0; a < devices; ++a) {
    for (int b = 0; b < devices; ++b) {
      if (a != b) {
        auto& entry = cluster.pair_bandwidths[table_index(a, b, devices)];
        entry = rings.bandwidth({a, b});
        all_joined = all_joined && entry.has_value();
      }
    }
  }
  return all_joined;
}

/// Any group of a switch's devices has what a port of it has.
void fill_alike(BytesPerSecond port, Cluster& cluster) {
  const int devices = cluster.devices_per_node;
  cluster.ring_bandwidths.assign(table_index(devices + 1, 0, devices + 1), std::nullopt);
  for (int ranks = 2; ranks <= devices; ++ranks) {
    for (int stride = 1; ranks * stride <= devices; ++stride) {
      cluster.ring_bandwidths[table_index(ranks, stride, devices + 1)] = port;
    }
  }
  cluster.exchange_bandwidths.clear();
  cluster.pair_bandwidths.assign(table_index(devices, 0, devices), port);
}

Channel channel_of(const std::vector<Protocol>& protocols, BytesPerSecond bandwidth) {
  Channel channel;
  for (const Protocol& protocol : protocols) {
    channel.add({.latency = protocol.latency,
                 .bandwidth = protocol.efficiency * bandwidth,
                 .startup = protocol.startup,
                 .own_share = protocol.own_share,
                 .exchange_share = protocol.exchange_share});
  }
  return channel;
}

/// The wires' own channel or, without wires, the path through the host.
Channel node_channel(const Cluster& cluster,
                     const std::vector<Protocol>& protocols,
                     std::optional<BytesPerSecond> wires) {
  if (wires) {
    return channel_of(protocols, *wires);
  }
  ensure(cluster.host_path.has_value(), "a cluster was read with unjoined devices, no host path");
  return Channel(*cluster.host_path);
}

/// By which ranks of a node send to one other, or to all at once.
const std::vector<Protocol>& peers_of(const Cluster& cluster) {
  return cluster.peer_protocols.empty() ? cluster.node_protocols : cluster.peer_protocols;
}

/// The least bandwidth between two of a group's devices; empty if some two are not joined.
/// `device` tells them by their number in the group.
template <class DeviceOf>
std::optional<BytesPerSecond> slowest_pair_of(const Cluster& cluster, int ranks, DeviceOf device) {
  std::optional<BytesPerSecond> slowest;
  for (int a = 0; a < ranks; ++a) {
    for (int b = 0; b < ranks; ++b) {
      if (a == b) {
        continue;
      }
      const auto& pair =
          cluster.pair_bandwidths[table_index(device(a), device(b), cluster.devices_per_node)];
      if (!pair) {
        return std::nullopt;
      }
      slowest = slowest ? std::min(*slowest, *pair) : *pair;
    }
  }
  return slowest;
}

/// The least of the groups {first, first + stride, …} that tile a node.
std::optional<BytesPerSecond> slowest_pair_of_groups(const Cluster& cluster,
                                                     int ranks,
                                                     int stride) {
  std::optional<BytesPerSecond> slowest;
  for (int first = 0; first + (ranks - 1) * stride < cluster.devices_per_node; ++first) {
    if (!begins_group(first, ranks, stride)) {
      continue;
    }
    const auto pair =
        slowest_pair_of(cluster, ranks, [&](int number) { return first + number * stride; });
    if (!pair) {
      return std::nullopt;
    }
    slowest = slowest ? std::min(*slowest, *pair) : *pair;
  }
  return slowest;
}

/// What ranks have outside their node.
Fabric network_fabric(const Cluster& cluster) {
  Fabric fabric;
  fabric.network = cluster.network_channel();
  fabric.network_switch = channel_of(cluster.network_switch_protocols, cluster.nic_share());
  fabric.named = cluster.collectives;
  return fabric;
}

/// Through a switch a rank reaches one or all others as it reaches the next of a ring. Returns
/// whether the node has one.
bool add_switch_ports(const Cluster& cluster, Fabric& fabric) {
  const auto* switched = cluster.topology.as<SwitchedNode>();
  if (switched == nullptr) {
    return false;
  }
  fabric.pair = channel_of(peers_of(cluster), switched->bandwidth);
  fabric.exchange = fabric.pair;
  fabric.node_switch = channel_of(cluster.node_switch_protocols, switched->bandwidth);
  return true;
}

/// Through a tree of switches all ranks that each send to one other, in turn to all, share its
/// edges as those that send to all at once.
void add_tree_ways(const Cluster& cluster, BytesPerSecond exchange, Fabric& fabric) {
  fabric.pair = channel_of(peers_of(cluster), exchange);
  fabric.exchange = fabric.pair;
}

/// By direct wires a rank reaches one other as its slowest pair does, or through the host where
/// some two are not joined, and all others at once where every two are.
void add_direct_ways(const Cluster& cluster,
                     int ranks,
                     std::optional<BytesPerSecond> slowest,
                     Fabric& fabric) {
  fabric.pair = node_channel(cluster, peers_of(cluster), slowest);
  if (slowest) {
    fabric.exchange = channel_of(peers_of(cluster), static_cast<double>(ranks - 1) * *slowest);
  }
}

}  // namespace

bool Cluster::fill_bandwidths() {
  if (const auto* switched = topology.as<SwitchedNode>()) {
    fill_alike(switched->bandwidth, *this);
    return true;
  }
  const NodeRings rings(topology);
  const int devices = devices_per_node;
  bool all_joined = true;
  ring_bandwidths.assign(table_index(devices + 1, 0, devices + 1), std::nullopt);
  exchange_bandwidths.assign(rings.tree() ? ring_bandwidths.size() : 0, std::nullopt);
  for (int ranks = 2; ranks <= devices; ++ranks) {
    for (int stride = 1; ranks * stride <= devices; ++stride) {
      const std::vector<std::vector<int>> groups = tiles(devices, ranks, stride);
      const std::size_t index = table_index(ranks, stride, devices + 1);
      ring_bandwidths[index] = rings.worst(groups);
      all_joined = all_joined && ring_bandwidths[index].has_value();
      if (rings.tree()) {
        exchange_bandwidths[index] = rings.tree()->exchange(groups);
      }
    }
  }
  return fill_pairs(rings, *this) && all_joined;
}

std::optional<BytesPerSecond> Cluster::ring_bandwidth(int ranks, int stride) const {
  const std::size_t index = table_index(ranks, stride, devices_per_node + 1);
  return index < ring_bandwidths.size() ? ring_bandwidths[index] : std::nullopt;
}

std::optional<BytesPerSecond> Cluster::exchange_bandwidth(int ranks, int stride) const {
  const std::size_t index = table_index(ranks, stride, devices_per_node + 1);
  return index < exchange_bandwidths.size() ? exchange_bandwidths[index] : std::nullopt;
}

BytesPerSecond Cluster::nic_share() const {
  return nic_bandwidth * (static_cast<double>(nics) / devices_per_node);
}

Channel Cluster::network_channel() const { return channel_of(network_protocols, nic_share()); }

Fabric Cluster::fabric(int ranks, int stride) const {
  Fabric fabric = network_fabric(*this);
  if (torus() != nullptr) {
    fabric.wire = channel_of(node_protocols, torus()->bandwidth);
  } else if (ranks > 1) {
    fabric.node = node_channel(*this, node_protocols, ring_bandwidth(ranks, stride));
    if (const auto exchange = exchange_bandwidth(ranks, stride)) {
      add_tree_ways(*this, *exchange, fabric);
    } else if (!add_switch_ports(*this, fabric)) {
      add_direct_ways(*this, ranks, slowest_pair_of_groups(*this, ranks, stride), fabric);
    }
  }
  return fabric;
}

Fabric Cluster::fabric(const std::vector<int>& devices,
                       Wiring& wiring,
                       std::span<const std::vector<int>> at_once) const {
  Fabric fabric = network_fabric(*this);
  if (torus() != nullptr) {
    fabric.wire = channel_of(node_protocols, torus()->bandwidth);
    return fabric;
  }
  if (devices.size() < 2) {
    return fabric;
  }
  const Topology node = wiring_of(topology);
  if (const auto tree = tree_of(topology)) {
    const NodeTree::Groups groups = at_once.empty() ? NodeTree::Groups(&devices, 1) : at_once;
    fabric.node = channel_of(node_protocols, tree->ring(groups));
    add_tree_ways(*this, tree->exchange(groups), fabric);
    return fabric;
  }
  const RingPacking rings = pack_rings(node, devices);
  if (host_path && rings.directed_rings > 0) {  // otherwise rings take the host's path already
    fabric.host = Channel(*host_path);
  }
  fabric.node =
      node_channel(*this,
                   node_protocols,
                   rings.directed_rings == 0 ? std::nullopt : std::optional(rings.bandwidth()));
  if (!add_switch_ports(*this, fabric)) {
    add_direct_wires(devices, rings, fabric, wiring);
  }
  return fabric;
}

std::optional<BytesPerSecond> Cluster::slowest_pair(const std::vector<int>& devices) const {
  return slowest_pair_of(*this, static_cast<int>(devices.size()), [&](int number) {
    return devices[static_cast<std::size_t>(number)];
  });
}

void Cluster::add_direct_wires(const std::vector<int>& devices,
                               const RingPacking& rings,
                               Fabric& fabric,
                               Wiring& wiring) const {
  add_direct_ways(*this, static_cast<int>(devices.size()), slowest_pair(devices), fabric);
  const Topology node = build(topology);
  if (node.switches != 0) {
    return;
  }
  const TreePacking trees = pack_trees(node, devices);
  const bool in_rings = rings.directed_rings > 0;
  if (in_rings || trees.count > 0) {
    fabric.wire = channel_of(node_protocols, in_rings ? rings.per_ring : trees.per_tree);
  }
  if (in_rings) {
    wiring.rings = directed_rings(rings, devices);
  }
  wiring.trees = rank_trees(trees, devices);
}

Channel Cluster::pair_channel(int a, int b) const {
  return node_channel(*this, peers_of(*this), pair_bandwidths[table_index(a, b, devices_per_node)]);
}

}  // namespace titer
