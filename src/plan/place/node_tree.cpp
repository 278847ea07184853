#include "node_tree.hpp"

#include <algorithm>
#include <cstddef>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// The vertices on the far side of a wire, seen from the end that the walk does not start at.
std::vector<bool> side_of(const Topology& node, const Wire& cut) {
  std::vector<bool> reached(static_cast<std::size_t>(node.vertices()), false);
  std::vector<int> open = {cut.a};
  reached[static_cast<std::size_t>(cut.a)] = true;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    for (const Wire& wire : node.wires) {
      if (&wire == &cut || (wire.a != at && wire.b != at)) {
        continue;
      }
      const auto next = static_cast<std::size_t>(wire.a == at ? wire.b : wire.a);
      if (!reached[next]) {
        reached[next] = true;
        open.push_back(static_cast<int>(next));
      }
    }
  }
  return reached;
}

bool joins_devices(const Topology& node, const Wire& wire) {
  return wire.a < node.devices && wire.b < node.devices;
}

}  // namespace

std::optional<NodeTree> NodeTree::of(const Topology& node) {
  if (static_cast<int>(node.wires.size()) != node.vertices() - 1) {
    return std::nullopt;
  }
  NodeTree tree;
  for (const Wire& wire : node.wires) {
    std::vector<bool> side = side_of(node, wire);
    const bool is_ring = side[static_cast<std::size_t>(wire.b)];
    if (is_ring || joins_devices(node, wire)) {
      return std::nullopt;
    }
    side.resize(static_cast<std::size_t>(node.devices));
    tree.edges_.push_back({.bandwidth = wire.count * wire.bandwidth,
                           .duplex = wire.duplex,
                           .below = std::move(side)});
  }
  return tree;
}

/// `load`: of a group of which the edge has this side, over what each of its ranks sends.
template <class Load>
BytesPerSecond NodeTree::share(Groups groups, Load load) const {
  std::optional<BytesPerSecond> least;
  for (const Edge& edge : edges_) {
    double all = 0;
    for (const std::vector<int>& group : groups) {
      all += load(group, edge.below);
    }
    if (all > 0) {
      const BytesPerSecond rate = edge.bandwidth / (edge.duplex == Duplex::half ? 2 * all : all);
      least = std::min(least.value_or(rate), rate);
    }
  }
  ensure(least.has_value(), "devices of a tree reach one another through its edges");
  return *least;
}

BytesPerSecond NodeTree::ring(Groups groups) const {
  return share(groups, [](const std::vector<int>& group, const std::vector<bool>& below) {
    int leaving = 0;  // as many come back, in the other direction
    for (std::size_t i = 0; i < group.size(); ++i) {
      const int next = group[(i + 1) % group.size()];
      leaving += below[static_cast<std::size_t>(group[i])] && !below[static_cast<std::size_t>(next)]
                     ? 1
                     : 0;
    }
    return static_cast<double>(leaving);
  });
}

BytesPerSecond NodeTree::exchange(Groups groups) const {
  return share(groups, [](const std::vector<int>& group, const std::vector<bool>& below) {
    const auto inside = static_cast<double>(std::ranges::count_if(
        group, [&](int device) { return below[static_cast<std::size_t>(device)]; }));
    const auto ranks = static_cast<double>(group.size());
    return inside * (ranks - inside) / (ranks - 1);
  });
}

}  // namespace titer
