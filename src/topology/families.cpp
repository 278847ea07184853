#include "titer/topology/families.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "titer/topology/detours.hpp"
#include "titer/topology/routes.hpp"
#include "titer/units/ensure.hpp"

namespace titer {

namespace {

/// The names of the variant's alternatives, as choices of their positions.
template <class... Families>
constexpr auto family_choices(std::variant<Families...>*) {
  std::size_t index = 0;
  return std::array{Choice<std::size_t>{Families::name, index++}...};
}

/// Reads the alternative at position `wanted`.
template <class... Families>
NodeTopology read_family(std::variant<Families...>*, std::size_t wanted, Reader& in) {
  NodeTopology node;
  std::size_t index = 0;
  ((index++ == wanted ? void(node = Families::read(in)) : void()), ...);
  return node;
}

}  // namespace

NamedTopology read_topology(Reader& in) {
  constexpr NodeTopology* families = nullptr;  // carries the list of alternatives, no value
  constexpr auto choices = family_choices(families);
  NamedTopology read{.name = {}, .title = {}, .source = {}, .family = SwitchedNode{1, 1_GBps}};
  if (!in.has("family") && in.has("topology")) {
    Reader inner = in.object("topology");
    read = read_topology(inner);
    in.finish();
    return read;
  }
  const auto family = in.maybe_choice<std::size_t>("family", choices);
  if (!family) {
    // What the other keys should be is not known; the getter says what the family may be.
    if (!in.has("family")) {
      static_cast<void>(in.choice<std::size_t>("family", choices));
    }
    return read;
  }
  read.family = read_family(families, *family, in);
  read.name = in.maybe_text("name").value_or(std::string(choices[*family].name));
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
  in.finish();
  return read;
}

NodeTopology read_node_topology(Reader& in) {
  NamedTopology read = read_topology(in);
  if (read.failures.any() || read.routing) {
    in.fail(read.routing ? "routing" : "failures",
            "expected of networks alone: what a node's devices are joined by works, and takes the "
            "best routes");
  }
  return std::move(read.family);
}

NetworkRouting NamedTopology::routing_used() const {
  return routing.value_or(std::holds_alternative<Dragonfly>(family) ? NetworkRouting::adaptive
                                                                    : NetworkRouting::minimal);
}

Topology build(const NodeTopology& node) {
  return std::visit([](const auto& family) { return family.build(); }, node);
}

Topology build(const NamedTopology& network) {
  Topology graph = build(network.family);
  const auto problem = put_out(network.failures, graph);
  ensure(!problem, "what has failed was tried when the topology was read");
  graph.routing = network.routing_used();
  if (goes_by_others(graph.routing)) {
    const auto* dragonfly = std::get_if<Dragonfly>(&network.family);
    graph.regions = regions_of(graph, dragonfly == nullptr ? 1 : dragonfly->routers_per_group);
  }
  return graph;
}

Router router_of(const NodeTopology& node, Topology graph) {
  const auto* torus = std::get_if<Torus>(&node);
  return torus == nullptr ? Router(std::move(graph)) : Router(std::move(graph), torus->dimensions);
}

const Imported* imported_of(const NodeTopology& node) {
  return std::visit(
      [](const auto& family) -> const Imported* {
        if constexpr (requires { family.imported; }) {
          return &family.imported;
        } else {
          return nullptr;
        }
      },
      node);
}

std::string_view family_name(const NodeTopology& node) {
  return std::visit([](const auto& family) { return std::string_view(family.name); }, node);
}

}  // namespace titer
