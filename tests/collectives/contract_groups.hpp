#pragma once
// The groups and the fabric on which every collective algorithm must keep its promises.

#include <cstddef>
#include <string>
#include <vector>

#include "titer/collectives/group.hpp"

namespace titer {

/// Every way is there, each with figures of its own.
inline Fabric contract_fabric(double latency = 1.0, double bandwidth = 1.0) {
  const auto channel = [&](Seconds alpha, BytesPerSecond rate) {
    return Channel({.latency = latency * alpha, .bandwidth = bandwidth * rate});
  };
  return {.node = channel(3_us, 230_GBps),
          .network = channel(13_us, 24_GBps),
          .pair = channel(2_us, 190_GBps),
          .exchange = channel(4_us, 210_GBps),
          .node_switch = channel(5_us, 170_GBps),
          .network_switch = channel(17_us, 21_GBps),
          .wire = channel(1_us, 45_GBps),
          .host = channel(7_us, 11_GBps)};
}

/// The K4 island of a DGX-1 V100 (links 0-1 0-2 0-3 0-3 1-2 1-2 1-3 2-3 2-3): two cycles, each
/// both ways round, and three spanning trees that use up all nine links.
inline const Wiring& dgx1_island() {
  static const Wiring wiring{.rings = {{0, 3, 2, 1}, {1, 2, 3, 0}, {0, 2, 1, 3}, {3, 1, 2, 0}},
                             .trees = {{.root = 2, .parent = {3, 2, 2, 2}},
                                       {.root = 3, .parent = {3, 2, 3, 3}},
                                       {.root = 0, .parent = {0, 0, 0, 1}}}};
  return wiring;
}

/// Three ranks in a circle of single links, and a tree of two of them.
inline const Wiring& triangle() {
  static const Wiring wiring{.rings = {{0, 1, 2}, {2, 1, 0}},
                             .trees = {{.root = 1, .parent = {1, 1, 1}}}};
  return wiring;
}

/// Two ranks with three links between them.
inline const Wiring& triple_link() {
  static const Wiring wiring{.rings = {{0, 1}, {0, 1}, {0, 1}},
                             .trees = {{.root = 0, .parent = {0, 0}},
                                       {.root = 1, .parent = {1, 1}},
                                       {.root = 0, .parent = {0, 0}}}};
  return wiring;
}

inline Group torus_group(const std::vector<int>& lengths, bool wrap) {
  Group group;
  for (const int length : lengths) {
    group.torus.length[group.torus.axes] = length;
    group.torus.wrap[group.torus.axes] = wrap;
    ++group.torus.axes;
  }
  group.per_node = group.torus.ranks();
  return group;
}

inline std::vector<Group> contract_groups() {
  std::vector<Group> groups;
  for (int ranks = 1; ranks <= 17; ++ranks) {
    groups.push_back({.per_node = ranks});
  }
  for (const int nodes : {2, 3, 4, 7}) {
    for (const int per_node : {1, 2, 3, 4, 8}) {
      groups.push_back({.per_node = per_node, .nodes = nodes});
    }
  }
  const std::vector<std::vector<int>> tori = {{1},
                                              {2},
                                              {3},
                                              {4},
                                              {8},
                                              {2, 2},
                                              {2, 3},
                                              {3, 3},
                                              {3, 4},
                                              {4, 4},
                                              {2, 2, 2},
                                              {3, 3, 3},
                                              {4, 4, 4}};
  for (const auto& lengths : tori) {
    groups.push_back(torus_group(lengths, true));
    groups.push_back(torus_group(lengths, false));
  }
  for (const Group& plain : {Group{.per_node = 1},
                             Group{.per_node = 4},
                             Group{.per_node = 3, .nodes = 2},
                             Group{.per_node = 1, .nodes = 5}}) {
    for (const int servers : {1, 2, plain.ranks()}) {
      groups.push_back(plain);
      groups.back().servers = servers;
    }
  }
  groups.push_back({.per_node = 4, .wiring = &dgx1_island()});
  groups.push_back({.per_node = 3, .wiring = &triangle()});
  groups.push_back({.per_node = 2, .wiring = &triple_link()});
  return groups;
}

inline std::string text_of(const Group& group) {
  std::string text = std::to_string(group.per_node) + " x " + std::to_string(group.nodes);
  for (std::size_t axis = 0; axis < group.torus.axes; ++axis) {
    text += axis == 0 ? ", torus " : " x ";
    text += std::to_string(group.torus.length[axis]);
    text += group.torus.wrap[axis] ? "" : " (open)";
  }
  if (group.servers > 0) {
    text += ", servers ";
    text += std::to_string(group.servers);
  }
  text += group.wiring != nullptr ? ", wired" : "";
  return text;
}

}  // namespace titer
