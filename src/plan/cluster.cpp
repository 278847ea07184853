#include "titer/plan/cluster.hpp"

#include <algorithm>

#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// Row by row in a table of so many columns.
std::size_t table_index(int row, int column, int columns) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
         static_cast<std::size_t>(column);
}

/// What rings reach among some devices of a node. Through a switch every group is alike, so that
/// only direct wires are searched.
class NodeRings {
 public:
  explicit NodeRings(const NodeTopology& node) : topology_(build(node)) {
    if (const auto* switched = std::get_if<SwitchedNode>(&node)) {
      port_ = switched->bandwidth;
    }
  }

  [[nodiscard]] std::optional<BytesPerSecond> bandwidth(const std::vector<int>& group) const {
    if (port_) {
      return port_;
    }
    const RingPacking packing = pack_rings(topology_, group);
    return packing.directed_rings == 0 ? std::nullopt : std::optional(packing.bandwidth());
  }

  /// The least over the groups {first, first + stride, …} that tile the node.
  [[nodiscard]] std::optional<BytesPerSecond> worst(int ranks, int stride) const {
    std::optional<BytesPerSecond> least;
    for (int first = 0; first + (ranks - 1) * stride < topology_.devices; ++first) {
      if (first % (ranks * stride) >= stride) {
        continue;  // inside a group, not at its start
      }
      std::vector<int> group(static_cast<std::size_t>(ranks));
      std::generate(group.begin(), group.end(), [next = first - stride, stride]() mutable {
        return next += stride;
      });
      const auto found = bandwidth(group);
      if (!found) {
        return std::nullopt;
      }
      least = least ? std::min(*least, *found) : *found;
    }
    return least;
  }

 private:
  Topology topology_;
  std::optional<BytesPerSecond> port_;
};

/// Fills both tables; false when some group or pair has no wires to use.
bool fill_bandwidths(Cluster& cluster) {
  const NodeRings rings(cluster.topology);
  const int devices = cluster.devices_per_node;
  bool all_joined = true;
  cluster.ring_bandwidths.assign(table_index(devices + 1, 0, devices + 1), std::nullopt);
  for (int ranks = 2; ranks <= devices; ++ranks) {
    for (int stride = 1; ranks * stride <= devices; ++stride) {
      auto& entry = cluster.ring_bandwidths[table_index(ranks, stride, devices + 1)];
      entry = rings.worst(ranks, stride);
      all_joined = all_joined && entry.has_value();
    }
  }
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

std::vector<Protocol> read_protocols(Reader& in, std::string_view where, EvidenceList& evidence) {
  std::vector<Protocol> protocols;
  for (Reader& item : in.objects("protocols")) {
    Protocol protocol;
    protocol.name = item.text("name");
    const std::string path = std::string(where) + "." + protocol.name;
    if (const auto startup = item.maybe_quantity<Seconds>("startup")) {
      protocol.startup = *startup;
      evidence.note(item, "startup", path + ".startup");
    }
    protocol.latency = item.quantity<Seconds>("latency");
    evidence.note(item, "latency", path + ".latency");
    protocol.efficiency = item.number("efficiency", 1e-6, 1.0);
    evidence.note(item, "efficiency", path + ".efficiency");
    protocol.grade = evidence.grade(path + ".efficiency");
    item.finish();
    protocols.push_back(std::move(protocol));
  }
  if (in.has("protocols") && (protocols.empty() || protocols.size() > Channel::capacity)) {
    in.fail("protocols", "expected one to four protocols");
  }
  return protocols;
}

void read_node(Reader node, Cluster& cluster) {
  Reader fabric = node.object("fabric");
  cluster.topology = read_node_topology(fabric);
  if (const Value* value = fabric.raw("bandwidth"); value != nullptr) {
    cluster.evidence.note(fabric, "bandwidth", "node.fabric.bandwidth");
  }
  cluster.devices_per_node = build(cluster.topology).devices;
  cluster.node_protocols = read_protocols(node, "node", cluster.evidence);
  cluster.nics = static_cast<int>(node.integer("nics", 1, 1024));
  cluster.nic_bandwidth = node.quantity<BytesPerSecond>("nic_bandwidth");
  cluster.evidence.note(node, "nic_bandwidth", "node.nic_bandwidth");
  if (auto host = node.maybe_object("host_path")) {
    cluster.host_path =
        Link{host->quantity<Seconds>("latency"), host->quantity<BytesPerSecond>("bandwidth")};
    cluster.evidence.note(*host, "bandwidth", "node.host_path.bandwidth");
    host->finish();
  }
  node.finish();
}

Channel channel_of(const std::vector<Protocol>& protocols, BytesPerSecond bandwidth) {
  Channel channel;
  for (const Protocol& protocol : protocols) {
    channel.add({protocol.latency, protocol.efficiency * bandwidth, protocol.startup});
  }
  return channel;
}

/// The wires' own channel or, without wires, the path through the host.
Channel node_channel(const Cluster& cluster, std::optional<BytesPerSecond> wires) {
  if (wires) {
    return channel_of(cluster.node_protocols, *wires);
  }
  ensure(cluster.host_path.has_value(), "a cluster was read with unjoined devices, no host path");
  return Channel(*cluster.host_path);
}

}  // namespace

std::optional<BytesPerSecond> Cluster::ring_bandwidth(int ranks, int stride) const {
  const std::size_t index = table_index(ranks, stride, devices_per_node + 1);
  return index < ring_bandwidths.size() ? ring_bandwidths[index] : std::nullopt;
}

BytesPerSecond Cluster::nic_share() const {
  return nic_bandwidth * (static_cast<double>(nics) / devices_per_node);
}

Channel Cluster::network_channel() const { return channel_of(network_protocols, nic_share()); }

Fabric Cluster::fabric(int ranks, int stride) const {
  Fabric fabric;
  fabric.network = network_channel();
  if (ranks > 1) {
    fabric.node = node_channel(*this, ring_bandwidth(ranks, stride));
  }
  return fabric;
}

Channel Cluster::pair_channel(int a, int b) const {
  return node_channel(*this, pair_bandwidths[table_index(a, b, devices_per_node)]);
}

Cluster read_cluster(Reader& in) {
  Cluster cluster;
  cluster.name = in.text("name");
  cluster.title = in.maybe_text("title").value_or(cluster.name);
  cluster.evidence.read_sources(in);
  Reader chip = in.object("chip");
  cluster.chip = read_chip(chip);
  read_node(in.object("node"), cluster);
  Reader network = in.object("network");
  cluster.network_protocols = read_protocols(network, "network", cluster.evidence);
  network.finish();
  cluster.nodes = in.maybe_integer("nodes", 1, 10'000'000);
  in.finish();
  if (cluster.devices_per_node > 0 && !fill_bandwidths(cluster) && !cluster.host_path) {
    in.fail("node",
            "its fabric cannot join every group of devices; expected a \"host_path\" with the "
            "latency and bandwidth of the way through the host");
  }
  return cluster;
}

}  // namespace titer
