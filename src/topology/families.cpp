#include "titer/topology/families.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "titer/topology/detours.hpp"
#include "titer/topology/family/dragonfly.hpp"
#include "titer/topology/family/joined_nodes.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/torus.hpp"
#include "titer/topology/family/trees.hpp"
#include "titer/topology/import/fabric_files.hpp"
#include "titer/topology/routes.hpp"
#include "titer/units/ensure.hpp"

namespace titer {

namespace {

constexpr std::array kFamilies = {&FamilyOf<SwitchedNode>::family,
                                  &FamilyOf<FullyConnectedNode>::family,
                                  &FamilyOf<RingNode>::family,
                                  &FamilyOf<EdgeListNode>::family,
                                  &FamilyOf<Torus>::family,
                                  &FamilyOf<FatTree>::family,
                                  &FamilyOf<Rails>::family,
                                  &FamilyOf<Dragonfly>::family,
                                  &FamilyOf<PcieTree>::family,
                                  &FamilyOf<JoinedNodes>::family,
                                  &FamilyOf<NvidiaSmiNode>::family,
                                  &FamilyOf<RocmSmiNode>::family,
                                  &FamilyOf<NcclXmlNode>::family,
                                  &FamilyOf<IbNetwork>::family,
                                  &FamilyOf<SlurmNetwork>::family};

constexpr auto kFamilyNames = [] {
  std::array<Choice<const TopologyFamily*>, kFamilies.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = {kFamilies[i]->name, kFamilies[i]};
  }
  return names;
}();

}  // namespace

std::span<const TopologyFamily* const> topology_families() { return kFamilies; }

NodeTopology::NodeTopology() : NodeTopology(SwitchedNode()) {}

namespace {

void read_places(Reader& in, NamedTopology& read) {
  const auto placement = in.maybe_choice<NodePlacement>("placement", kNodePlacements);
  const auto seed = in.maybe_integer("placement_seed", 0, std::numeric_limits<std::int64_t>::max());
  read.places.placement = placement.value_or(NodePlacement::contiguous);
  if (seed && read.places.placement != NodePlacement::random) {
    in.fail("placement_seed", "expected \"placement\": \"random\", which is drawn by it");
  }
  read.places.seed = static_cast<std::uint64_t>(seed.value_or(0));
  if (read.places.placement != NodePlacement::contiguous && read.family.as<Torus>() != nullptr) {
    in.fail("placement", "expected contiguous: devices of a torus have places by their numbers");
    read.places = {};
  }
}

}  // namespace

NamedTopology read_topology(Reader& in) {
  NamedTopology read{.family = SwitchedNode{1, 1_GBps}};
  if (!in.has("family") && in.has("topology")) {
    Reader inner = in.object("topology");
    read = read_topology(inner);
    in.finish();
    return read;
  }
  const auto family = in.maybe_choice<const TopologyFamily*>("family", kFamilyNames);
  if (!family) {
    // What the other keys should be is not known; the getter says what the family may be.
    if (!in.has("family")) {
      static_cast<void>(in.choice<const TopologyFamily*>("family", kFamilyNames));
    }
    return read;
  }
  read.family = (*family)->read(in);
  read.name = in.maybe_text("name").value_or(std::string((*family)->name));
  read.title = in.maybe_text("title").value_or("");
  read.source = in.maybe_text("source").value_or("");
  static_cast<void>(in.raw("sources"));
  read.routing = in.maybe_choice<NetworkRouting>("routing", kNetworkRoutings);
  if (auto failures = in.maybe_object("failures")) {
    read.failures = read_failures(*failures);
    Topology graph = build(read.family);
    if (const auto problem = put_out(read.failures, graph)) {
      in.fail("failures", *problem);
      read.failures = {};
    }
  }
  read_places(in, read);
  in.finish();
  return read;
}

NodeTopology read_node_topology(Reader& in) {
  NamedTopology read = read_topology(in);
  const bool is_placed = read.places != NodePlaces{};
  if (read.failures.any() || read.routing || is_placed) {
    in.fail(read.routing ? "routing"
            : is_placed  ? "placement"
                         : "failures",
            "expected of networks alone: what a node's devices are joined by works, and takes the "
            "best routes");
  }
  return std::move(read.family);
}

NetworkRouting NamedTopology::routing_used() const {
  return routing.value_or(family.as<Dragonfly>() != nullptr ? NetworkRouting::adaptive
                                                            : NetworkRouting::minimal);
}

Topology build(const NamedTopology& network, int ports_of_node) {
  Topology graph = build(network.family);
  const auto problem = put_out(network.failures, graph);
  ensure(!problem, "what has failed was tried when the topology was read");
  graph.routing = network.routing_used();
  if (goes_by_others(graph.routing)) {
    const auto* dragonfly = network.family.as<Dragonfly>();
    graph.regions = regions_of(graph, dragonfly == nullptr ? 1 : dragonfly->routers_per_group);
  }
  place_nodes(network.places, ports_of_node, graph);
  return graph;
}

Router router_of(const NodeTopology& node, Topology graph) {
  const auto* torus = node.as<Torus>();
  return torus == nullptr ? Router(std::move(graph)) : Router(std::move(graph), torus->dimensions);
}

}  // namespace titer
