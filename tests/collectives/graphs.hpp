#pragma once
// Graphs on which collectives are executed, and the fabric that their formulas count on.

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "titer/collectives/catalogue.hpp"
#include "titer/collectives/execution.hpp"
#include "titer/topology/families.hpp"
#include "titer/topology/family/joined_nodes.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/trees.hpp"
#include "titer/units/ensure.hpp"

namespace titer::testing {

inline const AlgorithmEntry& algorithm(Collective collective, std::string_view name) {
  const AlgorithmEntry* found = nullptr;
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    if (entry.collective == collective && entry.name == name) {
      found = &entry;
    }
  }
  ensure(found != nullptr, "a test asks for an algorithm of the catalogue");
  return *found;
}

/// 0, 1, .., n-1, or as many from `first` on.
inline std::vector<int> numbers(int n, int first = 0) {
  std::vector<int> list(static_cast<std::size_t>(n));
  std::iota(list.begin(), list.end(), first);
  return list;
}

/// Every way of ranks on switches, inside a node and between nodes, over one link.
inline Fabric switched_fabric(Link inside, Link between) {
  return {.node = Channel(inside),
          .network = Channel(between),
          .pair = Channel(inside),
          .exchange = Channel(inside),
          .node_switch = Channel(inside),
          .network_switch = Channel(between)};
}

/// A two-level tree: `leaves` switches of `hosts` devices, and as many spines as given.
inline Topology leaf_spine(int hosts, int leaves, int spines, BytesPerSecond bandwidth) {
  return FatTree{.levels = {{.down = hosts, .up = 1, .bandwidth = bandwidth},
                            {.down = leaves, .up = spines, .bandwidth = bandwidth}}}
      .build();
}

/// Nodes on NVSwitches, each device (or several) with a NIC, on one switch between the nodes.
inline Topology joined(
    int nodes, int per_node, int nics, BytesPerSecond inside, BytesPerSecond between) {
  return JoinedNodes{.nodes = nodes,
                     .nics = nics,
                     .nic_bandwidth = between,
                     .node = SwitchedNode{.devices = per_node, .bandwidth = inside}.build(),
                     .network = SwitchedNode{.devices = nodes * nics, .bandwidth = between}.build()}
      .build();
}

/// What both ways to execute say.
struct Both {
  Execution rounds;
  Execution flows;
};

inline Both execute(std::span<const PlacedSteps> placed, Router& router, const Fabric& fabric) {
  return {.rounds = execute_by_rounds(placed, router, fabric),
          .flows = execute_as_flows(placed, router, fabric)};
}

/// One collective by one algorithm on a graph; the helpers are at `helpers`.
struct Run1 {
  const AlgorithmEntry& algorithm;
  Bytes size;
  Group group;
  Fabric fabric;
  std::vector<int> ranks;
  std::vector<int> helpers{};
  std::optional<int> host{};

  [[nodiscard]] double formula() const { return algorithm.time(size, group, fabric).si(); }
  [[nodiscard]] Both on(Router& router) const {
    const Steps steps = algorithm.steps(size, group, fabric);
    PlacedSteps placed{.steps = &steps, .ranks = ranks, .helpers = helpers, .host = host};
    placed.helpers.resize(static_cast<std::size_t>(steps.helpers()),
                          helpers.empty() ? 0 : helpers.back());
    return execute(std::span(&placed, 1), router, fabric);
  }
  [[nodiscard]] Both on(const Topology& graph) const {
    Router router(graph);
    return on(router);
  }
};

/// Every message ends on a whole picosecond; the rest is the rounding of doubles.
inline double rounding(const Execution& execution) {
  return 1e-12 * static_cast<double>(execution.rounds) + 1e-9 * execution.time.si();
}

}  // namespace titer::testing
