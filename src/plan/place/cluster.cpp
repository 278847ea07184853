#include "titer/plan/place/cluster.hpp"

#include <algorithm>
#include <utility>

#include "titer/hardware/noted_fields.hpp"
#include "titer/plan/file_schemas.hpp"
#include "titer/plan/place/named_algorithms.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/properties.hpp"

namespace titer {
namespace {

constexpr int kMostPerNode = 1024;  // of a node that is no torus
constexpr Range kNics = {1, 1024};

/// A cluster as its file has it.
struct WrittenCluster : Cluster {
  bool has_network = false;  // the node is no torus of all the devices there are
};
using W = WrittenCluster;
using C = Cluster;

constexpr std::array kProtocolFields = {
    fields::text<&Protocol::name>("name", "of the protocol").needed(),
    fields::figure<&Protocol::startup>("startup", "of a collective, once"),
    fields::figure<&Protocol::latency>("latency", "of each of its messages").needed(),
    fields::figure<&Protocol::efficiency>(
        "efficiency", {1e-6, 1}, "share of the bandwidth that it gets")
        .needed(),
    fields::figure<&Protocol::own_share>(
        "own_share",
        {0, 2},
        "what a device's own share of a buffer costs, over a message as large"),
    fields::figure<&Protocol::exchange_share>(
        "exchange_share",
        {1e-6, 1},
        "of that bandwidth, what an all-to-all gets of a torus's wires")};

constexpr std::string_view kInNode = "node.";
constexpr std::string_view kPeer = "node.peer.";
constexpr std::string_view kNodeSwitch = "node.switch.";
constexpr std::string_view kNetwork = "network.";
constexpr std::string_view kNetworkSwitch = "network.switch.";

/// The list under `key`; `where` is the figures' path in the evidence.
std::vector<Protocol> read_protocols(Reader& in,
                                     std::string_view key,
                                     std::string_view where,
                                     EvidenceList& evidence) {
  std::vector<Protocol> protocols;
  for (Reader& item : in.objects(key)) {
    const Value* name = item.raw("name");
    const std::string path = std::string(where) + (name == nullptr ? "" : name->text) + ".";
    Protocol& protocol = protocols.emplace_back();
    read_noted<Protocol>(kProtocolFields, item, path, evidence, protocol);
    protocol.grade = evidence.grade(path + "efficiency");
  }
  if (in.has(key) && (protocols.empty() || protocols.size() > Channel::capacity)) {
    in.fail(key, "expected one to four protocols");
  }
  return protocols;
}

/// Where it may be left out, nothing goes that way.
template <auto Member, const auto& where>
constexpr Field<W> protocols(std::string_view key, std::string_view about) {
  return fields::special<W>(key,
                            {[](const Field<W>& own, Reader& in, W& cluster) {
                               if (own.required || in.has(own.key)) {
                                 cluster.*Member =
                                     read_protocols(in, own.key, where, cluster.evidence);
                               }
                             },
                             [](const Field<W>& /*own*/) {
                               return schema::list_of(schema_of<Protocol>(kProtocolFields));
                             },
                             nullptr},
                            about);
}

constexpr std::array kTierFields = {
    fields::figure<&HostTier::capacity>("capacity", "of a node").needed(),
    fields::figure<&HostTier::bandwidth>("bandwidth", "of the node, one direction").needed(),
    fields::figure<&HostTier::per_device>("device_bandwidth", "of one device's link").needed()};

constexpr std::array kHostMemoryFields = {
    kTierFields[0],
    kTierFields[1],
    kTierFields[2],
    fields::figure<&HostTier::processors>("processor_bandwidth",
                                          "of the node's processors, reading and writing in all")
        .or_else("none: updates are for devices")};

constexpr std::array kHostPathFields = {
    fields::quantity<&Link::latency>("latency", "of a message").needed(),
    fields::figure<&Link::bandwidth>("bandwidth", "of a device").needed()};

/// What a cluster says of which part of its torus it is.
void read_slice(Reader& in, Cluster& cluster) {
  if (const Torus* whole = cluster.torus()) {
    Torus slice = *whole;
    slice.read_slice(in);
    cluster.topology = std::move(slice);
  } else if (in.has("slice")) {
    in.fail("slice", "expected a node whose fabric is a torus, which alone has slices");
  }
}

/// The wires among a node's devices, of which the cluster may be a part.
void read_fabric(Reader& in, Reader& node, W& cluster) {
  Reader fabric = node.object("fabric");
  cluster.topology = read_node_topology(fabric);
  read_slice(in, cluster);
  for (const std::string_view key :
       {"bandwidth", "device_bandwidth", "uplink_bandwidth", "socket_bandwidth"}) {
    if (fabric.raw(key) != nullptr) {
      cluster.evidence.note(fabric, key, "node.fabric." + std::string(key));
    }
  }
  cluster.devices_per_node = build(cluster.topology).devices;
  cluster.has_network = in.has("network") || cluster.torus() == nullptr;
  if (cluster.devices_per_node > kMostPerNode && cluster.torus() == nullptr) {
    node.fail("fabric",
              "it joins " + std::to_string(cluster.devices_per_node) +
                  " devices; expected at most " + std::to_string(kMostPerNode) + " in a node");
    cluster.devices_per_node = 0;
  }
}

/// With another key.
void read_elsewhere(const Field<W>& /*own*/, Reader& /*in*/, W& /*cluster*/) {}

/// Interfaces of nodes without a network are nobody's.
void read_nics(const Field<W>& own, Reader& in, W& cluster) {
  if (cluster.has_network) {
    cluster.nics = static_cast<int>(fields::read_integer(own.key, own.range, true, in).value_or(0));
  }
}
void read_nic_bandwidth(const Field<W>& own, Reader& in, W& cluster) {
  if (cluster.has_network) {
    cluster.nic_bandwidth = in.quantity<BytesPerSecond>(own.key);
    cluster.evidence.note(in, own.key, "node.nic_bandwidth");
  }
}

constexpr std::array kNodeFields = {
    fields::of_schema<W, schema::named_data>(
        "fabric", read_elsewhere, "a topology of one node's devices")
        .needed(),
    protocols<&C::node_protocols, kInNode>("protocols", "of collectives, one to four").needed(),
    protocols<&C::peer_protocols, kPeer>("peer_protocols", "of sends").or_else("`protocols`"),
    protocols<&C::node_switch_protocols, kNodeSwitch>("switch_protocols",
                                                      "of reduction in the switch"),
    fields::algorithms<W, &C::collectives, &NamedAlgorithms::in_node>(),
    fields::integer<&C::nics, W>("nics", kNics, "network interfaces of a node")
        .read_by(read_nics)
        .or_else("required where there is a network"),
    fields::quantity<&C::nic_bandwidth, W>("nic_bandwidth", "of one, one direction")
        .read_by(read_nic_bandwidth)
        .or_else("likewise"),
    fields::flag<&C::device_nics, W>(
        "device_nics", "they are the devices' own ports, so that tables of runs name others"),
    fields::integer<&C::devices_per_host, W>(
        "devices_per_host",
        {1, 1e6},
        "of a node of several hosts, which fail one by one; of racks behind one switch a larger "
        "plan uses as many as it fills: at least eight ninths, such as 64 of 72 devices")
        .or_else("all of its"),
    fields::part<&C::host_path, kHostPathFields, &C::evidence, kInNode, W>(
        "host_path", "the way through the host, where the fabric does not join every group"),
    fields::figure<&C::host_slowdown, W>(
        "host_slowdown", {0.1, 100}, "of launches, over a host with Xeon processors of 2023"),
    fields::part<&C::host_memory, kHostMemoryFields, &C::evidence, kInNode, W>(
        "host_memory", "for what is offloaded"),
    fields::part<&C::nvme, kTierFields, &C::evidence, kInNode, W>("nvme", "likewise")};

void read_node(const Field<W>& own, Reader& in, W& cluster) {
  Reader node = in.object(own.key);
  read_fabric(in, node, cluster);
  read_fields<W>(kNodeFields, node, cluster);
}

/// The first one none of whose ports has a link.
std::optional<int> node_without_ports(const Topology& network, int nics) {
  const std::vector<int> links = degrees(network);
  for (int first = 0; nics > 0 && first + nics <= network.devices; first += nics) {
    const auto begin = links.begin() + first;
    if (std::all_of(begin, begin + nics, [](int count) { return count == 0; })) {
      return first / nics;
    }
  }
  return std::nullopt;
}

void read_network_topology(const Field<W>& own, Reader& in, W& cluster) {
  if (auto topology = in.maybe_object(own.key)) {
    cluster.network_topology = read_topology(*topology);
    NamedTopology unplaced = *cluster.network_topology;
    unplaced.places = {};
    const Topology graph = build(unplaced);
    const int ports = graph.devices;
    if (cluster.nics > 0 && ports % cluster.nics != 0) {
      in.fail(own.key,
              "it has " + std::to_string(ports) + " ports, which is no multiple of the " +
                  std::to_string(cluster.nics) + " NICs of a node");
    } else if (const auto node = node_without_ports(graph, cluster.nics)) {
      in.fail(own.key,
              "node " + std::to_string(*node) +
                  " is cut off: all of its ports have failed; expected one that works");
    }
  }
}

constexpr std::array kNetworkFields = {
    fields::sources<&C::evidence, W>(),
    fields::text<&C::network_name, W>("name", "as clusters name it"),
    fields::label<W>("title", "the same for people"),
    fields::error_bars<&C::network_fit_errors, &C::evidence, kNetwork, W>(),
    fields::anything<W>("calibration", "how its figures were fitted"),
    fields::integer<&C::nics, W>("nics", kNics, "of a node, where it has others on this network")
        .or_else("the node's"),
    fields::figure<&C::nic_bandwidth, W>("nic_bandwidth", "of one, one direction")
        .or_else("the node's"),
    protocols<&C::network_protocols, kNetwork>("protocols", "of collectives and sends, one to four")
        .needed(),
    protocols<&C::network_switch_protocols, kNetworkSwitch>("switch_protocols",
                                                            "where the network's switches add"),
    fields::algorithms<W, &C::collectives, &NamedAlgorithms::between_nodes>(),
    fields::of_schema<W, schema::named_data>(
        "topology",
        read_network_topology,
        "a topology, whose devices are the ports of the nodes' interfaces")
        .or_else("one ideal switch")};

/// A network may be a file of its own (configs/networks), with its own sources.
void read_network(const Field<W>& own, Reader& in, W& cluster) {
  if (!cluster.has_network) {
    return;
  }
  Reader network = in.object(own.key);
  if (!network.has("sources")) {
    read_noted<W>(kNetworkFields, network, std::string(kNetwork), cluster.evidence, cluster);
    return;
  }
  EvidenceList all = std::exchange(cluster.evidence, {});
  read_noted<W>(kNetworkFields, network, std::string(kNetwork), cluster.evidence, cluster);
  all.append(cluster.evidence);
  cluster.evidence = std::move(all);
}

void read_library(const Field<W>& own, Reader& in, W& cluster) {
  if (auto library = in.maybe_object(own.key)) {
    cluster.nccl = read_nccl_system(*library, cluster.evidence);
  }
}

void read_nodes(const Field<W>& own, Reader& in, W& cluster) {
  cluster.nodes = fields::read_integer(own.key, own.range, own.required, in);
  if (!cluster.has_network && cluster.nodes.value_or(1) != 1) {
    in.fail("nodes", "several nodes need a \"network\" between them");
  }
  if (!cluster.has_network) {
    cluster.nodes = 1;  // all the devices there are
  }
}

constexpr std::array kClusterFields = {
    fields::text<&C::name, W>("name", "of the cluster").needed(),
    fields::text<&C::title, W>("title", "the same for people").or_else("its name"),
    fields::sources<&C::evidence, W>(),
    fields::of_schema<W, schema::named_data>(
        "chip",
        [](const Field<W>& own, Reader& in, W& cluster) {
          Reader chip = in.object(own.key);
          cluster.chip = read_chip(chip);
        },
        "one of `titer list chips`, a file or an object")
        .needed(),
    fields::special<W>(
        "node",
        {read_node, [](const Field<W>& /*own*/) { return schema_of<W>(kNodeFields); }, nullptr},
        "devices and what joins them")
        .needed(),
    fields::special<W>(
        "slice",
        {read_elsewhere,
         [](const Field<W>& /*own*/) { return schema::list_of(schema::integer({.least = 1})); },
         nullptr},
        "of a node that is a torus the lengths of the box that is used")
        .or_else("the slice with as many chips as the plan; all of it where there is none"),
    fields::of_schema<W, schema::named_data>(
        "network", read_network, "one of `configs/networks`, a file or an object")
        .or_else("required, but of a torus of all devices"),
    fields::of_schema<W, nccl_schema>(
        "library", read_library, "what NCCL's tuner sees of the machine"),
    fields::error_bars<&C::fit_errors, &C::evidence, fields::kNoPath, W>(),
    fields::anything<W>("calibration", "how its figures were fitted"),
    fields::integer<&C::nodes, W>("nodes", {1, 1e7}, "how many there are")
        .read_by(read_nodes)
        .or_else("as many as the plan needs")};

}  // namespace

Cluster::Cluster() = default;
Cluster::Cluster(const Cluster& other) = default;
Cluster::Cluster(Cluster&& other) noexcept = default;
Cluster& Cluster::operator=(const Cluster& other) = default;
Cluster& Cluster::operator=(Cluster&& other) noexcept = default;
Cluster::~Cluster() = default;

Value cluster_schema() { return schema_of<W>(kClusterFields); }
Value network_schema() { return schema_of<W>(kNetworkFields); }

namespace {

/// Whether a plan may use some of a node's hosts: they are alike, each with its own interfaces,
/// whose ports no topology numbers.
bool has_alike_hosts(const Cluster& cluster) {
  const int host = cluster.devices_per_host.value_or(cluster.devices_per_node);
  return cluster.topology.as<SwitchedNode>() != nullptr && !cluster.network_topology &&
         host < cluster.devices_per_node && cluster.devices_per_node % host == 0 &&
         cluster.nics % (cluster.devices_per_node / host) == 0;
}

}  // namespace

Cluster read_cluster(Reader& in) {
  WrittenCluster file;
  read_noted<W>(kClusterFields, in, "", file.evidence, file);
  if (file.title.empty()) {
    file.title = file.name;
  }
  if (has_alike_hosts(file)) {
    file.whole_node = {.devices = file.devices_per_node,
                       .nics = file.nics,
                       .host_memory = file.host_memory,
                       .nvme = file.nvme};
  }
  const bool is_small = file.devices_per_node > 0 && file.torus() == nullptr;
  if (is_small && !file.fill_bandwidths() && !file.host_path) {
    in.fail("node",
            "its fabric cannot join every group of devices; expected a \"host_path\" with the "
            "latency and bandwidth of the way through the host");
  }
  return static_cast<Cluster&&>(file);
}

}  // namespace titer
