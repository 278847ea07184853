// Makes a large topology small enough to draw: the same family in small, or a part of the graph.

#include <fmt/format.h>

#include <algorithm>

#include "titer/topology/properties.hpp"
#include "topology_drawing.hpp"

namespace titer {
namespace {

constexpr int kMostVertices = 150;
constexpr int kMostInGrid = 300;
constexpr std::size_t kMostWires = 320;

/// The family in small; empty for one that has no smaller self. `note` says what is drawn.
template <class Family>
std::optional<NodeTopology> smaller(const Family& /*family*/, std::string& /*note*/) {
  return std::nullopt;
}

template <>
std::optional<NodeTopology> smaller(const SwitchedNode& node, std::string& note) {
  SwitchedNode drawn = node;
  drawn.devices = std::min(node.devices, 16);
  drawn.planes = std::min(node.planes, 6);
  // As fast to each of the chips as the whole node is.
  drawn.bandwidth = node.bandwidth * (1.0 * drawn.planes / node.planes);
  note = fmt::format("drawn: {} of {} devices, {} of {} switch chips",
                     drawn.devices,
                     node.devices,
                     drawn.planes,
                     node.planes);
  return drawn;
}

template <>
std::optional<NodeTopology> smaller(const FullyConnectedNode& node, std::string& note) {
  FullyConnectedNode drawn = node;
  drawn.devices = std::min(node.devices, 12);
  note = fmt::format("drawn: {} of {} devices", drawn.devices, node.devices);
  return drawn;
}

template <>
std::optional<NodeTopology> smaller(const RingNode& node, std::string& note) {
  RingNode drawn = node;
  drawn.devices = std::min(node.devices, 32);
  note = fmt::format("drawn: a ring of {} instead of {} devices", drawn.devices, node.devices);
  return drawn;
}

template <>
std::optional<NodeTopology> smaller(const Torus& torus, std::string& note) {
  Torus drawn = torus;
  const auto long_ones = std::count_if(
      torus.dimensions.begin(), torus.dimensions.end(), [](int length) { return length > 1; });
  const int most = long_ones <= 1 ? 32 : long_ones == 2 ? 12 : long_ones == 3 ? 4 : 2;
  for (std::size_t i = 0; i < torus.dimensions.size(); ++i) {
    if (torus.dimensions[i] > most) {
      drawn.dimensions[i] = most;
    }
  }
  note = fmt::format("drawn: a corner of {} out of {}",
                     fmt::join(drawn.dimensions, " x "),
                     fmt::join(torus.dimensions, " x "));
  return drawn;
}

template <>
std::optional<NodeTopology> smaller(const FatTree& tree, std::string& note) {
  FatTree drawn = tree;
  const int most = tree.levels.size() <= 2 ? 4 : tree.levels.size() == 3 ? 3 : 2;
  std::vector<int> down;
  std::vector<int> up;
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    FatTreeLevel& level = drawn.levels[i];
    level.down = std::min(level.down, most);
    level.up = std::min(level.up, i == 0 ? most : most - 1);
    down.push_back(tree.levels[i].down);
    up.push_back(tree.levels[i].up);
  }
  drawn.planes = std::min(tree.planes, 2);
  note = fmt::format(
      "drawn in small: the whole has {} lower neighbours and {} parents per level, bottom first",
      fmt::join(down, ", "),
      fmt::join(up, ", "));
  note += tree.planes > 1 ? fmt::format(", in {} planes", tree.planes) : "";
  return drawn;
}

template <>
std::optional<NodeTopology> smaller(const Rails& net, std::string& note) {
  Rails drawn = net;
  drawn.nodes_per_group = std::min(net.nodes_per_group, net.groups() > 1 ? 2 : 4);
  drawn.nodes = std::min(net.nodes, drawn.nodes_per_group * std::min(net.groups(), 2));
  drawn.rails = std::min(net.rails, 8);
  drawn.spines = std::min(net.spines, 4);
  // As many links, as fast, from a leaf to a spine as in the whole.
  drawn.oversubscription = net.oversubscription * net.spines / std::max(1, drawn.spines) *
                           drawn.nodes_per_group / net.nodes_per_group;
  note = fmt::format("drawn: {} of {} nodes, {} of {} rails, {} of {} spines",
                     drawn.nodes,
                     net.nodes,
                     drawn.rails,
                     net.rails,
                     drawn.spines,
                     net.spines);
  return drawn;
}

template <>
std::optional<NodeTopology> smaller(const Dragonfly& net, std::string& note) {
  Dragonfly drawn = net;
  drawn.groups = std::min(net.groups, 6);
  drawn.routers_per_group = std::min(net.routers_per_group, 5);
  drawn.devices_per_router = std::min(net.devices_per_router, 3);
  drawn.pair_links = 1;
  note = fmt::format("drawn in small: the whole has {} groups of {} routers with {} devices each",
                     net.groups,
                     net.routers_per_group,
                     net.devices_per_router);
  if (net.pair_links > 1) {
    note += fmt::format(", and {} links between each two groups", net.pair_links);
  }
  return drawn;
}

template <>
std::optional<NodeTopology> smaller(const PcieTree& tree, std::string& note) {
  PcieTree drawn = tree;
  drawn.devices_per_switch = std::min(tree.devices_per_switch, 4);
  drawn.switches_per_socket = std::min(tree.switches_per_socket, 2);
  drawn.devices = std::min(tree.devices, drawn.devices_per_switch * drawn.switches_per_socket * 2);
  drawn.nics_per_switch = std::min(tree.nics_per_switch, 2);
  note = fmt::format("drawn: {} of {} devices", drawn.devices, tree.devices);
  return drawn;
}

/// The devices of a corner, numbered as in the whole.
std::vector<std::string> names_in(const Torus& whole, const Torus& corner) {
  std::vector<std::string> names;
  for (int device = 0; device < corner.devices(); ++device) {
    int rest = device;
    int number = 0;
    int stride = 1;
    for (std::size_t i = 0; i < corner.dimensions.size(); ++i) {
      number += rest % corner.dimensions[i] * stride;
      rest /= corner.dimensions[i];
      stride *= whole.dimensions[i];
    }
    names.push_back("device " + std::to_string(number));
  }
  return names;
}

/// The switches next to the kept vertices that are not kept themselves, in order. `with_nics`:
/// NICs too; from a leaf on they would be the other nodes'.
std::vector<int> next_switches(const Topology& graph,
                               const std::vector<bool>& kept,
                               bool with_nics) {
  std::vector<int> met;
  const auto meet = [&](int from, int to) {
    const bool is_new = kept[static_cast<std::size_t>(from)] && !kept[static_cast<std::size_t>(to)];
    if (is_new && to >= graph.devices && (with_nics || graph.detail(to).kind != SwitchKind::nic)) {
      met.push_back(to);
    }
  };
  for (const Wire& wire : graph.wires) {
    meet(wire.a, wire.b);
    meet(wire.b, wire.a);
  }
  std::sort(met.begin(), met.end());
  met.erase(std::unique(met.begin(), met.end()), met.end());
  return met;
}

/// Keeps the first devices, then switches met on the way up, at most so many a step.
std::vector<bool> chosen_vertices(const Topology& graph, int devices, int steps, std::size_t most) {
  std::vector<bool> kept(static_cast<std::size_t>(graph.vertices()), false);
  std::fill(kept.begin(), kept.begin() + devices, true);
  for (int step = 0; step < steps; ++step) {
    const bool is_first = step == 0;
    std::vector<int> met = next_switches(graph, kept, is_first);
    met.resize(std::min(met.size(), is_first ? 4 * most : most));
    for (const int vertex : met) {
      kept[static_cast<std::size_t>(vertex)] = true;
    }
  }
  return kept;
}

/// The part of a drawing whose vertices are kept.
void cut_out(const std::vector<bool>& kept, Drawable& drawing) {
  Topology part{.name = drawing.graph.name, .devices = 0, .switches = 0, .wires = {}};
  std::vector<std::optional<int>> numbers(kept.size());
  std::vector<std::string> names;
  for (int vertex = 0; vertex < drawing.graph.vertices(); ++vertex) {
    const auto index = static_cast<std::size_t>(vertex);
    if (!kept[index]) {
      continue;
    }
    numbers[index] = part.vertices();
    names.push_back(drawing.names[index]);
    if (vertex < drawing.graph.devices) {
      ++part.devices;
    } else {
      add_switches(part, 1, drawing.graph.detail(vertex));
    }
  }
  for (Wire wire : drawing.graph.wires) {
    const auto a = numbers[static_cast<std::size_t>(wire.a)];
    const auto b = numbers[static_cast<std::size_t>(wire.b)];
    if (a && b) {
      wire.a = *a;
      wire.b = *b;
      part.wires.push_back(wire);
    }
  }
  drawing.graph = std::move(part);
  drawing.names = std::move(names);
}

bool is_small(const NodeTopology& family, const Topology& graph) {
  if (std::holds_alternative<Torus>(family)) {
    const auto& dimensions = std::get<Torus>(family).dimensions;
    const auto long_ones =
        std::count_if(dimensions.begin(), dimensions.end(), [](int length) { return length > 1; });
    return graph.devices <= (long_ones == 2 ? kMostInGrid : 64);
  }
  return graph.vertices() <= kMostVertices && graph.wires.size() <= kMostWires;
}

}  // namespace

Drawable drawable(const NodeTopology& family, const Topology& graph) {
  Drawable drawing = {family, graph, {}, {}, {}};
  if (is_small(family, graph)) {
    drawing.names = labels(graph);
    return drawing;
  }
  const auto small = std::visit(
      [&](const auto& alternative) { return smaller(alternative, drawing.note); }, family);
  if (small) {
    drawing.family = *small;
    drawing.graph = build(*small);
    drawing.names = labels(drawing.graph);
    if (const auto* torus = std::get_if<Torus>(&family)) {
      drawing.names = names_in(*torus, std::get<Torus>(*small));
      drawing.whole = *torus;
    }
    return drawing;
  }
  drawing.names = labels(graph);
  int devices = std::min(graph.devices, 16);
  if (const auto* joined = std::get_if<JoinedNodes>(&family)) {
    const int whole = std::max(1, 16 / std::max(1, joined->node.devices));  // nodes
    devices = std::min({graph.devices, whole * joined->node.devices, 72});
  }
  cut_out(chosen_vertices(graph, devices, 4, 8), drawing);
  drawing.note = fmt::format(
      "drawn: {} of {} devices and {} of {} switches and NICs, with the "
      "links among them",
      drawing.graph.devices,
      graph.devices,
      drawing.graph.switches,
      graph.switches);
  return drawing;
}

}  // namespace titer
