#include "titer/topology/family/dragonfly.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace titer {
namespace {

constexpr std::int64_t kMostOfDragonfly = 4096;

/// Links per pair of groups, given as such or by the global ports of a router.
int read_pair_links(Reader& in, int groups, int routers) {
  if (in.has("global_links") == in.has("pair_links")) {
    in.fail("",
            "expected \"global_links\" (of each router) or \"pair_links\" (between each pair of "
            "groups), one of them");
    static_cast<void>(in.raw("global_links"));
    static_cast<void>(in.raw("pair_links"));
    return 1;
  }
  if (in.has("pair_links")) {
    return static_cast<int>(in.integer("pair_links", 1, kMostOfDragonfly));
  }
  const auto ports = static_cast<int>(in.integer("global_links", 1, kMostOfDragonfly));
  const int others = groups - 1;
  if (others > 0 && routers * ports % others != 0) {
    in.fail("global_links",
            "the " + std::to_string(routers * ports) +
                " global links of a group do not spread evenly over the " + std::to_string(others) +
                " other groups; expected a multiple, or \"pair_links\"");
    return 1;
  }
  return others > 0 ? routers * ports / others : 1;
}

}  // namespace

Dragonfly Dragonfly::read(Reader& in) {
  Dragonfly net;
  net.groups = static_cast<int>(in.integer("groups", 1, kMostOfDragonfly));
  net.routers_per_group = static_cast<int>(in.integer("routers_per_group", 1, kMostOfDragonfly));
  net.devices_per_router = static_cast<int>(in.integer("devices_per_router", 1, kMostOfDragonfly));
  net.pair_links = read_pair_links(in, net.groups, net.routers_per_group);
  net.device_bandwidth = in.quantity<BytesPerSecond>("device_bandwidth");
  net.local_bandwidth = in.quantity<BytesPerSecond>("local_bandwidth");
  net.global_bandwidth = in.quantity<BytesPerSecond>("global_bandwidth");
  net.latency = in.maybe_quantity<Seconds>("latency").value_or(Seconds{});
  const double routers = 1.0 * net.groups * net.routers_per_group;
  const double wires = routers * (net.devices_per_router + net.routers_per_group / 2.0) +
                       0.5 * net.groups * net.groups * net.pair_links;
  if (wires > 4e6) {
    in.fail("groups", "expected a network of at most four million links");
    net.groups = net.routers_per_group = net.devices_per_router = net.pair_links = 1;
  }
  return net;
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
