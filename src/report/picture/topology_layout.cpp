// Places for the vertices of a topology: a torus on a grid, wired nodes and groups of a
// dragonfly on a circle, and everything with switches in tiers above its devices.

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "titer/topology/family/dragonfly.hpp"
#include "titer/topology/properties.hpp"
#include "topology_drawing.hpp"

namespace titer {
namespace {

constexpr double kStep = 56.0;      // between neighbours in a row
constexpr double kRouter = 78.0;    // of a circle, for each router
constexpr double kOutwards = 60.0;  // from a router to its devices

std::size_t index_of(int vertex) { return static_cast<std::size_t>(vertex); }

Point on_circle(Point centre, double radius, double turn) {
  const double angle = 2.0 * std::numbers::pi * turn - std::numbers::pi / 2.0;
  return {centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)};
}

/// The devices in the order of a ring through all of them, if one is found.
std::vector<int> circle_order(const Topology& graph) {
  std::vector<int> order(index_of(graph.devices));
  std::iota(order.begin(), order.end(), 0);
  if (graph.devices >= 2 && graph.devices <= 16) {
    const RingPacking packing = pack_rings(graph, order);
    if (!packing.rings.empty()) {
      return packing.rings.front();
    }
  }
  return order;
}

Layout on_circle(const Topology& graph) {
  Layout layout;
  layout.places.resize(index_of(graph.devices));
  const double radius = std::max(110.0, graph.devices * kStep * 1.1 / (2.0 * std::numbers::pi));
  double turn = 0.5 / graph.devices;  // so that two devices share the top
  for (const int device : circle_order(graph)) {
    layout.places[index_of(device)] = on_circle({}, radius, turn);
    turn += 1.0 / graph.devices;
  }
  return layout;
}

/// How a step along each dimension shows on paper: right, down, and slanted from the third on.
std::vector<Point> steps_of(const Torus& torus) {
  std::vector<Point> steps;
  double across = 1.0;
  for (std::size_t i = 0; i < torus.dimensions.size(); ++i) {
    const int length = torus.dimensions[i];
    const bool is_flat = torus.dimensions.size() <= 2;
    if (i == 0) {
      steps.push_back({is_flat ? kStep : 2.1 * kStep, 0.0});
      across = steps[0].x * length;
    } else if (i == 1) {
      steps.push_back({0.0, is_flat ? kStep : 1.7 * kStep});
    } else if (i == 2) {
      steps.push_back({0.5 * kStep, -0.38 * kStep});
      across += steps[2].x * length;
    } else {
      steps.push_back({across + 2.0 * kStep, 0.0});
      across = steps[i].x * length;
    }
  }
  return steps;
}

/// Stubs at the ends of every row of dimension `i`.
void add_stubs(const Torus& drawn, const Torus& whole, std::size_t i, Layout& layout) {
  const Point step = steps_of(drawn)[i];
  const double reach = std::min(0.45, 26.0 / std::hypot(step.x, step.y));
  const bool is_closed = whole.links_across(i) == 2;
  const bool goes_on = is_closed || whole.dimensions[i] > drawn.dimensions[i];
  int stride = 1;
  for (std::size_t before = 0; before < i; ++before) {
    stride *= drawn.dimensions[before];
  }
  for (int device = 0; device < drawn.devices(); ++device) {
    const int place = device / stride % drawn.dimensions[i];
    const Point at = layout.places[index_of(device)];
    if (is_closed && place == 0) {
      layout.stubs.push_back({at, {at.x - reach * step.x, at.y - reach * step.y}});
    }
    if (goes_on && place == drawn.dimensions[i] - 1) {
      layout.stubs.push_back({at, {at.x + reach * step.x, at.y + reach * step.y}});
    }
  }
}

/// Wires that close a dimension, and those out of a corner of a larger torus, become stubs.
Layout on_grid(const Torus& torus, const Torus& whole, const Topology& graph) {
  const std::vector<Point> steps = steps_of(torus);
  Layout layout;
  for (int device = 0; device < graph.devices; ++device) {
    Point place;
    int rest = device;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const int coordinate = rest % torus.dimensions[i];
      rest /= torus.dimensions[i];
      place.x += steps[i].x * coordinate;
      place.y += steps[i].y * coordinate;
    }
    layout.places.push_back(place);
  }
  layout.is_drawn.assign(graph.wires.size(), true);
  int stride = 1;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const int length = torus.dimensions[i];
    for (std::size_t w = 0; w < graph.wires.size(); ++w) {
      const int apart = std::abs(graph.wires[w].a - graph.wires[w].b);
      if (length > 2 && apart == stride * (length - 1)) {
        layout.is_drawn[w] = false;
      }
    }
    add_stubs(torus, whole, i, layout);
    stride *= length;
  }
  return layout;
}

/// A wire between routers, inwards: past those between them, the farther the longer it is.
Point bend_of(Point a, Point b) {
  const Point middle = {(a.x + b.x) / 2, (a.y + b.y) / 2};
  const double from_centre = std::hypot(middle.x, middle.y);
  const double inwards = std::min(from_centre, 24.0 + 0.4 * std::hypot(a.x - b.x, a.y - b.y));
  const double keep = from_centre > 0.0 ? 1.0 - inwards / from_centre : 1.0;
  return {keep * middle.x, keep * middle.y};
}

/// All routers on a circle, group by group, their devices outside and their links inside of it.
Layout around_groups(const Dragonfly& net, const Topology& graph) {
  Layout layout;
  layout.places.resize(index_of(graph.vertices()));
  const int routers = net.routers_per_group;
  const int slots = net.groups * (routers + (net.groups > 1 ? 1 : 0));  // a free one between groups
  const double slot = std::max(kRouter, 32.0 * net.devices_per_router);
  const double radius = std::max(120.0, slots * slot / (2.0 * std::numbers::pi));
  const int of_group = slots / net.groups;
  const auto turn_of = [&](int group, double router) {
    return (group * of_group + router + 0.5 - routers / 2.0) / slots;
  };
  for (int router = 0; router < net.groups * routers; ++router) {
    const double turn = turn_of(router / routers, router % routers);
    layout.places[index_of(graph.devices + router)] = on_circle({}, radius, turn);
    for (int i = 0; i < net.devices_per_router; ++i) {
      const double aside = ((i + 0.5) / net.devices_per_router - 0.5) * 0.9 / slots;
      layout.places[index_of(router * net.devices_per_router + i)] =
          on_circle({}, radius + kOutwards, turn + aside);
    }
  }
  for (int group = 0; group < net.groups && net.groups > 1; ++group) {
    const double middle = radius + kOutwards / 2;
    const double turn = turn_of(group, (routers - 1) / 2.0);
    const double half_text = 22.0 * std::abs(on_circle({}, 1.0, turn).x);  // its part outwards
    layout.bands.push_back({.from = on_circle({}, middle, turn_of(group, -0.5)),
                            .to = on_circle({}, middle, turn_of(group, routers - 0.5)),
                            .radius = middle,
                            .width = kOutwards + 56.0,
                            .label = on_circle({}, radius + kOutwards + 44.0 + half_text, turn),
                            .name = "group " + std::to_string(group)});
  }
  for (const Wire& wire : graph.wires) {
    const bool has_device = std::min(wire.a, wire.b) < graph.devices;
    layout.bends.push_back(has_device ? std::nullopt
                                      : std::optional(bend_of(layout.places[index_of(wire.a)],
                                                              layout.places[index_of(wire.b)])));
  }
  return layout;
}

/// The neighbours of every vertex.
std::vector<std::vector<int>> neighbours_of(const Topology& graph) {
  std::vector<std::vector<int>> neighbours(index_of(graph.vertices()));
  for (const Wire& wire : graph.wires) {
    neighbours[index_of(wire.a)].push_back(wire.b);
    neighbours[index_of(wire.b)].push_back(wire.a);
  }
  return neighbours;
}

/// Rows from below: the node's own switches, devices, NICs, PCIe, processors, leaves, spines,
/// cores.
class Tiers {
 public:
  explicit Tiers(const Topology& graph) : graph_(graph), neighbours_(neighbours_of(graph)) {}

  Layout run() {
    Layout layout;
    layout.places.resize(index_of(graph_.vertices()));
    layout.arcs = std::ranges::any_of(graph_.wires, [&](const Wire& wire) {
      return wire.a < graph_.devices && wire.b < graph_.devices;
    });
    std::map<int, std::vector<int>> rows;
    for (int vertex = 0; vertex < graph_.vertices(); ++vertex) {
      rows[tier(vertex)].push_back(vertex);
    }
    place_devices(rows[device_tier], layout);
    double height = 0.0;
    for (auto row = rows.upper_bound(device_tier); row != rows.end(); ++row) {
      height += 2.0 * kStep;
      place_row(row->second, device_tier, -height, layout);
    }
    if (const auto below = rows.find(below_tier); below != rows.end()) {
      place_row(below->second, below_tier, 2.0 * kStep, layout);
    }
    return layout;
  }

 private:
  static constexpr int below_tier = -1;
  static constexpr int device_tier = 0;

  [[nodiscard]] bool touches(int vertex, SwitchKind kind) const {
    return any_neighbour(vertex, [&](int other) {
      return other >= graph_.devices && graph_.detail(other).kind == kind;
    });
  }
  [[nodiscard]] bool touches_device(int vertex) const {
    return any_neighbour(vertex, [&](int other) { return other < graph_.devices; });
  }
  template <class Check>
  [[nodiscard]] bool any_neighbour(int vertex, Check check) const {
    const std::vector<int>& others = neighbours_[index_of(vertex)];
    return std::ranges::any_of(others, check);
  }
  [[nodiscard]] bool has_others() const {
    return std::ranges::any_of(graph_.details, [](const Switch& detail) {
      return detail.kind == SwitchKind::nic || detail.kind == SwitchKind::cpu;
    });
  }

  [[nodiscard]] int tier(int vertex) const {
    if (vertex < graph_.devices) {
      return device_tier;
    }
    switch (graph_.detail(vertex).kind) {
      case SwitchKind::crossbar:
        return touches_device(vertex) && has_others() ? below_tier : 5;
      case SwitchKind::nic:
        return touches(vertex, SwitchKind::pcie) || touches(vertex, SwitchKind::cpu) ? device_tier
                                                                                     : 1;
      case SwitchKind::pcie:
        return touches_device(vertex) || touches(vertex, SwitchKind::nic) ? 2 : 3;
      case SwitchKind::cpu:
        return 4;
      case SwitchKind::leaf:
      case SwitchKind::router:
        return 5;
      case SwitchKind::spine:
        return touches(vertex, SwitchKind::leaf) ? 6 : 7;
      case SwitchKind::core:
        return 8;
    }
    return 5;
  }

  /// Devices in order, and NICs of a PCIe tree after the devices of the same switch.
  void place_devices(std::vector<int> row, Layout& layout) const {
    std::ranges::stable_sort(row, [&](int a, int b) { return device_order(a) < device_order(b); });
    for (std::size_t i = 0; i < row.size(); ++i) {
      layout.places[index_of(row[i])] = {static_cast<double>(i) * kStep, 0.0};
    }
  }
  [[nodiscard]] double device_order(int vertex) const {
    if (vertex < graph_.devices) {
      return vertex;
    }
    double last = graph_.devices;
    bool is_found = false;
    for (const int parent : neighbours_[index_of(vertex)]) {
      for (const int sibling : neighbours_[index_of(parent)]) {
        if (sibling < graph_.devices && (!is_found || sibling > last)) {
          last = sibling;
          is_found = true;
        }
      }
    }
    return last + 0.5;
  }

  /// Above (or below) the mean of what is placed already, far enough from each other.
  void place_row(std::vector<int>& row, int base, double y, Layout& layout) const {
    std::map<int, double> wanted;
    for (const int vertex : row) {
      wanted[vertex] = mean_below(vertex, base, y, layout);
    }
    std::ranges::stable_sort(row, [&](int a, int b) { return wanted[a] < wanted[b]; });
    double shift = 0.0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      double x = wanted[row[i]];
      if (i > 0) {
        x = std::max(x, layout.places[index_of(row[i - 1])].x + spread(row[i]));
      }
      layout.places[index_of(row[i])] = {x, y};
      shift += (wanted[row[i]] - x) / static_cast<double>(row.size());
    }
    for (const int vertex : row) {
      layout.places[index_of(vertex)].x += shift;
    }
  }
  /// Between a switch and its left neighbour: as wide as its label.
  [[nodiscard]] double spread(int vertex) const {
    return graph_.detail(vertex).kind == SwitchKind::nic ? 1.15 * kStep : 1.55 * kStep;
  }
  [[nodiscard]] double mean_below(int vertex, int base, double y, const Layout& layout) const {
    double sum = 0.0;
    int count = 0;
    for (const int other : neighbours_[index_of(vertex)]) {
      const bool is_placed = base == below_tier
                                 ? other < graph_.devices
                                 : tier(other) < tier(vertex) && tier(other) > below_tier &&
                                       layout.places[index_of(other)].y > y;
      if (is_placed) {
        sum += layout.places[index_of(other)].x;
        ++count;
      }
    }
    return count == 0 ? 0.0 : sum / count;
  }

  const Topology& graph_;
  std::vector<std::vector<int>> neighbours_;
};

}  // namespace

Layout lay_out(const Drawable& drawing) {
  if (const auto* torus = drawing.family.as<Torus>()) {
    const auto is_long = [](int length) { return length > 1; };
    if (std::ranges::count_if(torus->dimensions, is_long) > 1) {
      return on_grid(*torus, drawing.whole.value_or(*torus), drawing.graph);
    }
  }
  if (const auto* net = drawing.family.as<Dragonfly>()) {
    return around_groups(*net, drawing.graph);
  }
  return drawing.graph.switches == 0 ? on_circle(drawing.graph) : Tiers(drawing.graph).run();
}

}  // namespace titer
