#pragma once
// A node, its chips, and the network between nodes (configs/clusters/<name>.json). A cluster is as
// large as the plan needs, unless "nodes" fixes it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/collectives/group.hpp"
#include "titer/collectives/nccl/nccl.hpp"
#include "titer/hardware/chip.hpp"
#include "titer/plan/memory/offload.hpp"
#include "titer/topology/families.hpp"
#include "titer/topology/family/torus.hpp"

namespace titer {

/// One way a library drives a wire: what a collective costs once, what each of its messages costs
/// before the bytes, and its share of the wire's bandwidth; see Link.
struct Protocol {
  std::string name;
  Seconds startup;
  Seconds latency;
  double efficiency = 1.0;
  double own_share = 0.0;
  double exchange_share = 1.0;
  Grade grade = Grade::extrapolated;  // of the efficiency
};

/// What a node of several hosts has where all of them are used.
struct WholeNode {
  int devices = 0;
  int nics = 0;
  std::optional<HostTier> host_memory{};
  std::optional<HostTier> nvme{};
};

struct Cluster {
  // Defined in one place: every file that copies one would compile them again.
  Cluster();
  Cluster(const Cluster& other);
  Cluster(Cluster&& other) noexcept;
  Cluster& operator=(const Cluster& other);
  Cluster& operator=(Cluster&& other) noexcept;
  ~Cluster();

  std::string name;
  std::string title;
  Chip chip;
  NodeTopology topology;
  int devices_per_node = 0;
  std::optional<int> devices_per_host{};  // where a node has several hosts
  // Where these are behind one switch, so that a plan may use some of them: see use_for().
  std::optional<WholeNode> whole_node{};
  std::vector<Protocol> node_protocols;
  std::vector<Protocol> peer_protocols;         // from one to others of a node; empty: as in rings
  std::vector<Protocol> node_switch_protocols;  // where the node's switch adds and multicasts
  std::vector<Protocol> network_protocols;      // empty: there is no network between nodes
  std::vector<Protocol> network_switch_protocols;  // where the network's switches add
  std::optional<NamedTopology> network_topology;   // of the NIC ports; empty: one ideal switch
  std::string network_name;                        // if it is a shipped one
  std::optional<NcclSystem> nccl;                  // the machine as NCCL sees it
  NamedAlgorithms collectives{};                   // by node and network
  int nics = 0;                                    // per node
  bool device_nics = false;                        // they are ports of the devices
  BytesPerSecond nic_bandwidth;                    // of one, one direction
  std::optional<Link> host_path;  // per device, where the fabric joins two devices by no wire
  double host_slowdown = 1;       // of launches, over a host with Xeon processors
  std::optional<HostTier> host_memory;
  std::optional<HostTier> nvme;
  std::optional<std::int64_t> nodes;
  FitErrors fit_errors{};          // of transfers in a node
  FitErrors network_fit_errors{};  // of those between nodes
  EvidenceList evidence;

  /// Bandwidth, one direction, that a ring collective among `ranks` devices of a node, `stride`
  /// apart, has at each device; the worst such group of the node. Empty: only the host path.
  [[nodiscard]] std::optional<BytesPerSecond> ring_bandwidth(int ranks, int stride) const;
  /// What each of them sends to all others of its group at once, where that is not as much as over
  /// all its pairs: through a tree of switches, which the groups of the node share.
  [[nodiscard]] std::optional<BytesPerSecond> exchange_bandwidth(int ranks, int stride) const;
  /// Takes of every node as many hosts as a plan on so many devices uses, see used_of_node(). Does
  /// nothing but for whole_node.
  void use_for(std::int64_t devices);
  void use_for(std::span<const std::int64_t> devices);
  /// REQUIRES as many devices as used_of_node() may be.
  void use_of_node(int used);
  /// The most devices of a node, of all or at least eight ninths, that each of these numbers fills
  /// some nodes with, or is on one: of racks of 72 for 256 devices 64, for 144 72. All where none.
  [[nodiscard]] int used_of_node(std::span<const std::int64_t> devices) const;
  [[nodiscard]] int devices_of_whole_node() const {
    return whole_node ? whole_node->devices : devices_per_node;
  }
  /// Whether the devices of a node hang from a tree of switches, whose ways its groups share.
  [[nodiscard]] bool nodes_are_trees() const { return !exchange_bandwidths.empty(); }
  /// A device's share of its node's NICs, all devices sending at once.
  [[nodiscard]] BytesPerSecond nic_share() const;
  /// The channels that `ranks` devices of a node, `stride` apart, use inside and outside the node:
  /// those that libraries use.
  [[nodiscard]] Fabric fabric(int ranks, int stride) const;
  /// Every channel that these devices of a node have; `wiring` (it must stay) takes the rings and
  /// trees found on their wires. `at_once`: all groups of the node that run, this one among them,
  /// where the node is a tree of switches, whose ways they share; empty: this one alone.
  [[nodiscard]] Fabric fabric(const std::vector<int>& devices,
                              Wiring& wiring,
                              std::span<const std::vector<int>> at_once = {}) const;
  /// Whether the node is a torus of all the devices there are (TPU pods).
  [[nodiscard]] const Torus* torus() const { return topology.as<Torus>(); }
  /// The torus that a plan for so many devices has; null where there is none of so many.
  [[nodiscard]] const Torus* torus_of(std::int64_t devices) const {
    return torus() == nullptr ? nullptr : torus()->of(devices);
  }
  /// Nodes that the network's topology has ports for; empty without one.
  [[nodiscard]] std::optional<std::int64_t> nodes_of_network() const;
  /// Between two devices of one node.
  [[nodiscard]] Channel pair_channel(int a, int b) const;
  [[nodiscard]] Channel network_channel() const;
  /// Switches of one node in graph(), the path through the host included.
  [[nodiscard]] int switches_per_node() const;
  /// The last switch of the network in graph() of several nodes that works: one of its highest
  /// level.
  [[nodiscard]] int top_of_network(int node_count) const;
  /// The wiring of so many nodes, their NICs and the network: bandwidths times the efficiencies of
  /// a protocol of the node and one of the network. Vertices: the devices node by node, the nodes'
  /// switches (the path through the host is the last of each node's, after a port for each device),
  /// NICs, network switches, the ports to NICs that devices share.
  [[nodiscard]] Topology graph(int node_count,
                               double node_efficiency,
                               double network_efficiency) const;

  /// Fills the tables below, once, when the cluster is read. False when some group or pair of a
  /// node's devices has no wires to use.
  bool fill_bandwidths();
  // Index: (ranks, stride), twice, and (device, device).
  std::vector<std::optional<BytesPerSecond>> ring_bandwidths;
  std::vector<std::optional<BytesPerSecond>> exchange_bandwidths;
  std::vector<std::optional<BytesPerSecond>> pair_bandwidths;

 private:
  /// The least bandwidth between two of these; empty if some two are not joined.
  [[nodiscard]] std::optional<BytesPerSecond> slowest_pair(const std::vector<int>& devices) const;
  /// The channels of direct wires among devices of a node, and the rings and trees on them.
  void add_direct_wires(const std::vector<int>& devices,
                        const RingPacking& rings,
                        Fabric& fabric,
                        Wiring& wiring) const;
};

/// Reads a cluster's object; "chip" must already be an object (names are expanded by the loader).
[[nodiscard]] Cluster read_cluster(Reader& in);

}  // namespace titer
