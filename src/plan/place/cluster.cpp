#include "titer/plan/place/cluster.hpp"

#include <fmt/format.h>

#include <utility>

#include "titer/input/reader.hpp"
#include "titer/plan/place/named_algorithms.hpp"

namespace titer {
namespace {

constexpr int kMostPerNode = 1024;  // of a node that is no torus
constexpr int kMostNics = 1024;

/// The list under `key`; `where` is the figures' path in the evidence.
std::vector<Protocol> read_protocols(Reader& in,
                                     std::string_view key,
                                     std::string_view where,
                                     EvidenceList& evidence) {
  std::vector<Protocol> protocols;
  for (Reader& item : in.objects(key)) {
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
    if (const auto own = item.maybe_number("own_share", 0.0, 2.0)) {
      protocol.own_share = *own;
      evidence.note(item, "own_share", path + ".own_share");
    }
    item.finish();
    protocols.push_back(std::move(protocol));
  }
  if (in.has(key) && (protocols.empty() || protocols.size() > Channel::capacity)) {
    in.fail(key, "expected one to four protocols");
  }
  return protocols;
}

/// A list that may be left out: nothing goes that way.
std::vector<Protocol> read_maybe_protocols(Reader& in,
                                           std::string_view key,
                                           std::string_view where,
                                           EvidenceList& evidence) {
  return in.has(key) ? read_protocols(in, key, where, evidence) : std::vector<Protocol>{};
}

/// Memory of a node outside its devices, if the file says anything of it.
std::optional<HostTier> read_tier(Reader& node, const std::string& key, EvidenceList& evidence) {
  auto in = node.maybe_object(key);
  if (!in) {
    return std::nullopt;
  }
  const HostTier tier{.capacity = in->quantity<Bytes>("capacity"),
                      .bandwidth = in->quantity<BytesPerSecond>("bandwidth"),
                      .per_device = in->quantity<BytesPerSecond>("device_bandwidth")};
  for (const std::string figure : {"capacity", "bandwidth", "device_bandwidth"}) {
    evidence.note(*in, figure, fmt::format("node.{}.{}", key, figure));
  }
  in->finish();
  return tier;
}

/// What a cluster says of which part of its torus it is.
void read_slice(Reader& in, Cluster& cluster) {
  if (auto* torus = std::get_if<Torus>(&cluster.topology)) {
    torus->read_slice(in);
  } else if (in.has("slice")) {
    in.fail("slice", "expected a node whose fabric is a torus, which alone has slices");
  }
}

/// Sets `has_network` unless the node is a torus of all the devices there are.
void read_node(Reader& in, bool& has_network, Cluster& cluster) {
  Reader node = in.object("node");
  Reader fabric = node.object("fabric");
  cluster.topology = read_node_topology(fabric);
  read_slice(in, cluster);
  if (const Value* value = fabric.raw("bandwidth"); value != nullptr) {
    cluster.evidence.note(fabric, "bandwidth", "node.fabric.bandwidth");
  }
  cluster.devices_per_node = build(cluster.topology).devices;
  has_network = has_network || cluster.torus() == nullptr;
  if (cluster.devices_per_node > kMostPerNode && cluster.torus() == nullptr) {
    node.fail("fabric",
              "it joins " + std::to_string(cluster.devices_per_node) +
                  " devices; expected at most " + std::to_string(kMostPerNode) + " in a node");
    cluster.devices_per_node = 0;
  }
  cluster.node_protocols = read_protocols(node, "protocols", "node", cluster.evidence);
  cluster.peer_protocols =
      read_maybe_protocols(node, "peer_protocols", "node.peer", cluster.evidence);
  cluster.node_switch_protocols =
      read_maybe_protocols(node, "switch_protocols", "node.switch", cluster.evidence);
  cluster.collectives.in_node = read_algorithms(node, "collectives");
  if (has_network) {
    cluster.nics = static_cast<int>(node.integer("nics", 1, kMostNics));
    cluster.nic_bandwidth = node.quantity<BytesPerSecond>("nic_bandwidth");
    cluster.evidence.note(node, "nic_bandwidth", "node.nic_bandwidth");
  }
  if (auto host = node.maybe_object("host_path")) {
    cluster.host_path =
        Link{host->quantity<Seconds>("latency"), host->quantity<BytesPerSecond>("bandwidth")};
    cluster.evidence.note(*host, "bandwidth", "node.host_path.bandwidth");
    host->finish();
  }
  cluster.host_memory = read_tier(node, "host_memory", cluster.evidence);
  cluster.nvme = read_tier(node, "nvme", cluster.evidence);
  node.finish();
}

/// A network may be a file of its own (configs/networks), with its own sources and its NICs: their
/// number in a node, where it is not one for each device of any node, and their rate.
void read_network(Reader network, Cluster& cluster) {
  EvidenceList own;
  own.read_sources(network);
  const bool is_file = network.has("sources");
  EvidenceList& evidence = is_file ? own : cluster.evidence;
  cluster.network_name = network.maybe_text("name").value_or("");
  (void)network.maybe_text("title");
  cluster.network_fit_errors = read_fit_errors(network, "network.", evidence);
  (void)network.raw("calibration");
  if (const auto nics = network.maybe_integer("nics", 1, kMostNics)) {
    cluster.nics = static_cast<int>(*nics);
  }
  if (const auto bandwidth = network.maybe_quantity<BytesPerSecond>("nic_bandwidth")) {
    cluster.nic_bandwidth = *bandwidth;
    evidence.note(network, "nic_bandwidth", "network.nic_bandwidth");
  }
  cluster.network_protocols = read_protocols(network, "protocols", "network", evidence);
  cluster.network_switch_protocols =
      read_maybe_protocols(network, "switch_protocols", "network.switch", evidence);
  cluster.collectives.between_nodes = read_algorithms(network, "collectives");
  if (auto topology = network.maybe_object("topology")) {
    cluster.network_topology = read_node_topology(*topology);
    const int ports = build(*cluster.network_topology).devices;
    if (cluster.nics > 0 && ports % cluster.nics != 0) {
      network.fail("topology",
                   "it has " + std::to_string(ports) + " ports, which is no multiple of the " +
                       std::to_string(cluster.nics) + " NICs of a node");
    }
  }
  network.finish();
  if (is_file) {
    cluster.evidence.append(own);
  }
}

}  // namespace

Cluster::Cluster() = default;
Cluster::Cluster(const Cluster& other) = default;
Cluster::Cluster(Cluster&& other) noexcept = default;
Cluster& Cluster::operator=(const Cluster& other) = default;
Cluster& Cluster::operator=(Cluster&& other) noexcept = default;
Cluster::~Cluster() = default;

Cluster read_cluster(Reader& in) {
  Cluster cluster;
  cluster.name = in.text("name");
  cluster.title = in.maybe_text("title").value_or(cluster.name);
  cluster.evidence.read_sources(in);
  Reader chip = in.object("chip");
  cluster.chip = read_chip(chip);
  bool has_network = in.has("network");
  read_node(in, has_network, cluster);
  if (has_network) {
    read_network(in.object("network"), cluster);
  }
  if (auto library = in.maybe_object("library")) {
    cluster.nccl = read_nccl_system(*library, "library", cluster.evidence);
  }
  cluster.fit_errors = read_fit_errors(in, "", cluster.evidence);
  (void)in.raw("calibration");  // how its figures were fitted
  cluster.nodes = in.maybe_integer("nodes", 1, 10'000'000);
  if (!has_network && cluster.nodes.value_or(1) != 1) {
    in.fail("nodes", "several nodes need a \"network\" between them");
  }
  if (!has_network) {
    cluster.nodes = 1;  // all the devices there are
  }
  in.finish();
  const bool is_small = cluster.devices_per_node > 0 && cluster.torus() == nullptr;
  if (is_small && !cluster.fill_bandwidths() && !cluster.host_path) {
    in.fail("node",
            "its fabric cannot join every group of devices; expected a \"host_path\" with the "
            "latency and bandwidth of the way through the host");
  }
  return cluster;
}

}  // namespace titer
