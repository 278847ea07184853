#pragma once
// A node, its chips, and the network between nodes (configs/clusters/<name>.json). A cluster is as
// large as the plan needs, unless "nodes" fixes it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titer/collectives/link.hpp"
#include "titer/hardware/chip.hpp"
#include "titer/topology/families.hpp"

namespace titer {

/// One way a library drives a wire: what a collective costs once, what each of its messages costs
/// before the bytes, and its share of the wire's bandwidth.
struct Protocol {
  std::string name;
  Seconds startup;
  Seconds latency;
  double efficiency = 1.0;
  Grade grade = Grade::extrapolated;  // of the efficiency
};

struct Cluster {
  std::string name;
  std::string title;
  Chip chip;
  NodeTopology topology;
  int devices_per_node = 0;
  std::vector<Protocol> node_protocols;
  std::vector<Protocol> network_protocols;
  int nics = 0;                   // per node
  BytesPerSecond nic_bandwidth;   // of one, one direction
  std::optional<Link> host_path;  // per device, where the fabric joins two devices by no wire
  std::optional<std::int64_t> nodes;
  EvidenceList evidence;

  /// Bandwidth, one direction, that a ring collective among `ranks` devices of a node, `stride`
  /// apart, has at each device; the worst such group of the node. Empty: only the host path.
  [[nodiscard]] std::optional<BytesPerSecond> ring_bandwidth(int ranks, int stride) const;
  /// A device's share of its node's NICs, all devices sending at once.
  [[nodiscard]] BytesPerSecond nic_share() const;
  /// The channels that `ranks` devices of a node, `stride` apart, use inside and outside the node.
  [[nodiscard]] Fabric fabric(int ranks, int stride) const;
  /// Between two devices of one node.
  [[nodiscard]] Channel pair_channel(int a, int b) const;
  [[nodiscard]] Channel network_channel() const;

  // Filled once, when the cluster is read. Index: (ranks, stride) and (device, device).
  std::vector<std::optional<BytesPerSecond>> ring_bandwidths;
  std::vector<std::optional<BytesPerSecond>> pair_bandwidths;
};

/// Reads a cluster's object; "chip" must already be an object (names are expanded by the loader).
[[nodiscard]] Cluster read_cluster(Reader& in);

}  // namespace titer
