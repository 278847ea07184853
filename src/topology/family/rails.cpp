#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "titer/topology/family/trees.hpp"
#include "topology/lists.hpp"

namespace titer {
namespace {

constexpr double kMostOfRails = 1 << 16;

/// Without spines nothing is oversubscribed.
void read_oversubscription(const Field<Rails>& own, Reader& in, Rails& net) {
  if (net.spines > 0) {
    net.oversubscription = in.number(own.key, own.range.least, own.range.most);
  }
}

constexpr std::array kRailsFields = {
    fields::integer<&Rails::nodes>("nodes", {1, kMostOfRails}, "endpoints over `rails`").needed(),
    fields::integer<&Rails::rails>("rails", {1, 64}, "ports of a node").needed(),
    fields::integer<&Rails::nodes_per_group>(
        "nodes_per_group", {1, kMostOfRails}, "on the same rail switches")
        .or_else("all `nodes`"),
    fields::integer<&Rails::spines>("spines", {0, 4096}, "which join all rail switches").needed(),
    fields::number<&Rails::oversubscription>(
        "oversubscription", {0.01, 1e6}, "of the rail switches, down over up")
        .or_else("required with `spines`")
        .read_by(read_oversubscription),
    fields::quantity<&Rails::bandwidth>("bandwidth", "of a port, one direction").needed(),
    fields::quantity<&Rails::latency>("latency", "of a link"),
    fields::flag<&Rails::reduces>("reduces", kReducesAbout)};

}  // namespace

std::span<const Field<Rails>> Rails::fields() { return kRailsFields; }

void Rails::check(Reader& in) {
  if (nodes_per_group == 0) {
    nodes_per_group = nodes;
  }
  if (1.0 * groups() * rails * spines > 4e6) {
    in.fail("spines", "expected a network of at most four million links");
    spines = 0;
  }
}

Topology Rails::build() const {
  Topology topology{
      .name = std::string(name), .devices = nodes * rails, .switches = 0, .wires = {}};
  const int first_leaf = add_switches(topology, groups() * rails, {SwitchKind::leaf, reduces});
  for (int node = 0; node < nodes; ++node) {
    for (int rail = 0; rail < rails; ++rail) {
      topology.wires.push_back({.a = node * rails + rail,
                                .b = first_leaf + node / nodes_per_group * rails + rail,
                                .count = 1,
                                .bandwidth = bandwidth,
                                .latency = latency});
    }
  }
  const int first_spine = add_switches(topology, spines, {SwitchKind::spine, reduces});
  // A rail switch's way up, in links as fast as its ports where they come out whole.
  const double links = spines == 0 ? 0.0 : nodes_per_group / (oversubscription * spines);
  const bool whole = links >= 1.0 && std::abs(links - std::round(links)) < 1e-9 * links;
  for (int leaf = 0; leaf < groups() * rails && spines > 0; ++leaf) {
    for (int spine = 0; spine < spines; ++spine) {
      topology.wires.push_back({.a = first_leaf + leaf,
                                .b = first_spine + spine,
                                .count = whole ? static_cast<int>(std::round(links)) : 1,
                                .bandwidth = whole ? bandwidth : links * bandwidth,
                                .latency = latency});
    }
  }
  return topology;
}

Rails Rails::in_small(std::string& note) const {
  Rails drawn = *this;
  drawn.nodes_per_group = std::min(nodes_per_group, groups() > 1 ? 2 : 4);
  drawn.nodes = std::min(nodes, drawn.nodes_per_group * std::min(groups(), 2));
  drawn.rails = std::min(rails, 8);
  drawn.spines = std::min(spines, 4);
  // As many links, as fast, from a leaf to a spine as in the whole.
  drawn.oversubscription = oversubscription * spines / std::max(1, drawn.spines) *
                           drawn.nodes_per_group / nodes_per_group;
  note = fmt::format("drawn: {} of {} nodes, {} of {} rails, {} of {} spines",
                     drawn.nodes,
                     nodes,
                     drawn.rails,
                     rails,
                     drawn.spines,
                     spines);
  return drawn;
}

}  // namespace titer
