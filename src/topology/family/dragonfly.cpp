#include "titer/topology/family/dragonfly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace titer {
namespace {

constexpr Range kOfDragonfly = {1, 4096};

/// Links of each pair of groups by the global ports of a router: they are dealt out evenly.
void read_global_links(const Field<Dragonfly>& own, Reader& in, Dragonfly& net) {
  if (in.has(own.key) == in.has("pair_links")) {
    in.fail("",
            "expected \"global_links\" (of each router) or \"pair_links\" (between each pair of "
            "groups), one of them");
  }
  const auto ports = fields::read_integer(own.key, own.range, false, in);
  const int others = net.groups - 1;
  if (!ports || others < 1) {
    return;
  }
  const int links = net.routers_per_group * static_cast<int>(*ports);
  if (links % others != 0) {
    in.fail(own.key,
            "the " + std::to_string(links) +
                " global links of a group do not spread evenly over the " + std::to_string(others) +
                " other groups; expected a multiple, or \"pair_links\"");
    return;
  }
  net.pair_links = links / others;
}

constexpr std::array kDragonflyFields = {
    fields::integer<&Dragonfly::groups>("groups", kOfDragonfly, "of routers").needed(),
    fields::integer<&Dragonfly::routers_per_group>(
        "routers_per_group", kOfDragonfly, "each joined with all others of its group")
        .needed(),
    fields::integer<&Dragonfly::devices_per_router>(
        "devices_per_router", kOfDragonfly, "on each router")
        .needed(),
    fields::integer<&Dragonfly::pair_links>(
        "global_links", kOfDragonfly, "of each router to other groups, in place of `pair_links`")
        .or_else("by `pair_links`")
        .read_by(read_global_links),
    fields::integer<&Dragonfly::pair_links>(
        "pair_links", kOfDragonfly, "between each pair of groups, in place of `global_links`")
        .or_else("by `global_links`"),
    fields::quantity<&Dragonfly::device_bandwidth>("device_bandwidth",
                                                   "of a device's port, one direction")
        .needed(),
    fields::quantity<&Dragonfly::local_bandwidth>("local_bandwidth",
                                                  "of a link within a group, one direction")
        .needed(),
    fields::quantity<&Dragonfly::global_bandwidth>("global_bandwidth",
                                                   "of a link between groups, one direction")
        .needed(),
    fields::quantity<&Dragonfly::latency>("latency", "of a link")};

}  // namespace

std::span<const Field<Dragonfly>> Dragonfly::fields() { return kDragonflyFields; }

void Dragonfly::check(Reader& in) {
  const double routers = 1.0 * groups * routers_per_group;
  const double wires =
      routers * (devices_per_router + routers_per_group / 2.0) + 0.5 * groups * groups * pair_links;
  if (wires > 4e6) {
    in.fail("groups", "expected a network of at most four million links");
    groups = routers_per_group = devices_per_router = pair_links = 1;
  }
}

Topology Dragonfly::build() const {
  const int routers = groups * routers_per_group;
  Topology topology{.name = std::string(name),
                    .devices = routers * devices_per_router,
                    .switches = 0,
                    .wires = {}};
  const int first = add_switches(topology, routers, {.kind = SwitchKind::router});
  const auto join = [&](int a, int b, BytesPerSecond bandwidth) {
    topology.wires.push_back(
        {.a = a, .b = b, .count = 1, .bandwidth = bandwidth, .latency = latency});
  };
  for (int device = 0; device < topology.devices; ++device) {
    join(device, first + device / devices_per_router, device_bandwidth);
  }
  for (int a = 0; a < routers; ++a) {
    for (int b = a + 1; b % routers_per_group != 0; ++b) {
      join(first + a, first + b, local_bandwidth);
    }
  }
  const int others = groups - 1;
  for (int group = 0; group < groups; ++group) {
    for (int port = 0; port < pair_links * others; ++port) {
      const int step = port % others;
      const int peer = (group + step + 1) % groups;
      if (group < peer) {
        const int back = port - step + others - 1 - step;  // the peer's port of the same link
        join(first + group * routers_per_group + port / global_ports(),
             first + peer * routers_per_group + back / global_ports(),
             global_bandwidth);
      }
    }
  }
  return topology;
}

Dragonfly Dragonfly::in_small(std::string& note) const {
  Dragonfly drawn = *this;
  drawn.groups = std::min(groups, 6);
  drawn.routers_per_group = std::min(routers_per_group, 5);
  drawn.devices_per_router = std::min(devices_per_router, 3);
  drawn.pair_links = 1;
  note = fmt::format("drawn in small: the whole has {} groups of {} routers with {} devices each",
                     groups,
                     routers_per_group,
                     devices_per_router);
  if (pair_links > 1) {
    note += fmt::format(", and {} links between each two groups", pair_links);
  }
  return drawn;
}

std::optional<Bisection> Dragonfly::bisection() const {
  if (groups < 2) {
    return std::nullopt;
  }
  const int half = groups / 2;
  const double pairs = 1.0 * half * (groups - half);
  return Bisection{pairs * pair_links * global_bandwidth,
                   "estimate: global links between two halves of the groups"};
}

}  // namespace titer
