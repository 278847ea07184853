#include "titer/topology/families.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
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
                                  &FamilyOf<SlurmNetwork>::family,
                                  &FamilyOf<InfraGraph>::family};

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

using Named = NamedTopology;

void read_failed(const Field<Named>& own, Reader& in, Named& read) {
  auto failures = in.maybe_object(own.key);
  if (!failures) {
    return;
  }
  read.failures = read_failures(*failures);
  Topology graph = build(read.family);
  if (const auto problem = put_out(read.failures, graph)) {
    in.fail(own.key, *problem);
    read.failures = {};
  }
}

void read_placement(const Field<Named>& own, Reader& in, Named& read) {
  read.places.placement =
      in.maybe_choice<NodePlacement>(own.key, kNodePlacements).value_or(NodePlacement::contiguous);
  if (read.places.placement != NodePlacement::contiguous && read.family.as<Torus>() != nullptr) {
    in.fail(own.key, "expected contiguous: devices of a torus have places by their numbers");
    read.places = {};
  }
}

Value placement_schema() { return schema::one_of<NodePlacement>(kNodePlacements); }

void read_placement_seed(const Field<Named>& own, Reader& in, Named& read) {
  const auto seed = fields::read_integer(own.key, own.range, false, in);
  if (seed && read.places.placement != NodePlacement::random) {
    in.fail(own.key, "expected \"placement\": \"random\", which is drawn by it");
  }
  read.places.seed = static_cast<std::uint64_t>(seed.value_or(0));
}

Value seed_schema() { return schema::integer({}); }

/// The keys of any topology.
constexpr std::array kCommonFields = {
    fields::text<&Named::name>("name", "what others call it by").or_else("its family's"),
    fields::text<&Named::title>("title", "the same for people"),
    fields::text<&Named::source>("source", "where it is from"),
    fields::anything<Named>("sources", "what figures name as their `source`"),
    fields::choice<&Named::routing, kNetworkRoutings>("routing", "of what goes through a network")
        .or_else("`minimal`; of dragonflies `adaptive`"),
    fields::of_schema<Named, failures_schema>("failures", read_failed, "what does not work"),
    fields::of_schema<Named, placement_schema>(
        "placement", read_placement, "how the nodes of a job lie in a network")
        .or_else("`contiguous`"),
    fields::of_schema<Named, seed_schema>(
        "placement_seed", read_placement_seed, "of a random placement: another draws others")
        .or_else("`0`")};

/// Whether the object has its topology's keys in one of its own.
bool is_around(const Reader& in) { return !in.has("family") && in.has("topology"); }

}  // namespace

NamedTopology read_topology(Reader& in) {
  NamedTopology read{.family = SwitchedNode{1, 1_GBps}};
  if (is_around(in)) {
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
  read.name = (*family)->name;
  read_fields<Named>(kCommonFields, in, read);
  return read;
}

Value topology_schema() {
  std::vector<Value> families;
  for (const TopologyFamily* family : kFamilies) {
    Value one = schema::object();
    add_keys<Named>(kCommonFields, one);
    schema::add_key(one,
                    {.key = "family",
                     .about = family->about,
                     .required = true,
                     .written = schema::one_of(std::array{family->name})});
    Value own = schema::object();
    family->add_keys(own);
    // Several families have keys of the same name.
    for (auto& [key, written] : own.find("properties")->members) {
      Value* about = written.find("description");
      *about = Value(fmt::format("{}: {}", family->name, about->text));
      one.find("properties")->add(key, std::move(written));
    }
    const Value* needed = own.find("required");
    for (const Value& key : needed == nullptr ? std::vector<Value>() : needed->items) {
      one.find("required")->push(key);
    }
    families.push_back(std::move(one));
  }
  return schema::either(std::move(families));
}

NodeTopology read_node_topology(Reader& in) {
  NamedTopology read = read_topology(in);
  const bool is_placed = read.places != NodePlaces{};
  if (read.failures.any() || read.routing || is_placed) {
    Reader own = is_around(in) ? in.object("topology") : in;
    own.fail(read.routing ? "routing"
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
