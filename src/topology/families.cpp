#include "titer/topology/families.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "titer/topology/routes.hpp"

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
  in.finish();
  return read;
}

NodeTopology read_node_topology(Reader& in) { return read_topology(in).family; }

Topology build(const NodeTopology& node) {
  return std::visit([](const auto& family) { return family.build(); }, node);
}

Router router_of(const NodeTopology& node, Topology graph) {
  const auto* torus = std::get_if<Torus>(&node);
  return torus == nullptr ? Router(std::move(graph)) : Router(std::move(graph), torus->dimensions);
}

std::string_view family_name(const NodeTopology& node) {
  return std::visit([](const auto& family) { return std::string_view(family.name); }, node);
}

}  // namespace titer
