// Makes a large topology small enough to draw: the same family in small, or a part of the graph.

#include <fmt/format.h>

#include <algorithm>

#include "titer/topology/family/joined_nodes.hpp"
#include "titer/topology/properties.hpp"
#include "topology_drawing.hpp"

namespace titer {
namespace {

constexpr int kMostVertices = 150;
constexpr int kMostInGrid = 300;
constexpr std::size_t kMostWires = 320;

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
  std::ranges::sort(met);
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
  if (const auto* torus = family.as<Torus>()) {
    const auto long_ones =
        std::ranges::count_if(torus->dimensions, [](int length) { return length > 1; });
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
  if (const auto small = family.family().in_small(family, drawing.note)) {
    drawing.family = *small;
    drawing.graph = build(*small);
    drawing.names = labels(drawing.graph);
    if (const auto* torus = family.as<Torus>()) {
      drawing.names = names_in(*torus, *small->as<Torus>());
      drawing.whole = *torus;
    }
    return drawing;
  }
  drawing.names = labels(graph);
  int devices = std::min(graph.devices, 16);
  if (const auto* joined = family.as<JoinedNodes>()) {
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
